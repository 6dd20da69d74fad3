/* SPDX-License-Identifier: MIT */
#include "core_registers.h"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <thread>

#include <nvdla/hw/registers.h>

#include "core/core.h"

using namespace nvdla::sim;

namespace nvdla::fuzz
{

namespace
{

constexpr size_t maximumAccesses = 8192;
constexpr size_t dramBytes = 16 << 20;
constexpr uint64_t cvsramBase = 0x50000000; /* that of the reference traces */
constexpr uint32_t memoryBudget = 20000;

/* DRAM that counts how often it is asked. */
class CountingMemory : public Memory
{
public:
	bool read(uint64_t address, std::span<std::byte> out) override
	{
		count++;
		return memory_.read(address, out);
	}

	bool write(uint64_t address, std::span<const std::byte> data) override
	{
		count++;
		return memory_.write(address, data);
	}

	std::atomic<uint32_t> count = 0;

private:
	SparseMemory memory_{ dramBytes };
};

void append(std::vector<uint8_t> &input, const Access &access)
{
	const size_t size = input.size();
	input.resize(size + sizeof(access));
	std::memcpy(&input[size], &access, sizeof(access));
}

} /* namespace */

std::vector<uint8_t> encode(const Trace &trace)
{
	const auto all = geometries();
	const auto index = std::ranges::find(all, trace.geometry) - all.begin();
	std::vector<uint8_t> input = { static_cast<uint8_t>(index) };

	for (const TraceCommand &command : trace.commands) {
		const auto address = static_cast<uint32_t>(command.address);
		Access access = {
			.kind = Access::Write,
			.unit = static_cast<uint8_t>(address / NVDLA_UNIT_SIZE),
			.word = static_cast<uint16_t>(address % NVDLA_UNIT_SIZE / 4),
			.value = command.value,
		};
		if (command.kind == TraceCommand::Kind::Poll)
			access.kind = Access::Wait;
		else if (command.kind != TraceCommand::Kind::Write)
			continue;
		append(input, access);
	}
	return input;
}

void playAccesses(std::span<const uint8_t> input)
{
	if (input.empty())
		return;
	const auto all = geometries();
	CountingMemory dram;
	CoreConfig config;
	config.geometry = *all[input[0] % all.size()];
	config.cvsramBase = cvsramBase;
	config.cvsramSize = std::min<size_t>(config.geometry.cvsramSize, 1 << 20);
	config.diagnostics = [](const GuestError &) {};
	Core core(config, dram, [] {});

	input = input.subspan(kGeometryBytes);
	for (size_t i = 0; i < maximumAccesses && input.size() >= sizeof(Access); i++) {
		Access access;
		std::memcpy(&access, input.data(), sizeof(access));
		input = input.subspan(sizeof(access));
		const uint32_t address =
			access.unit % 32 * NVDLA_UNIT_SIZE + access.word * 4U % NVDLA_UNIT_SIZE;
		switch (access.kind % 4) {
		case Access::Write:
			core.csbWrite(address, access.value);
			break;
		case Access::Read:
			core.csbRead(address);
			break;
		case Access::Wait:
			while (!core.idle() && dram.count < memoryBudget)
				std::this_thread::yield();
			break;
		case Access::Reset:
			core.reset();
			break;
		}
	}
	while (!core.idle() && dram.count < memoryBudget)
		std::this_thread::yield();
	core.reset();
}

} /* namespace nvdla::fuzz */
