/* SPDX-License-Identifier: MIT */
#include "entries.h"

namespace nvdla
{

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
