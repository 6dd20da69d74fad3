/* SPDX-License-Identifier: MIT */
#include "test_support.h"

#include <algorithm>
#include <cstdlib>
#include <iterator>
#include <random>

#include <fmt/format.h>

#include "loadable/operation_list.h"
#include "reference_data.h"

namespace nvdla::test
{

std::optional<std::filesystem::path> findReference()
{
	const std::filesystem::path path = referenceData();

	if (std::filesystem::is_directory(path / "loadables"))
		return path;
	return std::nullopt;
}

std::string devicePath()
{
	const char *path = std::getenv("NVDLA_DEVICE");

	return path ? path : Device::embeddedPath;
}

std::string fastDevicePath()
{
	const std::string path = devicePath();

	return path == Device::embeddedPath ? path + ":fp16=fast" : path;
}

Device openDevice()
{
	auto device = Device::open(devicePath());

	EXPECT_TRUE(device) << device.error().message();
	return *device;
}

Device openEmbedded()
{
	auto device = Device::open(Device::embeddedPath);

	EXPECT_TRUE(device) << device.error().message();
	return *device;
}

bool has(std::string_view text, std::string_view part)
{
	return text.find(part) != std::string_view::npos;
}

std::vector<std::filesystem::path> referenceLoadables(const std::filesystem::path &reference)
{
	std::vector<std::filesystem::path> paths;
	std::filesystem::recursive_directory_iterator files(reference / "loadables");

	for (const auto &file : files) {
		const std::string name = file.path().filename().string();
		if (name.ends_with("_fbuf") || name.ends_with(".nvdla"))
			paths.push_back(file.path());
	}
	std::sort(paths.begin(), paths.end());
	return paths;
}

uint16_t LoadableBuilder::memory(uint64_t size, uint16_t flags)
{
	const auto id = static_cast<uint16_t>(loadable.memories.size());
	Memory memory;

	memory.id = id;
	memory.flags = flags;
	memory.size = size;
	memory.alignment = 4096;
	loadable.memories.push_back(memory);
	loadable.addresses.push_back({ id, id, 0, size });
	return id;
}

uint16_t LoadableBuilder::content(const std::string &name, std::vector<std::byte> data,
				  Interface interface, Version version)
{
	const uint16_t id = memory(data.size(), MemoryAlloc | MemorySet);

	loadable.memories.back().contents.push_back({ name, 0 });
	loadable.blobs.push_back({ name, interface, 0, version, std::move(data) });
	return id;
}

uint16_t LoadableBuilder::tensor(const TensorDesc &desc, MemoryFlags direction)
{
	const uint16_t id = memory(desc.size, MemoryAlloc | direction);
	const auto count =
		std::count_if(loadable.memories.begin(), loadable.memories.end() - 1,
			      [&](const Memory &memory) { return memory.flags & direction; });
	TensorEntry entry;

	entry.id = static_cast<uint16_t>(loadable.tensors.size());
	entry.memId = id;
	entry.size = desc.size;
	entry.dataFormat = 3;
	entry.dataType = static_cast<uint8_t>(desc.type);
	entry.dataCategory = 2;
	entry.pixelFormat = static_cast<uint8_t>(desc.format);
	entry.name = desc.name;
	entry.n = static_cast<int32_t>(desc.n);
	entry.c = static_cast<int32_t>(desc.c);
	entry.h = static_cast<int32_t>(desc.h);
	entry.w = static_cast<int32_t>(desc.w);
	entry.stride[0] = static_cast<uint32_t>(elementBytes(desc.type));
	entry.stride[1] = desc.lineStride;
	entry.stride[2] = desc.surfaceStride;
	entry.stride[3] = desc.lineStrideUv;
	loadable.memories.back().bindId = static_cast<uint16_t>(count);
	loadable.memories.back().tensorDescId = entry.id;
	loadable.tensors.push_back(entry);
	return id;
}

uint16_t LoadableBuilder::task(Interface interface, std::vector<uint16_t> addresses)
{
	const auto id = static_cast<uint16_t>(loadable.tasks.size());

	loadable.tasks.push_back({ id, interface, -1, std::move(addresses), {}, {} });
	loadable.submits.push_back({ id, { id } });
	return id;
}

uint16_t DlaDescriptors::addTo(LoadableBuilder &builder, std::vector<uint16_t> data) const
{
	const auto first = static_cast<int16_t>(data.size() + 1);
	const size_t number = builder.loadable.tasks.size();
	nvdla_network_desc root = network;

	root.dependency_graph_index = first;
	root.operation_desc_index = static_cast<int16_t>(first + 1);
	root.surface_desc_index = static_cast<int16_t>(first + 2);
	root.lut_data_index = luts.empty() ? int16_t{ -1 } : static_cast<int16_t>(first + 3);
	root.roi_array_index = -1;
	root.surface_index = -1;
	root.stat_list_index = -1;
	root.num_operations = static_cast<uint16_t>(graph.size());
	root.num_luts = static_cast<uint16_t>(luts.size());

	auto list = [&](const char *name, std::vector<std::byte> bytes) {
		return builder.content(fmt::format("task-{}-{}", number, name), std::move(bytes),
				       Interface::Dla1, version);
	};
	std::vector<uint16_t> addresses{ list("addr0", bytesOf(root)) };
	addresses.insert(addresses.end(), data.begin(), data.end());
	addresses.push_back(list("dep_graph", bytesOf(graph)));
	addresses.push_back(list("op_list", operationList(operations, version)));
	addresses.push_back(list("surf_list", bytesOf(surfaces)));
	if (!luts.empty())
		addresses.push_back(list("lut_list", bytesOf(luts)));
	return builder.task(Interface::Dla1, std::move(addresses));
}

nvdla_graph_node graphNode(nvdla_op_type type)
{
	nvdla_graph_node node = {};

	node.op_type = type;
	for (unsigned engine = 0; engine < NVDLA_NUM_OP_TYPES; engine++)
		node.consumers[engine].index = -1;
	node.fused_parent.index = -1;
	return node;
}

namespace
{

/* A task that copies \a lines lines of 32 bytes from address 1 to address 2. */
DlaDescriptors copyTask(uint32_t lines)
{
	DlaDescriptors task;
	nvdla_operation_desc operation = {};
	nvdla_surface_desc surface = {};
	nvdla_bdma_transfer &transfer = surface.bdma.transfers[0];

	operation.bdma.num_transfers = 1;
	surface.bdma.num_transfers = 1;
	transfer.src_address = 1;
	transfer.dst_address = 2;
	transfer.line_size = 32;
	transfer.line_repeat = lines;
	transfer.src_line = 32;
	transfer.dst_line = 32;
	transfer.surf_repeat = 1;
	transfer.src_surf = 32 * lines;
	transfer.dst_surf = 32 * lines;
	task.graph.push_back(graphNode(NVDLA_OP_BDMA));
	task.operations.push_back(operation);
	task.surfaces.push_back(surface);
	return task;
}

} /* namespace */

Loadable copyLoadable(const std::vector<std::byte> &input)
{
	LoadableBuilder builder;
	const uint16_t from = builder.content("source", input);
	const auto lines = static_cast<uint32_t>(input.size() / 32);
	const uint16_t to = builder.tensor(
		TensorDesc::packedFeature("copy", DataType::Int8, 32, 1, lines), MemoryOutput);

	copyTask(lines).addTo(builder, { from, to });
	return builder.loadable;
}

Loadable passLoadable(TensorDesc desc)
{
	LoadableBuilder builder;
	desc.name = "in";
	const uint16_t in = builder.tensor(desc, MemoryInput);
	desc.name = "out";
	const uint16_t out = builder.tensor(desc, MemoryOutput);

	copyTask(static_cast<uint32_t>(desc.size / 32)).addTo(builder, { in, out });
	return builder.loadable;
}

Loadable passLoadable(uint32_t channels, uint32_t width)
{
	return passLoadable(TensorDesc::packedFeature("", DataType::Int8, channels, 1, width));
}

std::vector<std::byte> pattern(size_t size, unsigned seed)
{
	std::mt19937 random(seed);
	std::vector<std::byte> bytes(size);

	for (std::byte &byte : bytes)
		byte = std::byte(random() & 0xff);
	return bytes;
}

} /* namespace nvdla::test */
