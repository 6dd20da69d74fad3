/* SPDX-License-Identifier: MIT */
#include "conv/fp16_channels.h"

#include <algorithm>

namespace nvdla::sim
{

namespace
{

const float *floatsAt(const void *at)
{
	return static_cast<const float *>(at);
}

} /* namespace */

Fp16ChannelLines::Fp16ChannelLines(const TilePlan &plan, const DataView &data, Workers &workers)
	: plan_(plan), lines_(plan_, data, workers),
	  batchNumbers_(paddedHeight(plan.op.windows) * plan.lineBytes() / sizeof(float)),
	  numbers_(workers.scratch(), batchNumbers_ * plan.op.batches)
{
	for (uint32_t batch = 0; batch < plan.op.batches && !hasNan(); batch++)
		widenFp16(floatsAt(lines_.linesOf(batch)), batchNumbers_,
			  &numbers_[batch * batchNumbers_]);
}

void Fp16ChannelLines::place(uint64_t first, uint32_t count,
			     std::vector<const double *> &positions) const
{
	const ConvOp &op = plan_.op;
	const size_t lineStep = op.windows.strideY * (plan_.lineBytes() / sizeof(float));

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
