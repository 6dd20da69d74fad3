/* SPDX-License-Identifier: MIT */
#include <nvdla/calibration_table.h>

#include <algorithm>
#include <bit>
#include <charconv>
#include <cmath>
#include <optional>
#include <string_view>

#include <fmt/core.h>
#include <nlohmann/json.hpp>

#include "base/io/file.h"
#include "base/io/guarded.h"
#include "base/io/printable.h"

namespace nvdla
{

namespace
{

constexpr const char *reading = "read calibration table";
constexpr std::string_view blanks = " \t\r\n";

std::string_view trimmed(std::string_view text)
{
	const size_t first = text.find_first_not_of(blanks);

	return first == text.npos ? text.substr(0, 0)
				  : text.substr(first, text.find_last_not_of(blanks) + 1 - first);
}

Result<void> add(CalibrationTable &table, const std::string &name, double scale)
{
	const char *why = !std::isfinite(scale) || scale <= 0  ? "has a scale that is not above 0"
			  : !table.emplace(name, scale).second ? "is there twice"
							       : nullptr;

	if (why)
		return fail(ErrorCode::InvalidFile, reading, fmt::format("'{}'", printable(name)),
			    why);
	return {};
}

Result<CalibrationTable> fromJson(std::string_view text, const std::string &file)
{
	const auto json = nlohmann::json::parse(text, nullptr, false);
	CalibrationTable table;

	if (!json.is_object())
		return fail(ErrorCode::InvalidFile, reading, file,
			    "is no JSON object with a row for each tensor");
	for (const auto &[name, row] : json.items()) {
		const auto number = [&row](const char *field) -> std::optional<double> {
			const auto found = row.find(field);
			return found != row.end() && found->is_number()
				       ? std::optional(found->get<double>())
				       : std::nullopt;
		};
		const auto scale = number("scale");
		if (!scale)
			return fail(ErrorCode::InvalidFile, reading,
				    fmt::format("'{}'", printable(name)),
				    "has no number \"scale\"");
		if (row.contains("offset") && number("offset") != 0)
			return fail(ErrorCode::InvalidFile, reading,
				    fmt::format("'{}'", printable(name)),
				    "has an \"offset\" that is not 0; only symmetric scales are "
				    "possible");
		if (auto added = add(table, name, *scale); !added)
			return forward(added);
	}
	return table;
}

/*
 * Reads a calibration cache of TensorRT. A line is "name: scale"; the scale is the bits of a float
 * as hexadecimal digits. Names may have colons and blanks. A first line with TensorRT's version
 * (TRT-...) is skipped.
 */
Result<CalibrationTable> fromCache(std::string_view text, const std::string &file)
{
	CalibrationTable table;

	for (size_t line = 1; !text.empty(); line++) {
		const size_t end = std::min(text.find('\n'), text.size());
		const std::string_view row = trimmed(text.substr(0, end));
		text.remove_prefix(std::min(end + 1, text.size()));
		if (row.empty() || (line == 1 && row.starts_with("TRT-")))
			continue;
		const size_t colon = std::min(row.rfind(':'), row.size());
		const std::string_view name = trimmed(row.substr(0, colon));
		const std::string_view digits =
			trimmed(row.substr(std::min(colon + 1, row.size())));
		uint32_t bits = 0;
		const auto [last, error] =
			std::from_chars(digits.data(), digits.data() + digits.size(), bits, 16);
		if (name.empty() || digits.empty() || error != std::errc() ||
		    last != digits.data() + digits.size())
			return fail(ErrorCode::InvalidFile, reading,
				    fmt::format("{}, line {}", file, line),
				    "is not a name, a colon and the hexadecimal digits of a float");
		if (auto added = add(table, std::string(name), std::bit_cast<float>(bits)); !added)
			return forward(added);
	}
	return table;
}

} /* namespace */

Result<CalibrationTable> decodeCalibrationTable(std::span<const std::byte> bytes,
						const std::string &name)
{
	return guarded(reading, [&]() -> Result<CalibrationTable> {
		const std::string_view text(reinterpret_cast<const char *>(bytes.data()),
					    bytes.size());
		auto table = trimmed(text).starts_with('{') ? fromJson(text, name)
							    : fromCache(text, name);
		if (table && table->empty())
			return fail(ErrorCode::InvalidFile, reading, name, "has no rows");
		return table;
	});
}

Result<CalibrationTable> readCalibrationTable(const std::string &path)
{
	constexpr uint64_t limit = 64 << 20;

	return readWholeFile(path, limit).and_then([&](auto &&bytes) {
		return decodeCalibrationTable(bytes, path);
	});
}

} /* namespace nvdla */
