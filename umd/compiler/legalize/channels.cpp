/* SPDX-License-Identifier: MIT */
/*
 * Operators that look at all channels, or move elements between channels and lines and columns.
 */
#include <fmt/core.h>

#include "legalize.h"

namespace nvdla::compiler::legalize
{

Tensor argMax(Builder &builder, const Tensor &from, uint32_t axis, bool ofSmallest)
{
	Tensor x = builder.withAxisLast(from, axis);

	/* The smallest is the largest of the negative numbers. */
	if (ofSmallest)
		x = builder.make(Elementwise{ Elementwise::Function::Multiply, {} },
				 { x.id, builder.addNumber(-1) }, builder.real(x), x);
	/* Indices are integers of 16 bits. */
	return builder.make(ArgMax{}, { x.id }, { ElementType::Int16, Quantization{ 1, 0 } },
			    withExtent(x, axis, 1));
}

Tensor withNormOfOne(Builder &builder, const Tensor &from, uint32_t axis)
{
	const Tensor x = builder.withAxisLast(from, axis);

	return builder.compute(Normalization{}, x, x);
}

Tensor localResponse(Builder &builder, const Tensor &picture, const LocalResponse &response)
{
	builder.support(response.window % 2 == 1 && response.window <= UINT8_MAX, "size",
			fmt::format("is {}; odd numbers up to 255 are known", response.window));
	return builder.compute(response, picture, picture);
}

Tensor depthToSpace(Builder &builder, const Tensor &picture, uint32_t block, bool blocksTogether)
{
	const Extents x = inValueOrder(picture, picture.shape);

	if (builder.failed() ||
	    !builder.need(block >= 1 && block <= UINT8_MAX && x[3] % (block * block) == 0,
			  "blocksize", fmt::format("is {}, of {} channels", block, x[3])))
		return {};
	const uint32_t channels = x[3] / block / block, h = x[1], w = x[2];
	const Transpose transpose =
		blocksTogether ? Transpose{ { h, w, channels, block, block }, { 0, 3, 1, 4, 2 } }
			       : Transpose{ { h, w, block, block, channels }, { 0, 2, 1, 3, 4 } };
	return builder.move(ofSamples(x[0], transpose), picture,
			    withValueShape(picture, { x[0], h * block, w * block, channels }));
}

Tensor spaceToDepth(Builder &builder, const Tensor &picture, uint32_t block)
{
	const Extents x = inValueOrder(picture, picture.shape);

	if (builder.failed() || !builder.need(block >= 1 && block <= UINT8_MAX &&
						      x[1] % block == 0 && x[2] % block == 0,
					      "blocksize", fmt::format("is {}", block)))
		return {};
	const uint32_t h = x[1] / block, w = x[2] / block;
	const Transpose transpose{ { h, block, w, block, x[3] }, { 0, 2, 1, 3, 4 } };
	return builder.move(ofSamples(x[0], transpose), picture,
			    withValueShape(picture, { x[0], h, w, x[3] * block * block }));
}

} /* namespace nvdla::compiler::legalize */
