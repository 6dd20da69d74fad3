/* SPDX-License-Identifier: MIT */
#include "qtest/sim_process.h"

#include <unistd.h>

namespace nvdla::sim::qtest
{

SimProcess::SimProcess(const std::string &program, const std::string &socket,
		       const std::string &errors, const std::vector<std::string> &options)
{
	std::vector<std::string> arguments = { program, "--socket", socket };
	arguments.insert(arguments.end(), options.begin(), options.end());
	Pipe output = Pipe::make();
	process_ =
		std::make_unique<Process>(arguments, UniqueFd(), std::move(output.write), errors);

	/* One line, or the end of a program that could not start. */
	std::string line;
	char c;
	while (::read(output.read.get(), &c, 1) == 1 && c != '\n')
		line += c;
	listening_ = line == "listening on " + socket;
}

} /* namespace nvdla::sim::qtest */
