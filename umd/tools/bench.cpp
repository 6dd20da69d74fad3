/* SPDX-License-Identifier: MIT */
/* nvdla-bench: measures how long runs of a network take, and how many complete in a second. */
#include <atomic>
#include <chrono>
#include <cmath>
#include <csignal>
#include <cstdio>
#include <mutex>
#include <random>
#include <thread>

#include <fmt/core.h>
#include <nvdla/network.h>

#include "base/io/file.h"
#include "bench/measurement.h"
#include "command-line/command_line.h"
#include "device_option.h"
#include "network_file.h"
#include "program.h"
#include "progress.h"
#include "tools/prof/profile.h"

namespace
{

using namespace nvdla;
using Clock = std::chrono::steady_clock;

constexpr uint64_t maxMeasurementBytes = 1 << 20;

struct Settings {
	std::string device = Device::defaultPath();
	tools::NetworkFile network;
	double warmUp = 1;
	double duration = 5;
	uint64_t runs = 0; /* largest number of runs; 0: as many as the duration allows */
	unsigned inFlight = 1;
	unsigned timeoutMs = 30000;
	bool json = false;
	std::string compare;
};

/* Set by Ctrl-C, which ends the measurement, not the program: the results so far are printed. */
std::atomic<bool> interrupted = false;
static_assert(std::atomic<bool>::is_always_lock_free);

void interrupt(int)
{
	interrupted = true;
}

/* Returns random elements: numbers from -1 to 1 for FP16, otherwise integers of the tensor's type.
 * Zeros would make runs faster than real data does. */
std::vector<std::byte> randomElements(const TensorDesc &desc, std::mt19937 &random)
{
	const bool isHalf = desc.type == DataType::Half;
	const IntegerLimits limits = isHalf ? IntegerLimits{ -1, 1 } : integerLimits(desc.type);
	std::uniform_real_distribution<float> numbers(static_cast<float>(limits.lowest),
						      static_cast<float>(limits.highest));
	std::vector<float> values(desc.elements());

	for (float &value : values)
		value = isHalf ? numbers(random) : std::round(numbers(random));
	return elementsFromFloat(desc.type, values);
}

Result<std::vector<Request>> makeRequests(const Settings &settings, const Network &network)
{
	std::vector<Request> requests;
	std::mt19937 random(1);

	for (unsigned i = 0; i < settings.inFlight; i++) {
		auto request = Request::create(network);
		if (!request)
			return forward(request);
		for (size_t input = 0; input < network.inputs().size(); input++) {
			auto set = request->setInputElements(
				input, randomElements(network.inputs()[input], random));
			if (!set)
				return forward(set);
		}
		requests.push_back(std::move(*request));
	}
	return requests;
}

/* A phase of the measurement: all requests run repeatedly, each in a thread of its own. */
class Phase
{
public:
	Phase(double seconds, uint64_t runs, RunOptions options)
		: start_(Clock::now()),
		  end_(start_ + std::chrono::duration_cast<Clock::duration>(
					std::chrono::duration<double>(seconds))),
		  left_(runs ? static_cast<int64_t>(runs) : INT64_MAX), options_(options)
	{
	}

	/* \return the time of each run in milliseconds, at least one; or the first error */
	Result<std::vector<double>> run(std::vector<Request> &requests, tools::Progress &progress,
					const char *name)
	{
		std::vector<std::jthread> threads;

		for (Request &request : requests)
			threads.emplace_back(
				[&] { keep(guarded(name, [&] { return work(request); })); });
		while (!isOver()) {
			std::this_thread::sleep_for(std::chrono::milliseconds(100));
			const std::chrono::duration<double> left = end_ - Clock::now();
			progress.show(fmt::format("{}: {:.0f} s left", name,
						  std::ceil(std::max(left.count(), 0.0))));
		}
		threads.clear();
		if (!failed_)
			return forward(failed_);
		return std::move(times_);
	}

	double seconds() const { return std::chrono::duration<double>(last_ - start_).count(); }

private:
	bool isOver() const { return stop_ || interrupted || left_ <= 0 || Clock::now() >= end_; }

	Result<void> work(Request &request)
	{
		std::vector<double> times;
		Clock::time_point now = Clock::now();

		/* Run at least once, even if interrupted early, so that there is a time to report;
		 * but never exceed the limit of --runs (left_). */
		while ((times.empty() || !isOver()) && left_-- > 0) {
			const Clock::time_point began = now;
			if (auto report = request.run(options_); !report)
				return forward(report);
			now = Clock::now();
			times.push_back(
				std::chrono::duration<double, std::milli>(now - began).count());
		}
		const std::lock_guard lock(lock_);
		times_.insert(times_.end(), times.begin(), times.end());
		last_ = std::max(last_, now);
		return {};
	}

	void keep(Result<void> done)
	{
		const std::lock_guard lock(lock_);

		if (done || !failed_)
			return;
		stop_ = true;
		failed_ = std::move(done);
	}

