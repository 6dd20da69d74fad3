/* SPDX-License-Identifier: MIT */
/*
 * The command line of a program. CLI11, which parses it, has headers that take longer to compile
 * than most programs here. So only command_line.cpp includes them.
 */
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace CLI
{
class App;
class Option;
} /* namespace CLI */

namespace nvdla
{

/** \brief The options of a program that name files */
struct CommandLineFiles {
	std::vector<CLI::Option *> inputs;
	std::vector<CLI::Option *> outputs;
};

/** \brief Handle of one option, to set its properties; the CommandLine owns the option */
class CommandLineOption
{
public:
	CommandLineOption(CLI::Option *option, CommandLineFiles &files)
		: option_(option), files_(&files)
	{
	}

	/** \brief Make the option required */
	CommandLineOption &required();
	/** \brief Show the variable's present value as the default in the help */
	CommandLineOption &showDefault();
	/** \brief Name of the option's value in the help, instead of its type */
	CommandLineOption &valueText(const std::string &text);
	/** \brief The values name files, or folders of files, that the program reads */
	CommandLineOption &inputFile();
	/** \brief The values name files that the program writes; parse() refuses those that
	 * cannot be written or would replace another file of the command line */
	CommandLineOption &outputFile();
	/** \brief Accept only numbers from \a min to \a max */
	CommandLineOption &range(unsigned int min, unsigned int max);
	CommandLineOption &range(double min, double max);
	/** \brief Accept only these words */
	CommandLineOption &oneOf(const std::vector<std::string> &words);
	/** \brief Accept only existing folders */
	CommandLineOption &existingDirectory();
	/** \brief Accept a number of bytes, also as 512K or 4M */
	CommandLineOption &bytes();
	/**
	 * \brief Check each value as it was given, before conversion
	 * \param[in] problem returns the error of a value, or an empty text
	 */
	CommandLineOption &check(std::function<std::string(const std::string &)> problem);
	/** \brief Accept at most \a most numbers, separated by commas */
	CommandLineOption &commaList(int most);
	/** \brief Accept the option several times, with one value each */
	CommandLineOption &repeatable();
	/** \brief Refuse this option together with \a other, or (needs()) without \a other */
	CommandLineOption &excludes(const CommandLineOption &other);
	CommandLineOption &needs(const CommandLineOption &other);

	/** \return true if the option was on the command line; only after parse() */
	bool given() const;
	/** \return the option's name as on the command line: "--output" */
	std::string name() const;

private:
	CLI::Option *option_;
	CommandLineFiles *files_;
};

/**
 * \brief The options and arguments of a program; their values go to variables of the caller
 *
 * The variables must exist until parse() is done. The \a name of an option is like "-o,--output"; a
 * name without dashes is a positional argument.
 */
class CommandLine
{
public:
	/**
	 * \param[in] description purpose of the program, as a sentence
	 * \param[in] example a useful command line, for the help
	 */
	CommandLine(const std::string &description, const std::string &program,
		    const std::string &example);
	CommandLine(const CommandLine &) = delete;
	CommandLine &operator=(const CommandLine &) = delete;
	~CommandLine();

	/** \brief Text below the options in the help */
	void footer(const std::string &text);

	/** \tparam T std::string, unsigned int, uint64_t, float, double, or a vector of one of
	 * these */
	template<typename T>
	CommandLineOption option(const std::string &name, T &value, const std::string &help = "");

	/**
	 * \brief An option without a value
	 * \tparam T bool, or int for the number of times that the option was given
	 */
	template<typename T>
	CommandLineOption flag(const std::string &name, T &value, const std::string &help);

	/** \brief An option whose value is one of several words, each with a value of type T */
	template<typename T>
	CommandLineOption choice(const std::string &name, T &value,
				 const std::vector<std::pair<std::string, T>> &choices,
				 const std::string &help)
	{
		std::vector<std::string> words;

		for (const auto &entry : choices)
			words.push_back(entry.first);
		return choice(name, words, help,
			      [&value, choices](size_t i) { value = choices[i].second; });
	}

	/**
	 * \brief Parse the command line; print help, version or errors
	 * \return the exit code if the program must end now: 0 after help, 2 after an error
	 */
	std::optional<int> parse(int argc, const char *const *argv);

private:
	CommandLineOption choice(const std::string &name, const std::vector<std::string> &words,
				 const std::string &help, std::function<void(size_t)> take);

	bool hasOnlyKnown(int argc, const char *const *argv) const;
	bool canWriteOutputs() const;

	std::string example_;
	std::unique_ptr<CLI::App> app_;
	CommandLineFiles files_;
};

} /* namespace nvdla */
