/* SPDX-License-Identifier: MIT */
#include "conv/tile_weights.h"

#include <algorithm>
#include <array>
#include <cstring>

#include "conv/line_elements.h"
#include "conv/tile_operands.h"
#include "core/aligned.h"
#include "core/bring_ahead.h"

namespace nvdla::sim
{

namespace
{

UnitFormat formatOf(const TilePlan &plan)
{
	switch (plan.kind) {
	case TileKind::Quads:
	case TileKind::Bytes:
	case TileKind::Matrices:
		return UnitFormat::Bytes;
	case TileKind::SignedQuads:
		return UnitFormat::Unsigned;
	case TileKind::Float:
		return UnitFormat::Float;
	default:
		return plan.op.precision == Precision::Int8 ? UnitFormat::WideBytes
							    : UnitFormat::Bytes;
	}
}

/** \return a unit whose weights are zero */
int32_t noWeights(const TilePlan &plan)
{
	return plan.kind == TileKind::SignedQuads ? static_cast<int32_t>(0x80808080) : 0;
}

} /* namespace */

TileWeights::TileWeights(const TilePlan &plan, Scratch &scratch)
	: plan_(plan), blocks_(makeBlocks(plan.op)),
	  units_(scratch, plan.units * plan.groupsAtOnce() * plan.op.groupKernels()),
	  columns_(plan.op.groupKernels())
{
}

void TileWeights::begin(uint32_t groups)
{
	const size_t columns = size_t{ groups } * plan_.op.groupKernels();

	if (columns != columns_) /* Each of them is somewhere else. */
		std::ranges::fill(kernels_, 0U);
	columns_ = columns;
}

void TileWeights::load(const WeightGroup &group, uint32_t index)
{
	const std::byte *elements = group.bytes.data();
	const size_t elementSize = elementBytes(plan_.op.precision);
	const uint32_t most = plan_.op.groupKernels();
	const Columns columns = { size_t{ index } * most, group.kernels };

	/* What is written is always the same but for the kernels that there are. */
	if (group.kernels != kernels_[index] && (group.kernels < most || hasGaps()))
		clear(columns.first);
	kernels_[index] = group.kernels;
	used_ = columns.first + group.kernels;
	for (const Block &block : blocks_) {
		const size_t kernelBytes = block.lanes * elementSize;
		const size_t rowBytes = kernelBytes / block.rows;
		/* The next block, since one of a whole group is as large as what is ahead. */
		for (size_t at = 0; at < group.kernels * kernelBytes; at += kLineBytes)
			bringAhead(elements + at);
		for (uint32_t row = 0; row < block.rows; row++)
			put(columns, block, row, elements + row * rowBytes, kernelBytes);
		elements += group.kernels * kernelBytes;
	}
	if (plan_.kind == TileKind::Quads)
		findStart(group);
}

/* Those of a group, from its first one on. */
void TileWeights::clear(size_t column)
{
	int32_t *unit = units_.data() + column;

	for (size_t i = 0; i < plan_.units; i++, unit += columns_)
		std::fill_n(unit, plan_.op.groupKernels(), noWeights(plan_));
}

bool TileWeights::hasGaps() const
{
	return std::ranges::any_of(plan_.taps, [&](const TileTap &tap) {
		return tap.elements % (plan_.unitsAtOnce() * plan_.perUnit()) != 0;
	});
}

/* \a elements are those of the first kernel; those of the next one follow at kernelBytes. */
void TileWeights::put(const Columns &columns, const Block &block, uint32_t row,
		      const std::byte *elements, size_t kernelBytes)
{
	const Windows &windows = plan_.op.windows;
	const size_t kernelRow = block.row + row;
	const TileTap &tap =
		plan_.taps[plan_.dilated() ? kernelRow * windows.kernel.width + block.column
					   : kernelRow];
	const uint32_t count = block.lanes / block.rows;
	const size_t at = block.channel +
			  (plan_.dilated() ? 0 : size_t{ block.column } * windows.kernel.channels);
	const size_t elementSize = elementBytes(plan_.op.precision);

	/* Whole units where they begin at one; the rest element by element. */
	const uint32_t whole = at % plan_.perUnit() == 0 ? count / plan_.perUnit() : 0;
	if (whole)
		putUnits(formatOf(plan_), { elements, kernelBytes, columns.kernels }, whole,
			 columns_,
			 &units_[(tap.unit + at / plan_.perUnit()) * columns_ + columns.first]);
	for (uint32_t i = whole * plan_.perUnit(); i < count; i++) {
		const size_t byte = (at + i) * plan_.elementBytes;
		const size_t unit = tap.unit + byte / kUnitBytes;
		auto *out =
			reinterpret_cast<std::byte *>(&units_[unit * columns_ + columns.first]) +
			byte % kUnitBytes;
		for (uint32_t kernel = 0; kernel < columns.kernels; kernel++)
			putOne(out + kernel * kUnitBytes,
			       elements + kernel * kernelBytes + i * elementSize);
	}
}

void TileWeights::putOne(std::byte *out, const std::byte *element) const
{
	int16_t number;

	switch (plan_.kind) {
	case TileKind::Quads:
	case TileKind::Bytes:
	case TileKind::Matrices:
		*out = *element;
		return;
	case TileKind::SignedQuads:
		flipSigns({ .from = element, .bytes = 1, .parts = 1 }, out);
		return;
	default:
		widen(plan_.op.precision, element, { &number, 1 });
		std::memcpy(out, &number, sizeof(number));
	}
}

/* An output whose data are all zero, 128 as unsigned numbers, is to be zero. */
void TileWeights::findStart(const WeightGroup &group)
{
	constexpr int32_t kUnsignedZero = 128;
	static constexpr auto ones = [] {
		std::array<std::byte, kDenseBytes> bytes;
		bytes.fill(std::byte{ 1 });
		return bytes;
	}();

	if (ones_.empty())
		for (const Block &block : blocks_)
			ones_.push_back({ ones.data(), block.weights, block.lanes });
	std::fill(std::begin(start_), std::end(start_), 0);
	denseSums(ones_, { group.bytes.data(), group.kernels }, start_);
	for (int32_t &start : start_)
		start *= -kUnsignedZero;
}

} /* namespace nvdla::sim */
