/* SPDX-License-Identifier: MIT */
/* DRM_IOCTL_NVDLA_SUBMIT: results, ordering, and what is refused. */
#include <algorithm>
#include <cerrno>
#include <cstring>
#include <memory>
#include <numeric>
#include <span>
#include <vector>

#include <gtest/gtest.h>

#include "device.h"
#include "device/refusal.h"

namespace nvdla::test
{

namespace
{

void fill(const Buffer &buffer, uint8_t seed)
{
	std::iota(buffer.bytes().begin(), buffer.bytes().end(), seed);
}

/* An array with elements of \a size bytes: cut off, or with zeros behind what is known. */
template<typename T>
std::vector<uint8_t> resized(const std::vector<T> &array, uint32_t size)
{
	std::vector<uint8_t> bytes(array.size() * size);

	for (size_t i = 0; i < array.size(); i++)
		std::memcpy(&bytes[i * size], &array[i], std::min<size_t>(size, sizeof(T)));
	return bytes;
}

uint64_t pointer(const std::vector<uint8_t> &bytes)
{
	return reinterpret_cast<uintptr_t>(bytes.data());
}

} /* namespace */

class SubmitTest : public ::testing::Test
{
protected:
	static constexpr uint32_t copyBytes = 64 * 1024;

	SubmitTest() : source_(device_, copyBytes), destination_(device_, copyBytes) {}

	void SetUp() override
	{
		ASSERT_TRUE(device_.valid()) << "cannot open " << Device::path();
		ASSERT_TRUE(source_.valid() && destination_.valid());
		fill(source_, 1);
		task_.addAddress(source_.handle());
		task_.addAddress(destination_.handle());
	}

	void addWholeCopy() { task_.addCopy(0, 1, 1024, copyBytes / 1024); }

	/* Submits and waits; 0 or the first error. */
	int run()
	{
		Submit submit(task_);
		const int ret = submit.runToTheEnd(device_);
		error_ = submit.error;
		return ret;
	}

