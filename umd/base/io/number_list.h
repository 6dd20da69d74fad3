/* SPDX-License-Identifier: MIT */
#pragma once

#include <charconv>
#include <optional>
#include <string_view>
#include <vector>

namespace nvdla
{

/** \return the numbers in \a text, separated by \a separator; std::nullopt if the text has another
 * form */
template<typename T>
std::optional<std::vector<T>> parseNumbers(std::string_view text, char separator)
{
	const char *at = text.data();
	const char *const end = at + text.size();
	std::vector<T> numbers;

	while (true) {
		const auto [next, error] = std::from_chars(at, end, numbers.emplace_back());
		if (error != std::errc() || (next != end && *next != separator))
			return std::nullopt;
		if (next == end)
			return numbers;
		at = next + 1;
	}
}

} /* namespace nvdla */
