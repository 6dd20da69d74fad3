/* SPDX-License-Identifier: MIT */
/*
 * tflite-bench [DEVICE [MODEL...]]: processor time per inference of stock TensorFlow Lite on one
 * thread, alone and with the delegate, on models of the reference data.
 *
 * Both take turns, the best of some rounds counts. On the embedded device the delegate's time is
 * that of the device's model. The last column is how long an inference takes where two interpreters
 * have some at the same time, of how long it takes where there is one.
 */
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <ctime>
#include <limits>
#include <thread>

#include <fmt/format.h>

#include "interpreter.h"
#include "reference_data.h"

namespace
{

using namespace nvdla::test;

constexpr int rounds = 5;
/* To see what two interpreters at the same time take, each runs some times in a row, for about as
 * long. */
constexpr int mostRunsInARow = 20;
constexpr double millisecondsInARow = 500;

double processorMilliseconds()
{
	timespec now{};

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
	return static_cast<double>(now.tv_sec) * 1e3 + static_cast<double>(now.tv_nsec) / 1e6;
}

/* Lowers \a best to what a run takes. */
bool measure(Interpreter &interpreter, double &best)
{
	const double start = processorMilliseconds();

	if (!interpreter.invoke())
		return false;
	best = std::min(best, processorMilliseconds() - start);
	return true;
}

/* Seconds of the clock for some runs of each interpreter, all at the same time. */
double together(int runs, const std::vector<Interpreter *> &interpreters)
{
	const auto start = std::chrono::steady_clock::now();
	std::vector<std::thread> threads;

	for (Interpreter *interpreter : interpreters) {
		threads.emplace_back([runs, interpreter] {
			for (int i = 0; i < runs; i++)
				interpreter->invoke();
		});
	}
	for (std::thread &thread : threads)
		thread.join();
	return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

bool compare(const std::string &name, TfLiteDelegate *delegate)
{
	const ModelFolder folder = readModelFolder(name);
	Interpreter alone(folder.file, nullptr), with(folder.file, delegate);
	Interpreter second(folder.file, delegate);
	double aloneBest = std::numeric_limits<double>::infinity(), withBest = aloneBest;

	alone.set(folder.cases.front().inputs);
	with.set(folder.cases.front().inputs);
	second.set(folder.cases.front().inputs);
	for (int i = 0; i < rounds; i++) {
		if (!measure(alone, aloneBest) || !measure(with, withBest))
			return false;
	}
	const int runs =
		std::clamp(static_cast<int>(millisecondsInARow / withBest), 2, mostRunsInARow);
	double oneBest = std::numeric_limits<double>::infinity(), twoBest = oneBest;
	for (int i = 0; i < rounds; i++) {
		oneBest = std::min(oneBest, together(runs, { &with }));
		twoBest = std::min(twoBest, together(runs, { &with, &second }) / 2);
	}
	fmt::print("| {} | {:.2f} | {:.2f} | {:.2f} | {:.2f} |\n", name, aloneBest, withBest,
		   withBest / aloneBest, twoBest / oneBest);
	std::fflush(stdout);
	return true;
}

} /* namespace */

int main(int argc, char **argv)
{
	const std::string device = argc > 1 ? argv[1] : "embedded:fp16=fast";
	std::vector<std::string> names(argv + std::min(argc, 2), argv + argc);
	const DelegatePointer delegate = loadDelegate({ { "device", device } });
	bool done = true;

	const std::vector<std::string> known = modelFolders("tflite");
	if (known.empty()) {
		fmt::print(stderr,
			   "tflite-bench: {} has no TensorFlow Lite models: set "
			   "NVDLA_REFERENCE_DATA to the reference data\n",
			   (referenceData() / "models").string());
		return 1;
	}
	for (const std::string &name : names) {
		if (std::find(known.begin(), known.end(), name) == known.end()) {
			fmt::print(stderr, "tflite-bench: there is no model '{}'; there are {}\n",
				   name, fmt::join(known, ", "));
			return 1;
		}
	}
	if (names.empty())
		names = known;
	fmt::print("| model | TensorFlow Lite, ms | delegate, ms | ratio | of two |\n"
		   "|---|---|---|---|---|\n");
	for (const std::string &name : names)
		done = compare(name, delegate.get()) && done;
	return done ? 0 : 1;
}
