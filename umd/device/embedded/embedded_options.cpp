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

/** \brief Parse a number of threads \return false if \a text is no such number */
bool number(std::string_view text, unsigned int &value)
{
	const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);

	return error == std::errc() && end == text.data() + text.size() &&
	       value <= sim::CoreConfig::kMostThreads;
}

/* List of valid options, for the error message. */
std::string forms()
{
	std::string text = std::string("it can be a core (") + sim::geometryNames() +
			   "), fp16=exact or fp16=fast, threads=0 (one for each processor of the "
			   "host) to " +
			   std::to_string(sim::CoreConfig::kMostThreads) + ", realtime";

	for (const sim::ChipOption &option : sim::chipOptions())
		if (option.ofCore)
			text += std::string(", ") + option.name + "=" + option.form;
	return text;
}

/** \brief Read one option into \a options \return the error in the option, empty if there is
 * none */
std::string take(const std::string &option, EmbeddedOptions &options)
{
	if (option == "fp16=exact" || option == "fp16=fast") {
		options.fp16 = option == "fp16=fast" ? sim::Fp16Arithmetic::Fast
						     : sim::Fp16Arithmetic::Exact;
		return "";
	}
	if (const sim::Geometry *core = sim::findGeometry(option)) {
		options.core = core;
		return "";
	}
	if (option == "realtime") {
		options.realtime = true;
		return "";
	}
	if (option.starts_with(kThreads) &&
	    number(std::string_view(option).substr(kThreads.size()), options.threads))
		return "";
	const size_t equals = option.find('=');
	const sim::ChipOption *known = sim::findChipOption(option.substr(0, equals));
	if (known && known->ofCore && equals != std::string::npos) {
		if (!options.chip)
			options.chip.emplace();
		return known->set(*options.chip, option.substr(equals + 1));
	}
	return "\"" + option + "\" is not an option; " + forms();
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
	/* The rest begins with ':' or ',', followed by an option. */
	while (!rest.empty()) {
		rest.remove_prefix(1);
		const std::string_view option = rest.substr(0, rest.find(','));
		const std::string problem = take(std::string(option), options);
		if (!problem.empty())
			return fail(ErrorCode::InvalidArgument, "open device", path, problem);
		rest.remove_prefix(option.size());
	}
	return options;
}

} /* namespace nvdla */
