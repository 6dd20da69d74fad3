/* SPDX-License-Identifier: MIT */
/*
 * What the driver costs: time from the ioctl to the fence with next to nothing
 * computed, and accesses to registers, each per hardware layer.
 *
 * A chain of small dependent layers is submitted, a short and a long one: the
 * difference is what a layer costs (program, enable, interrupt), the rest is what
 * a job costs (checks, scheduler, fence, wake-up). Register accesses are counted on
 * the modelled core in this process: what drives it is the files that the kernel
 * module is made of.
 *
 * Jobs a second are those of a queue that never runs empty, with the driver's pipeline off and on
 * in turns. The engines are idle from the interrupt of a job's last operation to the op_enable of
 * the next job's first one.
 */
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include "command-line/command_line.h"
#include "core/memory.h"
#include "device.h"
#include "device/refusal.h"
#include "driver_files.h"
#include "modelled_core.h"
#include "task_builder.h"

namespace
{

using namespace nvdla::test;
using nvdla::describeRefusal;
using Clock = std::chrono::steady_clock;
using Microseconds = std::chrono::duration<double, std::micro>;

constexpr size_t shortChain = 1;
constexpr size_t longChain = 65;
constexpr size_t networkLayers = 30; /* two operations each */
constexpr uint64_t bufferBytes = 4 << 20;
constexpr unsigned int queuedJobs = 64;

/* How a layer is added; returns its last operation. */
using AddLayer = size_t (*)(TaskBuilder &builder);

struct Kind {
	const char *name;
	AddLayer add;
};

size_t addCdpWithFirstTable(TaskBuilder &builder)
{
	const size_t i = builder.addCdp();
	builder.cdp(i).lut_index = 0;
	return i;
}

constexpr Kind kinds[] = {
	{ "BDMA 1 line", [](TaskBuilder &builder) { return builder.addBdma(); } },
	{ "convolution + SDP 8x8x32", [](TaskBuilder &builder) { return builder.addConv(); } },
	{ "SDP 8x8x32", [](TaskBuilder &builder) { return builder.addSdp(); } },
	{ "PDP 8x8x32", [](TaskBuilder &builder) { return builder.addPdp(); } },
	{ "CDP 8x8x32", addCdpWithFirstTable },
	{ "CDP 8x8x32, new table", [](TaskBuilder &builder) { return builder.addCdp(); } },
};

/* Each layer waits until the one before it is complete, as in a network. */
TaskBuilder chain(const Kind &kind, size_t layers)
{
	TaskBuilder builder;

	for (size_t i = 0; i < layers; i++) {
		const size_t first = builder.graph.size();
		kind.add(builder);
		if (i > 0)
			builder.edge(first - 1, first, NVDLA_EVENT_OP_COMPLETED);
	}
	return builder;
}

/* \return from the first op_enable of a job to its last interrupt; nothing else is filled */
drm_nvdla_operation_result worked(const JobResult &result)
{
	drm_nvdla_operation_result all = result.operation(0);

	for (uint32_t i = 1; i < result.job().num_operations; i++) {
		const drm_nvdla_operation_result one = result.operation(i);
		all.start_ns = std::min(all.start_ns, one.start_ns);
		all.end_ns = std::max(all.end_ns, one.end_ns);
	}
	return all;
}

class Run
{
public:
	Run(const Device &device, const TaskBuilder &builder)
		: device_(device), builder_(builder), syncobj_(device.createSyncobj())
	{
		for (size_t i = 0; i < builder.extents.size(); i++)
			addresses_.push_back({});
		for (unsigned int i = 0; i < TaskBuilder::cvsram; i++) {
			buffers_.push_back(std::make_unique<Buffer>(device, bufferBytes));
			addresses_[i].handle = buffers_.back()->handle();
		}
	}

	/** \brief Have the driver check the descriptors now, once. \return an error in words */
	std::string prepare()
	{
		drm_nvdla_error error = {};
		const int64_t handle = device_.prepareTask(describe(), error);
		if (handle < 0)
			return std::string("not prepared: ") + describeRefusal(error);
		prepared_ = static_cast<uint32_t>(handle);
		return {};
	}

	/** \brief How long one run took */
	struct Times {
		Microseconds all;    /**< from the ioctl to the wake-up */
		Microseconds submit; /**< of them the ioctl */
	};

