/* SPDX-License-Identifier: MIT */
#include "base/io/base64.h"

#include <algorithm>
#include <array>
#include <cstdint>

namespace nvdla
{

namespace
{

constexpr std::string_view kDigits =
	"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
constexpr uint8_t kNoDigit = 0xff;

constexpr std::array<uint8_t, 256> makeValues()
{
	std::array<uint8_t, 256> values = {};
	values.fill(kNoDigit);
	for (size_t i = 0; i < kDigits.size(); i++)
		values[static_cast<uint8_t>(kDigits[i])] = static_cast<uint8_t>(i);
	return values;
}

constexpr std::array<uint8_t, 256> kValues = makeValues();

} /* namespace */

std::string encodeBase64(std::span<const std::byte> bytes)
{
	std::string text;
	text.reserve((bytes.size() + 2) / 3 * 4);
	for (size_t at = 0; at < bytes.size(); at += 3) {
		const size_t count = std::min<size_t>(bytes.size() - at, 3);
		uint32_t group = 0;
		for (size_t i = 0; i < count; i++)
			group |= std::to_integer<uint32_t>(bytes[at + i]) << (16 - 8 * i);
		for (size_t i = 0; i < 4; i++)
			text += i <= count ? kDigits[group >> (18 - 6 * i) & 0x3f] : '=';
	}
	return text;
}

std::optional<std::vector<std::byte>> decodeBase64(std::string_view text)
{
	if (text.size() % 4)
		return std::nullopt;
	const size_t padding = text.ends_with("==") ? 2 : text.ends_with("=") ? 1 : 0;
	const size_t digits = text.size() - padding;
	std::vector<std::byte> bytes;
	bytes.reserve(text.size() / 4 * 3);
	for (size_t at = 0; at < digits; at += 4) {
		const size_t count = std::min<size_t>(digits - at, 4);
		uint32_t group = 0;
		for (size_t i = 0; i < count; i++) {
			const uint8_t value = kValues[static_cast<uint8_t>(text[at + i])];
			if (value == kNoDigit)
				return std::nullopt;
			group |= static_cast<uint32_t>(value) << (18 - 6 * i);
		}
		for (size_t i = 0; i + 1 < count; i++)
			bytes.push_back(static_cast<std::byte>(group >> (16 - 8 * i)));
	}
	return bytes;
}

} /* namespace nvdla */
