/* SPDX-License-Identifier: MIT */
#include "task_client.h"

#include <algorithm>

namespace nvdla::test
{

TaskClient::TaskClient()
{
	for (std::unique_ptr<Buffer> &buffer : buffers_)
		buffer = std::make_unique<Buffer>(device_, bufferBytes);
}

bool TaskClient::valid() const
{
	return std::all_of(buffers_.begin(), buffers_.end(),
			   [](const std::unique_ptr<Buffer> &buffer) { return buffer->valid(); });
}

int TaskClient::takeOnChip()
{
	onChip_ = SramBuffer::createWhenThereIsRoom(device_, onChipBytes);
	const int result = onChip_->result();
	if (result)
		onChip_.reset();
	return result;
}

int TaskClient::fillOnChip(int16_t from)
{
	return run(SramBuffer::copy(buffer(from).handle(), NVDLA_MEM_MC, onChip_->handle(),
				    NVDLA_MEM_CV, onChipBytes));
}

int TaskClient::readOnChip(int16_t to)
{
	return run(SramBuffer::copy(onChip_->handle(), NVDLA_MEM_CV, buffer(to).handle(),
				    NVDLA_MEM_MC, onChipBytes));
}

TaskBuilder TaskClient::sized()
{
	TaskBuilder builder;
	for (nvdla_task_extent &extent : builder.extents)
		extent.size = bufferBytes;
	builder.extents[TaskBuilder::cvsram].size = onChipBytes;
	return builder;
}

int TaskClient::run(const TaskBuilder &builder, uint32_t timeoutMs)
{
	CopyTask task;
	for (size_t i = 0; i < buffers_.size(); i++)
		task.addAddress(buffers_[i]->handle(), 0, builder.extents[i].size);
	if (onChip_)
		task.addAddress(onChip_->handle(), 0, builder.extents[TaskBuilder::cvsram].size);
	else
		task.addresses.push_back({});
	task.graph = builder.graph;
	task.operations = builder.operations;
	task.surfaces = builder.surfaces;
	return run(task, builder.luts, timeoutMs);
}

int TaskClient::run(const CopyTask &task, const std::vector<nvdla_lut_desc> &luts,
		    uint32_t timeoutMs)
{
	Submit submit(task);
	submit.timeoutMs = timeoutMs;
	submit.tasks[0].luts = reinterpret_cast<uintptr_t>(luts.data());
	submit.tasks[0].num_luts = static_cast<uint32_t>(luts.size());
	const uint32_t done = device_.createSyncobj();
	submit.outSyncs.push_back({ .handle = done, .reserved = 0, .point = 0 });
	int ret = submit.run(device_);
	error_ = submit.error;
	if (!ret)
		ret = device_.waitSyncobj(done);
	if (!ret && device_.fenceStatus(done) != 1)
		ret = device_.fenceStatus(done);
	device_.destroySyncobj(done);
	return ret;
}

} /* namespace nvdla::test */