	Device device_;
	Buffer source_;
	Buffer destination_;
	CopyTask task_;
	drm_nvdla_error error_ = {};
};

TEST_F(SubmitTest, CopiesABuffer)
{
	addWholeCopy();
	ASSERT_EQ(run(), 0) << refusedField(error_, NVDLA_OP_BDMA);
	EXPECT_TRUE(equal(source_, destination_));
}

TEST_F(SubmitTest, RunsTheSameTaskAgain)
{
	addWholeCopy();
	for (uint8_t seed = 0; seed < 10; seed++) {
		fill(source_, seed);
		ASSERT_EQ(run(), 0);
		ASSERT_TRUE(equal(source_, destination_)) << "round " << +seed;
	}
}

TEST_F(SubmitTest, RunsMoreOperationsThanTheHardwareQueues)
{
	for (uint32_t line = 0; line < copyBytes / 1024; line++) {
		task_.addAddress(source_.handle(), line * 1024, 1024);
		task_.addAddress(destination_.handle(), line * 1024, 1024);
		const auto index = static_cast<int16_t>(task_.addresses.size());
		task_.addCopy(static_cast<int16_t>(index - 2), static_cast<int16_t>(index - 1),
			      1024, 1);
	}
	ASSERT_EQ(run(), 0) << refusedField(error_, NVDLA_OP_BDMA);
	EXPECT_TRUE(equal(source_, destination_));
}

TEST_F(SubmitTest, RunsTasksInOrder)
{
	Buffer middle(device_, copyBytes);
	ASSERT_TRUE(middle.valid());
	CopyTask first, second;
	first.addAddress(source_.handle());
	first.addAddress(middle.handle());
	first.addCopy(0, 1, 1024, copyBytes / 1024);
	second.addAddress(middle.handle());
	second.addAddress(destination_.handle());
	second.addCopy(0, 1, 1024, copyBytes / 1024);

	Submit submit(first);
	submit.tasks.push_back(second.task());
	ASSERT_EQ(submit.run(device_), 0);
	ASSERT_EQ(destination_.prepare(DRM_NVDLA_BO_READ), 0);
	EXPECT_TRUE(equal(source_, destination_));
}

TEST_F(SubmitTest, RunsTasksThatAreDoneAtOnce)
{
	/* Copies of nothing need no interrupt: many of them end within one call. */
	CopyTask nothing;
	nothing.addAddress(source_.handle());
	nothing.addCopy(0, 0, 32, 1);
	nothing.operations[0].bdma.num_transfers = 0;
	nothing.surfaces[0].bdma.num_transfers = 0;
	addWholeCopy();
	Submit submit;
	submit.tasks.assign(64, nothing.task());
	submit.tasks.back() = task_.task();
	ASSERT_EQ(submit.run(device_), 0) << refusedField(submit.error, NVDLA_OP_BDMA);
	ASSERT_EQ(destination_.prepare(DRM_NVDLA_BO_READ), 0);
	EXPECT_TRUE(equal(source_, destination_));
}

TEST_F(SubmitTest, ImplicitFencesOrderJobs)
{
	/* No syncobj anywhere: the buffers themselves say who comes after whom. */
	Buffer middle(device_, copyBytes);
	ASSERT_TRUE(middle.valid());
	for (uint8_t seed = 0; seed < 5; seed++) {
		CopyTask first, second;
		first.addAddress(source_.handle());
		first.addAddress(middle.handle());
		first.addCopy(0, 1, 1024, copyBytes / 1024);
		second.addAddress(middle.handle());
		second.addAddress(destination_.handle());
		second.addCopy(0, 1, 1024, copyBytes / 1024);
		ASSERT_EQ(source_.prepare(DRM_NVDLA_BO_WRITE), 0);
		fill(source_, seed);
		ASSERT_EQ(Submit(first).run(device_), 0);
		ASSERT_EQ(Submit(second).run(device_), 0);
		ASSERT_EQ(destination_.prepare(DRM_NVDLA_BO_READ), 0);
		ASSERT_TRUE(equal(source_, destination_));
	}
}

TEST_F(SubmitTest, SyncobjsOrderJobs)
{
	addWholeCopy();
	const uint32_t timeline = device_.createSyncobj();
	const uint32_t binary = device_.createSyncobj();
	Submit first(task_);
	first.outSyncs.push_back({ .handle = timeline, .reserved = 0, .point = 7 });
	ASSERT_EQ(first.run(device_), 0);
	Submit second(task_);
	second.inSyncs.push_back({ .handle = timeline, .reserved = 0, .point = 7 });
	second.outSyncs.push_back({ .handle = binary, .reserved = 0, .point = 0 });
	ASSERT_EQ(second.run(device_), 0);

	EXPECT_EQ(device_.waitSyncobj(binary), 0);
	EXPECT_EQ(device_.waitSyncobj(timeline, 7), 0);
	EXPECT_TRUE(equal(source_, destination_));
	device_.destroySyncobj(timeline);
	device_.destroySyncobj(binary);
}

TEST_F(SubmitTest, BusyBufferIsBusyUntilItIsNot)
{
	addWholeCopy();
	ASSERT_EQ(Submit(task_).run(device_), 0);
	const int ret = destination_.prepare(DRM_NVDLA_BO_READ, 0);
	EXPECT_TRUE(ret == 0 || ret == -ETIMEDOUT) << ret;
	ASSERT_EQ(destination_.prepare(DRM_NVDLA_BO_READ), 0);
	EXPECT_TRUE(equal(source_, destination_));
}

TEST_F(SubmitTest, BufferMayBeClosedWhileItIsInUse)
{
	for (unsigned int round = 0; round < 20; round++) {
		auto temporary = std::make_unique<Buffer>(device_, copyBytes);
		ASSERT_TRUE(temporary->valid());
		CopyTask task;
		task.addAddress(source_.handle());
		task.addAddress(temporary->handle());
		task.addCopy(0, 1, 1024, copyBytes / 1024);
		ASSERT_EQ(Submit(task).run(device_), 0);
		temporary.reset();
	}
	addWholeCopy();
	ASSERT_EQ(run(), 0);
	EXPECT_TRUE(equal(source_, destination_));
}

/* What the task contains. The reason names operation and field. */

TEST_F(SubmitTest, RefusesACopyBehindTheEndOfItsBuffer)
{
	task_.addCopy(0, 1, 1024, copyBytes / 1024);
	task_.addCopy(0, 1, 1024, copyBytes / 1024 + 1);
	ASSERT_EQ(run(), -EINVAL);
	EXPECT_EQ(error_.task, 0U);
	EXPECT_EQ(error_.operation, 1U);
	EXPECT_EQ(refusedField(error_, NVDLA_OP_BDMA), "transfers[0].src_address");
	EXPECT_TRUE(std::all_of(destination_.bytes().begin(), destination_.bytes().end(),
				[](uint8_t byte) { return byte == 0; }));
}

TEST_F(SubmitTest, RefusesACopyBehindTheEndOfItsAddressEntry)
{
	task_.addresses[1].size = copyBytes / 2;
	addWholeCopy();
	ASSERT_EQ(run(), -EINVAL);
	EXPECT_EQ(error_.operation, 0U);
}

TEST_F(SubmitTest, RefusesStridesThatWrapAround)
{
	addWholeCopy();
	nvdla_bdma_transfer &transfer = task_.surfaces[0].bdma.transfers[0];
	transfer.line_repeat = 8192;
	transfer.surf_repeat = 8192;
	transfer.dst_line = 0xffffffe0;
	transfer.dst_surf = 0xffffffe0;
	EXPECT_EQ(run(), -EINVAL);
	EXPECT_EQ(error_.operation, 0U);
}

TEST_F(SubmitTest, RefusesAnAddressThatIsNotInTheTable)
{
	task_.addCopy(0, 2, 1024, 1);
	EXPECT_EQ(run(), -EINVAL);
	EXPECT_EQ(error_.operation, 0U);
	task_.surfaces[0].bdma.transfers[0].dst_address = -1;
	EXPECT_EQ(run(), -EINVAL);
}

TEST_F(SubmitTest, RefusesABadAddressTable)
{
	addWholeCopy();
	const auto good = task_.addresses;

	task_.addresses[1].handle = 4711;
	EXPECT_EQ(run(), -EINVAL);
	EXPECT_EQ(refusedField(error_, NVDLA_OP_BDMA), "addresses[1].handle");

	task_.addresses = good;
	task_.addresses[0].offset = copyBytes + 1;
	EXPECT_EQ(run(), -EINVAL);
	EXPECT_EQ(refusedField(error_, NVDLA_OP_BDMA), "addresses[0].offset");

	task_.addresses = good;
	task_.addresses[0].offset = 4096;
	task_.addresses[0].size = copyBytes;
	EXPECT_EQ(run(), -EINVAL);
	EXPECT_EQ(refusedField(error_, NVDLA_OP_BDMA), "addresses[0].size");

	task_.addresses = good;
	task_.addresses[0].offset = UINT64_MAX - 31;
	EXPECT_EQ(run(), -EINVAL);

	task_.addresses = good;
	task_.addresses[0].reserved = 1;
	EXPECT_EQ(run(), -EINVAL);

	/* An operation uses an entry that is marked as unused. */
	task_.addresses = good;
	task_.addresses[0].handle = 0;
	EXPECT_EQ(run(), -EINVAL);
	EXPECT_EQ(error_.operation, 0U);
}

TEST_F(SubmitTest, RefusesGraphsThatCannotEnd)
{
	task_.addCopy(0, 1, 1024, 1);
	task_.addCopy(0, 1, 1024, 1);
	task_.graph[1].consumers[NVDLA_OP_BDMA].index = 0;
	task_.graph[1].consumers[NVDLA_OP_BDMA].event = NVDLA_EVENT_OP_COMPLETED;
	EXPECT_EQ(run(), -EINVAL);
	EXPECT_EQ(error_.member_of, static_cast<uint32_t>(DRM_NVDLA_STRUCT_NODE));

	task_.graph[1].consumers[NVDLA_OP_BDMA].index = 99;
	EXPECT_EQ(run(), -EINVAL);
}

TEST_F(SubmitTest, RefusesEnginesThatDoNotExist)
{
	addWholeCopy();
	task_.graph[0].op_type = 17;
	EXPECT_EQ(run(), -EINVAL);
}

/* What the ioctl's own arguments contain. */

TEST_F(SubmitTest, RefusesBadArguments)
{
	addWholeCopy();

	Submit flags(task_);
	flags.flags = 1 << 2;
	EXPECT_EQ(flags.run(device_), -EINVAL);

	Submit timeout(task_);
	timeout.timeoutMs = UINT32_MAX;
	EXPECT_EQ(timeout.run(device_), -EINVAL);

	Submit none;
	EXPECT_EQ(none.run(device_), -EINVAL);

	Submit noOperation(task_);
	noOperation.tasks[0].num_operations = 0;
	EXPECT_EQ(noOperation.run(device_), -EINVAL);
	noOperation.tasks[0].num_operations = UINT32_MAX;
	EXPECT_EQ(noOperation.run(device_), -EINVAL);

	Submit oldAddress(task_);
	oldAddress.tasks[0].address_size = 4;
	EXPECT_EQ(oldAddress.run(device_), -EINVAL);
}

/* User space that knows shorter or longer descriptors than the driver. */

TEST_F(SubmitTest, TakesDescriptorsOfOlderUserSpace)
{
	/* Copies need no more of their operation than its first word, and one transfer. */
	constexpr uint32_t operationSize = sizeof(nvdla_bdma_op_desc);
	constexpr uint32_t surfaceSize =
		offsetof(nvdla_bdma_surface_desc, transfers) + sizeof(nvdla_bdma_transfer);
	for (uint32_t line = 0; line < 2; line++)
		task_.addCopy(0, 1, copyBytes / 2, line + 1);
	const auto operations = resized(task_.operations, operationSize);
	auto surfaces = resized(task_.surfaces, surfaceSize);
	Submit submit(task_);
	submit.tasks[0].operations = pointer(operations);
	submit.tasks[0].operation_size = operationSize;
	submit.tasks[0].surfaces = pointer(surfaces);
	submit.tasks[0].surface_size = surfaceSize;
	ASSERT_EQ(submit.run(device_), 0) << refusedField(submit.error, NVDLA_OP_BDMA);
	ASSERT_EQ(destination_.prepare(DRM_NVDLA_BO_READ), 0);
	EXPECT_TRUE(equal(source_, destination_));

	/* What is missing is zero, and so is then the length of the copy. */
	constexpr uint32_t noTransfer = offsetof(nvdla_bdma_surface_desc, transfers);
	surfaces = resized(task_.surfaces, noTransfer);
	submit.tasks[0].surfaces = pointer(surfaces);
	submit.tasks[0].surface_size = noTransfer;
	EXPECT_EQ(submit.run(device_), -EINVAL);
	EXPECT_EQ(refusedField(submit.error, NVDLA_OP_BDMA), "transfers[0].line_size");
}

TEST_F(SubmitTest, TakesDescriptorsOfNewerUserSpaceIfItsNewMembersAreZero)
{
	task_.addCopy(0, 1, 1024, copyBytes / 1024);
	task_.addCopy(0, 1, 1024, 1);
	const std::vector<nvdla_lut_desc> lut(1);
	const uint32_t sizes[] = { sizeof(nvdla_graph_node) + 4, sizeof(nvdla_operation_desc) + 12,
				   sizeof(nvdla_surface_desc) + 8, sizeof(nvdla_lut_desc) + 4 };
	std::vector<uint8_t> arrays[] = { resized(task_.graph, sizes[0]),
					  resized(task_.operations, sizes[1]),
					  resized(task_.surfaces, sizes[2]),
					  resized(lut, sizes[3]) };
	Submit submit(task_);
	drm_nvdla_task &args = submit.tasks[0];
	args.graph = pointer(arrays[0]);
	args.node_size = sizes[0];
	args.operations = pointer(arrays[1]);
	args.operation_size = sizes[1];
	args.surfaces = pointer(arrays[2]);
	args.surface_size = sizes[2];
	args.luts = pointer(arrays[3]);
	args.lut_size = sizes[3];
	args.num_luts = 1;
	ASSERT_EQ(submit.run(device_), 0) << refusedField(submit.error, NVDLA_OP_BDMA);
	ASSERT_EQ(destination_.prepare(DRM_NVDLA_BO_READ), 0);
	EXPECT_TRUE(equal(source_, destination_));

	/* The last byte of the last element. */
	for (auto &array : arrays) {
		array.back() = 1;
		EXPECT_EQ(submit.run(device_), -E2BIG) << &array - arrays;
		array.back() = 0;
	}
	EXPECT_EQ(submit.run(device_), 0);
}

TEST_F(SubmitTest, RefusesSizesThatNoDescriptorHas)
{
	addWholeCopy();
	for (const auto member : { &drm_nvdla_task::node_size, &drm_nvdla_task::operation_size,
				   &drm_nvdla_task::surface_size }) {
		for (const uint32_t size : { 0U, 2U, 38U, 4100U, UINT32_MAX }) {
			Submit submit(task_);
			submit.tasks[0].*member = size;
			EXPECT_EQ(submit.run(device_), -EINVAL) << size;
			EXPECT_EQ(submit.error.member_of,
				  static_cast<uint32_t>(DRM_NVDLA_STRUCT_TASK));
		}
	}
}

/* A newer program's error is longer than this kernel's. */
TEST_F(SubmitTest, ZeroesWhatItDoesNotKnowOfAnError)
{
	const auto isZeroed = [](std::span<const uint8_t> error) {
		const auto tail = error.subspan(sizeof(drm_nvdla_error));
		return std::ranges::count(tail.first(16), 0) == 16 &&
		       std::ranges::count(tail.subspan(16), 0xff) == 8;
	};
	drm_nvdla_task nothing = {};
	std::vector<uint8_t> error(sizeof(drm_nvdla_error) + 24, 0xff);

	drm_nvdla_submit submit = {};
	submit.error = reinterpret_cast<uintptr_t>(error.data());
	submit.error_size = sizeof(drm_nvdla_error) + 16;
	EXPECT_EQ(device_.ioctl(DRM_IOCTL_NVDLA_SUBMIT, &submit), -EINVAL);
	EXPECT_TRUE(isZeroed(error));

	std::ranges::fill(error, uint8_t{ 0xff });
	drm_nvdla_task_create create = {};
	create.task = reinterpret_cast<uintptr_t>(&nothing);
	create.task_size = sizeof(nothing);
	create.error = submit.error;
	create.error_size = submit.error_size;
	EXPECT_EQ(device_.ioctl(DRM_IOCTL_NVDLA_TASK_CREATE, &create), -EINVAL);
	EXPECT_TRUE(isZeroed(error));
}

TEST_F(SubmitTest, RefusesBadPointers)
{
	addWholeCopy();
	for (const auto member : { &drm_nvdla_task::graph, &drm_nvdla_task::operations,
				   &drm_nvdla_task::surfaces, &drm_nvdla_task::addresses }) {
		Submit submit(task_);
		submit.tasks[0].*member = 8;
		EXPECT_EQ(submit.run(device_), -EFAULT);
	}
}

TEST_F(SubmitTest, RefusesBadSyncobjs)
{
	addWholeCopy();
	Submit in(task_);
	in.inSyncs.push_back({ .handle = 4711, .reserved = 0, .point = 0 });
	EXPECT_EQ(in.run(device_), -ENOENT);

	Submit out(task_);
	out.outSyncs.push_back({ .handle = 4711, .reserved = 0, .point = 0 });
	EXPECT_EQ(out.run(device_), -ENOENT);

	/* A syncobj without a fence would be waited for forever. */
	const uint32_t empty = device_.createSyncobj();
	Submit never(task_);
	never.inSyncs.push_back({ .handle = empty, .reserved = 0, .point = 0 });
	EXPECT_EQ(never.run(device_), -EINVAL);
	device_.destroySyncobj(empty);
}

} /* namespace nvdla::test */
