/* SPDX-License-Identifier: MIT */
/*
 * A program's messages, and the fate of its output.
 */
#pragma once

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <string>

namespace nvdla
{

/** \brief Print a message to the standard error. A message that cannot be written is lost: a
 * program's work and its exit code do not depend on messages */
inline void say(const std::string &message)
{
	std::fwrite(message.data(), 1, message.size(), stderr);
}

/** \return the reason why the standard output could not be written; empty if everything is written
 */
inline std::string problemOfStandardOutput()
{
	if (std::fflush(stdout) || std::ferror(stdout))
		return std::strerror(errno);
	return "";
}

/** \brief Write the rest of the standard output; if that fails, say so
 * \return \a code, the program's exit code, or 1 if \a code is 0 and the output is lost */
inline int finishOutput(const std::string &program, int code)
{
	const std::string problem = problemOfStandardOutput();

	if (problem.empty())
		return code;
	say(program + ": write: standard output: " + problem + "\n");
	return code ? code : 1;
}

} /* namespace nvdla */
