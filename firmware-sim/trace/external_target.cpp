/* SPDX-License-Identifier: MIT */
#include "trace/external_target.h"

#include <algorithm>
#include <array>
#include <thread>

#include <fmt/core.h>

#include <nvdla/hw/field.h>
#include <nvdla/hw/registers.h>

namespace nvdla::sim
{

namespace
{

constexpr uint64_t kAtom = 32;
constexpr uint64_t kBlock = uint64_t{ 1 } << 20; /* size of the blocks in which system memory is
						  * cleared */
constexpr uint32_t kLongestLine = 256 * 1024;	 /* longest line of BDMA: 8192 atoms */

/* BDMA's registers that a copy sets before it is queued. */
constexpr std::array kConfiguration = {
	NVDLA_BDMA_CFG_SRC_ADDR_LOW,  NVDLA_BDMA_CFG_SRC_ADDR_HIGH, NVDLA_BDMA_CFG_DST_ADDR_LOW,
	NVDLA_BDMA_CFG_DST_ADDR_HIGH, NVDLA_BDMA_CFG_LINE,	    NVDLA_BDMA_CFG_CMD,
	NVDLA_BDMA_CFG_LINE_REPEAT,   NVDLA_BDMA_CFG_SRC_LINE,	    NVDLA_BDMA_CFG_DST_LINE,
	NVDLA_BDMA_CFG_SURF_REPEAT,   NVDLA_BDMA_CFG_SRC_SURF,	    NVDLA_BDMA_CFG_DST_SURF,
};

struct Group {
	uint32_t busy;
	uint32_t done;
	uint32_t launch;
	uint32_t launchBit;
	uint32_t stall; /* register that a copy changes permanently */
};

constexpr std::array<Group, 2> kGroups = { {
	{ NVDLA_BDMA_STATUS__GRP0_BUSY, NVDLA_GLB_S_INTR_STATUS__BDMA_DONE_STATUS0,
	  NVDLA_BDMA_CFG_LAUNCH0, NVDLA_BDMA_CFG_LAUNCH0__GRP0_LAUNCH,
	  NVDLA_BDMA_STATUS_GRP0_READ_STALL },
	{ NVDLA_BDMA_STATUS__GRP1_BUSY, NVDLA_GLB_S_INTR_STATUS__BDMA_DONE_STATUS1,
	  NVDLA_BDMA_CFG_LAUNCH1, NVDLA_BDMA_CFG_LAUNCH1__GRP1_LAUNCH,
	  NVDLA_BDMA_STATUS_GRP1_READ_STALL },
} };

constexpr uint64_t alignDown(uint64_t value, uint64_t to)
{
	return value / to * to;
}

} /* namespace */

ExternalTarget::ExternalTarget(const Config &config, ExternalDevice &device,
			       const std::atomic<bool> &stop)
	: config_(config), device_(device), stop_(stop)
{
}

bool ExternalTarget::insideCvsram(uint64_t address, uint64_t size) const
{
	return address >= config_.cvsramBase && size <= config_.cvsramSize &&
	       address - config_.cvsramBase <= config_.cvsramSize - size;
}

bool ExternalTarget::overlapsScratch(uint64_t address, uint64_t size) const
{
	const uint64_t end = config_.scratch + 2 * config_.cvsramSize;
	return address < end && (address >= config_.scratch || size > config_.scratch - address);
}

void ExternalTarget::begin(const Trace &trace)
{
	obstacle_.clear();
	/* First of all: operations that the last trace left running must not write any more. */
	device_.reset();
	entered_ = false;
	copied_ = 0;

	std::set<uint64_t> blocks;
	for (const TraceCommand &command : trace.commands) {
		if (command.kind != TraceCommand::Kind::Load &&
		    command.kind != TraceCommand::Kind::Expect)
			continue;
		if (command.ram != RamType::Mc) {
			if (trace.cvsramSize > config_.cvsramSize &&
			    !insideCvsram(command.address, 1))
				obstacle_ = fmt::format("CVSRAM at {:#x} is beyond its {} MiB",
							command.address, config_.cvsramSize >> 20);
			continue;
		}
		std::error_code error;
		const uint64_t size =
			command.data
				? command.data->size()
				: std::filesystem::file_size(trace.directory / command.file, error);
		if (error || !size || size > UINT64_MAX - command.address)
			continue; /* the player reports the error of this command */
		if (overlapsScratch(command.address, size)) {
			obstacle_ = fmt::format("memory at {:#x} is needed to reach the CVSRAM",
						command.address);
			return;
		}
		for (uint64_t at = alignDown(command.address, kBlock);
		     at <= command.address + size - 1; at += kBlock)
			blocks.insert(at);
	}
	blocks_.insert(blocks.begin(), blocks.end());
	for (const uint64_t block : blocks_)
		device_.zeroMemory(block, kBlock);
	blocks_ = std::move(blocks);
	zeroCvsram();
	needsReset_ = true;
}

void ExternalTarget::zeroCvsram()
{
	/* Clears the scratch area's zero half: the last trace may have written to it by mistake. */
	device_.zeroMemory(config_.scratch, config_.cvsramSize);
	copy({ config_.scratch, config_.cvsramBase, config_.cvsramSize, true });
}

/* The trace's first register access finds the registers as a reset leaves them. */
void ExternalTarget::enterRegisters()
{
	if (needsReset_)
		device_.reset();
	needsReset_ = false;
	entered_ = true;
}

uint32_t ExternalTarget::read(uint32_t offset)
{
	enterRegisters();
	for (size_t group = 0; group < kGroups.size(); group++) {
		if (copied_ >> group & 1 && offset == kGroups[group].stall)
			obstacle_ = "it reads BDMA's stall counter after the CVSRAM was accessed "
				    "by BDMA";
	}
	return device_.readRegister(offset);
}

void ExternalTarget::write(uint32_t offset, uint32_t value)
{
	enterRegisters();
	device_.writeRegister(offset, value);
}

uint32_t ExternalTarget::poll(uint32_t offset, const std::function<bool(uint32_t)> &wanted)
{
	enterRegisters();
	return pollUntil(offset, wanted);
}

uint32_t ExternalTarget::pollUntil(uint32_t offset, const std::function<bool(uint32_t)> &wanted)
{
	const auto end = std::chrono::steady_clock::now() + config_.patience;
	for (;;) {
		/* Check the time first, so that the register is read again after the last wait. */
		const bool late = std::chrono::steady_clock::now() > end;
		const uint32_t now = device_.readRegister(offset);
		if (wanted(now))
			return now;
		if (stop_)
			obstacle_ = "interrupted";
		if (late || !obstacle_.empty() || !device_.broken().empty())
			return now;
		std::this_thread::yield();
	}
}

bool ExternalTarget::copy(const Copy &whole)
{
	const auto isIdle = [](uint32_t is) { return (is & NVDLA_BDMA_STATUS__IDLE) != 0; };
	const uint32_t status = pollUntil(NVDLA_BDMA_STATUS, isIdle);
	if (!isIdle(status)) {
		if (obstacle_.empty())
			obstacle_ =
				"BDMA, which is needed to reach the CVSRAM, does not become idle";
		return false;
	}
	const unsigned int group = status & kGroups[0].busy ? 1 : 0;
	if (status & kGroups[group].busy) {
		obstacle_ = "both groups of BDMA, which is needed to reach the CVSRAM, are busy";
		return false;
	}

	std::array<uint32_t, kConfiguration.size()> saved = {};
	if (entered_) {
		std::ranges::transform(kConfiguration, saved.begin(), [this](uint32_t offset) {
			return device_.readRegister(offset);
		});
		copied_ |= 1U << group;
	}
	const uint32_t pending = device_.readRegister(NVDLA_GLB_S_INTR_STATUS);

	const auto lines = static_cast<uint32_t>(whole.size / kLongestLine);
	const auto rest = static_cast<uint32_t>(whole.size % kLongestLine);
	Copy tail = whole;
	tail.from += whole.size - rest;
	tail.to += whole.size - rest;
	const bool done = (!lines || copyLines(group, whole, kLongestLine, lines)) &&
			  (!rest || copyLines(group, tail, rest, 1));

	device_.writeRegister(NVDLA_GLB_S_INTR_STATUS, kGroups[group].done & ~pending);
	if (entered_) {
		for (size_t i = 0; i < saved.size(); i++)
			device_.writeRegister(kConfiguration[i], saved[i]);
	}
	return done;
}

bool ExternalTarget::copyLines(unsigned int group, const Copy &copy, uint32_t lineSize,
			       uint32_t lines)
{
	const RamType from = copy.toCvsram ? RamType::Mc : RamType::Cv;
	const RamType to = copy.toCvsram ? RamType::Cv : RamType::Mc;
	const uint32_t command = NVDLA_FIELD_PREP(NVDLA_BDMA_CFG_CMD__SRC_RAM_TYPE, from) |
				 NVDLA_FIELD_PREP(NVDLA_BDMA_CFG_CMD__DST_RAM_TYPE, to);
	const std::array<uint32_t, kConfiguration.size()> values = {
		static_cast<uint32_t>(copy.from),
		static_cast<uint32_t>(copy.from >> 32),
		static_cast<uint32_t>(copy.to),
		static_cast<uint32_t>(copy.to >> 32),
		static_cast<uint32_t>(lineSize / kAtom - 1),
		command,
		lines - 1,
		lineSize,
		lineSize,
		0,
		lineSize,
		lineSize,
	};
	for (size_t i = 0; i < values.size(); i++)
		device_.writeRegister(kConfiguration[i], values[i]);
	device_.writeRegister(NVDLA_BDMA_CFG_OP, NVDLA_BDMA_CFG_OP__EN);
	device_.writeRegister(kGroups[group].launch, kGroups[group].launchBit);
	const uint32_t mask = NVDLA_BDMA_STATUS__IDLE | kGroups[group].busy;
	const auto isDone = [mask](uint32_t is) { return (is & mask) == NVDLA_BDMA_STATUS__IDLE; };
	return isDone(pollUntil(NVDLA_BDMA_STATUS, isDone));
}

bool ExternalTarget::load(RamType ram, uint64_t address, std::span<const std::byte> data)
{
	if (ram == RamType::Mc)
		return device_.writeMemory(address, data);
	if (!insideCvsram(address, data.size()))
		return false;
	if (data.empty())
		return true;
	/* BDMA copies whole atoms: other bytes of the first and last atom are preserved. */
	const uint64_t begin = alignDown(address, kAtom);
	const uint64_t size = alignDown(address + data.size() - begin + kAtom - 1, kAtom);
	if (size != data.size() && !copy({ begin, staging(), size, false }))
		return false;
	return device_.writeMemory(staging() + (address - begin), data) &&
	       copy({ staging(), begin, size, true });
}

bool ExternalTarget::fetch(RamType ram, uint64_t address, std::span<std::byte> out)
{
	if (ram == RamType::Mc)
		return device_.readMemory(address, out);
	if (!insideCvsram(address, out.size()))
		return false;
	if (out.empty())
		return true;
	const uint64_t begin = alignDown(address, kAtom);
	const uint64_t size = alignDown(address + out.size() - begin + kAtom - 1, kAtom);
	return copy({ begin, staging(), size, false }) &&
	       device_.readMemory(staging() + (address - begin), out);
}

} /* namespace nvdla::sim */
