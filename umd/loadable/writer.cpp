/* SPDX-License-Identifier: MIT */
#include <nvdla/loadable.h>

#include <algorithm>

#include "loadable_generated.h"

#include "base/io/guarded.h"
#include "entries.h"

namespace nvdla
{

namespace
{

using flatbuffers::FlatBufferBuilder;
using flatbuffers::Offset;

template<typename Entry, typename T, typename Convert>
Offset<flatbuffers::Vector<Offset<Entry>>> writeList(FlatBufferBuilder &builder,
						     const std::vector<T> &values, Convert convert)
{
	std::vector<Offset<Entry>> entries;

	entries.reserve(values.size());
	for (const T &value : values)
		entries.push_back(convert(value));
	return builder.CreateVector(entries);
}

Offset<fb::MemoryListEntry> writeMemory(FlatBufferBuilder &builder, const Memory &memory)
{
	std::vector<std::string> names;
	std::vector<uint64_t> offsets;

	for (const MemoryContent &content : memory.contents) {
		names.push_back(content.blob);
		offsets.push_back(content.offset);
	}
	const auto contents = builder.CreateVectorOfStrings(names);
	const auto offsetVector = builder.CreateVector(offsets);
	return fb::CreateMemoryListEntry(builder, memory.id, static_cast<uint8_t>(memory.domain),
					 memory.flags, memory.size, memory.alignment, contents,
					 offsetVector, memory.bindId, memory.tensorDescId);
}

Offset<fb::Blob> writeBlob(FlatBufferBuilder &builder, const Blob &blob)
{
	const fb::Version version(blob.version.major, blob.version.minor, blob.version.subMinor);
	const auto name = builder.CreateString(blob.name);
	const auto data = builder.CreateVector(reinterpret_cast<const uint8_t *>(blob.data.data()),
					       blob.data.size());

	return fb::CreateBlob(builder, name, blob.data.size(),
			      static_cast<fb::Interface>(blob.interface), blob.subInterface,
			      &version, data);
}

Offset<fb::TaskListEntry> writeTask(FlatBufferBuilder &builder, const Task &task)
{
	const auto addresses = builder.CreateVector(task.addressList);
	const auto pre = builder.CreateVector(task.preActions);
	const auto post = builder.CreateVector(task.postActions);
	const auto layers = task.layers.empty() ? 0 : builder.CreateVectorOfStrings(task.layers);

	const auto model = task.model.empty() ? 0 : builder.CreateString(task.model);
	const auto inputs = task.inputs.empty() ? 0 : builder.CreateVector(task.inputs);
	const auto outputs = task.outputs.empty() ? 0 : builder.CreateVector(task.outputs);
	const auto reasons = task.reasons.empty() ? 0 : builder.CreateVectorOfStrings(task.reasons);

	return fb::CreateTaskListEntry(builder, task.id, static_cast<fb::Interface>(task.interface),
				       task.instance, addresses, pre, post, layers, model, inputs,
				       outputs, reasons);
}

Offset<fb::TensorSignature> writeSignature(FlatBufferBuilder &builder,
					   const std::optional<TensorSignature> &signature)
{
	if (!signature)
		return 0;
	const auto shape = builder.CreateVector(signature->shape);
	const auto &pixels = signature->pixels;
	const auto mean =
		pixels ? builder.CreateVector(pixels->mean.data(), pixels->mean.size()) : 0;
	return fb::CreateTensorSignature(builder, shape, static_cast<uint8_t>(signature->order),
					 signature->is8Bits, mean, pixels ? pixels->normalize : 0);
}

Offset<fb::TensorDescListEntry> writeTensor(FlatBufferBuilder &builder, const TensorEntry &tensor)
{
	const auto name = builder.CreateString(tensor.name);
	/* Absent if empty, as in files of other compilers. */
	const auto scale = tensor.scale.empty() ? 0 : builder.CreateVector(tensor.scale);
	const auto zeroPoint =
		tensor.zeroPoint.empty() ? 0 : builder.CreateVector(tensor.zeroPoint);
	const auto signature = writeSignature(builder, tensor.signature);

	return fb::CreateTensorDescListEntry(
		builder, name, tensor.id, tensor.memId, tensor.size, tensor.offset,
		tensor.dataFormat, tensor.dataType, tensor.dataCategory, tensor.pixelFormat,
		tensor.pixelMapping, tensor.n, tensor.c, tensor.h, tensor.w, tensor.stride[0],
		tensor.stride[1], tensor.stride[2], tensor.stride[3], tensor.stride[4],
		tensor.stride[5], tensor.stride[6], tensor.stride[7], scale, zeroPoint, signature);
}

} /* namespace */

Result<std::vector<std::byte>> Loadable::write() const
{
	return guarded("write loadable", [&]() -> Result<std::vector<std::byte>> {
		if (auto checked = checkLoadable(*this); !checked)
			return forward(checked);

		/*
		 * Reserve bytes for the whole file, because a builder that grows needs a larger
		 * block beside the old one.
		 */
		size_t room = 1 << 20;
		for (const Blob &blob : blobs)
			room += blob.data.size() + blob.data.size() / 4;
		FlatBufferBuilder builder(std::min<size_t>(room, 1 << 30));
		const fb::Version formatVersion(version.major, version.minor, version.subMinor);

		const auto taskList = writeList<fb::TaskListEntry>(
			builder, tasks, [&](const Task &task) { return writeTask(builder, task); });
		const auto memoryList = writeList<fb::MemoryListEntry>(
			builder, memories,
			[&](const Memory &memory) { return writeMemory(builder, memory); });
		const auto addressList = writeList<fb::AddressListEntry>(
			builder, addresses, [&](const Address &address) {
				return fb::CreateAddressListEntry(builder, address.id,
								  address.memId, address.offset,
								  address.size);
			});
		const auto eventList =
			writeList<fb::EventListEntry>(builder, events, [&](const Event &event) {
				return fb::CreateEventListEntry(builder, event.id, event.type,
								event.target, event.val, event.op);
			});
		const auto blobList = writeList<fb::Blob>(
			builder, blobs, [&](const Blob &blob) { return writeBlob(builder, blob); });
		const auto tensorList = writeList<fb::TensorDescListEntry>(
			builder, tensors,
			[&](const TensorEntry &tensor) { return writeTensor(builder, tensor); });
		const auto relocList =
			writeList<fb::RelocListEntry>(builder, relocs, [&](const Reloc &reloc) {
				return fb::CreateRelocListEntry(
					builder, reloc.addressId, reloc.writeId, reloc.offset,
					reloc.interface, reloc.subInterface, reloc.type);
			});
		const auto submitList =
			writeList<fb::SubmitListEntry>(builder, submits, [&](const Submit &submit) {
				return fb::CreateSubmitListEntry(
					builder, submit.id, builder.CreateVector(submit.taskIds));
			});

		/* Absent if empty, as in files of other compilers. */
		const auto stateList =
			states.empty()
				? 0
				: writeList<fb::StateListEntry>(
					  builder, states, [&](const StateEntry &state) {
						  return fb::CreateStateListEntry(
							  builder, state.before, state.after);
					  });
		const auto variantName = variant.empty()
						 ? flatbuffers::Offset<flatbuffers::String>{}
						 : builder.CreateString(variant);
		fb::FinishLoadableBuffer(
			builder, fb::CreateLoadable(builder, &formatVersion, taskList, memoryList,
						    addressList, eventList, blobList, tensorList,
						    relocList, submitList, variantName, stateList));
		const auto *bytes = reinterpret_cast<const std::byte *>(builder.GetBufferPointer());
		return std::vector<std::byte>(bytes, bytes + builder.GetSize());
	});
}

} /* namespace nvdla */
