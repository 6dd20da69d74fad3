/* SPDX-License-Identifier: MIT */
#include "float_network.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <numeric>

#include <gtest/gtest.h>
#include <nvdla/half.h>

namespace nvdla::test
{

namespace
{

FloatCube cubeLike(const nvdla_data_cube &desc)
{
	FloatCube cube{ desc.channel, desc.height, desc.width, {} };
	cube.data.resize(size_t{ cube.c } * cube.h * cube.w);
	return cube;
}

/* Kernel groups of 16, then blocks of 64 channels, rows, columns, kernels, channels. */
template<typename Function>
void forEachWeight(uint32_t kernels, uint32_t channels, uint32_t rows, uint32_t columns,
		   Function &&function)
{
	for (uint32_t group = 0; group < kernels; group += 16)
		for (uint32_t block = 0; block < channels; block += 64)
			for (uint32_t r = 0; r < rows; r++)
				for (uint32_t s = 0; s < columns; s++)
					for (uint32_t k = group; k < std::min(group + 16, kernels);
					     k++)
						for (uint32_t c = block;
						     c < std::min(block + 64, channels); c++)
							function(k, c, r, s);
}

} /* namespace */

std::vector<float> FloatNetwork::constants(const nvdla_data_cube &cube, size_t count) const
{
	std::vector<float> values(count);
	const TaskAddress &address = task_.addresses.at(static_cast<size_t>(cube.address));
	const Memory *memory = loadable_.memory(address.memory);
	const uint64_t first = address.offset + cube.offset;

	for (const MemoryContent &content : memory->contents) {
		const Blob *blob = loadable_.blob(content.blob);
		if (first < content.offset ||
		    first + count * 2 > content.offset + blob->data.size())
			continue;
		const std::byte *source = blob->data.data() + (first - content.offset);
		for (size_t i = 0; i < count; i++) {
			uint16_t bits;
			std::memcpy(&bits, source + i * 2, 2);
			values[i] = halfToFloat(bits);
		}
		return values;
	}
	ADD_FAILURE() << "no constants at memory " << address.memory << " + " << first;
	return values;
}

FloatCube FloatNetwork::convolve(const nvdla_conv_op_desc &op,
				 const nvdla_conv_surface_desc &surface, const FloatCube &in) const
{
	EXPECT_EQ(op.conv_mode, NVDLA_CONV_MODE_DIRECT);
	EXPECT_EQ(op.data_format, NVDLA_FORMAT_FEATURE);
	EXPECT_EQ(op.weight_format, NVDLA_WEIGHT_UNCOMPRESSED);
	EXPECT_EQ(op.in_precision, NVDLA_PRECISION_FP16);

	const uint32_t kernels = surface.dst_data.channel;
	const uint32_t rows = op.kernel_height_csc, columns = op.kernel_width_csc;
	const std::vector<float> weights =
		constants(surface.weight_data, size_t{ kernels } * in.c * rows * columns);
	FloatCube out = cubeLike(surface.dst_data);
	size_t index = 0;

	forEachWeight(
		kernels, in.c, rows, columns, [&](uint32_t k, uint32_t c, uint32_t r, uint32_t s) {
			const float weight = weights[index++];
			for (uint32_t y = 0; y < out.h; y++) {
				for (uint32_t x = 0; x < out.w; x++) {
					const uint32_t iy = y * op.conv_stride_y + r - op.pad_y_top;
					const uint32_t ix =
						x * op.conv_stride_x + s - op.pad_x_left;
					/* Outside wraps around to large numbers: padding is zero.
					 */
					if (iy < in.h && ix < in.w)
						out.at(k, y, x) += weight * in.at(c, iy, ix);
				}
			}
		});
	return out;
}

FloatCube FloatNetwork::point(const nvdla_sdp_op_desc &op, const nvdla_sdp_surface_desc &surface,
			      FloatCube in) const
{
	EXPECT_FALSE(op.x2_op.enable && op.x2_op.type);
	EXPECT_FALSE(op.y_op.enable && op.y_op.type);
	if (!op.x1_op.enable)
		return in;

	std::vector<float> bias(in.c, 0.0f);
	if (op.x1_op.type) {
		EXPECT_EQ(op.x1_op.type, NVDLA_SDP_OP_ADD);
		EXPECT_EQ(op.x1_op.alu_type, NVDLA_ALU_SUM);
		EXPECT_EQ(op.x1_op.mode, NVDLA_SDP_PER_KERNEL);
		bias = constants(surface.x1_data, in.c);
	}
	for (uint32_t c = 0; c < in.c; c++) {
		for (uint32_t i = 0; i < in.h * in.w; i++) {
			float &value = in.data[size_t{ c } * in.h * in.w + i];
			value += bias[c];
			if (op.x1_op.act == NVDLA_ACT_RELU)
				value = std::max(value, 0.0f);
		}
	}
	return in;
}

FloatCube FloatNetwork::pool(const nvdla_pdp_op_desc &op, const nvdla_pair_surface_desc &surface,
			     const FloatCube &in) const
{
	EXPECT_EQ(op.pool_mode, NVDLA_POOL_MAX);
	FloatCube out = cubeLike(surface.dst_data);
	for (uint32_t c = 0; c < out.c; c++) {
		for (uint32_t y = 0; y < out.h; y++) {
			for (uint32_t x = 0; x < out.w; x++) {
				float best = -std::numeric_limits<float>::infinity();
				for (uint32_t r = 0; r <= op.pool_height; r++) {
					for (uint32_t s = 0; s <= op.pool_width; s++) {
						const uint32_t iy =
							y * op.stride_y + r - op.pad_top;
						const uint32_t ix =
							x * op.stride_x + s - op.pad_left;
						if (iy < in.h && ix < in.w)
							best = std::max(best, in.at(c, iy, ix));
					}
				}
				out.at(c, y, x) = best;
			}
		}
	}
	return out;
}

FloatCube FloatNetwork::run(FloatCube cube)
{
	/* The graph of these networks is a chain in the order of the lists. */
	for (size_t i = 0; i < task_.graph.size(); i++) {
		const nvdla_operation_desc &op = task_.operations[i];
		const nvdla_surface_desc &surface = task_.surfaces[i];
		switch (task_.graph[i].op_type) {
		case NVDLA_OP_CONV:
			cube = convolve(op.conv, surface.conv, cube);
			break;
		case NVDLA_OP_SDP:
			cube = point(op.sdp, surface.sdp, std::move(cube));
			break;
		case NVDLA_OP_PDP:
			cube = pool(op.pdp, surface.pdp, cube);
			break;
		default:
			ADD_FAILURE()
				<< "operation " << i << " is of type " << +task_.graph[i].op_type;
			return cube;
		}
	}
	return cube;
}

std::vector<float> softmax(const FloatCube &cube)
{
	std::vector<float> values = cube.data;
	const float largest = *std::max_element(values.begin(), values.end());
	for (float &value : values)
		value = std::exp(value - largest);
	const float sum = std::accumulate(values.begin(), values.end(), 0.0f);
	for (float &value : values)
		value /= sum;
	return values;
}

} /* namespace nvdla::test */
