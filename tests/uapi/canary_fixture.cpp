/* SPDX-License-Identifier: MIT */
#include "canary_fixture.h"
#include "device/refusal.h"

#include <cerrno>

namespace nvdla::test
{

void CanaryFixture::SetUp()
{
	ASSERT_TRUE(owner_.hold());
	for (std::unique_ptr<Buffer> &buffer : buffers_) {
		buffer = std::make_unique<Buffer>(device_, bufferBytes);
		ASSERT_TRUE(buffer->valid());
	}
	ASSERT_TRUE(owner_.hold());
}

void CanaryFixture::TearDown()
{
	EXPECT_TRUE(owner_.intact());
	EXPECT_EQ(owner_.faults(), "");
}

TaskBuilder CanaryFixture::sized()
{
	TaskBuilder builder;
	for (nvdla_task_extent &extent : builder.extents)
		extent.size = bufferBytes;
	return builder;
}

int CanaryFixture::run(const TaskBuilder &builder)
{
	CopyTask task;
	for (const std::unique_ptr<Buffer> &buffer : buffers_)
		task.addAddress(buffer->handle());
	task.addresses.push_back({});
	task.graph = builder.graph;
	task.operations = builder.operations;
	task.surfaces = builder.surfaces;
	return run(task, builder.luts);
}

int CanaryFixture::run(const CopyTask &task, const std::vector<nvdla_lut_desc> &luts)
{
	Submit submit(task);
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

void CanaryFixture::expectRefused(const TaskBuilder &builder, size_t operation,
				  const std::string &name, const std::string &what)
{
	SCOPED_TRACE(name + ", " + what);
	error_ = {};
	EXPECT_EQ(run(builder), -EINVAL);
	EXPECT_EQ(error_.operation, operation);
	EXPECT_TRUE(refusedField(error_).starts_with(name)) << refusedField(error_);
}

} /* namespace nvdla::test */
