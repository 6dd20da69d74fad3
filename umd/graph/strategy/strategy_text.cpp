/* SPDX-License-Identifier: MIT */
#include <nvdla/strategy.h>

#include <algorithm>

#include <fmt/core.h>

#include "timing/chip.h"

namespace nvdla
{

namespace
{

struct StrategySubject {
	const char *name;
	Choice Strategy::*choice;
};

constexpr StrategySubject subjects[] = {
	{ "winograd", &Strategy::winograd }, { "compression", &Strategy::compression },
	{ "pixels", &Strategy::pixels },     { "post-extension", &Strategy::postExtension },
	{ "bands", &Strategy::bands },	     { "fused-pooling", &Strategy::fusedPooling },
	{ "reuse", &Strategy::reuse },	     { "branches", &Strategy::branches },
};

struct ChoiceName {
	const char *name;
	Choice choice;
};

constexpr ChoiceName choiceNames[] = {
	{ "auto", Choice::Auto },
	{ "always", Choice::Always },
	{ "never", Choice::Never },
};

/** \return the entry of a table, null if there is none of that name */
template<typename T, size_t n>
const T *named(const T (&table)[n], std::string_view name)
{
	const auto found =
		std::ranges::find_if(table, [&](const T &entry) { return name == entry.name; });

	return found == std::end(table) ? nullptr : found;
}

/** \brief Apply a part such as "bands=auto"; \return the error, empty if there is none */
std::string take(std::string_view part, Strategy &strategy)
{
	const size_t equals = part.find('=');
	if (equals == std::string_view::npos) {
		const ChoiceName *all = named(choiceNames, part);
		if (!all)
			return "is neither auto or never nor WAY=CHOICE";
		/* Refuse all=always, because hardly any graph allows every subject. */
		if (all->choice == Choice::Always)
			return "is for one subject, as in reuse=always";
		auto chip = std::move(strategy.chip);
		strategy = Strategy::all(all->choice);
		strategy.chip = std::move(chip);
		return "";
	}
	const std::string_view name = part.substr(0, equals), value = part.substr(equals + 1);
	if (const StrategySubject *subject = named(subjects, name)) {
		const ChoiceName *choice = named(choiceNames, value);
		if (!choice)
			return "can be auto, always or never";
		strategy.*subject->choice = choice->choice;
		return "";
	}
	const sim::ChipOption *option = sim::findChipOption(name);
	if (!option) {
		std::string why = "is no subject of a strategy, and no option of a chip; there are";
		for (const StrategySubject &subject : subjects)
			why += fmt::format(" {},", subject.name);
		for (const sim::ChipOption &known : sim::chipOptions())
			why += fmt::format(" {},", known.name);
		why.pop_back();
		return why;
	}
	sim::Chip chip;
	strategy.chip.emplace_back(name, value);
	return option->set(chip, std::string(value));
}

} /* namespace */

Result<Strategy> parseStrategy(std::string_view text)
{
	Strategy strategy;

	while (!text.empty()) {
		const size_t comma = std::min(text.find(','), text.size());
		const std::string_view part = text.substr(0, comma);
		if (const std::string problem = take(part, strategy); !problem.empty())
			return fail(ErrorCode::InvalidArgument, "read strategy",
				    fmt::format("'{}'", part), problem);
		text.remove_prefix(std::min(comma + 1, text.size()));
	}
	return strategy;
}

std::string toString(const Strategy &strategy)
{
	std::string text;

	for (const StrategySubject &subject : subjects) {
		const auto choice = std::ranges::find(choiceNames, strategy.*subject.choice,
						      &ChoiceName::choice);
		text += fmt::format("{}{}={}", text.empty() ? "" : ",", subject.name, choice->name);
	}
	for (const auto &[name, value] : strategy.chip)
		text += fmt::format(",{}={}", name, value);
	return text;
}

} /* namespace nvdla */
