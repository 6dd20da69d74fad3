/* SPDX-License-Identifier: MIT */
#include "trace/player.h"

#include <fmt/core.h>
#include <zlib.h>

#include <nvdla/hw/registers.h>

#include "core/register_table.h"
#include "trace/compare.h"

namespace nvdla::sim
{

namespace
{

std::string registerName(const Geometry &geometry, uint64_t address)
{
	const uint32_t name = geometry.nameOf(static_cast<uint32_t>(address));
	const RegisterInfo *info = registerInfo(name);
	if (!info)
		return fmt::format("{:#07x}", address);
	const auto unit = static_cast<Unit>(name / NVDLA_UNIT_SIZE);
	return fmt::format("{}_{}", unitName(unit), info->name);
}

/* Plays the commands of one trace and collects failures. */
class Player
{
public:
	Player(const Trace &trace, TraceTarget &target) : trace_(trace), target_(target) {}

	PlayResult play()
	{
		std::string obstacle = target_.obstacle();
		for (const TraceCommand &command : trace_.commands) {
			if (!obstacle.empty())
				return { .skipped = std::move(obstacle) };
			const bool goOn = step(command);
			obstacle = target_.obstacle();
			if (!goOn && obstacle.empty())
				break;
		}
		if (!obstacle.empty())
			return { .skipped = std::move(obstacle) };
		return std::move(result_);
	}

private:
	bool step(const TraceCommand &command)
	{
		const auto offset = static_cast<uint32_t>(command.address);
		switch (command.kind) {
		case TraceCommand::Kind::Load:
			return load(command);
		case TraceCommand::Kind::Write:
			target_.write(offset, command.value);
			return true;
		case TraceCommand::Kind::Poll:
			return check(command, target_.poll(offset, [&](uint32_t now) {
				return (now & command.mask) == command.value;
			}));
		case TraceCommand::Kind::Read:
			check(command, target_.read(offset));
			return true;
		case TraceCommand::Kind::Expect:
			return expect(command);
		case TraceCommand::Kind::ExpectCrc:
			return expectCrc(command);
		case TraceCommand::Kind::AnyInterrupt:
			return waitForAny(command);
		case TraceCommand::Kind::Interrupts:
			return waitForAll(command);
		case TraceCommand::Kind::Acknowledge:
			note(target_.read(offset));
			/* An interrupt that comes after the read is not cleared. */
			target_.write(offset, command.value & standing_);
			standing_ &= ~command.value;
			return true;
		}
		return false;
	}

	/* \return GLB's S_INTR_STATUS when it has a bit of \a mask, or will never have one */
	uint32_t pollAny(uint32_t mask)
	{
		return target_.poll(trace_.geometry->addressOf(NVDLA_GLB_S_INTR_STATUS),
				    [mask](uint32_t now) { return (now & mask) != 0; });
	}

	/* Note new interrupts in the status \a now. An interrupt that stays set is noted once. */
	void note(uint32_t now)
	{
		come_ |= now & ~standing_;
		standing_ |= now;
	}

	bool waitForAny(const TraceCommand &command)
	{
		if (!(come_ & command.mask))
			note(pollAny(command.mask & ~standing_));
		const uint32_t found = come_ & command.mask;
		if (!found)
			fail(command,
			     fmt::format("none of the interrupts {:#x} comes", command.mask));
		come_ &= ~(found & -found); /* a wait uses up one interrupt */
		return found != 0;
	}

	bool waitForAll(const TraceCommand &command)
	{
		for (uint32_t open; (open = command.value & ~come_);) {
			const uint32_t now = pollAny(open & ~standing_);
			if (!(now & open & ~standing_))
				return fail(command,
					    fmt::format("the interrupts {:#x} do not come", open));
			note(now);
		}
		come_ &= ~command.value;
		return true;
	}