	/** \return an error in words */
	std::string once(Times &times)
	{
		Submit submit;
		submit.tasks.push_back(describe());
		submit.outSyncs.push_back({ syncobj_, 0, 0 });

		const Clock::time_point start = Clock::now();
		const int refused = submit.run(device_);
		times.submit = Clock::now() - start;
		const int waited = refused ? 0 : device_.waitSyncobj(syncobj_);
		times.all = Clock::now() - start;

		if (refused)
			return std::string("refused: ") + describeRefusal(submit.error);
		if (waited || device_.fenceStatus(syncobj_) != 1)
			return "the job failed";
		return {};
	}

	/**
	 * \brief Queues jobs and waits for them
	 * \param time how long they took
	 * \param idle gets what the engines were idle between each two
	 * \return an error in words
	 */
	std::string burst(unsigned int jobs, Microseconds &time, std::vector<Microseconds> &idle)
	{
		Submit submit;
		submit.tasks.push_back(describe());
		submit.outSyncs.push_back({ syncobj_, 0, 0 });
		while (results_.size() < jobs)
			results_.push_back(std::make_unique<JobResult>(device_));

		const Clock::time_point start = Clock::now();
		for (unsigned int i = 0; i < jobs; i++) {
			submit.resultHandle = results_[i]->buffer().handle();
			if (submit.run(device_))
				return std::string("refused: ") + describeRefusal(submit.error);
		}
		const int waited = device_.waitSyncobj(syncobj_);
		time = Clock::now() - start;
		if (waited || device_.fenceStatus(syncobj_) != 1)
			return "a job failed";

		for (unsigned int i = 1; i < jobs; i++)
			idle.push_back(std::chrono::nanoseconds(static_cast<int64_t>(
				worked(*results_[i]).start_ns - worked(*results_[i - 1]).end_ns)));
		return {};
	}

private:
	drm_nvdla_task describe() const
	{
		const nvdla_task_source source = builder_.source();
		drm_nvdla_task task = {};
		task.addresses = reinterpret_cast<uintptr_t>(addresses_.data());
		task.num_addresses = static_cast<uint32_t>(addresses_.size());
		task.address_size = sizeof(addresses_[0]);
		task.handle = prepared_;
		if (prepared_)
			return task;
		task.graph = reinterpret_cast<uintptr_t>(source.graph);
		task.operations = reinterpret_cast<uintptr_t>(source.operations);
		task.surfaces = reinterpret_cast<uintptr_t>(source.surfaces);
		task.luts = reinterpret_cast<uintptr_t>(source.luts);
		task.num_operations = source.num_operations;
		task.num_luts = source.num_luts;
		task.node_size = sizeof(nvdla_graph_node);
		task.operation_size = sizeof(nvdla_operation_desc);
		task.surface_size = sizeof(nvdla_surface_desc);
		task.lut_size = sizeof(nvdla_lut_desc);
		return task;
	}

