/* SPDX-License-Identifier: MIT */
/*
 * Common to all programs: exit codes, output, and errors for options that have no effect.
 */
#pragma once

#include <cstdio>
#include <initializer_list>

#include <fmt/core.h>

#include "base/io/file.h"
#include "base/io/guarded.h"
#include "command-line/command_line.h"
#include "command-line/message.h"
#include "exit_code.h"

namespace nvdla::tools
{

/** \brief An option, and whether it has an effect together with the other given options */
struct OptionUse {
	CommandLineOption option;
	bool hasEffect;
	const char *without; /**< the option or argument that it would need */
};

/** \return InvalidArgument naming the first option that was given and has no effect */
inline Result<void> checkUses(std::initializer_list<OptionUse> uses)
{
	for (const OptionUse &use : uses) {
		if (use.option.given() && !use.hasEffect)
			return fail(ErrorCode::InvalidArgument, use.option.name(), "",
				    std::string("has no effect without ") + use.without);
	}
	return {};
}

/** \return Io if the standard output could not be written */
inline Result<void> flushOutput()
{
	const std::string problem = problemOfStandardOutput();

	if (!problem.empty())
		return fail(ErrorCode::Io, "write", "standard output", problem);
	return {};
}

/** \brief Write a file that the command line names; "-" is the standard output */
inline Result<void> writeOrPrint(const std::string &path, std::span<const std::byte> bytes)
{
	if (path != "-")
		return writeWholeFile(path, bytes);
	std::fwrite(bytes.data(), 1, bytes.size(), stdout);
	return flushOutput();
}

/**
 * \brief The body of main(): does the work, prints an error after the program's name, and returns
 * the exit code
 * \param[in] work a function that returns Result<int>, the exit code if nothing failed
 */
template<typename Work>
int runProgram(const char *name, Work work)
{
	auto done = guarded("", std::move(work));

	/* After an exit code other than 0, the error is said already. */
	if (done)
		return *done ? *done : finishOutput(name, 0);
	say(fmt::format("{}: {}\n", name, done.error().message()));
	return exitCode(done.error().code);
}

/** \return the exit code of a program that succeeded, or the error */
inline Result<int> finished(Result<void> done)
{
	if (!done)
		return forward(done);
	return 0;
}

} /* namespace nvdla::tools */
