/* SPDX-License-Identifier: MIT */
#include "command_line.h"

#include <algorithm>

#include <CLI/CLI.hpp>

namespace nvdla
{

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

CommandLine::CommandLine(const std::string &description, const std::string &program)
	: app_(std::make_unique<CLI::App>(description, program))
{
}

CommandLine::~CommandLine() = default;

void CommandLine::footer(const std::string &text)
{
	app_->footer(text);
}

void CommandLine::version(const std::string &text)
{
	app_->set_version_flag("--version", text);
}

CommandLineOption CommandLine::option(const std::string &name, std::string &value,
				      const std::string &help)
{
	return CommandLineOption(app_->add_option(name, value, help));
}

CommandLineOption CommandLine::option(const std::string &name, unsigned int &value,
				      const std::string &help)
{
	return CommandLineOption(app_->add_option(name, value, help));
}

CommandLineOption CommandLine::option(const std::string &name, uint64_t &value,
				      const std::string &help)
{
	return CommandLineOption(app_->add_option(name, value, help));
}

CommandLineOption CommandLine::option(const std::string &name, float &value,
				      const std::string &help)
{
	return CommandLineOption(app_->add_option(name, value, help));
}

CommandLineOption CommandLine::option(const std::string &name, double &value,
				      const std::string &help)
{
	return CommandLineOption(app_->add_option(name, value, help));
}

CommandLineOption CommandLine::option(const std::string &name, std::vector<std::string> &values,
				      const std::string &help)
{
	return CommandLineOption(app_->add_option(name, values, help));
}

CommandLineOption CommandLine::option(const std::string &name, std::vector<float> &values,
				      const std::string &help)
{
	return CommandLineOption(app_->add_option(name, values, help));
}

CommandLineOption CommandLine::flag(const std::string &name, bool &value, const std::string &help)
{
	return CommandLineOption(app_->add_flag(name, value, help));
}

CommandLineOption CommandLine::flag(const std::string &name, int &count, const std::string &help)
{
	return CommandLineOption(app_->add_flag(name, count, help));
}

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

std::optional<int> CommandLine::parse(int argc, const char *const *argv)
{
	try {
		app_->parse(argc, argv);
	} catch (const CLI::ParseError &error) {
		return app_->exit(error) ? 2 : 0;
	}
	return std::nullopt;
}

} /* namespace nvdla */
