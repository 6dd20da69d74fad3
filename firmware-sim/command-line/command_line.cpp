/* SPDX-License-Identifier: MIT */
#include "command_line.h"

#include <algorithm>
#include <cstdio>
#include <numeric>

#include <CLI/CLI.hpp>

namespace nvdla
{

namespace
{

constexpr size_t lineColumns = 100;
constexpr size_t nameColumns = 30;

/* Breaks text between words into lines of at most \a columns. */
std::string wrapped(const std::string &text, size_t columns)
{
	std::string result;
	size_t start = 0;

	while (start < text.size()) {
		size_t end = std::min(text.find('\n', start), text.size());
		if (end - start > columns) {
			const size_t blank = text.rfind(' ', start + columns);
			end = blank == std::string::npos || blank <= start
				      ? std::min(text.find_first_of(" \n", start), text.size())
				      : blank;
		}
		result += (start ? "\n" : "") + text.substr(start, end - start);
		start = end + 1;
	}
	return result;
}

class Formatter : public CLI::Formatter
{
public:
	Formatter() { column_width(nameColumns); }

	std::string make_option_desc(const CLI::Option *option) const override
	{
		return wrapped(option->get_description(), lineColumns - nameColumns);
	}
};

/* Returns the edit distance: letters to change, add or remove to make one word of the other. */
size_t distance(const std::string &one, const std::string &other)
{
	std::vector<size_t> row(other.size() + 1);

	std::iota(row.begin(), row.end(), 0);
	for (size_t i = 0; i < one.size(); i++) {
		size_t diagonal = row[0]++;
		for (size_t j = 0; j < other.size(); j++) {
			const size_t replaced = diagonal + (one[i] != other[j]);
			diagonal = row[j + 1];
			row[j + 1] = std::min({ replaced, row[j] + 1, diagonal + 1 });
		}
	}
	return row.back();
}

/* Returns "did you mean --x?" with the most similar option; empty if none is similar. */
std::string suggestion(const CLI::App &app, const std::string &given)
{
	std::string nearest;
	size_t least = given.size() / 3 + 1;

	for (const CLI::Option *option : app.get_options()) {
		for (const std::string &name : option->get_lnames()) {
			const size_t away = distance(given, "--" + name);
			if (away < least) {
				least = away;
				nearest = "; did you mean --" + name + "?";
			}
		}
	}
	return nearest;
}

} /* namespace */

CommandLineOption &CommandLineOption::required()
{
	option_->required();
	return *this;
}

CommandLineOption &CommandLineOption::showDefault()
{
	option_->capture_default_str();
	return *this;
}

CommandLineOption &CommandLineOption::valueText(const std::string &text)
{
	option_->option_text(text);
	return *this;
}

CommandLineOption &CommandLineOption::range(unsigned int min, unsigned int max)
{
	option_->check(CLI::Range(min, max));
	return *this;
}

CommandLineOption &CommandLineOption::range(double min, double max)
{
	option_->check(CLI::Range(min, max));
	return *this;
}

CommandLineOption &CommandLineOption::oneOf(const std::vector<std::string> &words)
{
	option_->check(CLI::IsMember(words));
	return *this;
}

CommandLineOption &CommandLineOption::existingDirectory()
{
	option_->check(CLI::ExistingDirectory);
	return *this;
}

CommandLineOption &CommandLineOption::bytes()
{
	option_->transform(CLI::AsSizeValue(false));
	return *this;
}

CommandLineOption &CommandLineOption::check(std::function<std::string(const std::string &)> problem)
{
	option_->check(CLI::Validator(std::move(problem), "", ""));
	return *this;
}

CommandLineOption &CommandLineOption::commaList(int most)
{
	option_->delimiter(',')->expected(1, most);
	return *this;
}

CommandLineOption &CommandLineOption::repeatable()
{
	option_->expected(1)->take_all();
	return *this;
}

CommandLineOption &CommandLineOption::excludes(const CommandLineOption &other)
{
	option_->excludes(other.option_);
	return *this;
}

CommandLineOption &CommandLineOption::needs(const CommandLineOption &other)
{
	option_->needs(other.option_);
	return *this;
}

bool CommandLineOption::given() const
{
	return option_->count() > 0;
}

std::string CommandLineOption::name() const
{
	return option_->get_name();
}

CommandLine::CommandLine(const std::string &description, const std::string &program,
			 const std::string &example)
	: example_("Example: " + example + "\n\n"),
	  app_(std::make_unique<CLI::App>(wrapped(description, lineColumns), program))
{
	footer("");
	app_->formatter(std::make_shared<Formatter>());
	app_->set_version_flag("--version", program + " " NVDLA_VERSION,
			       "Print the version and exit");
	app_->failure_message([](const CLI::App *app, const CLI::Error &error) {
		return app->get_name() + ": " + error.what() + "; see " + app->get_name() +
		       " --help\n";
	});
}

CommandLine::~CommandLine() = default;

void CommandLine::footer(const std::string &text)
{
	app_->footer(example_ + wrapped(text, lineColumns));
}

template<typename T>
CommandLineOption CommandLine::option(const std::string &name, T &value, const std::string &help)
{
	return CommandLineOption(app_->add_option(name, value, help));
}

template CommandLineOption CommandLine::option(const std::string &, std::string &,
					       const std::string &);
template CommandLineOption CommandLine::option(const std::string &, unsigned int &,
					       const std::string &);
template CommandLineOption CommandLine::option(const std::string &, uint64_t &,
					       const std::string &);
template CommandLineOption CommandLine::option(const std::string &, float &, const std::string &);
template CommandLineOption CommandLine::option(const std::string &, double &, const std::string &);
template CommandLineOption CommandLine::option(const std::string &, std::vector<std::string> &,
					       const std::string &);
template CommandLineOption CommandLine::option(const std::string &, std::vector<float> &,
					       const std::string &);

template<typename T>
CommandLineOption CommandLine::flag(const std::string &name, T &value, const std::string &help)
{
	return CommandLineOption(app_->add_flag(name, value, help));
}

template CommandLineOption CommandLine::flag(const std::string &, bool &, const std::string &);
template CommandLineOption CommandLine::flag(const std::string &, int &, const std::string &);

CommandLineOption CommandLine::choice(const std::string &name,
				      const std::vector<std::string> &words,
				      const std::string &help, std::function<void(size_t)> take)
{
	std::string text;

	for (const std::string &word : words)
		text += (text.empty() ? "" : "|") + word;
	auto *option = app_->add_option_function<std::string>(
		name,
		[words, take = std::move(take)](const std::string &word) {
			take(size_t(std::ranges::find(words, word) - words.begin()));
		},
		help);
	option->check(CLI::IsMember(words).description(text));
	return CommandLineOption(option);
}

/* Reports an unknown option first, before required options that seem to be missing because of
 * it. */
bool CommandLine::hasOnlyKnown(int argc, const char *const *argv) const
{
	for (int i = 1; i < argc; i++) {
		const std::string word(argv[i]);
		const std::string given = word.substr(0, word.find('='));
		if (given == "--")
			return true;
		if (!given.starts_with("--") || app_->get_option_no_throw(given))
			continue;
		std::fprintf(stderr, "%s: there is no option %s%s; see %s --help\n",
			     app_->get_name().c_str(), given.c_str(),
			     suggestion(*app_, given).c_str(), app_->get_name().c_str());
		return false;
	}
	return true;
}

std::optional<int> CommandLine::parse(int argc, const char *const *argv)
{
	if (!hasOnlyKnown(argc, argv))
		return 2;
	try {
		app_->parse(argc, argv);
	} catch (const CLI::ParseError &error) {
		return app_->exit(error) ? 2 : 0;
	}
	return std::nullopt;
}

} /* namespace nvdla */
