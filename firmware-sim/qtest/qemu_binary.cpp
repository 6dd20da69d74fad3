/* SPDX-License-Identifier: MIT */
#include "qtest/qemu_binary.h"

#include <array>
#include <cstdio>
#include <cstdlib>
#include <sstream>
#include <tuple>

#include <fmt/core.h>
#include <unistd.h>

#include "qtest/process.h"

namespace nvdla::sim::qtest
{

namespace
{

/* Runs a program. Returns its output on stdout, and its exit status. */
std::pair<std::string, int> outputOf(const std::vector<std::string> &arguments)
{
	Pipe pipe = Pipe::make();
	Process process(arguments, UniqueFd(), std::move(pipe.write), "/dev/null");
	std::string output;
	std::array<char, 4096> chunk;
	for (;;) {
		const ssize_t count = ::read(pipe.read.get(), chunk.data(), chunk.size());
		if (count <= 0)
			break;
		output.append(chunk.data(), static_cast<size_t>(count));
	}
	return { output, process.wait() };
}

QemuBinary findBinary()
{
	QemuBinary binary;
	const char *named = std::getenv("NVDLA_QEMU");
	const bool insist = named && *named;
	std::istringstream words(insist ? named : "qemu-system-x86_64");
	for (std::string word; words >> word;)
		binary.words.push_back(word);

	std::vector<std::string> command = binary.words;
	command.push_back("--version");
	const auto [output, status] = outputOf(command);
	int major = 0, minor = 0, patch = 0;
	const size_t at = output.find("version ");
	std::string problem;
	if (status != 0 || at == std::string::npos ||
	    std::sscanf(output.c_str() + at, "version %d.%d.%d", &major, &minor, &patch) != 3)
		problem = binary.words.front() + " cannot be run";
	else if (std::tie(major, minor, patch) < std::make_tuple(10, 1, 1))
		problem = fmt::format("QEMU {}.{}.{} has no usable vfio-user client; 10.1.1 has",
				      major, minor, patch);
	(insist ? binary.error : binary.skipReason) = problem;
	return binary;
}

} /* namespace */

const QemuBinary &QemuBinary::find()
{
	static const QemuBinary binary = findBinary();
	return binary;
}

} /* namespace nvdla::sim::qtest */
