/* SPDX-License-Identifier: MIT */
/*
 * tflite-bench [DEVICE [MODEL...]]: processor time per inference of stock TensorFlow Lite on one
 * thread, alone and with the delegate, on models of the reference data.
 *
 * Both take turns, the best of some rounds counts. On the embedded device the delegate's time is
 * that of the device's model.
 */
#include <algorithm>
#include <ctime>
#include <limits>

#include <fmt/core.h>

#include "interpreter.h"

namespace
{

using namespace nvdla::test;

constexpr int rounds = 5;

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

bool compare(const std::string &name, TfLiteDelegate *delegate)
{
	const ModelFolder folder = readModelFolder(name);
	Interpreter alone(folder.file, nullptr), with(folder.file, delegate);
	double aloneBest = std::numeric_limits<double>::infinity(), withBest = aloneBest;

	alone.set(folder.cases.front().inputs);
	with.set(folder.cases.front().inputs);
	for (int i = 0; i < rounds; i++) {
		if (!measure(alone, aloneBest) || !measure(with, withBest))
			return false;
	}
	fmt::print("{:34} {:9.2f} {:9.2f} {:7.2f}\n", name, aloneBest, withBest,
		   withBest / aloneBest);
	return true;
}

} /* namespace */

int main(int argc, char **argv)
{
	const std::string device = argc > 1 ? argv[1] : "embedded:fp16=fast";
	std::vector<std::string> names(argv + std::min(argc, 2), argv + argc);
	const DelegatePointer delegate = loadDelegate({ { "device", device } });
	bool done = true;

	if (names.empty())
		names = modelFolders("tflite");
	fmt::print("{:34} {:>9} {:>9} {:>7}\n", "ms of processor time", "TFLite", "delegate",
		   "ratio");
	for (const std::string &name : names)
		done = compare(name, delegate.get()) && done;
	return done && !names.empty() ? 0 : 1;
}
