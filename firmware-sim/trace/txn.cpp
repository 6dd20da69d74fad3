/* SPDX-License-Identifier: MIT */
#include <functional>

#include <fmt/core.h>

#include <nvdla/hw/registers.h>

#include "core/register_table.h"
#include "trace/line_reader.h"
#include "trace/player.h"
#include "trace/published.h"

namespace nvdla::sim
{

namespace
{

using Kind = TraceCommand::Kind;

uint64_t txnRegister(LineReader &line)
{
	const uint32_t word = line.unsigned32();

	if ((word & txnRegisters) != txnRegisters)
		line.fail(fmt::format("{:#x} is not a register: they are from {:#x} on", word,
				      txnRegisters));
	return uint64_t{ word & ~txnRegisters } * 4;
}

TraceCommand txnMemory(LineReader &line, Kind kind)
{
	TraceCommand command = { .kind = kind };

	command.address = line.unsignedUpTo(UINT64_MAX);
	command.size = line.unsignedUpTo(UINT32_MAX);
	command.file = line.file();
	if (command.address >= CoreTarget::cvsramBase &&
	    command.address - CoreTarget::cvsramBase < txnCvsramSize)
		command.ram = RamType::Cv;
	return command;
}

/* Returns true for a wait for a state that lasts only some cycles: the model may never show it. */
bool passesAway(const TraceCommand &command, uint32_t name)
{
	const RegisterInfo *info = registerInfo(name);

	/* S_INTR_STATUS is 0 only for a short time, too: another interrupt may follow. */
	if (name == NVDLA_CDMA_S_CBUF_FLUSH_STATUS || name == NVDLA_GLB_S_INTR_STATUS)
		return command.value == 0;
	return info && std::string_view(info->name) == "D_OP_ENABLE" && command.value == 1;
}

void readTxnLine(const Geometry &core, LineReader &line, std::vector<TraceCommand> &commands)
{
	const auto nameOf = [&](const TraceCommand &command) {
		return core.nameOf(static_cast<uint32_t>(command.address));
	};
	const std::string_view name = line.word();

	if (name == "load_mem") {
		commands.push_back(txnMemory(line, Kind::Load));
	} else if (name == "dump_mem") {
		commands.push_back(txnMemory(line, Kind::Expect));
	} else if (name == "write_reg") {
		TraceCommand command = { .kind = Kind::Write, .address = txnRegister(line) };
		command.value = line.unsigned32();
		if (nameOf(command) == NVDLA_GLB_S_INTR_STATUS)
			command.kind = Kind::Acknowledge;
		commands.push_back(command);
	} else if (name == "read_reg") {
		TraceCommand command = { .kind = Kind::Poll, .address = txnRegister(line) };
		command.mask = line.unsigned32();
		command.value = line.unsigned32() & command.mask;
		if (nameOf(command) == NVDLA_GLB_S_INTR_STATUS && command.value) {
			command.kind = Kind::Interrupts;
			/* The previous wait was for this interrupt. */
			if (!commands.empty() && commands.back().kind == Kind::AnyInterrupt)
				commands.pop_back();
		}
		if (!passesAway(command, nameOf(command)))
			commands.push_back(command);
	} else if (name == "wait") {
		commands.push_back({ .kind = Kind::AnyInterrupt, .mask = UINT32_MAX });
	} else {
		line.fail(fmt::format("'{}' is not a command", name));
	}
}

} /* namespace */

tl::expected<std::vector<TraceCommand>, std::string> parseTxn(std::string_view text,
							      const Geometry &core)
{
	return readCommands(text, "#", " \t\r", std::bind_front(readTxnLine, std::cref(core)));
}

tl::expected<std::vector<std::byte>, std::string> decodeDump(std::string_view text)
{
	std::vector<std::byte> bytes;
	const auto read = [&](LineReader &line) {
		/* Headers and footers are words: "W=0x8", "memory type:dram", "=====". */
		const bool isHeader = !line.peek().starts_with("0x");
		while (line.more())
			if (isHeader)
				line.word();
			else
				bytes.push_back(
					static_cast<std::byte>(line.unsignedUpTo(UINT8_MAX)));
	};

	return readLines(text, "#", " \t\r", read).map([&] { return bytes; });
}

} /* namespace nvdla::sim */
