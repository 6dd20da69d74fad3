/* SPDX-License-Identifier: MIT */
/*
 * What the driver costs: time from the ioctl to the fence with next to nothing
 * computed, and accesses to registers, each per hardware layer.
 *
 * A chain of small dependent layers is submitted, a short and a long one: the
 * difference is what a layer costs (program, enable, interrupt), the rest is what
 * a job costs (checks, scheduler, fence, wake-up). Register accesses are counted on
 * the modelled core in this process: what drives it is the files that the kernel
 * module is made of. The same program on the embedded device says what of a layer
 * is the model's.
 *
 * Jobs a second are those of a queue that never runs empty. The engines are idle from the interrupt
 * of a job's last operation to the op_enable of the next job's first one.
 */
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <fstream>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "command-line/command_line.h"
#include "core/memory.h"
#include "layer_chain.h"
#include "modelled_core.h"

namespace
{

using namespace nvdla::bench;
using namespace nvdla::test;

constexpr size_t networkLayers = 30; /* two operations each */
constexpr unsigned int queuedJobs = 64;

struct Settings {
	std::string node = Device::path();
	std::string only; /* part of the names of layers */
	unsigned int repeats = 31;
};

double median(std::vector<Microseconds> times)
{
	return spreadOf(std::move(times)).median;
}

/* Prints what the ioctl takes with descriptors and prepared, in turns. \return there was no error
 */
bool measureSubmit(const Device &device, const LayerKind &kind, size_t layers, unsigned int repeats)
{
	const TaskBuilder builder = layerChain(kind, layers);
	ChainRun described(device, builder), prepared(device, builder);
	std::vector<Microseconds> before(repeats), after(repeats);
	ChainRun::Times times;
	std::string error = prepared.prepare();

	for (unsigned int i = 0; i <= repeats && error.empty(); i++) {
		error = described.once(times);
		before[i % repeats] = times.submit;
		if (error.empty())
			error = prepared.once(times);
		after[i % repeats] = times.submit;
	}
	if (!error.empty()) {
		std::fprintf(stderr, "%s, prepared: %s\n", kind.name, error.c_str());
		return false;
	}
	std::printf("submit of %zu operations: %.1f us with descriptors, %.1f us prepared, %.1f "
		    "times as "
		    "fast\n",
		    builder.graph.size(), median(before), median(after),
		    median(before) / median(after));
	return true;
}

/* Prints jobs a second. \return there was no error */
bool measureRate(const Device &device, const char *name, const LayerKind &kind, size_t layers,
		 unsigned int repeats)
{
	const TaskBuilder builder = layerChain(kind, layers);
	ChainRun run(device, builder);
	std::vector<Microseconds> times(repeats), idle;
	std::string error = run.prepare();

	for (unsigned int i = 0; i <= repeats && error.empty(); i++)
		error = run.burst(queuedJobs, times[i % repeats], idle);
	if (!error.empty()) {
		std::fprintf(stderr, "jobs a second, %s: %s\n", name, error.c_str());
		return false;
	}
	std::printf("%s: %.0f jobs a second, engines idle %.0f us between jobs\n", name,
		    queuedJobs * 1e6 / median(times), median(idle));
	return true;
}

/* \return what a job takes more behind another client's; nothing after an error, which is printed
 */
std::optional<double> measureTurns(const Device &device, const std::string &node,
				   const LayerKind &kind, unsigned int repeats)
{
	const auto alone = measureChain(device, kind, shortChain, repeats);
	const TaskBuilder builder = layerChain(kind, shortChain);
	const Device otherDevice(node);
	ChainRun run(device, builder), other(otherDevice, builder);
	std::vector<Microseconds> all(repeats);
	ChainRun::Times times, otherTimes;

	for (unsigned int i = 0; i <= repeats && alone; i++) {
		std::string error = other.once(otherTimes);
		if (error.empty())
			error = run.once(times);
		all[i % repeats] = times.all;
		if (!error.empty()) {
			std::fprintf(stderr, "%s, two clients: %s\n", kind.name, error.c_str());
			return std::nullopt;
		}
	}
	if (!alone)
		return std::nullopt;
	return median(std::move(all)) - alone->median;
}

/* Reads as zero and forgets: only registers are of interest. */
class NoMemory : public nvdla::sim::Memory
{
public:
	bool read(uint64_t, std::span<std::byte> out) override
	{
		std::fill(out.begin(), out.end(), std::byte{ 0 });
		return true;
	}
	bool write(uint64_t, std::span<const std::byte>) override { return true; }
};

struct Accesses {
	double writes, reads;
};

/* Register accesses of one layer, when the core has seen such layers before. */
bool countAccesses(const LayerKind &kind, Accesses &perLayer)
{
	NoMemory memory;
	ModelledCore core(memory);
	const Created few = layerChain(kind, shortChain).create(),
		      many = layerChain(kind, longChain).create();
	unsigned int writes[2], reads[2];

	if (!few.task || !many.task || !core.run(few.task.get()))
		return false;
	for (const Created *created : { &few, &many }) {
		const unsigned int writesBefore = core.writes(), readsBefore = core.reads();
		if (!core.run(created->task.get()))
			return false;
		writes[created == &many] = core.writes() - writesBefore;
		reads[created == &many] = core.reads() - readsBefore;
	}
	perLayer.writes = double(writes[1] - writes[0]) / (longChain - shortChain);
	perLayer.reads = double(reads[1] - reads[0]) / (longChain - shortChain);
	return true;
}

/* What a layer of a kind takes. */
struct LayerTime {
	const LayerKind &kind;
	Spread layer;
	double job; /* at best, without the layer */
};

/* Prints a table of all layers. \return them, or nothing after an error, which is printed */
std::optional<std::vector<LayerTime>> measureLayers(const Device &device, const Settings &settings)
{
	std::vector<LayerTime> measured;

	std::printf("%-26s %12s %12s %12s %14s %14s\n", "layer", "us a layer", "median", "us a job",
		    "writes a layer", "reads a layer");
	for (const LayerKind &kind : layerKinds()) {
		if (std::string(kind.name).find(settings.only) == std::string::npos)
			continue;
		const auto few = measureChain(device, kind, shortChain, settings.repeats);
		const auto many = measureChain(device, kind, longChain, settings.repeats);
		Accesses accesses;
		if (!few || !many)
			return std::nullopt;
		if (!countAccesses(kind, accesses)) {
			std::fprintf(stderr, "%s: the modelled core does not run it\n", kind.name);
			return std::nullopt;
		}
		constexpr double layers = longChain - shortChain;
		const Spread layer = { (many->best - few->best) / layers,
				       (many->median - few->median) / layers };
		measured.push_back({ kind, layer, few->best - layer.best });
		std::printf("%-26s %12.1f %12.1f %12.1f %14.1f %14.1f\n", kind.name, layer.best,
			    layer.median, measured.back().job, accesses.writes, accesses.reads);
	}
	return measured;
}

/* A line for each layer: microseconds, and its name. */
bool writeTimes(const std::string &path, const std::vector<LayerTime> &measured)
{
	std::ofstream file(path);

	for (const LayerTime &one : measured)
		file << one.layer.best << ' ' << one.kind.name << '\n';
	file.close();
	return !file.fail();
}

/* Prints what layers take more than in a file of writeTimes(). \return it could be read */
bool printBeyond(const std::string &path, const std::vector<LayerTime> &measured)
{
	std::map<std::string, double> there;
	std::ifstream file(path);
	std::string name;
	double us;

	while (file >> us && std::getline(file >> std::ws, name))
		there[name] = us;
	if (there.empty())
		return false;
	for (const LayerTime &one : measured)
		if (there.contains(one.kind.name))
			std::printf("beyond the datapath, %s: %.3f ms a layer\n", one.kind.name,
				    (one.layer.best - there[one.kind.name]) / 1e3);
	return true;
}

/* Prints how much the time of a loop varies that uses no device. An emulated processor's own times
 * vary, and with them those of each run through the driver. */
void measureProcessor()
{
	constexpr unsigned int loops = 100, additions = 2'000'000;
	double best = 0, sum = 0;

	for (unsigned int i = 0; i < loops; i++) {
		const auto start = std::chrono::steady_clock::now();
		volatile unsigned int count = 0;
		for (unsigned int j = 0; j < additions; j++)
			count = count + j;
		const Microseconds took = std::chrono::steady_clock::now() - start;
		best = i ? std::min(best, took.count()) : took.count();
		sum += took.count();
	}
	std::printf("the processor alone, %u additions: best %.2f ms, mean / best %.2f\n",
		    additions, best / 1e3, sum / loops / best);
}

/* What the driver does beside layers. \return there was no error */
bool measureRest(const Device &device, const Settings &settings)
{
	const LayerKind &convolution = convolutionLayer();
	const auto turns = measureTurns(device, settings.node, convolution, settings.repeats);

	if (!turns)
		return false;
	std::printf("a job behind another client's convolution: %.1f us more\n", *turns);
	return measureSubmit(device, convolution, networkLayers, settings.repeats) &&
	       measureRate(device, "one copy", layerKinds()[0], shortChain, settings.repeats) &&
	       measureRate(device, "60 operations", convolution, networkLayers, settings.repeats);
}

int fail(const char *what, const std::string &path)
{
	std::fprintf(stderr, "%s %s\n", path.c_str(), what);
	return 1;
}

} /* namespace */

