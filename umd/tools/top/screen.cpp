/* SPDX-License-Identifier: MIT */
#include "screen.h"

#include <algorithm>

#include <fmt/core.h>

namespace nvdla::top
{

namespace
{

/* Returns the first \a columns characters of a line and all of its escape sequences. Sequences
 * after the cut are kept because the last one resets the colour. */
std::string cut(std::string_view line, size_t columns)
{
	std::string kept;

	for (size_t at = 0; at < line.size(); at++) {
		if (line[at] == '\x1b') {
			const size_t end = std::min(line.find('m', at), line.size() - 1);
			kept += line.substr(at, end + 1 - at);
			at = end;
		} else if (columns) {
			kept += line[at];
			columns--;
		}
	}
	return kept;
}

} /* namespace */

ScreenSize screenSize(unsigned int rows, unsigned int columns)
{
	ScreenSize size;

	if (rows)
		size.rows = rows;
	if (columns)
		size.columns = columns;
	return size;
}

std::string screenText(std::string_view text, std::string_view footer, const ScreenSize &size)
{
	std::string shown = "\x1b[H";

	/* The last row stays free for the footer: a line end there would scroll the screen. */
	for (size_t row = 1; row < size.rows && !text.empty(); row++) {
		const std::string_view line = text.substr(0, text.find('\n'));
		text.remove_prefix(std::min(line.size() + 1, text.size()));
		shown += "\x1b[K" + cut(line, size.columns) + '\n';
	}
	shown += "\x1b[J";
	if (!footer.empty())
		shown += fmt::format("\x1b[{};1H", size.rows) + cut(footer, size.columns - 1);
	return shown;
}

} /* namespace nvdla::top */
