/* SPDX-License-Identifier: MIT */
#include "text_file.h"

#include <charconv>
#include <fstream>
#include <sstream>

namespace nvdla::top
{

std::optional<std::string> readText(const std::filesystem::path &path)
{
	std::ifstream file(path);
	std::ostringstream text;

	if (!file || !(text << file.rdbuf()) || file.bad())
		return std::nullopt;
	return text.str();
}

std::optional<uint64_t> parseNumber(std::string_view text)
{
	uint64_t number = 0;
	const auto parsed = std::from_chars(text.data(), text.data() + text.size(), number);

	if (parsed.ec != std::errc())
		return std::nullopt;
	return number;
}

} /* namespace nvdla::top */