	Clock::time_point start_, end_, last_ = start_;
	std::atomic<int64_t> left_;
	std::atomic<bool> stop_ = false;
	RunOptions options_;
	std::mutex lock_; /* protects last_, times_ and failed_ */
	std::vector<double> times_;
	Result<void> failed_;
};

Result<bench::Measurement> measure(const Settings &settings)
{
	tools::Progress progress(true);
	RunOptions options;

	options.timeout = std::chrono::milliseconds(settings.timeoutMs);
	progress.show("loading " + settings.network.path);
	tools::NetworkFile file = settings.network;
	auto device = tools::targetOf(file, Device::open(settings.device));
	if (!device)
		return forward(device);
	auto read = tools::readNetwork(file);
	if (!read)
		return forward(read);
	auto network = Network::load(*device, read->loadable, { .slots = settings.inFlight });
	if (!network)
		return forward(network);
	auto requests = makeRequests(settings, *network);
	if (!requests)
		return forward(requests);
	std::signal(SIGINT, interrupt);
	if (settings.warmUp > 0) {
		auto warm = Phase(settings.warmUp, 0, options).run(*requests, progress, "warm-up");
		if (!warm)
			return forward(warm);
		if (interrupted)
			return fail(ErrorCode::Cancelled, "measure", settings.network.path,
				    "interrupted during the warm-up, before any run was measured");
	}
	Phase phase(settings.duration, settings.runs, options);
	auto times = phase.run(*requests, progress, "measuring");
	if (!times)
		return forward(times);
	bench::Measurement measured{ .network = settings.network.name(),
				     .device = settings.device,
				     .inFlight = settings.inFlight,
				     .seconds = phase.seconds() };
	measured.take(std::move(*times));
	return measured;
}

Result<std::optional<bench::Measurement>> readEarlier(const std::string &path)
{
	if (path.empty())
		return std::nullopt;
	auto bytes = readWholeFile(path, maxMeasurementBytes);
	if (!bytes)
		return forward(bytes);
	auto earlier = bench::measurementFromJson(
		{ reinterpret_cast<const char *>(bytes->data()), bytes->size() }, path);
	if (!earlier)
		return forward(earlier);
	return std::move(*earlier);
}

Result<void> run(const Settings &settings)
{
	auto earlier = readEarlier(settings.compare);
	if (!earlier)
		return forward(earlier);
	if (*earlier && ((*earlier)->network != settings.network.name() ||
			 (*earlier)->inFlight != settings.inFlight))
		return fail(ErrorCode::InvalidArgument, "--compare", settings.compare,
			    fmt::format("has a measurement of {} with --in-flight {}, but this one "
					"is of {} with --in-flight {}",
					(*earlier)->network, (*earlier)->inFlight,
					settings.network.name(), settings.inFlight));
	auto measured = measure(settings);
	if (!measured)
		return forward(measured);
	if (settings.json) {
		fmt::print("{}", bench::measurementJson(*measured));
		return {};
	}
	fmt::print("{}", bench::measurementText(*measured, *earlier ? &**earlier : nullptr));
	if (prof::hasTimesOfHost(settings.device))
		fmt::print("These are times of the device model on this host; nvdla-prof --chip "
			   "predicts those of a chip.\n");
	return {};
}

} /* namespace */

int main(int argc, char **argv)
{
	return tools::runProgram("nvdla-bench", [&]() -> Result<int> {
		CommandLine app{
			"Runs a neural network repeatedly on an NVDLA (a hardware accelerator), "
			"and prints the time of a run and the runs per second. The inputs are "
			"random numbers.",
			"nvdla-bench", "nvdla-bench net.nvdla --device accel0 --in-flight 2"
		};
		Settings settings;
		tools::NetworkOptions network;

		app.footer(tools::exitCodeHelp);
		tools::addDeviceOption(app, settings.device);
		network.addTo(app, "that of the device");
		app.option("--in-flight", settings.inFlight,
			   "number of runs in flight at once: whenever one ends, the next one is "
			   "submitted")
			.range(1u, 256u)
			.showDefault();
		app.option("--warm-up", settings.warmUp,
			   "run for this time before the measurement; these runs are not counted")
			.valueText("SECONDS")
			.range(0.0, 3600.0)
			.showDefault();
		app.option("--duration", settings.duration,
			   "measure for this time; Ctrl-C ends the measurement early, and the "
			   "figures until then are printed")
			.valueText("SECONDS")
			.range(0.001, 86400.0)
			.showDefault();
		app.option(
			"--runs", settings.runs,
			"end the measurement after N runs, even before the time of --duration has "
			"passed; default: no limit");
		tools::addTimeoutOption(app, settings.timeoutMs);
		const auto json = app.flag("--json", settings.json, "print the figures as JSON");
		app.option("--compare", settings.compare,
			   "compare with an earlier measurement, whose output with --json is in "
			   "this file: beside each figure, print its ratio to the earlier figure. "
			   "The earlier measurement must be of a network file of the same name, in "
			   "any folder, with the same --in-flight")
			.valueText("FILE")
			.inputFile()
			.excludes(json);
		if (const auto code = app.parse(argc, argv))
			return *code;

		return tools::finished(network.file().and_then([&](tools::NetworkFile file) {
			settings.network = std::move(file);
			return run(settings);
		}));
	});
}
