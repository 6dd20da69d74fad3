/* SPDX-License-Identifier: MIT */
#include "json_value.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdlib>

#include <fmt/core.h>

namespace nvdla::text
{

namespace
{

constexpr size_t quotedBytes = 40;

template<typename T>
tl::unexpected<Error> outside(const Json &json, const std::string &path, T min, T max)
{
	return badText(path, fmt::format("is {}, must be a whole number from {} to {}", quote(json),
					 min, max));
}

} /* namespace */

tl::unexpected<Error> badText(std::string path, std::string why)
{
	return fail(ErrorCode::InvalidFile, "read loadable from JSON",
		    path.empty() ? "root" : std::move(path), std::move(why));
}

std::string quote(const Json &json)
{
	if (json.is_array())
		return fmt::format("an array of {}", json.size());
	if (json.is_object())
		return "an object";
	std::string text = json.dump(-1, ' ', true, Json::error_handler_t::replace);
	if (text.size() > quotedBytes) {
		text.resize(quotedBytes);
		text += "...";
	}
	return text;
}

std::string fieldPath(const std::string &path, std::string_view field)
{
	return path.empty() ? std::string(field) : fmt::format("{}.{}", path, field);
}

Result<const Json *> findField(const Json &json, const std::string &path, const char *field)
{
	if (!json.is_object())
		return badText(path, fmt::format("is {}, must be an object with the field \"{}\"",
						 quote(json), field));
	const auto found = json.find(field);
	if (found == json.end())
		return badText(fieldPath(path, field), "is missing; every such object has one");
	return &*found;
}

Result<uint64_t> unsignedValue(const Json &json, const std::string &path, uint64_t max,
			       NameOf nameOf)
{
	if (json.is_number_unsigned() && json.get<uint64_t>() <= max)
		return json.get<uint64_t>();
	if (!nameOf)
		return outside<uint64_t>(json, path, 0, max);

	const auto value = json.is_string() ? valueOf(nameOf, json.get_ref<const std::string &>())
					    : std::nullopt;
	if (!value || *value > max)
		return badText(path, fmt::format("is {}, must be one of {}, or a number up to {}",
						 quote(json), allNames(nameOf), max));
	return *value;
}

Result<int64_t> signedValue(const Json &json, const std::string &path, int64_t min, int64_t max)
{
	const bool fits = json.is_number_unsigned()
				  ? json.get<uint64_t>() <= static_cast<uint64_t>(max)
				  : json.is_number_integer() && json.get<int64_t>() >= min &&
					    json.get<int64_t>() <= max;
	if (!fits)
		return outside(json, path, min, max);
	return json.get<int64_t>();
}

Json floatToJson(float value)
{
	if (!std::isfinite(value))
		return fmt::format("{:#010x}", std::bit_cast<uint32_t>(value));
	/* Make a double from the float's shortest digits, so that JSON shows these. The digits of
	 * the float's exact value are more. */
	return std::strtod(fmt::format("{}", value).c_str(), nullptr);
}

Result<float> floatValue(const Json &json, const std::string &path)
{
	constexpr size_t digits = 10;
	/* Accept values up to half a step above the largest float, because its shortest digits are
	 * slightly above it. */
	constexpr double max = std::numeric_limits<float>::max();
	constexpr double roundsToMax = 0x1.ffffffp127;

	if (json.is_number()) {
		const auto value = json.get<double>();
		if (std::fabs(value) < roundsToMax)
			return static_cast<float>(std::clamp(value, -max, max));
	}
	if (json.is_string()) {
		const auto &text = json.get_ref<const std::string &>();
		char *end = nullptr;
		const unsigned long bits = std::strtoul(text.c_str(), &end, 16);
		if (text.size() == digits && text.starts_with("0x") &&
		    end == text.c_str() + text.size())
			return std::bit_cast<float>(static_cast<uint32_t>(bits));
	}
	return badText(path, fmt::format("is {}, must be a number that a float can hold, or the "
					 "float's bits as in \"0x7fc00000\"",
					 quote(json)));
}

Result<std::string> stringValue(const Json &json, const std::string &path)
{
	if (!json.is_string())
		return badText(path, fmt::format("is {}, must be a string", quote(json)));
	return json.get<std::string>();
}

Json namedToJson(uint64_t value, NameOf nameOf)
{
	const std::string name = nameOf && value < namedValues ? nameOf(value) : "";
	if (name.empty())
		return value;
	return name;
}

} /* namespace nvdla::text */