	bool check(const TraceCommand &command, uint32_t got)
	{
		if ((got & command.mask) == command.value)
			return true;
		return fail(command,
			    fmt::format("{} {}: expected {:#x}, got {:#x} (mask {:#x})",
					command.kind == TraceCommand::Kind::Poll ? "poll" : "read",
					registerName(*trace_.geometry, command.address),
					command.value, got & command.mask, command.mask));
	}

	bool load(const TraceCommand &command)
	{
		const auto data = contents(trace_, command);
		if (!data)
			return fail(command, data.error());
		if (target_.load(command.ram, command.address, *data))
			return true;
		return fail(command, fmt::format("load {}: no memory at {:#x}", command.file,
						 command.address));
	}

	bool expect(const TraceCommand &command)
	{
		const auto expected = contents(trace_, command);
		if (!expected)
			return fail(command, expected.error());
		std::vector<std::byte> got(expected->size());
		if (!target_.fetch(command.ram, command.address, got))
			return fail(command, fmt::format("expect {}: no memory at {:#x}",
							 command.file, command.address));
		if (command.tolerance.kind != Tolerance::Kind::Exact) {
			result_.toleranced++;
			result_.exact += *expected == got;
		}
		if (const auto difference = compare(*expected, got, command.tolerance)) {
			result_.outside += command.tolerance.kind != Tolerance::Kind::Exact;
			fail(command,
			     fmt::format("expect {}: first difference at {} {:#x}: "
					 "expected {}, got {}",
					 command.file, command.ram == RamType::Mc ? "mc" : "cv",
					 command.address + difference->offset, difference->expected,
					 difference->got));
		}
		return true;
	}

	bool expectCrc(const TraceCommand &command)
	{
		std::vector<std::byte> got(command.size);
		if (!target_.fetch(command.ram, command.address, got))
			return fail(command,
				    fmt::format("CRC: no memory at {:#x}", command.address));
		const auto crc = static_cast<uint32_t>(crc32_z(
			0, reinterpret_cast<const unsigned char *>(got.data()), got.size()));
		if (crc != command.value)
			fail(command,
			     fmt::format("CRC of {} bytes at {:#x}: expected {:#010x}, "
					 "got {:#010x}",
					 command.size, command.address, command.value, crc));
		return true;
	}

	/* \return false, for callers that return it */
	bool fail(const TraceCommand &command, const std::string &message)
	{
		result_.failures.push_back(fmt::format("line {}: {}", command.line, message));
		return false;
	}

	const Trace &trace_;
	TraceTarget &target_;
	PlayResult result_;
	uint32_t come_ = 0;	/* interrupts that no command has waited for yet */
	uint32_t standing_ = 0; /* interrupts seen since they were last cleared */
};

CoreConfig withTraceBase(CoreConfig config)
{
	config.cvsramBase = CoreTarget::cvsramBase;
	return config;
}

} /* namespace */

PlayResult play(const Trace &trace, TraceTarget &target)
{
	return Player(trace, target).play();
}

CoreTarget::CoreTarget(CoreConfig config) : core_(withTraceBase(std::move(config)), dram_, {})
{
}

uint32_t CoreTarget::read(uint32_t offset)
{
	return core_.csbRead(offset);
}

void CoreTarget::write(uint32_t offset, uint32_t value)
{
	core_.csbWrite(offset, value);
}

uint32_t CoreTarget::poll(uint32_t offset, const std::function<bool(uint32_t)> &wanted)
{
	const uint32_t now = core_.csbRead(offset);
	if (wanted(now))
		return now;
	core_.waitIdle();
	return core_.csbRead(offset);
}

bool CoreTarget::load(RamType ram, uint64_t address, std::span<const std::byte> data)
{
	return memory(ram).write(address, data);
}

bool CoreTarget::fetch(RamType ram, uint64_t address, std::span<std::byte> out)
{
	return memory(ram).read(address, out);
}

Memory &CoreTarget::memory(RamType ram)
{
	if (ram == RamType::Mc)
		return dram_;
	return core_.cvsram();
}

} /* namespace nvdla::sim */
