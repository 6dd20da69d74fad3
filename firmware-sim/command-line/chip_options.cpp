/* SPDX-License-Identifier: MIT */
#include "command-line/chip_options.h"

#include <algorithm>

namespace nvdla
{

void ChipOptions::addTo(CommandLine &app, const std::function<void(CommandLineOption)> &each,
			For whom)
{
	/* A running core has these defaults only if another option describes its chip. */
	const std::string note = whom == For::Core ? ", see above" : "";

	for (const sim::ChipOption &option : sim::chipOptions()) {
		std::string &value = values_.emplace_back();
		if (whom == For::Core && !option.ofCore)
			continue;
		auto added = app.option(std::string("--") + option.name, value, option.help + note);
		added.valueText(option.form).check([this, &option](const std::string &value) {
			return option.set(chip_, value);
		});
		if (each)
			each(added);
	}
}

std::vector<std::pair<std::string, std::string>> ChipOptions::values() const
{
	const auto options = sim::chipOptions();
	std::vector<std::pair<std::string, std::string>> given;

	for (size_t i = 0; i < values_.size(); i++) {
		if (!values_[i].empty())
			given.emplace_back(options[i].name, values_[i]);
	}
	return given;
}

bool ChipOptions::given() const
{
	return std::ranges::any_of(values_,
				   [](const std::string &value) { return !value.empty(); });
}

} /* namespace nvdla */
