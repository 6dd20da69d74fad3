/* SPDX-License-Identifier: MIT */
#include "printable.h"

#include <cstdint>

#include <fmt/core.h>

namespace nvdla
{

namespace
{

/*
 * Returns the length in bytes of the first character of \a text, which is not empty; 0 if this
 * character is not printable. The ranges of first and second bytes are those of Unicode's table
 * "Well-Formed UTF-8 Byte Sequences"; the control characters U+0080 to U+009F are left out.
 */
size_t characterLength(std::string_view text)
{
	constexpr struct {
		uint8_t first[2];
		uint8_t second[2];
		size_t length;
	} forms[] = {
		{ { 0x20, 0x7e }, { 0x00, 0xff }, 1 }, { { 0xc2, 0xc2 }, { 0xa0, 0xbf }, 2 },
		{ { 0xc3, 0xdf }, { 0x80, 0xbf }, 2 }, { { 0xe0, 0xe0 }, { 0xa0, 0xbf }, 3 },
		{ { 0xe1, 0xec }, { 0x80, 0xbf }, 3 }, { { 0xed, 0xed }, { 0x80, 0x9f }, 3 },
		{ { 0xee, 0xef }, { 0x80, 0xbf }, 3 }, { { 0xf0, 0xf0 }, { 0x90, 0xbf }, 4 },
		{ { 0xf1, 0xf3 }, { 0x80, 0xbf }, 4 }, { { 0xf4, 0xf4 }, { 0x80, 0x8f }, 4 },
	};
	auto at = [&](size_t i) { return static_cast<uint8_t>(text[i]); };
	auto within = [](uint8_t byte, const uint8_t(&range)[2]) {
		return byte >= range[0] && byte <= range[1];
	};

	for (const auto &form : forms) {
		if (!within(at(0), form.first))
			continue;
		if (text.size() < form.length || (form.length > 1 && !within(at(1), form.second)))
			return 0;
		for (size_t i = 2; i < form.length; i++) {
			if (at(i) < 0x80 || at(i) > 0xbf)
				return 0;
		}
		return form.length;
	}
	return 0;
}

} /* namespace */

std::string printable(std::string_view text)
{
	std::string shown;

	while (!text.empty()) {
		const size_t length = characterLength(text);
		if (length)
			shown += text.substr(0, length);
		else
			shown += fmt::format("\\x{:02x}", static_cast<uint8_t>(text[0]));
		text.remove_prefix(length ? length : 1);
	}
	return shown;
}

std::string shortened(std::string_view text, size_t width)
{
	constexpr std::string_view dots = "...";

	if (text.size() <= width)
		return std::string(text);
	if (const size_t first = text.find(';'); first != std::string_view::npos && first)
		return shortened(text.substr(0, first), width - dots.size() - 1) + ";...";
	text.remove_prefix(text.size() - width + dots.size());
	while (!text.empty() && !characterLength(text))
		text.remove_prefix(1); /* skip the rest of a character that the cut went through */
	return std::string(dots) + std::string(text);
}

std::string inQuotes(std::string_view name)
{
	return fmt::format("'{}'", shortened(name, longestName));
}

} /* namespace nvdla */
