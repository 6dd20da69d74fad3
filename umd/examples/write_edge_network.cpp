/* SPDX-License-Identifier: MIT */
/*
 * nvdla-example-net: the example network as a loadable.
 */
#include <cstdio>
#include <string>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "edge_network.h"
#include "io/file.h"
#include "tools/command_line.h"

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
	CLI::App app{ "Writes the example network (edges of a photograph) as an NVDLA loadable.",
		      "nvdla-example-net" };
	examples::EdgeNetworkSize size;
	std::string output;

	app.add_option("--output,-o", output, "loadable to write")->required();
	app.add_option("--width", size.width, "pixels, even, 16 to 256")->capture_default_str();
	app.add_option("--height", size.height)->capture_default_str();
	if (const auto code = nvdla::tools::parseCommandLine(app, argc, argv))
		return *code;

	if (auto written = writeNetwork(size, output); !written) {
		fmt::print(stderr, "nvdla-example-net: {}\n", written.error().message());
		return 1;
	}
	return 0;
}
