/* SPDX-License-Identifier: MIT */
/*
 * nvdla-eval: counts how many pictures of a folder a network recognizes.
 */
#include <cstdio>

#include <fmt/core.h>
#include <nvdla/network.h>

#include "base/io/file.h"
#include "command-line/command_line.h"
#include "device_option.h"
#include "eval/labelled_pictures.h"
#include "eval/score.h"
#include "labels.h"
#include "network_file.h"
#include "program.h"
#include "progress.h"
#include "samples.h"
#include "scaling_options.h"
#include "tensor_io.h"
#include "text_file.h"
#include "tools/prof/profile.h"

namespace
{

using namespace nvdla;

struct Settings {
	tools::RunSettings run; /* options set device, network, scaling, timeoutMs */
	std::string folder;
	std::string truth;
	std::string labels;
	std::vector<std::string> samples; /* samples to calibrate the model, which is then also
					     evaluated in 8-bit integers */
	std::vector<std::string> others;
	uint64_t limit = 0;
	bool json = false;
};

/* A network whose right answers to the pictures are counted. */
struct Candidate {
	std::string name;
	Loadable loadable;
};

/* Compiles the float model to 8-bit integers, calibrated with the samples of --calibrate. */
Result<Candidate> calibrated(const Settings &settings)
{
	tools::NetworkFile file = settings.run.network;

	if (!file.isModel)
		return fail(ErrorCode::InvalidArgument, "--calibrate", file.path,
			    "is a loadable; a float model is needed");
	auto bytes = readModelFile(file.path);
	if (!bytes)
		return forward(bytes);
	auto inputs = modelInputs(*bytes, file.options.shapes);
	if (!inputs)
		return forward(inputs);
	const PixelScaling scaling = settings.run.scaling.value_or(PixelScaling{});
	Calibration calibration;
	if (auto samples = tools::readSamples(calibration, settings.samples, *inputs, scaling);
	    !samples)
		return forward(samples);
	const auto extremes = calibration.extremes;
	file.options.calibration = std::move(calibration);
	file.cache.clear();
	auto read = tools::readNetwork(file);
	if (!read)
		return forward(read);
	tools::storeScaling(read->loadable, extremes, scaling);
	return Candidate{ file.name() + " int8", std::move(read->loadable) };
}

Result<std::vector<Candidate>> candidates(const Settings &settings, const Device &device)
{
	std::vector<Candidate> all;

	/* A core without FP16 can compute only the calibrated model, not the float model. */
	if (settings.samples.empty() || settings.run.network.options.core.has(DataType::Half)) {
		auto read = tools::readNetwork(settings.run.network);
		if (!read)
			return forward(read);
		all.push_back({ settings.run.network.name(), std::move(read->loadable) });
	}
	if (!settings.samples.empty()) {
		auto integers = calibrated(settings);
		if (!integers)
			return forward(integers);
		all.push_back(std::move(*integers));
	}
	for (const std::string &path : settings.others) {
		tools::NetworkFile other = tools::networkFile(path);
		other.options = settings.run.network.options;
		other.cache = settings.run.network.cache;
		other.hasTarget = settings.run.network.hasTarget;
		other.calibrates = true;
		if (auto target = tools::targetOf(other, device); !target)
			return forward(target);
		auto network = tools::readNetwork(other);
		if (!network)
			return forward(network);
		all.push_back({ other.name(), std::move(network->loadable) });
	}
	return all;
}

Result<eval::Score> judge(const Settings &settings, const Device &device,
			  const Candidate &candidate,
			  const std::vector<eval::LabelledPicture> &pictures, size_t classes)
{
	constexpr size_t answers = 5;
	tools::Progress progress(!settings.json);
	RunOptions options;
	eval::Score score{ .network = candidate.name };

	options.timeout = std::chrono::milliseconds(settings.run.timeoutMs);
	auto network = Network::load(device, candidate.loadable);
	if (!network)
		return forward(network);
	if (network->inputs().size() != 1)
		return fail(ErrorCode::InvalidArgument, "evaluate", candidate.name,
			    fmt::format("has {} inputs, but pictures need a network with one",
					network->inputs().size()));
	auto output = tools::findOutputOf(*network, classes, settings.labels);
	if (!output)
		return forward(output);
	for (const eval::LabelledPicture &picture : pictures) {
		std::vector<size_t> best;
		progress.count(candidate.name.c_str(), score.pictures, pictures.size());
		if (auto set = tools::setInput(*network, 0, picture.path, settings.run); !set)
			return forward(set);
		auto report = network->run(options);
		if (!report)
			return forward(report);
		auto top = tools::topElements(*network, *output, answers);
		if (!top)
			return forward(top);
		for (const auto &[index, value] : *top)
			best.push_back(index);
		score.add(picture.label, best,
			  std::chrono::duration<double, std::milli>(report->duration).count());
	}
	return score;
}

/* Keeps \a count pictures, evenly spaced in the list. Pictures from folders are sorted by class, so
 * each class keeps about the same share of its pictures. */
void thinOut(std::vector<eval::LabelledPicture> &pictures, size_t count)
{
	std::vector<eval::LabelledPicture> kept;

	for (size_t i = 0; i < count && count < pictures.size(); i++)
		kept.push_back(pictures[i * pictures.size() / count]);
	if (!kept.empty())
		pictures = std::move(kept);
}

Result<void> evaluate(Settings &settings)
{
	auto labels = tools::readClasses(settings.labels);
	if (!labels)
		return forward(labels);
	auto pictures = settings.truth.empty()
				? eval::picturesInFolders(settings.folder, *labels)
				: eval::picturesInList(settings.folder, settings.truth, *labels);
	if (!pictures)
		return forward(pictures);
	if (settings.limit)
		thinOut(*pictures, settings.limit);
	auto device = tools::targetOf(settings.run.network, Device::open(settings.run.device));
	if (!device)
		return forward(device);
	auto networks = candidates(settings, *device);
	if (!networks)
		return forward(networks);
	std::vector<eval::Score> scores;
	for (const Candidate &candidate : *networks) {
		auto score = judge(settings, *device, candidate, *pictures, labels->size());
		if (!score)
			return forward(score);
		scores.push_back(std::move(*score));
	}
	const std::string &on = settings.run.device;
	fmt::print("{}", settings.json ? eval::scoreJson(scores, on)
				       : eval::scoreTable(scores, prof::deviceText(on)));
	return {};
}

void addOptions(CommandLine &app, Settings &settings)
{
	app.option("folder", settings.folder,
		   "has the pictures (PGM, PPM, PNG, JPEG): without --truth, a folder of pictures "
		   "for each class. The name of such a folder is the class's whole line in the "
		   "file of --labels, the first word of this line, or the class's number, counted "
		   "from 0; if it fits in more than one way, the first of these holds")
		.valueText("FOLDER");
	app.option("--labels", settings.labels,
		   "text file with the names of the classes, one a line, in the order of the "
		   "network's scores")
		.valueText("FILE")
		.required();
	app.option("--truth", settings.truth,
		   "text file with the class of each picture, if the pictures are not sorted "
		   "into folders. A line has the path of a picture below FOLDER, a space, and the "
		   "class, named in the same way as a folder")
		.valueText("FILE");
	app.option("--calibrate", settings.samples,
		   "also judge network after calibration: network, a float model, is also "
		   "compiled to 8-bit integers, with these examples of inputs. On a core without "
		   "FP16, only the calibrated network is judged. A file is a picture, an array "
		   "(.npy) with one or more examples, or a folder of them. All arguments up to the "
		   "next option are examples, "
		   "so network and folder come before --calibrate or after another option")
		.valueText("FILE ...");
	app.option("--against", settings.others,
		   "also judge this network, a loadable or a model, on the same pictures; a model "
		   "is compiled with the same options as network; repeat for further networks")
		.valueText("FILE")
		.repeatable();
	app.option("--limit", settings.limit,
		   "judge on N pictures only, chosen at equal distances from the list of all "
		   "pictures; default: 0, all pictures");
	tools::addDeviceOption(app, settings.run.device);
	tools::addTimeoutOption(app, settings.run.timeoutMs);
	app.flag("--json", settings.json, "print the figures as JSON");
}

} /* namespace */

int main(int argc, char **argv)
{
	return tools::runProgram("nvdla-eval", [&]() -> Result<int> {
		CommandLine app{ "Runs a neural network on NVDLA, a hardware accelerator, and "
				 "prints for how many pictures of a folder the right class has the "
				 "highest score, or one of the five highest, and the mean time of "
				 "a run.",
				 "nvdla-eval",
				 "nvdla-eval model.onnx pictures --labels classes.txt --calibrate "
				 "samples" };
		Settings settings;
		tools::NetworkOptions network;

		app.footer(tools::exitCodeHelp);
		network.addTo(app, "that of the device", true);
		addOptions(app, settings);
		tools::ScalingOptions scaling;
		scaling.addTo(app, "pictures");
		if (const auto code = app.parse(argc, argv))
			return *code;
		settings.run.scaling = scaling.scaling();
		network.yieldTo(settings.folder);
		if (settings.folder.empty())
			return fail(ErrorCode::InvalidArgument, "folder is required", "",
				    "the folder with the pictures");

		return tools::finished(network.file().and_then([&](tools::NetworkFile file) {
			settings.run.network = std::move(file);
			return evaluate(settings);
		}));
	});
}
