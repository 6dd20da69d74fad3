/* SPDX-License-Identifier: MIT */
/*
 * What the kernels of a convolution add up, to read.
 */
#include "kernel_reference.h"

#include <bit>
#include <cmath>
#include <cstring>

#include "conv/cacc.h"

namespace nvdla::sim::test
{

namespace
{

template<typename Number>
Number numberAt(const std::byte *at)
{
	Number number;
	std::memcpy(&number, at, sizeof(number));
	return number;
}

/** \return the products of numbers in a unit's operands and a column's weights, added up */
template<typename Data, typename Weight>
int64_t unitSum(const std::byte *data, const std::byte *weights)
{
	int64_t sum = 0;

	for (size_t i = 0; i < kUnitBytes / sizeof(Data); i++)
		sum += int64_t{ numberAt<Data>(data + i * sizeof(Data)) } *
		       numberAt<Weight>(weights + i * sizeof(Weight));
	return sum;
}

/** Calls with a unit's operands and a column's weights, one unit after the other */
template<typename Use>
void forEachUnit(const TilePosition &position, const Panel &panel, size_t column, Use use)
{
	const int32_t *weight = panel.weights + column;

	for (const TileRun &run : panel.runs) {
		const std::byte *at = position.at + run.offset;
		for (uint32_t unit = 0; unit < run.units; unit++, at += kUnitBytes) {
			use(at, reinterpret_cast<const std::byte *>(weight));
			weight += kTileColumns;
		}
	}
}

int32_t floatSum(const TilePosition &position, const Panel &panel, size_t column)
{
	float sum = 0;

	forEachUnit(position, panel, column, [&](const std::byte *data, const std::byte *weight) {
		sum += numberAt<float>(data) * numberAt<float>(weight);
	});
	return std::isnan(sum) ? kFloatNan : std::bit_cast<int32_t>(sum);
}

int64_t integerSum(TileKind kind, const TilePosition &position, const Panel &panel, size_t column)
{
	int64_t sum = panel.starts[column];

	forEachUnit(position, panel, column, [&](const std::byte *data, const std::byte *weight) {
		if (kind == TileKind::Quads)
			sum += unitSum<uint8_t, int8_t>(data, weight);
		else if (kind == TileKind::Matrices || kind == TileKind::Bytes)
			sum += unitSum<int8_t, int8_t>(data, weight);
		else
			sum += unitSum<int16_t, int16_t>(data, weight);
	});
	return sum;
}

/** Operand \a column of a tap, so many bytes from the position's first */
template<typename Operand>
Operand operandOf(const TilePosition &position, size_t tap, size_t column)
{
	return numberAt<Operand>(position.at + tap + column * sizeof(Operand));
}

/** The products of all taps of a column, in their order, as \a add gets them */
template<typename Operand, typename Add>
void forEachProduct(const ChannelOperands &operands, const TilePosition &position, size_t column,
		    Add add)
{
	const int32_t *weight = operands.weights + column;
	int16_t pair[2];

	for (const ChannelTaps &taps : operands.taps) {
		std::memcpy(pair, weight, sizeof(pair));
		add(operandOf<Operand>(position, taps.first, column) * pair[0]);
		add(operandOf<Operand>(position, taps.second, column) * pair[1]);
		weight += operands.columns;
	}
}

int32_t floatSum(const ChannelOperands &operands, const TilePosition &position, size_t column)
{
	const int32_t *weight = operands.weights + column;
	float sum = 0;

	for (const ChannelTaps &taps : operands.taps) {
		for (const size_t tap : { taps.first, taps.second }) {
			sum += operandOf<float>(position, tap, column) *
			       std::bit_cast<float>(*weight);
			weight += operands.columns;
		}
	}
	return std::isnan(sum) ? kFloatNan : std::bit_cast<int32_t>(sum);
}

} /* namespace */

uint32_t tileSumsReference(TileKind kind, std::span<const TilePosition> positions,
			   const Panel &panel, const TileSums &sums, uint32_t truncate)
{
	uint32_t clipped = 0;

	for (size_t p = 0; p < positions.size(); p++) {
		for (size_t column = 0; column < kTileColumns; column++) {
			bool saturated = false;
			if (kind == TileKind::Float) {
				*sums.at(p, column) = floatSum(positions[p], panel, column);
				continue;
			}
			const IntegerSum sum = { integerSum(kind, positions[p], panel, column) };
			*sums.at(p, column) = sum.deliver(truncate, saturated);
			clipped += saturated;
		}
	}
	return clipped;
}

void channelSumsReference(const ChannelOperands &operands, const TilePosition *positions,
			  size_t count, int32_t *sums)
{
	for (size_t i = 0; i < count; i++) {
		for (size_t column = 0; column < operands.columns; column++) {
			int32_t sum = operands.starts ? operands.starts[column] : 0;
			const auto add = [&](int32_t product) { sum += product; };
			if (operands.elementBytes == sizeof(float))
				sum = floatSum(operands, positions[i], column);
			else if (operands.starts)
				forEachProduct<uint8_t>(operands, positions[i], column, add);
			else if (operands.elementBytes == sizeof(int8_t))
				forEachProduct<int8_t>(operands, positions[i], column, add);
			else
				forEachProduct<int16_t>(operands, positions[i], column, add);
			*sums++ = sum;
		}
	}
}

void denseSumsReference(std::span<const DenseBlock> blocks, const DenseWeights &weights,
			int32_t *sums)
{
	std::fill_n(sums, weights.kernels, 0);
	for (const DenseBlock &block : blocks) {
		for (size_t kernel = 0; kernel < weights.kernels; kernel++) {
			const std::byte *weight = weights.at(block, kernel);
			for (size_t i = 0; i < block.bytes; i++)
				sums[kernel] += static_cast<int8_t>(block.data[i]) *
						static_cast<int8_t>(weight[i]);
		}
	}
}

void putUnitsReference(UnitFormat format, const KernelRows &rows, size_t units, int32_t *out)
{
	for (size_t kernel = 0; kernel < rows.kernels; kernel++) {
		for (size_t unit = 0; unit < units; unit++) {
			const std::byte *in =
				rows.first + kernel * rows.step + unit * unitSourceBytes(format);
			const LinePiece piece = { .from = in,
						  .bytes = unitSourceBytes(format),
						  .parts = 1 };
			uint32_t bits = 0;
			auto *to = reinterpret_cast<std::byte *>(&bits);
			if (format == UnitFormat::Float)
				packPiece(LineFormat::Floats, piece, to);
			else if (format == UnitFormat::WideBytes)
				packPiece(LineFormat::WideBytes, piece, to);
			else
				std::memcpy(to, in, sizeof(bits));
			out[unit * kTileColumns + kernel] = static_cast<int32_t>(bits);
		}
	}
}

} /* namespace nvdla::sim::test */
