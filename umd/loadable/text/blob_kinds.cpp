/* SPDX-License-Identifier: MIT */
#include "blob_kinds.h"

#include "loadable/emu_descriptors.h"
#include "loadable/legacy_descriptors.h"
#include "loadable/network_descriptor.h"
#include "loadable/operation_list.h"
#include "loadable/task_lists.h"

namespace nvdla::text
{

namespace
{

class Finder
{
public:
	explicit Finder(const Loadable &loadable) : loadable_(loadable) {}

	std::unordered_map<std::string, BlobKind> run()
	{
		for (const Task &task : loadable_.tasks) {
			if (task.interface == Interface::Emu1)
				addEmu(task);
			else if (task.interface == Interface::Dla1)
				addDla(task);
		}
		return std::move(kinds_);
	}

private:
	void addDla(const Task &task);
	void addEmu(const Task &task);

	/* Returns the blob that begins at an entry of the task's address table. */
	const Blob *blobAt(const Task &task, int index) const;
	void add(const Blob *blob, const ListKind &kind, const std::vector<uint8_t> &types = {});

	const Loadable &loadable_;
	const LoadableIndex index_{ loadable_ };
	std::unordered_map<std::string, BlobKind> kinds_;
};

const Blob *Finder::blobAt(const Task &task, int index) const
{
	const auto list = TaskLists(index_, task).find("list", index, 1);
	if (!list)
		return nullptr;
	for (const Blob &blob : loadable_.blobs) {
		if (blob.data.data() == list->bytes.data())
			return &blob;
	}
	return nullptr;
}

void Finder::add(const Blob *blob, const ListKind &kind, const std::vector<uint8_t> &types)
{
	if (blob)
		kinds_.try_emplace(blob->name, BlobKind{ &kind, types });
}

/* Returns byte \a offset (the operation's type) of each element of a list with the given stride. */
std::vector<uint8_t> typesIn(const Blob *blob, size_t stride, size_t offset)
{
	std::vector<uint8_t> types;

	for (size_t i = 0; blob && (i + 1) * stride <= blob->data.size(); i++)
		types.push_back(std::to_integer<uint8_t>(blob->data[i * stride + offset]));
	return types;
}

void Finder::addDla(const Task &task)
{
	const Blob *root = blobAt(task, 0);
	if (!root || root->data.size() < sizeof(nvdla_network_desc))
		return;
	const auto network = element<nvdla_network_desc>(root->data, 0);
	const Blob *graph = blobAt(task, network.dependency_graph_index);
	const Blob *operations = blobAt(task, network.operation_desc_index);
	const Blob *surfaces = blobAt(task, network.surface_desc_index);
	const auto types =
		typesIn(graph, sizeof(nvdla_graph_node), offsetof(nvdla_graph_node, op_type));
	const bool legacy = surfaces && hasLegacyCubes(surfaces->version);
	const bool extended = operations && hasExtendedOperations(operations->version);

	add(root, dlaNetworkList);
	add(graph, dlaGraphList);
	add(operations, extended ? dlaExtendedOperationList : dlaOperationList, types);
	add(surfaces, legacy ? dlaLegacySurfaceList : dlaSurfaceList, types);
	add(blobAt(task, network.lut_data_index), dlaLutList);
}

void Finder::addEmu(const Task &task)
{
	const Blob *root = blobAt(task, 0);
	if (!root || root->data.size() < sizeof(EmuNetworkDesc))
		return;
	const auto network = element<EmuNetworkDesc>(root->data, 0);
	const Blob *operations = blobAt(task, network.operation_desc_index);
	const bool current =
		operations && hasCurrentEmuLayout(operations->data.size(), network.num_operations);
	const ListKind &operationKind = current ? emuOperationList : emuLegacyOperationList;

	add(root, emuNetworkList);
	add(operations, operationKind, typesIn(operations, operationKind.stride, 0));
	add(blobAt(task, network.operation_buffer_desc_index),
	    current ? emuBufferList : emuLegacyBufferList);
}

} /* namespace */

std::unordered_map<std::string, BlobKind> findBlobKinds(const Loadable &loadable)
{
	return Finder(loadable).run();
}

} /* namespace nvdla::text */
