/* SPDX-License-Identifier: MIT */
/*
 * nvdla-example-net: writes the example networks as loadables.
 */
#include <string>

#include "bounds_network.h"
#include "command-line/command_line.h"
#include "edge_network.h"
#include "tools/program.h"

namespace
{

using namespace nvdla;

enum class Network { Edges, Bounds };

Result<void> writeNetwork(Network network, const examples::EdgeNetworkSize &size,
			  unsigned int postExtension, const std::string &path)
{
	auto loadable = network == Network::Bounds ? examples::boundsNetwork(postExtension)
						   : examples::edgeNetwork(size);
	if (!loadable)
		return forward(loadable);
	auto bytes = loadable->write();
	if (!bytes)
		return forward(bytes);
	return tools::writeOrPrint(path, *bytes);
}

} /* namespace */

int main(int argc, char **argv)
{
	return tools::runProgram("nvdla-example-net", [&]() -> Result<int> {
		CommandLine app{ "Writes an example of a neural network as a loadable (a network "
				 "compiled for NVDLA, a hardware accelerator), for the core "
				 "(configuration of NVDLA) nv_full.",
				 "nvdla-example-net", "nvdla-example-net -o net.nvdla" };
		examples::EdgeNetworkSize size;
		Network network = Network::Edges;
		unsigned int postExtension = 1;
		std::string output;

		app.footer(tools::exitCodeHelpWithoutDevice);
		app.option("--output,-o", output, "the loadable to write; - is standard output")
			.valueText("FILE")
			.outputFile()
			.required();
		app.choice<Network>(
			"--network", network,
			{ { "edges", Network::Edges }, { "bounds", Network::Bounds } },
			"edges (the default): finds the edges of a photograph; bounds, for "
			"pictures of 112 x 112 pixels: has layers that are slow for different "
			"reasons, as an example for nvdla-prof --chip, which predicts times; all "
			"weights of bounds are zero, so its results mean nothing");
		const auto extension =
			app.option("--post-extension", postExtension,
				   "for bounds: number of lines of the first layer's kernels that "
				   "the core multiplies in one step; 2 keeps more of the core's "
				   "multipliers busy")
				.range(1u, 2u)
				.showDefault();
		const auto width = app.option("--width", size.width,
					      "for edges: width of the input in pixels, an even "
					      "number, 16 to 256")
					   .showDefault();
		const auto height = app.option("--height", size.height,
					       "for edges: height of the input in pixels, an even "
					       "number, 16 to 256")
					    .showDefault();
		if (const auto code = app.parse(argc, argv))
			return *code;
		const bool isEdges = network == Network::Edges;
		if (auto used = tools::checkUses({ { extension, !isEdges, "--network bounds" },
						   { width, isEdges, "--network edges" },
						   { height, isEdges, "--network edges" } });
		    !used)
			return forward(used);
		return tools::finished(writeNetwork(network, size, postExtension, output));
	});
}
