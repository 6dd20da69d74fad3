/* SPDX-License-Identifier: MIT */
#include "task_builder.h"

#include <algorithm>
#include <cerrno>
#include <cstring>

namespace nvdla::test
{

namespace
{

constexpr unsigned int atomBytes = 32;

uint32_t divideUp(uint32_t value, uint32_t divisor)
{
	return (value + divisor - 1) / divisor;
}

/* The sizes that follow from others, for a kernel of kw * kh * kc bytes. */
void finishConv(nvdla_conv_op_desc &op, nvdla_conv_surface_desc &cubes)
{
	const unsigned int bytes = op.out_precision == NVDLA_PRECISION_INT8 ? 1 : 2;
	op.bytes_per_kernel =
		op.kernel_width_csc * op.kernel_height_csc * op.kernel_channel_csc * bytes;
	cubes.weight_data =
		weightCube(1, 0, divideUp(op.bytes_per_kernel * cubes.dst_data.channel, 128) * 128);
	op.input_width_cmac = cubes.dst_data.width;
	op.input_height_cmac = cubes.dst_data.height;
}

} /* namespace */

nvdla_data_cube featureCube(int16_t address, uint32_t offset, unsigned int width,
			    unsigned int height, unsigned int channels,
			    unsigned int bytesPerElement)
{
	nvdla_data_cube cube = {};
	cube.type = NVDLA_MEM_MC;
	cube.address = address;
	cube.offset = offset;
	cube.width = static_cast<uint16_t>(width);
	cube.height = static_cast<uint16_t>(height);
	cube.channel = static_cast<uint16_t>(channels);
	cube.line_stride = width * atomBytes;
	cube.surf_stride = height * cube.line_stride;
	cube.size = cube.surf_stride * divideUp(channels * bytesPerElement, atomBytes);
	return cube;
}

nvdla_data_cube streamCube(unsigned int width, unsigned int height, unsigned int channels,
			   unsigned int bytesPerElement)
{
	nvdla_data_cube cube = featureCube(-1, 0, width, height, channels, bytesPerElement);
	cube.type = NVDLA_MEM_HW;
	return cube;
}

nvdla_data_cube weightCube(int16_t address, uint32_t offset, uint32_t size)
{
	nvdla_data_cube cube = {};
	cube.type = NVDLA_MEM_MC;
	cube.address = address;
	cube.offset = offset;
	cube.size = size;
	return cube;
}

TaskBuilder::TaskBuilder() : variant(*nvdla_variant_nv_full())
{
	for (unsigned int i = 0; i <= cvsram; i++)
		extents.push_back({ address(i), extentBytes,
				    i == cvsram ? NVDLA_MEM_CV : NVDLA_MEM_MC, true });
}

size_t TaskBuilder::add(nvdla_op_type type)
{
	nvdla_graph_node node = {};
	node.index = static_cast<int16_t>(graph.size());
	node.op_type = static_cast<uint8_t>(type);
	for (nvdla_consumer &consumer : node.consumers)
		consumer.index = -1;
	node.fused_parent.index = -1;
	graph.push_back(node);

	operations.emplace_back();
	surfaces.emplace_back();
	std::memset(&operations.back(), 0, sizeof(operations.back()));
	std::memset(&surfaces.back(), 0, sizeof(surfaces.back()));
	return graph.size() - 1;
}

void TaskBuilder::edge(size_t node, size_t target, nvdla_event event)
{
	nvdla_consumer &consumer = graph[node].consumers[graph[target].op_type];
	consumer.index = static_cast<int16_t>(target);
	consumer.event = static_cast<uint8_t>(event);
}

void TaskBuilder::fuse(size_t producer, size_t consumer)
{
	edge(producer, consumer, NVDLA_EVENT_OP_PROGRAMMED);
	graph[consumer].fused_parent.index = static_cast<int16_t>(producer);
	graph[consumer].fused_parent.event = NVDLA_EVENT_OP_ENABLED;
}

size_t TaskBuilder::addBdma(unsigned int transfers)
{
	const size_t i = add(NVDLA_OP_BDMA);
	nvdla_bdma_surface_desc &surface = bdma(i);
	surface.src_type = NVDLA_MEM_MC;
	surface.dst_type = NVDLA_MEM_MC;
	surface.num_transfers = static_cast<uint16_t>(transfers);
	for (unsigned int t = 0; t < std::min(transfers, 20U); t++) {
		nvdla_bdma_transfer &transfer = surface.transfers[t];
		transfer.src_address = 0;
		transfer.dst_address = 2;
		transfer.line_size = 64;
		transfer.line_repeat = 2;
		transfer.src_line = 96;
		transfer.dst_line = 64;
		transfer.surf_repeat = 3;
		transfer.src_surf = 256;
		transfer.dst_surf = 128;
	}
	return i;
}

size_t TaskBuilder::addConv()
{
	const size_t i = add(NVDLA_OP_CONV);
	nvdla_conv_op_desc &op = conv(i);
	nvdla_conv_surface_desc &cubes = convCubes(i);

	op.entry_per_slice = 2;
	op.data_format = NVDLA_FORMAT_FEATURE;
	op.fetch_grain = 1;
	op.batch = 1;
	op.data_bank = 1;
	op.weight_bank = 1;
	op.release = 8;
	op.input_width_csc = 8;
	op.input_height_csc = 8;
	op.input_channel_csc = 32;
	op.kernel_width_csc = 3;
	op.kernel_height_csc = 3;
	op.kernel_channel_csc = 32;
	op.conv_stride_x = 1;
	op.conv_stride_y = 1;
	op.pad_x_left = 1;
	op.pad_x_right = 1;
	op.pad_y_top = 1;
	op.pad_y_bottom = 1;
	op.dilation_x = 1;
	op.dilation_y = 1;
	op.out_cvt.scale = 1;
	cubes.src_data = featureCube(0, 0, 8, 8, 32);
	cubes.dst_data = streamCube(8, 8, 32);
	finishConv(op, cubes);

	const size_t last = addSdp();
	sdpCubes(last).src_data = streamCube(8, 8, 32);
	fuse(i, last);
	return last;
}

void TaskBuilder::setChannels(size_t i, unsigned int channels)
{
	nvdla_conv_op_desc &op = conv(i);
	nvdla_conv_surface_desc &cubes = convCubes(i);
	const nvdla_data_cube in = cubes.src_data;
	const unsigned int atoms = divideUp(channels % 128, atomBytes);
	/* Columns share an entry where one leaves room for others. */
	const unsigned int columns = atoms == 1 ? 4 : atoms == 2 ? 2 : 1;

	op.input_channel_csc = op.kernel_channel_csc = static_cast<uint16_t>(channels);
	op.bytes_per_kernel = op.kernel_width_csc * op.kernel_height_csc * channels;
	op.entry_per_slice = static_cast<uint16_t>(channels / 128 * in.width +
						   (atoms ? divideUp(in.width, columns) : 0));
	cubes.src_data = featureCube(in.address, in.offset, in.width, in.height, channels);
	cubes.weight_data.size = divideUp(op.bytes_per_kernel * cubes.dst_data.channel, 128) * 128;
}

void TaskBuilder::setKernels(size_t i, unsigned int kernels)
{
	nvdla_conv_surface_desc &cubes = convCubes(i);
	const nvdla_data_cube out = cubes.dst_data;

	cubes.dst_data = streamCube(out.width, out.height, kernels);
	cubes.weight_data.size = divideUp(conv(i).bytes_per_kernel * kernels, 128) * 128;
	sdpCubes(i + 1).src_data = cubes.dst_data;
	sdpCubes(i + 1).x1_data = featureCube(1, 0x100000, 1, 1, kernels);
	sdpCubes(i + 1).dst_data = featureCube(2, 0, out.width, out.height, kernels);
}

size_t TaskBuilder::addWinograd()
{
	const size_t last = addConv();
	const size_t i = last - 1;
	nvdla_conv_op_desc &op = conv(i);
	nvdla_conv_surface_desc &cubes = convCubes(i);

	op.conv_mode = NVDLA_CONV_MODE_WINOGRAD;
	op.input_width_csc = 12;
	op.input_height_csc = 12;
	op.kernel_width_csc = 4;
	op.kernel_height_csc = 4;
	op.entry_per_slice = 3;
	op.release = 12;
	cubes.src_data = featureCube(0, 0, 10, 10, 32);
	finishConv(op, cubes);
	sdp(last).conv_mode = NVDLA_CONV_MODE_WINOGRAD;
	return last;
}

size_t TaskBuilder::addCompressed()
{
	const size_t last = addConv();
	nvdla_conv_op_desc &op = conv(last - 1);
	nvdla_conv_surface_desc &cubes = convCubes(last - 1);

	op.weight_format = NVDLA_WEIGHT_COMPRESSED;
	cubes.weight_data.size = 128;
	cubes.wmb_data = weightCube(1, 0x10000, 9 * 32 * 32 / 8);
	cubes.wmb_data.size = divideUp(cubes.wmb_data.size, 128) * 128;
	cubes.wgs_data = weightCube(1, 0x20000, 4);
	return last;
}

size_t TaskBuilder::addImage(unsigned int format)
{
	const size_t last = addConv();
	nvdla_conv_op_desc &op = conv(last - 1);
	nvdla_conv_surface_desc &cubes = convCubes(last - 1);
	/* A8B8G8R8 and Y8___U8V8_N444 are what tests use. */
	const unsigned int channels = format < 28 ? 4 : 3;

	op.data_format = static_cast<uint8_t>(format);
	op.input_channel_csc = static_cast<uint16_t>(channels);
	op.kernel_width_csc = 1;
	op.kernel_channel_csc = static_cast<uint16_t>(3 * channels);
	op.entry_per_slice = 1;
	cubes.src_data = featureCube(0, 0, 8, 8, channels);
	cubes.src_data.line_stride = 64;
	cubes.src_data.surf_stride = 0;
	if (channels == 3) {
		cubes.offset_u = 0x1000;
		cubes.in_line_uv_stride = 32;
	}
	finishConv(op, cubes);
	return last;
}

size_t TaskBuilder::addSdp()
{
	const size_t i = add(NVDLA_OP_SDP);
	nvdla_sdp_op_desc &op = sdp(i);
	nvdla_sdp_surface_desc &cubes = sdpCubes(i);

	op.lut_index = -1;
	op.batch_num = 1;
	op.out_cvt = { 1, 0, 1, 0 };
	op.x1_op.enable = 1;
	op.x1_op.alu_type = NVDLA_ALU_SUM;
	op.x1_op.type = NVDLA_SDP_OP_ADD;
	op.x1_op.mode = NVDLA_SDP_PER_KERNEL;
	op.x1_op.act = NVDLA_ACT_RELU;
	op.x1_op.precision = NVDLA_PRECISION_INT16;
	cubes.src_data = featureCube(0, 0, 8, 8, 32);
	cubes.x1_data = featureCube(1, 0x100000, 1, 1, 32);
	cubes.dst_data = featureCube(2, 0, 8, 8, 32);
	return i;
}

size_t TaskBuilder::addComparison()
{
	const size_t i = addSdp();

	sdp(i).x1_op = {};
	sdp(i).y_op.enable = 1;
	sdp(i).y_op.type = NVDLA_SDP_OP_ADD;
	sdp(i).y_op.alu_type = NVDLA_ALU_EQL;
	sdp(i).y_op.mode = NVDLA_SDP_PER_POINT;
	sdpCubes(i).y_data = featureCube(1, 0, 8, 8, 32);
	return i;
}

size_t TaskBuilder::addPdp()
{
	const size_t i = add(NVDLA_OP_PDP);
	nvdla_pdp_op_desc &op = pdp(i);

	op.split_num = 1;
	op.pool_mode = NVDLA_POOL_MAX;
	op.pool_width = 1;
	op.pool_height = 1;
	op.stride_x = 2;
	op.stride_y = 2;
	pdpCubes(i).src_data = featureCube(2, 0, 8, 8, 32);
	pdpCubes(i).dst_data = featureCube(3, 0, 4, 4, 32);
	return i;
}

size_t TaskBuilder::addSplitPdp()
{
	const size_t i = addPdp();
	nvdla_pdp_op_desc &op = pdp(i);

	/* A 3x3 kernel with stride 1 and a column of padding on both sides. */
	op.pool_width = 2;
	op.pool_height = 2;
	op.stride_x = 1;
	op.stride_y = 1;
	op.pad_left = 1;
	op.pad_right = 1;
	op.pad_top = 1;
	op.pad_bottom = 1;
	op.split_num = 3;
	op.partial_width_first = 32;
	op.partial_width_mid = 32;
	op.partial_width_last = 32;
	op.partial_in_width_first = 33;
	op.partial_in_width_mid = 32;
	op.partial_in_width_last = 31;
	pdpCubes(i).src_data = featureCube(2, 0, 96, 8, 32);
	pdpCubes(i).dst_data = featureCube(3, 0, 96, 8, 32);
	return i;
}

size_t TaskBuilder::addSdpPdp()
{
	const size_t producer = addSdp();
	const size_t consumer = addPdp();
	sdpCubes(producer).dst_data = streamCube(8, 8, 32);
	pdpCubes(consumer).src_data = streamCube(8, 8, 32);
	fuse(producer, consumer);
	return consumer;
}

size_t TaskBuilder::addCdp()
{
	const int16_t lut = addLut();
	const size_t i = add(NVDLA_OP_CDP);
	nvdla_cdp_op_desc &op = cdp(i);

	op.lut_index = lut;
	op.local_size = 5;
	op.in_cvt = { 1, 0, 1, 0 };
	op.out_cvt = { 1, 0, 1, 0 };
	cdpCubes(i).src_data = featureCube(2, 0, 8, 8, 32);
	cdpCubes(i).dst_data = featureCube(3, 0, 8, 8, 32);
	return i;
}

size_t TaskBuilder::addRubik(nvdla_rubik_mode mode)
{
	const size_t i = add(NVDLA_OP_RUBIK);
	nvdla_rubik_surface_desc &cubes = rubikCubes(i);

	nvdla_data_cube planar = featureCube(2, 0, 8, 8, 32);
	planar.line_stride = 64;
	planar.surf_stride = 0;
	planar.plane_stride = 512;

	rubik(i).mode = static_cast<uint8_t>(mode);
	cubes.src_data = featureCube(0, 0, 8, 8, 32);
	cubes.dst_data = featureCube(2, 0, 8, 8, 32);
	if (mode == NVDLA_RUBIK_CONTRACT) {
		rubik(i).stride_x = 2;
		rubik(i).stride_y = 2;
		cubes.src_data = featureCube(0, 0, 4, 4, 128);
	} else if (mode == NVDLA_RUBIK_SPLIT) {
		cubes.dst_data = planar;
	} else {
		cubes.src_data = planar;
		cubes.src_data.address = 0;
	}
	return i;
}

int16_t TaskBuilder::addLut()
{
	nvdla_lut_desc lut = {};
	for (size_t i = 0; i < NVDLA_LUT_LE_ENTRIES; i++)
		lut.le_table[i] = static_cast<int16_t>(luts.size() * 1000 + i);
	for (size_t i = 0; i < NVDLA_LUT_LO_ENTRIES; i++)
		lut.lo_table[i] = static_cast<int16_t>(luts.size() * 1000 + 100 + i);
	lut.le_end = 64;
	lut.lo_end = 256;
	lut.method = NVDLA_LUT_LINEAR;
	luts.push_back(lut);
	return static_cast<int16_t>(luts.size() - 1);
}

void TaskBuilder::useLut(size_t i)
{
	sdp(i).lut_index = addLut();
	sdp(i).y_op.enable = 1;
	sdp(i).y_op.act = NVDLA_ACT_LUT;
}

nvdla_task_source TaskBuilder::source() const
{
	nvdla_task_source source = {};
	source.graph = graph.data();
	source.operations = operations.data();
	source.surfaces = surfaces.data();
	source.luts = luts.data();
	source.extents = extents.data();
	source.num_operations = static_cast<uint32_t>(graph.size());
	source.num_luts = static_cast<uint32_t>(luts.size());
	source.num_extents = static_cast<uint32_t>(extents.size());
	source.flags = flags;
	return source;
}

Created TaskBuilder::create() const
{
	const nvdla_task_source description = source();
	Created created;
	nvdla_task *task = nullptr;

	created.result = nvdla_task_create(&variant, &description, &created.error, &task);
	created.task.reset(task);
	return created;
}

} /* namespace nvdla::test */
