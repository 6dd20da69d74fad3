/* SPDX-License-Identifier: MIT */
#include "embedded_options.h"

#include <charconv>
#include <string_view>

#include <nvdla/device.h>

#include "core/core.h"

namespace nvdla
{

namespace
{

constexpr std::string_view kName = Device::embeddedPath;
constexpr std::string_view kThreads = "threads=";

/** \return false if \a text is no number of threads */
bool number(std::string_view text, unsigned int &value)
{
	const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);

	return error == std::errc() && end == text.data() + text.size() &&
	       value <= sim::CoreConfig::kMostThreads;
}

/** \return false if there is no such option or value */
bool apply(std::string_view option, EmbeddedOptions &options)
{
	if (option == "fp16=exact")
		options.fp16 = sim::Fp16Arithmetic::Exact;
	else if (option == "fp16=fast")
		options.fp16 = sim::Fp16Arithmetic::Fast;
	else if (option.starts_with(kThreads))
		return number(option.substr(kThreads.size()), options.threads);
	else
		return false;
	return true;
}

} /* namespace */

bool isEmbeddedPath(const std::string &path)
{
	return path.starts_with(kName) &&
	       (path.size() == kName.size() || path[kName.size()] == ':');
}

Result<EmbeddedOptions> parseEmbeddedPath(const std::string &path)
{
	EmbeddedOptions options;
	std::string_view rest = path;

	rest.remove_prefix(kName.size());
	/* What is left begins with ':' or ',', behind which there is an option. */
	while (!rest.empty()) {
		rest.remove_prefix(1);
		const std::string_view option = rest.substr(0, rest.find(','));
		if (!apply(option, options))
			return fail(
				ErrorCode::InvalidArgument, "open device", path,
				"\"" + std::string(option) +
					"\" is not an option; it can be fp16=exact or fp16=fast, "
					"or threads=0 (one on each core of the host) to " +
					std::to_string(sim::CoreConfig::kMostThreads));
		rest.remove_prefix(option.size());
	}
	return options;
}

} /* namespace nvdla */
