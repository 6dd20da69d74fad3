/* SPDX-License-Identifier: MIT */
#include <algorithm>
#include <array>
#include <cctype>
#include <functional>
#include <optional>

#include <fmt/core.h>

#include <nvdla/hw/registers.h>

#include "core/register_table.h"
#include "trace/line_reader.h"
#include "trace/published.h"

namespace nvdla::sim
{

namespace
{

using Kind = TraceCommand::Kind;

/* The largest memory image, bytes. */
constexpr uint64_t mostBytes = uint64_t{ 1 } << 28;

/*
 * Returns the model's identifier of a register, which is its address in nv_full. The text is like
 * "NVDLA_CDMA.D_OP_ENABLE_0".
 */
std::optional<uint32_t> findRegister(std::string_view text)
{
	constexpr std::string_view prefix = "NVDLA_", suffix = "_0";
	const size_t dot = text.find('.');

	if (!text.starts_with(prefix) || !text.ends_with(suffix) || dot == std::string_view::npos)
		return std::nullopt;
	const std::string_view unit = text.substr(prefix.size(), dot - prefix.size());
	const std::string_view name = text.substr(dot + 1, text.size() - dot - 1 - suffix.size());
	for (size_t i = 0; i < unitCount; i++) {
		if (unit != unitName(static_cast<Unit>(i)))
			continue;
		const auto registers = unitRegisters(static_cast<Unit>(i));
		for (size_t word = 0; word < registers.size(); word++)
			if (registers[word].name && name == registers[word].name)
				return unitBase(static_cast<Unit>(i)) + 4 * word;
	}
	return std::nullopt;
}

uint32_t cfgRegister(LineReader &line, const Geometry &core)
{
	const std::string_view name = line.word();
	const auto found = findRegister(name);

	if (!found)
		line.fail(fmt::format("'{}' is not a register", name));
	return core.addressOf(found.value_or(0));
}

RamType cfgRam(LineReader &line)
{
	const std::string_view text = line.word();

	/* Some traces name the RAM in their checks by the number of its type. */
	if (text != "pri_mem" && text != "1" && text != "sec_mem" && text != "0")
		line.fail(fmt::format("'{}' is neither pri_mem nor sec_mem", text));
	return text == "sec_mem" || text == "0" ? RamType::Cv : RamType::Mc;
}

/* A source of interrupts, and the bit of its group 0 in S_INTR_STATUS; group 1 has the next bit. */
struct Source {
	std::string_view name;
	uint32_t bit;
};

constexpr std::array sources = {
	Source{ "SDP", NVDLA_GLB_S_INTR_STATUS__SDP_DONE_STATUS0 },
	Source{ "CDP", NVDLA_GLB_S_INTR_STATUS__CDP_DONE_STATUS0 },
	Source{ "PDP", NVDLA_GLB_S_INTR_STATUS__PDP_DONE_STATUS0 },
	Source{ "BDMA", NVDLA_GLB_S_INTR_STATUS__BDMA_DONE_STATUS0 },
	Source{ "RUBIK", NVDLA_GLB_S_INTR_STATUS__RUBIK_DONE_STATUS0 },
	Source{ "CDMA_DAT", NVDLA_GLB_S_INTR_STATUS__CDMA_DAT_DONE_STATUS0 },
	Source{ "CDMA_WT", NVDLA_GLB_S_INTR_STATUS__CDMA_WT_DONE_STATUS0 },
	Source{ "CACC", NVDLA_GLB_S_INTR_STATUS__CACC_DONE_STATUS0 },
};

/* Reads an interrupt such as "SDP_0", in capital or small letters, and returns its bit. */
uint32_t interruptOf(LineReader &line)
{
	const std::string_view text = line.word();
	std::string name(text);

	std::ranges::transform(name, name.begin(), [](unsigned char c) { return std::toupper(c); });
	for (uint32_t bit = 0; bit < 32; bit++)
		if (name == interruptName(bit))
			return uint32_t{ 1 } << bit;
	line.fail(fmt::format("'{}' is not what interrupts come from", text));
	return 0;
}

TraceCommand cfgMemory(LineReader &line, Kind kind)
{
	TraceCommand command = { .kind = kind };

	command.ram = cfgRam(line);
	command.address = line.unsignedUpTo(UINT64_MAX);
	return command;
}

/* mem_init(RAM, ADDRESS, SIZE, ALL_ZERO) */
TraceCommand readInit(LineReader &line)
{
	TraceCommand command = cfgMemory(line, Kind::Load);

	command.data.emplace(line.unsignedUpTo(mostBytes));
	line.keyword("ALL_ZERO");
	return command;
}

/* check_crc(WHEN, RAM, ADDRESS, SIZE, CRC); WHEN is an event, whose command precedes this one. */
TraceCommand readCrc(LineReader &line)
{
	line.word();
	TraceCommand command = cfgMemory(line, Kind::ExpectCrc);
	command.size = line.unsignedUpTo(mostBytes);
	command.value = line.unsigned32();
	return command;
}

void readCfgLine(const Geometry &core, LineReader &line, std::vector<TraceCommand> &commands)
{
	const std::string_view name = line.word();

	if (name == "reg_write") {
		TraceCommand command = { .kind = Kind::Write, .address = cfgRegister(line, core) };
		command.value = line.unsigned32();
		if (command.address == core.addressOf(NVDLA_GLB_S_INTR_STATUS))
			command.kind = Kind::Acknowledge;
		commands.push_back(command);
	} else if (name == "poll_reg_equal") {
		TraceCommand command = { .kind = Kind::Poll, .address = cfgRegister(line, core) };
		command.mask = UINT32_MAX;
		command.value = line.unsigned32();
		commands.push_back(command);
	} else if (name == "mem_init") {
		commands.push_back(readInit(line));
	} else if (name == "mem_load") {
		commands.push_back(cfgMemory(line, Kind::Load));
		commands.back().file = line.file();
	} else if (name == "intr_notify") {
		const uint32_t bit = interruptOf(line);
		line.word(); /* skip the event, for threads of the testbench */
		commands.push_back({ .kind = Kind::AnyInterrupt, .mask = bit });
		/* The testbench itself clears the interrupt. */
		commands.push_back({ .kind = Kind::Acknowledge,
				     .address = core.addressOf(NVDLA_GLB_S_INTR_STATUS),
				     .value = bit });
	} else if (name == "check_crc") {
		commands.push_back(readCrc(line));
	} else if (name == "sync_notify" || name == "sync_wait" || name == "check_nothing") {
		while (line.more())
			line.word();
	} else {
		line.fail(fmt::format("'{}' is not a command", name));
	}
}

} /* namespace */

std::string interruptName(uint32_t bit)
{
	for (const Source &source : sources)
		for (uint32_t group = 0; group < 2; group++)
			if (source.bit << group == uint32_t{ 1 } << bit)
				return fmt::format("{}_{}", source.name, group);
	return {};
}

tl::expected<std::vector<TraceCommand>, std::string> parseCfg(std::string_view text,
							      const Geometry &core)
{
	return readCommands(text, "//", " \t\r(),;\"",
			    std::bind_front(readCfgLine, std::cref(core)));
}

tl::expected<std::vector<std::byte>, std::string> decodeRecords(std::string_view text)
{
	std::vector<std::byte> bytes;
	const auto read = [&](LineReader &line) {
		line.keyword("offset");
		const uint64_t offset = line.unsignedUpTo(mostBytes);
		line.keyword("size");
		const uint64_t size = line.unsignedUpTo(mostBytes - offset);
		line.keyword("payload");
		bytes.resize(std::max<size_t>(bytes.size(), offset + size));
		for (uint64_t i = 0; i < size; i++)
			bytes[offset + i] = static_cast<std::byte>(line.unsignedUpTo(UINT8_MAX));
	};

	return readLines(text, "//", " \t\r{},:", read).map([&] { return bytes; });
}

} /* namespace nvdla::sim */
