/* SPDX-License-Identifier: MIT */
#include "trace/qemu_suite.h"

#include <memory>
#include <mutex>
#include <optional>

namespace nvdla::sim
{

namespace
{

/* The reason why the programs cannot be started, from the first thread that finds it. */
struct StartProblem {
	std::mutex mutex;
	std::string text;
};

/* Plays traces in a QEMU of its own; each thread of playSuite() has one. */
class QemuPlayer
{
public:
	QemuPlayer(const QemuPrograms &programs, const std::atomic<bool> &stop,
		   StartProblem &problem)
		: programs_(programs), stop_(stop), problem_(problem)
	{
	}

	void play(SuiteRun &run)
	{
		if (stop_) {
			run.result.skipped = "interrupted";
			return;
		}
		const auto trace = loadTrace(run.directory);
		if (!trace) {
			run.result.failures.push_back(trace.error());
			return;
		}
		if (trace->geometry != &nvFull) {
			run.result.skipped = std::string("a core of ") + trace->geometry->name +
					     " is not started in QEMU";
			return;
		}
		if (!prepare()) {
			run.result.skipped = "the device cannot be started";
			return;
		}
		target_->begin(*trace);
		run.result = sim::play(*trace, *target_);
		if (const std::string reason = device_->broken(); !reason.empty())
			run.result = { .failures = { reason } };
		run.guestErrors = device_->takeGuestErrors();
		if (!run.result.passed())
			discard();
	}

private:
	bool prepare()
	{
		if (device_)
			return true;
		if (const std::lock_guard lock(problem_.mutex); !problem_.text.empty())
			return false;
		const ExternalTarget::Config config;
		auto device = QemuDevice::start(programs_, config.cvsramBase);
		if (!device) {
			const std::lock_guard lock(problem_.mutex);
			if (problem_.text.empty())
				problem_.text = device.error();
			return false;
		}
		device_ = std::move(*device);
		target_.emplace(config, *device_, stop_);
		return true;
	}

	void discard()
	{
		target_.reset();
		device_.reset();
	}

	const QemuPrograms &programs_;
	const std::atomic<bool> &stop_;
	StartProblem &problem_;
	std::unique_ptr<QemuDevice> device_;
	std::optional<ExternalTarget> target_; /* declared after the device, which it refers to */
};

} /* namespace */

std::string playSuiteThroughQemu(std::vector<SuiteRun> &runs, unsigned int jobs,
				 const QemuPrograms &programs, const std::atomic<bool> &stop)
{
	StartProblem problem;
	playSuite(runs, jobs, [&]() -> RunPlayer {
		const auto player = std::make_shared<QemuPlayer>(programs, stop, problem);
		return [player](SuiteRun &run) { player->play(run); };
	});
	return problem.text;
}

} /* namespace nvdla::sim */
