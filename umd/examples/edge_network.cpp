/* SPDX-License-Identifier: MIT */
#include "edge_network.h"

#include <cstring>
#include <vector>

#include <fmt/format.h>
#include <nvdla/hw/descriptors.h>

#include "edge_filters.h"

namespace nvdla::examples
{

namespace
{

constexpr uint32_t pixelBytes = 4; /* A8B8G8R8 */
constexpr uint32_t kernelSide = 3;
constexpr uint32_t padding = 1;
constexpr uint32_t poolSide = 2;
constexpr uint32_t atomBytes = 32;
constexpr uint32_t cbufBanks = 16;
constexpr uint32_t cbufBankEntries = 256;
constexpr uint32_t cbufEntryBytes = 128;
constexpr uint32_t weightAlignment = 128;

/* Full contrast gives 16 * 127 in the accumulator; edges at a quarter of it saturate. */
constexpr uint8_t outputShift = 2;
/* What a filter has to exceed; keeps grain and gradients out. */
constexpr int16_t threshold = 48;

/* Addresses of the task; ids of memories are the same numbers. */
enum Place : int16_t {
	Root = 0,
	Constants,
	Picture,
	Filtered,
	Edges,
	Graph,
	Operations,
	Surfaces,
	Luts,
	Places,
};

constexpr uint32_t biasOffset = 4096;
constexpr uint32_t constantBytes = 2 * 4096;

uint32_t roundUp(uint32_t value, uint32_t step)
{
	return (value + step - 1) / step * step;
}

template<typename T>
std::vector<std::byte> bytesOf(const std::vector<T> &values)
{
	const auto *raw = reinterpret_cast<const std::byte *>(values.data());
	return std::vector<std::byte>(raw, raw + values.size() * sizeof(T));
}

class EdgeNetwork
{
public:
	explicit EdgeNetwork(const EdgeNetworkSize &size)
		: w_(size.width), h_(size.height), line_(roundUp(w_ * pixelBytes, atomBytes)),
		  filtered_(TensorDesc::packedFeature("filtered", DataType::Int8, edgeDirections,
						      h_, w_)),
		  edges_(TensorDesc::packedFeature("edges", DataType::Int8, edgeDirections,
						   h_ / poolSide, w_ / poolSide))
	{
	}

	Loadable build() const
	{
		Loadable loadable;
		addMemories(loadable);
		addTensors(loadable);
		addDescriptors(loadable);
		loadable.tasks.push_back({ 0, Interface::Dla1, -1, {}, {}, { 0 } });
		for (uint16_t place = 0; place < Places; place++)
			loadable.tasks[0].addressList.push_back(place);
		loadable.submits.push_back({ 0, { 0 } });
		loadable.events.push_back({ 0, 0, 0, 1, 1 });
		return loadable;
	}

	/* The buffer holds a line of the picture with its padding. */
	uint32_t entriesPerSlice() const
	{
		return ((w_ + 2 * padding) * pixelBytes + cbufEntryBytes - 1) / cbufEntryBytes;
	}

	uint32_t dataBanks() const
	{
		return (entriesPerSlice() * h_ + cbufBankEntries - 1) / cbufBankEntries;
	}

private:
	void addMemories(Loadable &loadable) const;
	void addTensors(Loadable &loadable) const;
	void addDescriptors(Loadable &loadable) const;
	void addContent(Loadable &loadable, Place place, const char *name, uint32_t subInterface,
			std::vector<std::byte> data) const;

	std::vector<std::byte> constants() const;
	std::vector<nvdla_graph_node> graph() const;
	nvdla_conv_op_desc convolution() const;
	nvdla_conv_surface_desc convolutionSurfaces() const;
	nvdla_sdp_op_desc activation() const;
	nvdla_sdp_surface_desc activationSurfaces() const;
	nvdla_pdp_op_desc pooling() const;
	nvdla_pdp_surface_desc poolingSurfaces() const;

