/* SPDX-License-Identifier: MIT */
/*
 * nvdla-example-net: the example network as a loadable.
 */
#include <cstdio>
#include <string>

#include <fmt/core.h>

#include "command-line/command_line.h"
#include "edge_network.h"
#include "io/file.h"

namespace
{

using namespace nvdla;

Result<void> writeNetwork(const examples::EdgeNetworkSize &size, const std::string &path)
{
	auto loadable = examples::edgeNetwork(size);
	if (!loadable)
		return forward(loadable);
	auto bytes = loadable->write();
	if (!bytes)
		return forward(bytes);
	return writeWholeFile(path, *bytes);
}

} /* namespace */

int main(int argc, char **argv)
{
	CommandLine app{ "Writes the example network (edges of a photograph) as an NVDLA loadable.",
			 "nvdla-example-net" };
	examples::EdgeNetworkSize size;
	std::string output;

	app.option("--output,-o", output, "loadable to write").required();
	app.option("--width", size.width, "pixels, even, 16 to 256").showDefault();
	app.option("--height", size.height).showDefault();
	if (const auto code = app.parse(argc, argv))
		return *code;

	if (auto written = writeNetwork(size, output); !written) {
		fmt::print(stderr, "nvdla-example-net: {}\n", written.error().message());
		return 1;
	}
	return 0;
}
