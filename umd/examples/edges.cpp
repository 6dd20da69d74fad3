/* SPDX-License-Identifier: MIT */
/*
 * nvdla-edges: makes a picture of the edges in a photograph.
 */
#include <chrono>
#include <cstdio>
#include <span>
#include <string>

#include <fmt/core.h>
#include <nvdla/network.h>

#include "command-line/command_line.h"
#include "edge_network.h"
#include "tools/device_option.h"
#include "tools/folder.h"
#include "tools/prof/profile_table.h"
#include "tools/prof/run_profile.h"
#include "tools/prof/timeline_svg.h"
#include "tools/program.h"

namespace
{

using namespace nvdla;
using Clock = std::chrono::steady_clock;

struct Options {
	std::string device = Device::defaultPath();
	std::string input;
	std::string output = "edges.png";
	std::string timeline;
	examples::EdgeNetworkSize size;
};

/* Prints each completed stage and its time, one line each. */
class Stages
{
public:
	void done(const std::string &stage)
	{
		const auto now = Clock::now();
		const std::chrono::duration<double, std::milli> spent = now - last_;
		fmt::print("{:<44} {:>9.2f} ms\n", stage, spent.count());
		std::fflush(stdout);
		last_ = now;
	}

private:
	Clock::time_point last_ = Clock::now();
};

/* Prints the times and counters of each operation; with --timeline, also draws them. */
Result<void> showProfile(const Options &options, const Loadable &loadable, const RunReport &report)
{
	auto profile = prof::runProfile(loadable, report,
					"nvdla-edges on " + prof::deviceText(options.device));
	if (!profile)
		return forward(profile);
	fmt::print("\n{}", prof::profileTable(*profile));

	if (options.timeline.empty())
		return {};
	const std::string svg = prof::timelineSvg(*profile);
	return writeWholeFile(options.timeline, std::as_bytes(std::span(svg)));
}

/* The picture is always a PNG, and standard output has the table of times. */
Result<void> checkNames(const std::string &output, const std::string &timeline)
{
	for (const auto &[option, name] :
	     { std::pair("--output", output), { "--timeline", timeline } }) {
		if (name == "-")
			return fail(ErrorCode::InvalidArgument, option, name,
				    "is standard output, which has the times; name a file");
	}
	if (tools::endingOf(output) != ".png")
		return fail(ErrorCode::InvalidArgument, "--output", output,
			    "must end in .png, because the picture is a PNG");
	return {};
}

Result<void> run(const Options &options)
{
	Stages stages;

	if (auto named = checkNames(options.output, options.timeline); !named)
		return named;
	auto photo = readImage(options.input);
	if (!photo)
		return forward(photo);
	const Image picture = resize(*photo, options.size.width, options.size.height);
	stages.done(fmt::format("read the photograph ({} x {})", photo->width, photo->height));

	auto device = Device::open(options.device);
	if (!device)
		return forward(device);
	auto core = coreOf(device->info());
	if (!core)
		return forward(core);
	stages.done("open " + options.device);

	auto loadable = examples::edgeNetwork(options.size, *core);
	if (!loadable)
		return forward(loadable);
	stages.done("write the network");

	auto network = Network::load(*device, *loadable);
	if (!network)
		return forward(network);
	auto tensor = examples::pictureTensor(network->inputs()[0], picture);
	if (!tensor)
		return forward(tensor);
	if (auto set = network->setInput(0, *tensor); !set)
		return set;
	stages.done("load it and the picture onto the device");

	auto report = network->run({ .statistics = true });
	if (!report)
		return forward(report);
	stages.done("run convolution, ReLU and tone curve, pooling");

	auto edges = network->outputElements(0);
	if (!edges)
		return forward(edges);
	auto shown = examples::edgePicture(network->outputs()[0], *edges);
	if (!shown)
		return forward(shown);
	const Image both = examples::besideEachOther(picture, *shown);
	if (auto written = writePng(options.output, both); !written)
		return written;
	stages.done(fmt::format("write the picture of edges ({} x {})", both.width, both.height));
	return showProfile(options, *loadable, *report);
}

} /* namespace */

int main(int argc, char **argv)
{
	return nvdla::tools::runProgram("nvdla-edges", [&]() -> nvdla::Result<int> {
		CommandLine app{
			"Finds the edges in a photograph with a small network on an NVDLA "
			"(a hardware accelerator for neural networks), and draws them "
			"beside the photograph, in colours that stand for directions. Also "
			"prints a table with the time of each operation (the work of one "
			"engine, a unit of the NVDLA).",
			"nvdla-edges", "nvdla-edges --input photograph.jpg --output edges.png"
		};
		Options options;

		nvdla::tools::addDeviceOption(app, options.device);
		app.option("--input", options.input, "the photograph: PNG, JPEG, PGM or PPM")
			.valueText("FILE")
			.inputFile()
			.required();
		app.option("--output", options.output,
			   "PNG file to write; its name must end in .png")
			.valueText("FILE")
			.outputFile()
			.showDefault();
		app.option("--timeline", options.timeline,
			   "write a timeline of the operations to this file, as a drawing (SVG)")
			.valueText("FILE")
			.outputFile();
		app.option("--width", options.size.width,
			   "width, in pixels, to which the photograph is cropped and scaled: an "
			   "even number, 16 to 256")
			.showDefault();
		app.option("--height", options.size.height,
			   "height, in pixels, to which the photograph is cropped and scaled: an "
			   "even number, 16 to 256")
			.showDefault();
		app.footer(nvdla::tools::exitCodeHelpOfEdges);
		if (const auto code = app.parse(argc, argv))
			return *code;

		return nvdla::tools::finished(run(options));
	});
}
