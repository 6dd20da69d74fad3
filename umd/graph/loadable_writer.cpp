/* SPDX-License-Identifier: MIT */
#include <algorithm>
#include <cstring>
#include <map>
#include <set>

#include <fmt/core.h>

#include "assembler.h"
#include "loadable/cubes.h"
#include "loadable/emu_lists.h"
#include "loadable/entries.h"
#include "loadable/network_descriptor.h"
#include "loadable/operation_list.h"

namespace nvdla::assembly
{

namespace
{

constexpr Version emuVersion{ 0, 0, 1 };
constexpr uint32_t listAlignment = 4096;

template<typename T>
std::vector<std::byte> bytesOf(const std::vector<T> &values)
{
	std::vector<std::byte> bytes(values.size() * sizeof(T));

	if (!bytes.empty())
		std::memcpy(bytes.data(), values.data(), bytes.size());
	return bytes;
}

/* Returns the member that names the look-up table of an operation of CDP or SDP. */
__s16 &tableOf(nvdla_op_type type, nvdla_operation_desc &operation)
{
	return type == NVDLA_OP_CDP ? operation.cdp.lut_index : operation.sdp.lut_index;
}

/* Values of the schema of NVDLA's file format, loadable.fbs. */
enum TensorCategory : uint8_t { ImageCategory = 0, FeatureCategory = 2, PlanarCategory = 3 };
enum TensorOrder : uint8_t { Nchw = 1, Nhwc = 2, NcxHwx = 3 };

class Writer
{
public:
	explicit Writer(const Assembled &assembled) : plan_(assembled.plan), assembled_(assembled)
	{
	}

	Result<Loadable> write();

private:
	void writeMemories();
	void writeTensors(const std::vector<const SurfaceState *> &surfaces);
	Result<void> writeCoreTask(const TaskRange &range);
	void writeCpuTask(const TaskRange &range);
	void writeTask(Interface interface, const TaskRange &range,
		       std::vector<uint16_t> addresses);

	/* Regions of the task's address table from index 1 on; index 0: network descriptor. */
	std::vector<int> regionsOf(const TaskRange &range) const;
	std::vector<uint16_t> dataAddresses(const std::vector<int> &regions) const;
	DlaTask coreTask(const TaskRange &range, const std::vector<int> &regions) const;
	/*
	 * Adds a list of descriptors, with a memory and an address of its own; returns the
	 * address's id.
	 */
	uint16_t list(const char *name, Interface interface, uint32_t subInterface,
		      std::vector<std::byte> data);

	Version coreVersion_ = compilersVersion; /**< version of the current task's lists */

