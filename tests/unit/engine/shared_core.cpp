/* SPDX-License-Identifier: MIT */
#include "shared_core.h"

#include <algorithm>

#include <gtest/gtest.h>

namespace nvdla::test
{

namespace
{

constexpr uint64_t clientBytes = 0x10000000;
constexpr uint64_t zeroesAddress = 0xf0000000;
/* Half of the on-chip memory, which begins at 0. */
const uint64_t onChipBytes = sim::nvFull.cvsramSize / 2;

/** \return a number that is different for each place and value of a byte, most likely */
uint64_t mix(uint64_t address, std::byte value)
{
	uint64_t bits = (address << 8 | std::to_integer<uint64_t>(value)) * 0x9e3779b97f4a7c15;

	bits ^= bits >> 29;
	return bits * 0xbf58476d1ce4e5b9;
}

} /* namespace */

void ClientMemory::check(uint64_t address, size_t size)
{
	stray_ += std::none_of(extents_.begin(), extents_.end(),
			       [&](const nvdla_task_extent &extent) {
				       return extent.present && address >= extent.dma_addr &&
					      address + size <= extent.dma_addr + extent.size;
			       });
}

bool ClientMemory::read(uint64_t address, std::span<std::byte> out)
{
	check(address, out.size());
	return memory_.read(address, out);
}

bool ClientMemory::write(uint64_t address, std::span<const std::byte> data)
{
	uint64_t sum = 0;

	check(address, data.size());
	for (std::byte value : data)
		sum += mix(address++, value);
	written_ += sum;
	return memory_.write(address - data.size(), data);
}

SharedCore::SharedCore(bool scrubs)
	: core_(memory), zeroes_{ zeroesAddress, nvdla_scrub_memory_size(nvdla_variant_nv_full()),
				  NVDLA_MEM_MC, true },
	  scrubs_(scrubs)
{
	EXPECT_EQ(nvdla_scrub_create(nvdla_variant_nv_full(), &zeroes_, &scrub_), 0);
}

void SharedCore::giveMemory(TaskBuilder &builder, unsigned int client)
{
	for (nvdla_task_extent &extent : builder.extents) {
		extent.dma_addr += client * clientBytes;
		extent.size = std::min<uint64_t>(extent.size, extentBytes);
	}
	nvdla_task_extent &onChip = builder.extents[TaskBuilder::cvsram];
	onChip.dma_addr = client * onChipBytes;
	onChip.size = onChipBytes;
}

void SharedCore::scrub()
{
	nvdla_task *task = nvdla_scrub_task(scrub_, core_.sequencer());

	if (!task)
		return;
	memory.setExtents({ zeroes_ });
	EXPECT_TRUE(core_.run(task));
	memory.takeWritten();
	scrubsRun++;
	timesCleared++;
}

bool SharedCore::run(unsigned int client, const TaskBuilder &builder, nvdla_task *task)
{
	if (scrubs_ && nvdla_task_uses(task, NVDLA_OP_CONV)) {
		if (owner_ != client)
			scrub();
		owner_ = client;
	}

	memory.setExtents(builder.extents);
	if (core_.run(task))
		return true;
	core_.reset();
	timesCleared++;
	return false;
}

void SharedCore::fillMemory(unsigned int client, std::mt19937 &random)
{
	TaskBuilder builder;

	giveMemory(builder, client);
	for (int16_t i = 0; i < TaskBuilder::cvsram; i++) {
		const nvdla_task_extent &extent = builder.extents[static_cast<size_t>(i)];
		std::vector<std::byte> bytes(extent.size);
		for (std::byte &byte : bytes)
			byte = static_cast<std::byte>(random() >> random() % 32);
		memory.fill(extent.dma_addr, bytes);
	}
}

void SharedCore::fillOnChip(unsigned int client, std::byte value)
{
	core_.cvsram().write(client * onChipBytes, std::vector(onChipBytes, value));
}

bool SharedCore::onChipIs(unsigned int client, std::byte value)
{
	std::vector<std::byte> bytes(onChipBytes);

	core_.cvsram().read(client * onChipBytes, bytes);
	return std::ranges::count(bytes, value) == std::ssize(bytes);
}

void SharedCore::reset()
{
	core_.reset();
	owner_ = nobody;
}

} /* namespace nvdla::test */
