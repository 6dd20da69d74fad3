/* SPDX-License-Identifier: MIT */
/*
 * Whole networks on the embedded device beside their convolutions in oneDNN, in one run.
 *
 * A network is compiled, and everything between the input's elements and the output's counts. Of
 * oneDNN only the convolutions and fully connected layers do, one after the other: what a framework
 * around it would cost is left out.
 */
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <memory>
#include <random>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include <nvdla/core_geometry.h>
#include <nvdla/network.h>

#include "base/io/file.h"
#include "command-line/command_line.h"
#include "compiler/import/import.h"
#include "core_run.h"
#include "networks.h"
#include "onednn.h"
#include "peak.h"
#include "process.h"

namespace nvdla::bench
{

namespace
{

using compiler::ElementType;
using compiler::Model;

constexpr uint64_t kMaxModelBytes = 1 << 30;

struct Settings {
	unsigned int rounds = 10;
	unsigned int threads = 1;
	std::string isa;
	std::string core = "nv_full";
	std::string only; /* of the residual networks */
	std::vector<std::string> files;
};

/** \brief A call, and the least time that it took */
struct Timed {
	std::function<void()> call;
	double best = 1e9;
};

[[noreturn]] void die(const Error &error)
{
	std::fprintf(stderr, "network-bench: %s\n", error.message().c_str());
	std::exit(1);
}

template<typename T>
T orDie(Result<T> result)
{
	if (!result)
		die(result.error());
	if constexpr (!std::is_void_v<T>)
		return std::move(*result);
}

void take(Timed &timed)
{
	/* The device has a thread of its own. */
	timed.best = std::min(timed.best, elapsedSecondsOf(timed.call));
}

/** \brief Load \a loadable and fill its inputs; the call is one run */
Timed onDevice(const std::string &path, const Loadable &loadable)
{
	auto network = std::make_shared<Network>(
		orDie(Network::load(orDie(Device::open(path)), loadable)));
	std::mt19937 random(1);

	for (size_t i = 0; i < network->inputs().size(); i++) {
		const TensorDesc &desc = network->inputs()[i];
		std::vector<float> numbers(desc.elements());
		std::generate(numbers.begin(), numbers.end(),
			      [&] { return static_cast<float>(random() % 256) / 128 - 1; });
		orDie(network->setInputFloat(i, numbers));
	}
	return { [network] {
		RunOptions options;
		options.timeout = std::chrono::minutes(5);
		orDie(network->run(options));
	} };
}

bool isInteger(const Model &model)
{
	return std::ranges::any_of(model.values, [](const compiler::Value &value) {
		return value.isConstant &&
		       (value.type == ElementType::Int8 || value.type == ElementType::UInt8);
	});
}

void printLine(const std::string &name, const char *precision, double seconds, double macs,
	       double peak, double onednn)
{
	std::printf("| %s | %s | %.0f | %.2f | %.0f %% |", name.c_str(), precision, macs / 1e6,
		    seconds * 1e3, 100 * macs / seconds / peak);
	if (onednn < 1e9)
		std::printf(" %.2f | %.2f |\n", onednn * 1e3, seconds / onednn);
	else
		std::printf(" - | - |\n");
	std::fflush(stdout);
}

void measure(const std::string &name, const Model &model, const Settings &settings)
{
	const std::vector<ConvShape> shapes = orDie(convolutionsOf(model));
	const bool integer = isInteger(model);
	const std::string device =
		"embedded:" + settings.core + ",threads=" + std::to_string(settings.threads);
	const Loadable loadable =
		orDie(test::compile(model, orDie(findCoreVariant(settings.core))));
	std::vector<std::pair<const char *, Timed>> ways;
	std::vector<std::function<void()>> convolutions;
	double macs = 0;

	if (integer) {
		ways.emplace_back("INT8", onDevice(device, loadable));
	} else {
		ways.emplace_back("FP16 exact", onDevice(device + ",fp16=exact", loadable));
		ways.emplace_back("FP16 fast", onDevice(device + ",fp16=fast", loadable));
	}
	for (const ConvShape &shape : shapes) {
		macs += shape.macs();
		if (auto call = onednnConvolution(shape, integer))
			convolutions.push_back(std::move(call));
	}
	/* In their order, so that weights are where a network finds them, and as long as a network
	 * at the mercy of whatever else the host does. */
	Timed onednn = { [&] {
		for (const auto &convolution : convolutions)
			convolution();
	} };
	for (unsigned int i = 0; i < settings.rounds; i++) {
		for (auto &[precision, way] : ways) {
			letOneDnnSleep(settings.threads);
			wakeThreads(settings.threads, way.call);
			take(way);
		}
		if (convolutions.empty())
			continue;
		wakeThreads(settings.threads, onednn.call);
		take(onednn);
	}
	const double peak = (integer ? int8Peak() : floatPeak()) * settings.threads;
	for (const auto &[precision, way] : ways)
		printLine(name, precision, way.best, macs, peak, onednn.best);
}

Model read(const std::string &path)
{
	const auto bytes = orDie(readWholeFile(path, kMaxModelBytes));

	return orDie(compiler::importModel(bytes));
}

void measureAll(const Settings &settings)
{
	std::printf("Peaks of this core in GMAC/s: INT8 %.0f, f32 %.0f.\n\n", int8Peak() / 1e9,
		    floatPeak() / 1e9);
	std::printf("| network | precision | MMAC | ms | of peak | convolutions in oneDNN, ms | "
		    "times as long |\n|---|---|---|---|---|---|---|\n");
	const bool hasFloats = orDie(findCoreVariant(settings.core)).has(DataType::Half);
	const auto measureResnet = [&](const char *name, Resnet which, ElementType type) {
		if (settings.files.empty() && (hasFloats || type == ElementType::Int8) &&
		    std::string_view(name).find(settings.only) != std::string_view::npos)
			measure(name, resnet(which, type), settings);
	};
	measureResnet("ResNet-18", Resnet::Layers18, ElementType::Int8);
	measureResnet("ResNet-50", Resnet::Layers50, ElementType::Int8);
	measureResnet("ResNet-18", Resnet::Layers18, ElementType::Float32);
	/* A model has a folder of its own. */
	for (const std::string &path : settings.files)
		measure(std::filesystem::absolute(path).parent_path().filename(), read(path),
			settings);
}

} /* namespace */

} /* namespace nvdla::bench */