	const Plan &plan_;
	const Assembled &assembled_;
	Loadable loadable_;
};

void Writer::writeMemories()
{
	loadable_.memories = assembled_.memories;
	for (const Region &region : plan_.regions) {
		loadable_.addresses.push_back({ static_cast<uint16_t>(loadable_.addresses.size()),
						region.memory, region.offset, region.bytes });
		if (region.kind != RegionKind::Constant)
			continue;
		Blob blob;
		const auto &contents = loadable_.memories[region.memory].contents;
		blob.name = std::find_if(contents.begin(), contents.end(),
					 [&](const MemoryContent &content) {
						 return content.offset == region.offset;
					 })
				    ->blob;
		loadable_.blobs.push_back(std::move(blob));
	}
}

void Writer::writeTensors(const std::vector<const SurfaceState *> &surfaces)
{
	uint16_t bindId = 0;

	for (const SurfaceState *surface : surfaces) {
		const TensorDesc &desc = surface->desc;
		const bool feature = isFeature(desc.format);
		const Region &region = plan_.regions[static_cast<size_t>(surface->region)];
		TensorEntry entry = tensorEntry(desc);

		entry.id = static_cast<uint16_t>(loadable_.tensors.size());
		entry.memId = region.memory;
		entry.offset = region.offset;
		entry.dataFormat = feature ? NcxHwx : surface->planar ? Nchw : Nhwc;
		entry.dataCategory = feature	       ? FeatureCategory
				     : surface->planar ? PlanarCategory
						       : ImageCategory;
		loadable_.memories[region.memory].bindId = bindId++;
		loadable_.memories[region.memory].tensorDescId = entry.id;
		loadable_.tensors.push_back(std::move(entry));
	}
}

std::vector<int> Writer::regionsOf(const TaskRange &range) const
{
	std::set<int> regions;

	for (size_t i = range.first; i < range.last; i++) {
		regions.insert(plan_.nodes[i].reads.begin(), plan_.nodes[i].reads.end());
		regions.insert(plan_.nodes[i].writes.begin(), plan_.nodes[i].writes.end());
	}
	return { regions.begin(), regions.end() };
}

/* Regions get the loadable's first addresses, so a region's index is the id of its address. */
std::vector<uint16_t> Writer::dataAddresses(const std::vector<int> &regions) const
{
	return { regions.begin(), regions.end() };
}

/*
 * Converts addressOf() a region to its index in the task's address table; values up to 0 stay as
 * they are.
 */
int16_t positionOf(const std::vector<int> &regions, int address)
{
	if (address <= 0)
		return static_cast<int16_t>(address);
	const auto found =
		std::lower_bound(regions.begin(), regions.end(), address,
				 [](int region, int wanted) { return addressOf(region) < wanted; });
	return static_cast<int16_t>(found - regions.begin() + 1);
}

uint16_t Writer::list(const char *name, Interface interface, uint32_t subInterface,
		      std::vector<std::byte> data)
{
	Memory memory;
	Blob blob;

	blob.name = fmt::format("task-{}-{}", loadable_.tasks.size(), name);
	blob.interface = interface;
	blob.subInterface = subInterface;
	blob.version = interface == Interface::Dla1 ? coreVersion_ : emuVersion;
	memory.id = static_cast<uint16_t>(loadable_.memories.size());
	memory.flags = MemoryAlloc | MemorySet;
	memory.size = data.size();
	memory.alignment = listAlignment;
	memory.contents.push_back({ blob.name, 0 });
	blob.data = std::move(data);

	const auto id = static_cast<uint16_t>(loadable_.addresses.size());
	loadable_.addresses.push_back({ id, memory.id, 0, memory.size });
	loadable_.memories.push_back(std::move(memory));
	loadable_.blobs.push_back(std::move(blob));
	return id;
}

DlaTask Writer::coreTask(const TaskRange &range, const std::vector<int> &regions) const
{
	DlaTask task;
	std::map<int, size_t> tables; /* a table's index in the task, by its index in the plan */

	task.addresses.emplace_back();
	for (int region : regions) {
		const Region &from = plan_.regions[static_cast<size_t>(region)];
		task.addresses.push_back({ from.memory, from.offset, from.bytes, true });
	}
	for (size_t i = range.first; i < range.last; i++) {
		const Node &node = plan_.nodes[i];
		nvdla_surface_desc surface = node.surface;
		forEachAddress(node.type, surface,
			       [&](__s16 &address) { address = positionOf(regions, address); });
		task.operations.push_back(node.operation);
		task.surfaces.push_back(surface);
		if (node.lut == none)
			continue;
		const auto [table, isNew] = tables.try_emplace(node.lut, task.luts.size());
		if (isNew)
			task.luts.push_back(plan_.luts[static_cast<size_t>(node.lut)]);
		tableOf(node.type, task.operations.back()) = static_cast<__s16>(table->second);
	}
	return task;
}

Result<void> Writer::writeCoreTask(const TaskRange &range)
{
	const std::vector<int> regions = regionsOf(range);
	DlaTask task = coreTask(range, regions);
	auto graph = connect(plan_, range, assembled_.edges);
	if (!graph)
		return forward(graph);
	task.graph = std::move(*graph);
	if (auto judged = judge(assembled_.core, plan_, range, task); !judged)
		return judged;

	const auto first = static_cast<int16_t>(task.addresses.size());
	nvdla_network_desc root = {};
	root.dependency_graph_index = first;
	root.operation_desc_index = static_cast<int16_t>(first + 1);
	root.surface_desc_index = static_cast<int16_t>(first + 2);
	root.lut_data_index = task.luts.empty() ? int16_t{ none } : static_cast<int16_t>(first + 3);
	root.roi_array_index = none;
	root.surface_index = none;
	root.stat_list_index = none;
	for (unsigned type = 0; type < NVDLA_NUM_OP_TYPES; type++) {
		const auto head = std::find_if(
			task.graph.begin(), task.graph.end(),
			[&](const nvdla_graph_node &node) { return node.op_type == type; });
		root.op_head[type] = head == task.graph.end() ? int16_t{ none } : head->index;
	}
	root.num_rois = 1;
	root.num_operations = static_cast<uint16_t>(task.graph.size());
	root.num_luts = static_cast<uint16_t>(task.luts.size());
	root.num_addresses = static_cast<uint16_t>(first + (task.luts.empty() ? 3 : 4));

	coreVersion_ = versionFor(task.operations);
	std::vector<uint16_t> addresses{ list("addr0", Interface::Dla1, DlaAddr0,
					      bytesOf(std::vector{ root })) };
	for (uint16_t address : dataAddresses(regions))
		addresses.push_back(address);
	addresses.push_back(list("dep_graph", Interface::Dla1, DlaDeps, bytesOf(task.graph)));
	addresses.push_back(list("op_list", Interface::Dla1, DlaOps,
				 operationList(task.operations, coreVersion_)));
	addresses.push_back(list("surf_list", Interface::Dla1, DlaSurfs, bytesOf(task.surfaces)));
	if (!task.luts.empty())
		addresses.push_back(list("lut_list", Interface::Dla1, DlaLuts, bytesOf(task.luts)));
	writeTask(Interface::Dla1, range, std::move(addresses));
	return {};
}

void Writer::writeCpuTask(const TaskRange &range)
{
	const std::vector<int> regions = regionsOf(range);
	std::vector<EmuOperation> operations;

	for (size_t i = range.first; i < range.last; i++) {
		EmuOperation operation = plan_.nodes[i].emu;
		operation.src.address =
			static_cast<uint16_t>(positionOf(regions, operation.src.address));
		operation.dst.address =
			static_cast<uint16_t>(positionOf(regions, operation.dst.address));
		operations.push_back(operation);
	}
	const auto first = static_cast<int16_t>(regions.size() + 1);
	const EmuLists lists = emuLists(operations, first, static_cast<int16_t>(first + 1));
	std::vector<uint16_t> addresses{ list("addr0", Interface::Emu1, EmuAddr0, lists.network) };
	for (uint16_t address : dataAddresses(regions))
		addresses.push_back(address);
	addresses.push_back(list("op_list", Interface::Emu1, EmuOps, lists.operations));
	addresses.push_back(list("op_buffer_list", Interface::Emu1, EmuSurfs, lists.buffers));
	writeTask(Interface::Emu1, range, std::move(addresses));
}

void Writer::writeTask(Interface interface, const TaskRange &range, std::vector<uint16_t> addresses)
{
	Task task;

	task.interface = interface;
	task.addressList = std::move(addresses);
	for (size_t i = range.first; i < range.last; i++)
		task.layers.push_back(plan_.nodes[i].name);
	addTask(loadable_, std::move(task));
}

Result<Loadable> Writer::write()
{
	writeMemories();
	writeTensors(assembled_.inputs);
	writeTensors(assembled_.outputs);
	for (const TaskRange &range : plan_.tasks) {
		if (range.cpu) {
			writeCpuTask(range);
			continue;
		}
		if (auto written = writeCoreTask(range); !written)
			return forward(written);
	}
	loadable_.variant = assembled_.core.name;
	return std::move(loadable_);
}

} /* namespace */

Result<Loadable> writeLoadable(Assembled assembled)
{
	return Writer(assembled).write();
}

} /* namespace nvdla::assembly */
