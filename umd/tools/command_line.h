/* SPDX-License-Identifier: MIT */
#pragma once

#include <optional>

#include <CLI/CLI.hpp>

namespace nvdla::tools
{

/**
 * \brief Parse the command line; print help or what is wrong with it
 * \return the exit code if the program has to end here: 0 after help, 2 after an error
 */
inline std::optional<int> parseCommandLine(CLI::App &app, int argc, char **argv)
{
	try {
		app.parse(argc, argv);
	} catch (const CLI::ParseError &error) {
		return app.exit(error) ? 2 : 0;
	}
	return std::nullopt;
}

} /* namespace nvdla::tools */