int main(int argc, char **argv)
{
	using namespace nvdla::bench;

	Settings settings;
	nvdla::CommandLine app(
		"Measures whole networks on the embedded device (an NVDLA in software) and, for "
		"comparison, their convolutions in oneDNN, a library of CPU kernels. Prints a "
		"Markdown table.",
		"network-bench", "network-bench model.onnx");
	app.option("--rounds", settings.rounds,
		   "run each network N times; the best time is printed")
		.range(1u, 10000u)
		.showDefault();
	app.option("--threads", settings.threads, "threads of the embedded device and of oneDNN")
		.range(1u, 256u)
		.showDefault();
	app.option("--isa", settings.isa,
		   "use no processor instructions beyond these; default: all that the host has")
		.oneOf(kIsas)
		.valueText("avx512|avx2");
	app.option("--core", settings.core, "configuration of the NVDLA, such as nv_small")
		.valueText("NAME")
		.showDefault();
	app.option("--network", settings.only,
		   "measure only generated networks with TEXT in their names")
		.valueText("TEXT");
	app.option("MODEL", settings.files,
		   "models to measure, .tflite or .onnx; default: residual networks (ResNet-18 and "
		   "ResNet-50) that the program generates");
	if (const auto code = app.parse(argc, argv))
		return *code;
	restrictHost(argv, settings.threads, settings.isa);
	measureAll(settings);
	return 0;
}
