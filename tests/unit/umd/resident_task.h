/* SPDX-License-Identifier: MIT */
/*
 * Tasks on a device, for tests that look at what is below the runtime.
 */
#pragma once

#include <gtest/gtest.h>
#include <nvdla/device.h>
#include <nvdla/task.h>

#include "runtime/resident_memory.h"
#include "test_support.h"

namespace nvdla::test
{

/** \brief One task with its memory on a device, without the runtime above it */
struct ResidentTask {
	DlaTask task;
	ResidentMemory memory;
	std::vector<BufferRange> addresses;

	JobTask job() const
	{
		return { task.graph, task.operations, task.surfaces, task.luts, addresses };
	}
};

/** \brief Make the first task of a loadable resident */
inline ResidentTask reside(const Device &device, const Loadable &loadable)
{
	auto tasks = tasksInOrder(loadable);
	auto memory = ResidentMemory::create(device, loadable, usedMemories(*tasks, {}));
	EXPECT_TRUE(memory) << memory.error().message();
	ResidentTask resident{ std::get<DlaTask>(tasks->front()), std::move(*memory), {} };
	resident.addresses = resolveAddresses(resident.task.addresses, [&](uint16_t memory) {
		return resident.memory.place(memory);
	});
	return resident;
}

/** \brief Its addresses 1 and 2 are source and destination of a copy of 64 bytes of 0x42 */
inline Loadable copyOf64()
{
	return test::copyLoadable(std::vector<std::byte>(64, std::byte{ 0x42 }));
}

} /* namespace nvdla::test */
