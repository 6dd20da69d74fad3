/* SPDX-License-Identifier: MIT */
#include "conv/channel_weights.h"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <cstring>

#include "conv/tile_operands.h"
#include "core/elements.h"

namespace nvdla::sim
{

namespace
{

bool areZero(const std::byte *bytes, size_t count)
{
	return std::all_of(bytes, bytes + count,
			   [](std::byte byte) { return byte == std::byte{ 0 }; });
}

/** \return ownElements() for an atom of which only the first \a bytes bytes exist */
bool ownOfPart(const KernelRows &rows, size_t bytes, size_t elementBytes, std::byte *own)
{
	bool areOthersZero = true;

	for (size_t kernel = 0; kernel < rows.kernels; kernel++) {
		const std::byte *atom = rows.first + kernel * rows.step;
		const size_t before = kernel * elementBytes;
		const size_t behind = before + elementBytes;
		areOthersZero &= areZero(atom, before) && areZero(atom + behind, bytes - behind);
		std::memcpy(own + before, atom + before, elementBytes);
	}
	return areOthersZero;
}

/* Largest number of atoms in a block. */
constexpr size_t kMostAtoms = kMacLanes / atomBytes;

} /* namespace */

ChannelWeights::ChannelWeights(const TilePlan &plan)
	: plan_(plan), channels_(std::min(plan.op.windows.kernel.channels, plan.op.groupKernels()))
{
	const Windows &windows = plan.op.windows;
	size_t elements = 0;

	taps_.reserve(plan_.blocks.size());
	for (const Block &block : plan_.blocks) {
		const size_t column =
			size_t{ block.column } * windows.dilationX * windows.data.channels;
		for (uint32_t at = 0; at < block.lanes; at += channels_) {
			const size_t place = block.row * plan.rowBytes() +
					     (column + block.channel + at) * plan.elementBytes;
			/*
			 * An entry of taps_ has places of two kernel elements. If the last entry
			 * has only one, its second weights stay zero.
			 */
			if (elements++ % 2)
				taps_.back().second = place;
			else
				taps_.push_back({ place, place });
		}
	}
	weights_.resize(2 * taps_.size() * plan.op.groupKernels());
}

bool ChannelWeights::load(const WeightGroup &group, uint32_t largestData)
{
	const size_t weightBytes = elementBytes(plan_.op.precision);
	std::array<Numbers, kMostAtoms> numbers;
	size_t element = 0;

	std::ranges::fill(magnitudes_, uint64_t{ 0 });
	std::ranges::fill(starts_, 0);
	for (const Block &block : plan_.blocks) {
		const auto atoms = std::span(numbers).first(block.lanes / channels_);
		if (!read(group, block, atoms))
			return false;
		for (const Numbers &some : atoms)
			put(element++, { some.data(), group.kernels * weightBytes });
	}
	return std::ranges::max(magnitudes_) * largestData <= INT32_MAX;
}

bool ChannelWeights::read(const WeightGroup &group, const Block &block,
			  std::span<Numbers> numbers) const
{
	const size_t elementSize = elementBytes(plan_.op.precision);
	const size_t bytes = channels_ * elementSize;
	const size_t step = numbers.size() * bytes;
	const std::byte *first = group.bytes.data() + block.weights * group.kernels * elementSize;

	for (Numbers &one : numbers) {
		const KernelRows rows = { first, step, group.kernels };
		if (!(bytes == atomBytes ? ownElements(rows, elementSize, one.data())
					 : ownOfPart(rows, bytes, elementSize, one.data())))
			return false;
		first += bytes;
	}
	return true;
}

void ChannelWeights::put(size_t element, std::span<const std::byte> weights)
{
	if (plan_.op.precision == Precision::Fp16) {
		widenHalves(
			weights.data(), weights.size() / sizeof(uint16_t),
			reinterpret_cast<float *>(&weights_[element * plan_.op.groupKernels()]));
		return;
	}
	int16_t numbers[kTileColumns];
	const auto some =
		std::span(numbers).first(weights.size() / elementBytes(plan_.op.precision));
	auto *halves =
		reinterpret_cast<int16_t *>(&weights_[element / 2 * plan_.op.groupKernels()]);

	widenElements(weights, plan_.op.precision, some);
	for (size_t kernel = 0; kernel < some.size(); kernel++) {
		halves[2 * kernel + element % 2] = some[kernel];
		starts_[kernel] -= some[kernel] * 128; /* unsigned operands are 128 too high */
		magnitudes_[kernel] += static_cast<uint64_t>(std::abs(int32_t{ some[kernel] }));
	}
}

} /* namespace nvdla::sim */
