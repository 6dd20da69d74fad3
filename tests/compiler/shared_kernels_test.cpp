/* SPDX-License-Identifier: MIT */
/*
 * Layers with equal kernels, which a network has once.
 */
#include <iterator>

#include <gtest/gtest.h>

#include "onnx_on_core.h"

namespace nvdla::test
{

/* Layers of other sizes and strides share the kernels, but not the order in which they are packed.
 */
TEST(SharedKernels, OfUnlikeLayers)
{
	constexpr int64_t channels = 3, side = 8;
	OnnxBuilder builder;
	std::vector<float> kernels(channels * channels * 9);
	Numbers x(channels * side * side);

	/* Each channel is halved, and moves one line down and one column to the left. */
	for (size_t k = 0; k < channels; k++)
		kernels[(k * channels + k) * 9 + 2] = 0.5;
	for (size_t i = 0; i < x.size(); i++)
		x[i] = static_cast<double>(i % 61) - 30;
	const auto moved = [&](size_t channel, int64_t line, int64_t column, int64_t times) {
		const int64_t fromLine = line - times, fromColumn = column + times;
		return fromLine < 0 || fromColumn >= side
			       ? 0
			       : x[(channel * side + static_cast<size_t>(fromLine)) * side +
				   static_cast<size_t>(fromColumn)] /
					 static_cast<double>(1 << times);
	};
	builder.input("x", { 1, channels, side, side });
	builder.floats("w", { channels, channels, 3, 3 }, kernels);
	const struct {
		const char *input, *output;
		int64_t stride, times;
	} layers[] = { { "x", "a", 1, 1 }, { "a", "b", 1, 2 }, { "x", "c", 2, 1 } };
	for (const auto &layer : layers) {
		onnx::Node *node = builder.node("Conv", { layer.input, "w" }, layer.output);
		OnnxBuilder::set(node, "pads", { 1, 1, 1, 1 });
		OnnxBuilder::set(node, "strides", { layer.stride, layer.stride });
		builder.output(layer.output);
	}
	const auto outputs = onCore(builder, { x });
	ASSERT_EQ(outputs.size(), std::size(layers));
	for (size_t i = 0; i < outputs.size(); i++) {
		const int64_t stride = layers[i].stride, size = side / stride;
		Numbers wanted;
		for (size_t channel = 0; channel < channels; channel++)
			for (int64_t at = 0; at < size * size; at++)
				wanted.push_back(moved(channel, at / size * stride,
						       at % size * stride, layers[i].times));
		EXPECT_EQ(outputs[i], wanted) << layers[i].output;
	}
}

} /* namespace nvdla::test */
