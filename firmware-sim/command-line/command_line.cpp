/* SPDX-License-Identifier: MIT */
#include "command_line.h"

#include <algorithm>
#include <numeric>
#include <set>
#include <sstream>
#include <type_traits>

#include <CLI/CLI.hpp>
#include <fcntl.h>
#include <unistd.h>

#include "message.h"
#include "output_files.h"

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

	/* The value's name or its possible words, then further facts: "N (1 to 256, default 1)". */
	std::string make_option_opts(const CLI::Option *option) const override
	{
		const bool takesValue = option->get_type_size() != 0;
		const std::string type = takesValue ? option->get_type_name() : "";
		const size_t colon = std::min(type.find(':'), type.size());
		std::string value = type.substr(0, colon);
		const std::string values = type.substr(std::min(colon + 1, type.size()));
		std::string facts;

		if (values.find('|') != std::string::npos)
			value = values;
		else
			addFact(facts, values);
		if (!option->get_option_text().empty())
			value = option->get_option_text();
		else if (option->get_expected_max() == CLI::detail::expected_max_vector_size)
			value += " ...";
		if (takesValue && !option->get_default_str().empty())
			addFact(facts, "default " + option->get_default_str());
		if (takesValue && option->get_required())
			addFact(facts, "required");
		addFact(facts, namesOf(option->get_needs(), "only with "));
		addFact(facts, namesOf(option->get_excludes(), "not with "));
		return (value.empty() ? "" : " " + value) +
		       (facts.empty() ? "" : " (" + facts + ")");
	}

	std::string make_option_desc(const CLI::Option *option) const override
	{
		return wrapped(option->get_description(), lineColumns - nameColumns);
	}

private:
	static std::string namesOf(const std::set<CLI::Option *> &options, const char *relation)
	{
		std::vector<std::string> names;

		for (const CLI::Option *option : options)
			names.push_back(option->get_name());
		std::ranges::sort(names);
		return names.empty() ? "" : relation + CLI::detail::join(names, ", ");
	}

	static void addFact(std::string &facts, const std::string &fact)
	{
		facts += (facts.empty() || fact.empty() ? "" : ", ") + fact;
	}
};

template<typename T>
std::string interval(T min, T max)
{
	std::ostringstream text;

	text << min << " to " << max;
	return text.str();
}

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

/* Returns the files that the command line names, or the default names. */
std::vector<NamedFile> filesOf(const std::vector<CLI::Option *> &options)
{
	std::vector<NamedFile> files;

	for (const CLI::Option *option : options) {
		for (const std::string &path : option->results())
			files.push_back({ option->get_name(), path });
		if (option->empty() && !option->get_default_str().empty())
			files.push_back({ option->get_name(), option->get_default_str() });
	}
	return files;
}

/* Opens closed standard streams such that writing to them still fails. Otherwise the next opened
 * file would get the number of a closed stream, and messages would be written into this file. */
void openStandardStreams()
{
	int file = 0;

	while (file >= 0 && file <= STDERR_FILENO)
		file = open("/dev/null", O_RDONLY);
	if (file >= 0)
		close(file);
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

CommandLineOption &CommandLineOption::inputFile()
{
	files_->inputs.push_back(option_);
	return *this;
}

CommandLineOption &CommandLineOption::outputFile()
{
	files_->outputs.push_back(option_);
	return *this;
}

CommandLineOption &CommandLineOption::range(unsigned int min, unsigned int max)
{
	option_->check(CLI::Range(min, max).description(interval(min, max)));
	return *this;
}

CommandLineOption &CommandLineOption::range(double min, double max)
{
	option_->check(CLI::Range(min, max).description(interval(min, max)));
	return *this;
}

CommandLineOption &CommandLineOption::oneOf(const std::vector<std::string> &words)
{
	option_->check(CLI::IsMember(words).description(CLI::detail::join(words, "|")));
	return *this;
}

CommandLineOption &CommandLineOption::existingDirectory()
{
	option_->check(CLI::Validator(CLI::ExistingDirectory).description(""));
	return *this;
}

CommandLineOption &CommandLineOption::bytes()
{
	option_->transform(CLI::Validator(CLI::AsSizeValue(false)).description(""))
		->option_text("BYTES");
	return *this;
}

CommandLineOption &CommandLineOption::check(std::function<std::string(const std::string &)> problem)
{
	option_->check(CLI::Validator(std::move(problem), "", ""));
	return *this;
}

CommandLineOption &CommandLineOption::commaList(int most)
{
	option_->delimiter(',')->expected(1, most)->option_text("A,B,...");
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
	openStandardStreams();
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
	CLI::Option *option = app_->add_option(name, value, help);

	if constexpr (std::is_integral_v<T>)
		option->type_name("N");
	else if constexpr (std::is_floating_point_v<T>)
		option->type_name("NUMBER");
	return CommandLineOption(option, files_);
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
	return CommandLineOption(app_->add_flag(name, value, help), files_);
}

template CommandLineOption CommandLine::flag(const std::string &, bool &, const std::string &);
template CommandLineOption CommandLine::flag(const std::string &, int &, const std::string &);

CommandLineOption CommandLine::choice(const std::string &name,
				      const std::vector<std::string> &words,
				      const std::string &help, std::function<void(size_t)> take)
{
	auto *option = app_->add_option_function<std::string>(
		name,
		[words, take = std::move(take)](const std::string &word) {
			take(size_t(std::ranges::find(words, word) - words.begin()));
		},
		help);
	option->check(CLI::IsMember(words).description(CLI::detail::join(words, "|")));
	return CommandLineOption(option, files_);
}

/* Reports an unknown option before required options are checked, because a misspelled required
 * option would be reported as missing. */
bool CommandLine::hasOnlyKnown(int argc, const char *const *argv) const
{
	for (int i = 1; i < argc; i++) {
		const std::string word(argv[i]);
		const std::string given = word.substr(0, word.find('='));
		if (given == "--")
			return true;
		if (!given.starts_with("--") || app_->get_option_no_throw(given))
			continue;
		say(app_->get_name() + ": there is no option " + given + suggestion(*app_, given) +
		    "; see " + app_->get_name() + " --help\n");
		return false;
	}
	return true;
}

bool CommandLine::canWriteOutputs() const
{
	const std::string problem =
		problemOfOutputs(filesOf(files_.inputs), filesOf(files_.outputs));

	if (!problem.empty())
		say(app_->get_name() + ": " + problem + "\n");
	return problem.empty();
}

std::optional<int> CommandLine::parse(int argc, const char *const *argv)
{
	if (!hasOnlyKnown(argc, argv))
		return 2;
	try {
		app_->parse(argc, argv);
	} catch (const CLI::ParseError &error) {
		return app_->exit(error) ? 2 : finishOutput(app_->get_name(), 0);
	}
	if (!canWriteOutputs())
		return 2;
	return std::nullopt;
}

} /* namespace nvdla */