	uint32_t w_;
	uint32_t h_;
	uint32_t line_;
	TensorDesc filtered_;
	TensorDesc edges_;
};

nvdla_data_cube featureCube(const TensorDesc &desc, nvdla_mem_type type, int16_t address)
{
	nvdla_data_cube cube = {};

	cube.type = type;
	cube.address = address;
	cube.size = static_cast<__u32>(desc.size);
	cube.width = static_cast<__u16>(desc.w);
	cube.height = static_cast<__u16>(desc.h);
	cube.channel = static_cast<__u16>(desc.c);
	cube.line_stride = desc.lineStride;
	cube.surf_stride = desc.surfaceStride;
	return cube;
}

/*
 * Image weights ("Basic Weight for image input"): the three pixels of a kernel
 * line count as channels of one, so the order is line, kernel, pixel, channel.
 */
std::vector<std::byte> EdgeNetwork::constants() const
{
	std::vector<int8_t> weights;
	for (uint32_t line = 0; line < kernelSide; line++) {
		for (uint32_t direction = 0; direction < edgeDirections; direction++) {
			for (uint32_t pixel = 0; pixel < kernelSide; pixel++) {
				for (uint32_t channel = 0; channel < pixelBytes; channel++)
					weights.push_back(static_cast<int8_t>(
						compassFilter(direction, line, pixel) *
						luminance[channel]));
			}
		}
	}
	std::vector<std::byte> bytes = bytesOf(weights);
	bytes.resize(constantBytes);

	const std::vector<std::byte> bias =
		bytesOf(std::vector<int16_t>(edgeDirections, -threshold));
	std::memcpy(bytes.data() + biasOffset, bias.data(), bias.size());
	return bytes;
}

void EdgeNetwork::addContent(Loadable &loadable, Place place, const char *name,
			     uint32_t subInterface, std::vector<std::byte> data) const
{
	Memory &memory = loadable.memories[place];

	memory.flags = MemoryAlloc | MemorySet;
	memory.size = data.size();
	memory.contents.push_back({ name, 0 });
	loadable.addresses[place].size = data.size();

	Blob blob;
	blob.name = name;
	blob.data = std::move(data);
	if (subInterface) {
		blob.interface = Interface::Dla1;
		blob.subInterface = subInterface;
		blob.version = { 0, 12, 3 };
	}
	loadable.blobs.push_back(std::move(blob));
}

void EdgeNetwork::addMemories(Loadable &loadable) const
{
	for (uint16_t place = 0; place < Places; place++) {
		Memory memory;
		memory.id = place;
		memory.flags = MemoryAlloc;
		memory.alignment = 4096;
		memory.size = 4096;
		loadable.memories.push_back(memory);
		loadable.addresses.push_back({ place, place, 0, memory.size });
	}
	auto setSize = [&](Place place, uint64_t size) {
		loadable.memories[place].size = size;
		loadable.addresses[place].size = size;
	};
	setSize(Picture, uint64_t{ line_ } * h_);
	setSize(Filtered, filtered_.size);
	setSize(Edges, edges_.size);
	loadable.memories[Picture].flags = MemoryAlloc | MemoryInput;
	loadable.memories[Edges].flags = MemoryAlloc | MemoryOutput;
	loadable.memories[Edges].tensorDescId = 1;
	addContent(loadable, Constants, "weights and bias", 0, constants());
}

void EdgeNetwork::addTensors(Loadable &loadable) const
{
	TensorEntry picture;
	picture.id = 0;
	picture.memId = Picture;
	picture.size = uint64_t{ line_ } * h_;
	picture.dataFormat = 2; /* NHWC */
	picture.dataType = static_cast<uint8_t>(DataType::Int8);
	picture.dataCategory = 0; /* image */
	picture.pixelFormat = static_cast<uint8_t>(PixelFormat::A8B8G8R8);
	picture.name = "picture";
	picture.n = 1;
	picture.c = pixelBytes;
	picture.h = static_cast<int32_t>(h_);
	picture.w = static_cast<int32_t>(w_);
	picture.stride[0] = 1;
	picture.stride[1] = line_;
	loadable.tensors.push_back(picture);

	TensorEntry edges;
	edges.id = 1;
	edges.memId = Edges;
	edges.size = edges_.size;
	edges.dataFormat = 3; /* NCxHWx */
	edges.dataType = static_cast<uint8_t>(DataType::Int8);
	edges.dataCategory = 2; /* feature */
	edges.pixelFormat = static_cast<uint8_t>(PixelFormat::Feature);
	edges.name = edges_.name;
	edges.n = 1;
	edges.c = static_cast<int32_t>(edges_.c);
	edges.h = static_cast<int32_t>(edges_.h);
	edges.w = static_cast<int32_t>(edges_.w);
	edges.stride[0] = 1;
	edges.stride[1] = edges_.lineStride;
	edges.stride[2] = edges_.surfaceStride;
	loadable.tensors.push_back(edges);
}

/* Convolution and SDP are one fused operation; PDP waits until it has completed. */
std::vector<nvdla_graph_node> EdgeNetwork::graph() const
{
	std::vector<nvdla_graph_node> nodes(3);
	const uint8_t types[] = { NVDLA_OP_CONV, NVDLA_OP_SDP, NVDLA_OP_PDP };

	for (size_t i = 0; i < nodes.size(); i++) {
		nodes[i].index = static_cast<__s16>(i);
		nodes[i].op_type = types[i];
		nodes[i].dependency_count = 1;
		for (unsigned type = 0; type < NVDLA_NUM_OP_TYPES; type++)
			nodes[i].consumers[type].index = -1;
		nodes[i].fused_parent.index = -1;
	}
	nodes[0].consumers[NVDLA_OP_SDP] = { 1, NVDLA_EVENT_OP_PROGRAMMED, 0 };
	nodes[1].fused_parent = { 0, NVDLA_EVENT_OP_ENABLED, 0 };
	nodes[1].consumers[NVDLA_OP_PDP] = { 2, NVDLA_EVENT_OP_COMPLETED, 0 };
	return nodes;
}

nvdla_conv_op_desc EdgeNetwork::convolution() const
{
	nvdla_conv_op_desc conv = {};

	conv.conv_mode = NVDLA_CONV_MODE_DIRECT;
	conv.data_format = static_cast<__u8>(PixelFormat::A8B8G8R8);
	conv.pixel_override = 1; /* signed */
	conv.entry_per_slice = static_cast<__u16>(entriesPerSlice());
	conv.data_bank = static_cast<__u8>(dataBanks());
	conv.weight_bank = 1;
	conv.fetch_grain = 1;
	conv.release = static_cast<__u16>(h_);
	conv.batch = 1;
	conv.input_width_csc = static_cast<__u16>(w_);
	conv.input_height_csc = static_cast<__u16>(h_);
	conv.input_channel_csc = pixelBytes;
	conv.kernel_width_csc = 1;
	conv.kernel_height_csc = kernelSide;
	conv.kernel_channel_csc = kernelSide * pixelBytes;
	conv.input_width_cmac = static_cast<__u16>(w_);
	conv.input_height_cmac = static_cast<__u16>(h_);
	conv.bytes_per_kernel = kernelSide * kernelSide * pixelBytes;
	conv.conv_stride_x = 1;
	conv.conv_stride_y = 1;
	conv.pad_x_left = padding;
	conv.pad_x_right = padding;
	conv.pad_y_top = padding;
	conv.pad_y_bottom = padding;
	conv.dilation_x = 1;
	conv.dilation_y = 1;
	conv.in_precision = NVDLA_PRECISION_INT8;
	conv.out_precision = NVDLA_PRECISION_INT8;
	conv.in_cvt = { 1, 0, 1, 0 };
	conv.out_cvt = { 1, 0, 1, 0 };
	return conv;
}

nvdla_conv_surface_desc EdgeNetwork::convolutionSurfaces() const
{
	nvdla_conv_surface_desc surfaces = {};

	surfaces.weight_data.type = NVDLA_MEM_MC;
	surfaces.weight_data.address = Constants;
	surfaces.weight_data.size =
		roundUp(edgeDirections * kernelSide * kernelSide * pixelBytes, weightAlignment);
	surfaces.weight_data.width = 1;
	surfaces.weight_data.height = kernelSide;
	surfaces.weight_data.channel = kernelSide * pixelBytes;

	surfaces.src_data.type = NVDLA_MEM_MC;
	surfaces.src_data.address = Picture;
	surfaces.src_data.size = line_ * h_;
	surfaces.src_data.width = static_cast<__u16>(w_);
	surfaces.src_data.height = static_cast<__u16>(h_);
	surfaces.src_data.channel = pixelBytes;
	surfaces.src_data.line_stride = line_;
	surfaces.dst_data = featureCube(filtered_, NVDLA_MEM_HW, -1);
	return surfaces;
}

nvdla_sdp_op_desc EdgeNetwork::activation() const
{
	nvdla_sdp_op_desc sdp = {};

	sdp.src_precision = NVDLA_PRECISION_INT8;
	sdp.dst_precision = NVDLA_PRECISION_INT8;
	sdp.lut_index = -1;
	sdp.out_cvt = { 1, outputShift, 1, 0 };
	sdp.batch_num = 1;
	sdp.x1_op.enable = 1;
	sdp.x1_op.alu_type = NVDLA_ALU_SUM;
	sdp.x1_op.type = NVDLA_SDP_OP_ADD;
	sdp.x1_op.mode = NVDLA_SDP_PER_KERNEL;
	sdp.x1_op.act = NVDLA_ACT_RELU;
	sdp.x1_op.precision = NVDLA_PRECISION_INT16;
	return sdp;
}

nvdla_sdp_surface_desc EdgeNetwork::activationSurfaces() const
{
	nvdla_sdp_surface_desc surfaces = {};
	/* One 16-bit operand per output channel, whole atoms of 32 channels. */
	constexpr uint32_t operandBytes = atomBytes * sizeof(int16_t);

	surfaces.src_data = featureCube(filtered_, NVDLA_MEM_HW, -1);
	surfaces.x1_data.type = NVDLA_MEM_MC;
	surfaces.x1_data.address = Constants;
	surfaces.x1_data.offset = biasOffset;
	surfaces.x1_data.size = edgeDirections * sizeof(int16_t);
	surfaces.x1_data.width = 1;
	surfaces.x1_data.height = 1;
	surfaces.x1_data.channel = edgeDirections;
	surfaces.x1_data.line_stride = operandBytes;
	surfaces.x1_data.surf_stride = operandBytes;
	surfaces.dst_data = featureCube(filtered_, NVDLA_MEM_MC, Filtered);
	return surfaces;
}

nvdla_pdp_op_desc EdgeNetwork::pooling() const
{
	nvdla_pdp_op_desc pdp = {};

	pdp.split_num = 1;
	pdp.pool_mode = NVDLA_POOL_MAX;
	pdp.pool_width = poolSide - 1;
	pdp.pool_height = poolSide - 1;
	pdp.stride_x = poolSide;
	pdp.stride_y = poolSide;
	pdp.precision = NVDLA_PRECISION_INT8;
	return pdp;
}

nvdla_pdp_surface_desc EdgeNetwork::poolingSurfaces() const
{
	return { featureCube(filtered_, NVDLA_MEM_MC, Filtered),
		 featureCube(edges_, NVDLA_MEM_MC, Edges) };
}

void EdgeNetwork::addDescriptors(Loadable &loadable) const
{
	nvdla_network_desc root = {};
	root.operation_desc_index = Operations;
	root.surface_desc_index = Surfaces;
	root.dependency_graph_index = Graph;
	root.lut_data_index = Luts;
	root.roi_array_index = -1;
	root.surface_index = -1;
	root.stat_list_index = -1;
	for (unsigned type = 0; type < NVDLA_NUM_OP_TYPES; type++)
		root.op_head[type] = -1;
	root.op_head[NVDLA_OP_CONV] = 0;
	root.op_head[NVDLA_OP_SDP] = 1;
	root.op_head[NVDLA_OP_PDP] = 2;
	root.num_rois = 1;
	root.num_operations = 3;
	root.num_addresses = Places;

	std::vector<nvdla_operation_desc> operations(3);
	operations[0].conv = convolution();
	operations[1].sdp = activation();
	operations[2].pdp = pooling();
	std::vector<nvdla_surface_desc> surfaces(3);
	surfaces[0].conv = convolutionSurfaces();
	surfaces[1].sdp = activationSurfaces();
	surfaces[2].pdp = poolingSurfaces();

	addContent(loadable, Root, "task-0-addr0", DlaAddr0,
		   bytesOf(std::vector<nvdla_network_desc>{ root }));
	addContent(loadable, Graph, "task-0-dep_graph", DlaDeps, bytesOf(graph()));
	addContent(loadable, Operations, "task-0-op_list", DlaOps, bytesOf(operations));
	addContent(loadable, Surfaces, "task-0-surf_list", DlaSurfs, bytesOf(surfaces));
	addContent(loadable, Luts, "task-0-lut_list", DlaLuts,
		   bytesOf(std::vector<nvdla_lut_desc>(1)));
}

} /* namespace */

Result<Loadable> edgeNetwork(const EdgeNetworkSize &size)
{
	constexpr const char *what = "make example network";
	constexpr uint32_t smallest = 16;
	/* PDP keeps a line of results; without splitting, 128 pixels of INT8 fit. */
	constexpr uint32_t largest = 256;

	for (uint32_t side : { size.width, size.height }) {
		if (side < smallest || side > largest || side % poolSide)
			return fail(ErrorCode::InvalidArgument, what, "size",
				    fmt::format("{} x {}: sides have to be even, {} to {}",
						size.width, size.height, smallest, largest));
	}
	const EdgeNetwork network(size);
	if (network.dataBanks() + 1 > cbufBanks)
		return fail(ErrorCode::InvalidArgument, what, "size",
			    fmt::format("{} x {} needs {} banks of the convolution buffer, it has "
					"{}",
					size.width, size.height, network.dataBanks() + 1,
					cbufBanks));
	return network.build();
}

} /* namespace nvdla::examples */
