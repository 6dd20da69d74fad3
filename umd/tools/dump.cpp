/* SPDX-License-Identifier: MIT */
#include "dump.h"

#include <charconv>
#include <cstdint>
#include <span>

#include <fmt/core.h>
#include <nvdla/hw/register_table.h>

#include "text_file.h"

namespace nvdla::tools
{

namespace
{

/* \return the name of the register at a byte offset, empty if there is none */
std::string registerName(uint32_t offset)
{
	for (const nvdla_unit_info &unit : nvdla_units) {
		for (const nvdla_register_info &info : std::span(unit.registers, unit.count)) {
			if (info.address == offset)
				return fmt::format("{}.{}", unit.name, info.name);
		}
	}
	return {};
}

/* \return "UNIT.NAME = 0xVALUE" for "0xOFFSET = 0xVALUE", empty for any other line */
std::string named(const std::string &line)
{
	uint32_t offset = 0;
	const char *const end = line.data() + line.size();

	if (!line.starts_with("0x"))
		return {};
	const auto [rest, error] = std::from_chars(line.data() + 2, end, offset, 16);
	const std::string_view value(rest, end);
	const std::string name = registerName(offset);
	if (error != std::errc() || !value.starts_with(" = 0x") || name.empty())
		return {};
	return name + std::string(value);
}

} /* namespace */

Result<std::string> readDump(const std::string &path)
{
	auto lines = readLines(path);
	if (!lines)
		return forward(lines);
	std::string text;
	bool any = false;
	for (const std::string &line : *lines) {
		const std::string replaced = named(line);
		any |= !replaced.empty();
		text += (replaced.empty() ? line : replaced) + '\n';
	}
	if (!any)
		return fail(ErrorCode::InvalidFile, "read dump", path,
			    "has no register values, so it is no core dump of the driver nvdla");
	return text;
}

} /* namespace nvdla::tools */