	const Device &device_;
	const TaskBuilder &builder_;
	uint32_t syncobj_;
	uint32_t prepared_ = 0;
	std::vector<std::unique_ptr<Buffer>> buffers_;
	std::vector<drm_nvdla_address> addresses_;
	std::vector<std::unique_ptr<JobResult>> results_;
};

double median(std::vector<Microseconds> times)
{
	std::nth_element(times.begin(), times.begin() + times.size() / 2, times.end());
	return times[times.size() / 2].count();
}

/* \return median time of a chain in microseconds; negative after an error, which is printed */
double measure(const Device &device, const Kind &kind, size_t layers, unsigned int repeats)
{
	const TaskBuilder builder = chain(kind, layers);
	Run run(device, builder);
	std::vector<Microseconds> all(repeats);
	Run::Times times;

	/* The first one finds registers and caches cold. */
	for (unsigned int i = 0; i <= repeats; i++) {
		const std::string error = run.once(times);
		if (!error.empty()) {
			std::fprintf(stderr, "%s: %s\n", kind.name, error.c_str());
			return -1;
		}
		all[i % repeats] = times.all;
	}
	return median(all);
}

/* Prints what the ioctl takes with descriptors and prepared, in turns. \return there was no error
 */
bool measureSubmit(const Device &device, const Kind &kind, size_t layers, unsigned int repeats)
{
	const TaskBuilder builder = chain(kind, layers);
	Run described(device, builder), prepared(device, builder);
	std::vector<Microseconds> before(repeats), after(repeats);
	Run::Times times;
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

/* Prints jobs a second without and with the driver's pipeline, in turns. \return there was no error
 */
bool measureRate(const Device &device, const char *name, const Kind &kind, size_t layers,
		 unsigned int repeats)
{
	const std::filesystem::path pipeline = debugFolder() / "pipeline";
	const TaskBuilder builder = chain(kind, layers);
	Run run(device, builder);
	std::vector<Microseconds> times[2] = { std::vector<Microseconds>(repeats),
					       std::vector<Microseconds>(repeats) };
	std::vector<Microseconds> idle[2];
	std::string error = run.prepare();
	const Setting setting(pipeline, "Y");

	if (error.empty() && !setting.done())
		error = "no " + pipeline.string() + ": only root may change it";
	for (unsigned int i = 0; i <= repeats && error.empty(); i++)
		for (const bool on : { false, true })
			if (error.empty() && writeFile(pipeline, on ? "Y" : "N") == 0)
				error = run.burst(queuedJobs, times[on][i % repeats], idle[on]);
	if (!error.empty()) {
		std::fprintf(stderr, "jobs a second, %s: %s\n", name, error.c_str());
		return false;
	}
	const double before = median(times[0]), after = median(times[1]);
	std::printf("%s: %.0f jobs a second one by one, %.0f in the pipeline, %.2f times as many; "
		    "engines idle "
		    "%.0f us and %.0f us between jobs\n",
		    name, queuedJobs * 1e6 / before, queuedJobs * 1e6 / after, before / after,
		    median(idle[0]), median(idle[1]));
	return true;
}

/* \return median time of one layer's job with another client's before it; negative after an error
 */
double measureTurns(const Device &device, const std::string &node, const Kind &kind,
		    unsigned int repeats)
{
	const TaskBuilder builder = chain(kind, shortChain);
	const Device otherDevice(node);
	Run run(device, builder), other(otherDevice, builder);
	std::vector<Microseconds> all(repeats);
	Run::Times times, otherTimes;

	for (unsigned int i = 0; i <= repeats; i++) {
		std::string error = other.once(otherTimes);
		if (error.empty())
			error = run.once(times);
		all[i % repeats] = times.all;
		if (!error.empty()) {
			std::fprintf(stderr, "%s, two clients: %s\n", kind.name, error.c_str());
			return -1;
		}
	}
	return median(all);
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
bool countAccesses(const Kind &kind, Accesses &perLayer)
{
	NoMemory memory;
	ModelledCore core(memory);
	const Created few = chain(kind, shortChain).create(),
		      many = chain(kind, longChain).create();
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

} /* namespace */

int main(int argc, char **argv)
{
	nvdla::CommandLine app{
		"What the driver costs per hardware layer, from the ioctl to the fence",
		"driver-overhead"
	};
	std::string node = Device::path();
	unsigned int repeats = 31;
	app.option("--device", node, "accel node").showDefault();
	app.option("--repeat", repeats, "runs of each chain; the median counts")
		.range(1u, 10000u)
		.showDefault();
	if (const auto code = app.parse(argc, argv))
		return *code;

	const Device device(node);
	if (!device.valid()) {
		std::fprintf(stderr,
			     "%s cannot be opened: load the driver, or name another node with "
			     "--device\n",
			     node.c_str());
		return 1;
	}

	std::printf("%-26s %12s %12s %14s %14s\n", "layer", "us a layer", "us a job",
		    "writes a layer", "reads a layer");
	for (const Kind &kind : kinds) {
		const double few = measure(device, kind, shortChain, repeats);
		const double many = few < 0 ? few : measure(device, kind, longChain, repeats);
		Accesses accesses;
		if (many < 0)
			return 1;
		if (!countAccesses(kind, accesses)) {
			std::fprintf(stderr, "%s: the modelled core does not run it\n", kind.name);
			return 1;
		}
		const double layer = (many - few) / (longChain - shortChain);
		std::printf("%-26s %12.1f %12.1f %14.1f %14.1f\n", kind.name, layer, few - layer,
			    accesses.writes, accesses.reads);
	}

	const Kind &convolution = kinds[1];
	const double alone = measure(device, convolution, shortChain, repeats);
	const double turns = alone < 0 ? alone : measureTurns(device, node, convolution, repeats);
	if (turns < 0)
		return 1;
	std::printf("a job behind another client's convolution: %.1f us more\n", turns - alone);
	if (!measureSubmit(device, convolution, networkLayers, repeats) ||
	    !measureRate(device, "one copy", kinds[0], shortChain, repeats) ||
	    !measureRate(device, "60 operations", convolution, networkLayers, repeats))
		return 1;
	return 0;
}
