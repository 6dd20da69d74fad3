/* SPDX-License-Identifier: MIT */
#include "trace/suite.h"

#include <algorithm>
#include <atomic>
#include <mutex>
#include <thread>

#include <fmt/core.h>

namespace fs = std::filesystem;

namespace nvdla::sim
{

namespace
{

void playOne(SuiteRun &run, const ConvOptions &options)
{
	const auto trace = loadTrace(run.directory);
	if (!trace) {
		run.result.failures.push_back(trace.error());
		return;
	}
	std::mutex mutex; /* guards run: callbacks come from any thread */
	CoreConfig config;
	config.geometry = *trace->geometry;
	config.cvsramSize = std::max(config.geometry.cvsramSize, trace->cvsramSize);
	config.conv = options;
	/* One thread for each core is enough: parallel traces keep all processors busy. */
	config.threads = 1;
	config.diagnostics = [&](const GuestError &error) {
		std::scoped_lock lock(mutex);
		run.guestErrors.push_back(fmt::format("{} {}: {} {}", error.unit, error.where,
						      error.reason, error.detail));
	};
	config.operationDone = [&](const OperationRecord &record) {
		std::scoped_lock lock(mutex);
		run.operations.push_back(record);
	};
	CoreTarget target(config);
	run.result = play(*trace, target);
}

} /* namespace */

std::vector<SuiteRun> findTraces(const fs::path &path)
{
	std::vector<SuiteRun> runs;
	std::error_code error;
	if (hasTrace(path))
		runs.push_back({ .directory = path });
	for (auto entry = fs::recursive_directory_iterator(path, error);
	     !error && entry != fs::recursive_directory_iterator(); entry.increment(error))
		if (entry->is_directory(error) && hasTrace(entry->path()))
			runs.push_back({ .directory = entry->path() });
	std::sort(runs.begin(), runs.end(),
		  [](const SuiteRun &a, const SuiteRun &b) { return a.directory < b.directory; });
	return runs;
}

void playSuite(std::vector<SuiteRun> &runs, unsigned int jobs, const ConvOptions &options)
{
	playSuite(runs, jobs,
		  [options] { return [options](SuiteRun &run) { playOne(run, options); }; });
}

void playSuite(std::vector<SuiteRun> &runs, unsigned int jobs,
	       const std::function<RunPlayer()> &makePlayer)
{
	std::atomic<size_t> next = 0;
	std::vector<std::thread> threads;
	for (size_t job = 0; job < std::min<size_t>(jobs, runs.size()); job++)
		threads.emplace_back([&] {
			const RunPlayer player = makePlayer();
			for (size_t i = next++; i < runs.size(); i = next++)
				player(runs[i]);
		});
	for (std::thread &thread : threads)
		thread.join();
}

} /* namespace nvdla::sim */
