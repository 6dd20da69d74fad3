/* SPDX-License-Identifier: MIT */
#include "entries.h"

#include <algorithm>

#include <fmt/core.h>

#include "task_lists.h"

namespace nvdla
{

namespace
{

/* Returns the input or the output with this bind id, which must exist. */
const TensorEntry &boundTensor(const Loadable &loadable, MemoryFlags direction, size_t bindId)
{
	const auto memory = std::ranges::find_if(loadable.memories, [&](const Memory &one) {
		return (one.flags & direction) && one.bindId == bindId;
	});

	return *std::ranges::find(loadable.tensors, memory->tensorDescId, &TensorEntry::id);
}

} /* namespace */

TensorEntry tensorEntry(const TensorDesc &desc)
{
	TensorEntry entry;

	entry.size = desc.size;
	entry.dataType = static_cast<uint8_t>(desc.type);
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
	for (const Quantization &one : desc.quantization.values()) {
		entry.scale.push_back(static_cast<float>(one.scale));
		entry.zeroPoint.push_back(one.zeroPoint);
	}
	entry.signature = desc.signature;
	return entry;
}

Result<void> addState(Loadable &loadable, size_t input, size_t output, std::span<const float> first)
{
	const TensorEntry &before = boundTensor(loadable, MemoryInput, input);
	const TensorEntry &after = boundTensor(loadable, MemoryOutput, output);
	auto desc = describeTensor(before);

	if (!desc)
		return forward(desc);
	if (!haveSameLayout(before, after))
		return fail(
			ErrorCode::Unsupported, "keep state", fmt::format("'{}'", before.name),
			fmt::format("has another layout than '{}', which replaces it after a run",
				    after.name));
	Blob blob;
	blob.name = fmt::format("state-{}", loadable.states.size());
	blob.data.resize(before.size);
	if (auto packed = packFloat(*desc, first, blob.data, desc->order()); !packed)
		return packed;
	auto memory = std::ranges::find(loadable.memories, before.memId, &Memory::id);
	memory->flags |= MemorySet;
	memory->contents.push_back({ blob.name, before.offset });
	loadable.blobs.push_back(std::move(blob));
	loadable.states.push_back({ before.id, after.id });
	return {};
}

void addTask(Loadable &loadable, Task task)
{
	task.id = static_cast<uint16_t>(loadable.tasks.size());
	task.preActions.clear();
	task.postActions.clear();
	if (task.id > 0) {
		const auto wait = static_cast<uint16_t>(loadable.events.size());
		loadable.events.push_back({ wait, 0, static_cast<uint16_t>(task.id - 1), 1, 0 });
		task.preActions.push_back(wait);
	}
	const auto signal = static_cast<uint16_t>(loadable.events.size());
	loadable.events.push_back({ signal, 0, task.id, 1, 1 });
	task.postActions.push_back(signal);
	loadable.submits.push_back({ task.id, { task.id } });
	loadable.tasks.push_back(std::move(task));
}

} /* namespace nvdla */
