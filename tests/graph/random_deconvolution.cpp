/* SPDX-License-Identifier: MIT */
#include <cmath>

#include "generator.h"

namespace nvdla::test
{

/* Phases of a single element are refused: each has two lines or columns at least. */
void Generator::addDeconvolution()
{
	op::Axes stride{ dice_.size(1, 3), dice_.size(1, 3) };
	if (!hasEngine(NVDLA_OP_RUBIK))
		stride.x = 1;
	Known in = choose();

	if (in.w == 1 || in.n * in.h * in.w * stride.x * stride.y > 400)
		in = newInput(in.type,
			      dice_.chance(30) && core_.maxBatch > 1 ? dice_.size(2, 3) : 1, in.c,
			      dice_.size(1, 6), dice_.size(2, 6));
	op::Deconvolution deconv{ .name = name("deconv"),
				  .input = in.name,
				  .weights = name("weights"),
				  .output = name("stream"),
				  .stride = stride,
				  .phasesOnChip = dice_.chance(30) && core_.hasOnChipMemory };
	GraphWeights weights{ .name = deconv.weights,
			      .k = dice_.size(1, 40),
			      .c = in.c,
			      .r = dice_.size(1, 5),
			      .s = dice_.size(1, 5),
			      .compressed =
				      dice_.chance(20) && core_.has(Capability::Compression) };
	if (dice_.chance(60) && in.h > 2 && in.w > 2)
		deconv.padding = { dice_.size(0, weights.s - 1), dice_.size(0, weights.s - 1),
				   dice_.size(0, weights.r - 1), dice_.size(0, weights.r - 1) };
	auto size = [](uint32_t inputs, uint32_t step, uint32_t kernel, uint32_t cut) {
		const uint32_t full = (inputs - 1) * step + kernel;
		return full > cut ? full - cut : 0;
	};
	Known stream{ deconv.output,
		      in.type,
		      weights.k,
		      size(in.h, stride.y, weights.r, deconv.padding.top + deconv.padding.bottom),
		      size(in.w, stride.x, weights.s, deconv.padding.left + deconv.padding.right),
		      in.n,
		      PixelFormat::Feature,
		      in.type == DataType::Half };
	if (!stream.h || !stream.w || (stream.h < 2 * stride.y && stream.w < 2 * stride.x))
		return;
	const auto taps =
		static_cast<double>(weights.c * weights.r * weights.s) / (stride.x * stride.y);
	int bits =
		static_cast<int>(std::log2(taps + 1) / 2) + (in.type == DataType::Int8 ? 13 : 18);
	if (in.type != DataType::Half) {
		deconv.accumulatorShift = static_cast<uint8_t>(dice_.pick(0, 4));
		bits -= deconv.accumulatorShift;
	}
	fillWeights(weights, in.type);
	last_.reset();
	consumed_.insert(in.name);
	anyHalf_ |= in.type == DataType::Half;
	const std::string line = fmt::format(
		"{}deconv {} kernel {}x{}x{}x{} stride {}x{} cut {} -> {}",
		weights.compressed ? "sparse " : "", shape(in), weights.k, weights.c, weights.r,
		weights.s, stride.x, stride.y, text(deconv.padding), shape(stream));
	case_.constants.weights[weights.name] = weights;
	case_.graph.weights(std::move(weights));
	add(std::move(deconv), line);
	op::Sdp sdp = sdpFor(stream, true, stream.approximate, bits);
	Surface &surface = surfaces_[sdp.output];
	finishSdp(std::move(sdp), stream, false);
	/* RUBIK writes whole blocks of columns. */
	surface.surfaceStride = 0;
	if (surface.lineStride && stream.n > 1) {
		surface.lineStride = 0;
	} else if (surface.lineStride) {
		surface.lineStride =
			((stream.w + stride.x - 1) / stride.x * stride.x + dice_.size(0, 2)) *
			core_.atomBytes;
		surface.surfaceStride =
			surface.lineStride * stream.h + core_.atomBytes * dice_.size(0, 2);
	}
}

} /* namespace nvdla::test */
