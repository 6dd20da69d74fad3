/* SPDX-License-Identifier: MIT */
#include "conv/fp16_channels.h"

#include <algorithm>
#include <cmath>

#include "conv/line_elements.h"
#include "conv/tile_operands.h"
#include "core/shared_units.h"

namespace nvdla::sim
{

namespace
{

const float *floatsAt(const void *at)
{
	return static_cast<const float *>(at);
}

double padOf(const ConvOp &op)
{
	const int16_t pad = padElement(op.precision, op.windows.padValue);
	double value = 0;

	widenHalves({ .from = reinterpret_cast<const std::byte *>(&pad),
		      .bytes = sizeof(pad),
		      .parts = 1 },
		    &value);
	return value;
}

} /* namespace */

Fp16ChannelLines::Fp16ChannelLines(const TilePlan &plan, const DataView &data, Workers &workers)
	: plan_(plan), height_(paddedHeight(plan.op.windows)),
	  lineNumbers_(plan.lineBytes() / sizeof(float)), batchNumbers_(height_ * lineNumbers_),
	  pad_(padOf(plan.op)), numbers_(workers.scratch(), batchNumbers_ * plan.op.batches),
	  hasNan_(std::isnan(pad_))
{
	const uint64_t count = uint64_t{ height_ } * plan.op.batches;
	const unsigned int threads = threadsFor(numbers_.size() * sizeof(double), kBytesForAThread);

	shareOut(&workers, threads, count, [&] {
		return [&, pieces = std::vector<LinePiece>()](uint64_t line) mutable {
			makeLine(data, line, pieces);
		};
	});
}

void Fp16ChannelLines::makeLine(const DataView &data, uint64_t line, std::vector<LinePiece> &pieces)
{
	const Windows &windows = plan_.op.windows;
	const auto y = static_cast<uint32_t>(line % height_) - windows.padTop;
	double *out = &numbers_[line * lineNumbers_];
	double *end = out + plan_.lineElements;

	if (y >= windows.data.height) {
		std::fill(out, end, pad_);
		return;
	}
	double *first = out + plan_.leftElements();
	double *behind = first + plan_.bufferedElements();
	data.find(static_cast<uint32_t>(line / height_), y, pieces);
	std::fill(out, first, pad_);
	for (const LinePiece &piece : pieces)
		if (!widenHalves(piece, first + piece.to / sizeof(uint16_t)))
			hasNan_ = true;
	if (behind < end)
		std::fill(behind, end, pad_);
}

void Fp16ChannelLines::place(uint64_t first, uint32_t count,
			     std::vector<const double *> &positions) const
{
	const ConvOp &op = plan_.op;
	const size_t lineStep = op.windows.strideY * lineNumbers_;

	positions.resize(size_t{ count } * op.windows.out.width);
	const double **position = positions.data();
	for (uint64_t line = first; line < first + count; line++) {
		const double *at =
			&numbers_[line % op.batches * batchNumbers_ + line / op.batches * lineStep];
		for (uint32_t x = 0; x < op.windows.out.width; x++, at += plan_.step)
			*position++ = at;
	}
}

Fp16Channels::Fp16Channels(const Fp16ChannelLines &lines) : lines_(lines), weights_(lines.plan())
{
	const CubeSize &kernel = lines.plan().op.windows.kernel;

	taps_.reserve(2 * weights_.operands().taps.size());
	for (const ChannelTaps &taps : weights_.operands().taps) {
		taps_.push_back(taps.first / sizeof(float));
		taps_.push_back(taps.second / sizeof(float));
	}
	/* Of an odd number the last one has no weights. */
	taps_.resize(size_t{ kernel.width } * kernel.height);
	numbers_.resize(taps_.size() * kFp16Kernels);
}

bool Fp16Channels::load(const WeightGroup &group)
{
	kernels_ = group.kernels;
	return weights_.load(group, {}) &&
	       widenFp16(floatsAt(weights_.operands().weights), numbers_.size(), numbers_.data());
}

void Fp16Channels::make(const TowardZero &towardZero, uint64_t first, uint32_t count, int32_t *out)
{
	lines_.place(first, count, positions_);
	sumFp16Channels(towardZero, { taps_, numbers_.data() }, positions_, out);
	/* Behind the kernels there are sums of anything. */
	for (size_t i = 0; kernels_ < kFp16Kernels && i < positions_.size(); i++)
		std::fill(out + i * kFp16Kernels + kernels_, out + (i + 1) * kFp16Kernels, 0);
}

} /* namespace nvdla::sim */