int main(int argc, char **argv)
{
	nvdla::CommandLine app{
		"Measures the time that the driver takes for an operation of each engine (a unit "
		"of the NVDLA), from the ioctl to the fence. A layer is one operation, or several "
		"that hand their data over without memory.",
		"driver-overhead", "driver-overhead"
	};
	Settings settings;
	std::string times, datapath;
	app.option("--device", settings.node, "device file of the NVDLA").showDefault();
	app.option("--layer", settings.only, "measure only layers with TEXT in their names")
		.valueText("TEXT");
	app.option("--repeat", settings.repeats, "measure each layer N times")
		.range(1u, 10000u)
		.showDefault();
	app.option("--times", times,
		   "write the time of each layer to this file, and leave out the measurements of "
		   "jobs that follow the table of layers")
		.valueText("FILE");
	app.option("--datapath", datapath,
		   "print how much longer each layer takes than in this file, which "
		   "embedded-overhead wrote with --times; embedded-overhead is this program for "
		   "the embedded device, an NVDLA in software")
		.valueText("FILE");
	if (const auto code = app.parse(argc, argv))
		return *code;

	const Device device(settings.node);
	if (!device.valid())
		return fail("cannot be opened: load the driver, or name another node with --device",
			    settings.node);
	const auto measured = measureLayers(device, settings);
	if (!measured)
		return 1;
	if (!datapath.empty() && !printBeyond(datapath, *measured))
		return fail("has no times of layers", datapath);
	measureProcessor();
	if (!times.empty())
		return writeTimes(times, *measured) ? 0 : fail("cannot be written", times);
	return !settings.only.empty() || measureRest(device, settings) ? 0 : 1;
}
