/* SPDX-License-Identifier: MIT */
#include "options.h"

#include <algorithm>
#include <string_view>
#include <utility>

#include <fmt/core.h>

namespace nvdla::plugin
{

namespace
{

constexpr const char *what = "set option";

template<typename T>
using Choices = std::initializer_list<std::pair<std::string_view, T>>;

template<typename T>
Result<void> choose(const std::string &key, const std::string &value, T &target, Choices<T> choices)
{
	std::string names;

	for (const auto &[name, meaning] : choices) {
		if (value == name) {
			target = meaning;
			return {};
		}
		names += fmt::format("{}\"{}\"", names.empty() ? "" : ", ", name);
	}
	return fail(ErrorCode::InvalidArgument, what, key,
		    fmt::format("\"{}\" is none of {}", value, names));
}

} /* namespace */

Result<void> Options::set(const std::string &key, const std::string &value)
{
	if (key == "device")
		device = value;
	else if (key == "cache_dir")
		cacheFolder = value;
	else if (key == "precision")
		return choose(key, value, precision,
			      { { "any", Precision::Any }, { "integer", Precision::Integer } });
	else if (key == "priority")
		return choose(key, value, priority,
			      { { "low", Priority::Low },
				{ "normal", Priority::Normal },
				{ "high", Priority::High } });
	else if (key == "profile")
		return choose(key, value, profile, { { "true", true }, { "false", false } });
	else
		return fail(ErrorCode::InvalidArgument, what, key,
			    "is no option; there are device, precision, priority, cache_dir and "
			    "profile");
	return {};
}

} /* namespace nvdla::plugin */
