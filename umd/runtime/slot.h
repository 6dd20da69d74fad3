/* SPDX-License-Identifier: MIT */
/* The resources of one run of a network. */
#pragma once

#include <functional>
#include <optional>

#include "runtime/async/event_watch.h"
#include "runtime/host/host_step.h"
#include "runtime/program.h"
#include "runtime/request_state.h"
#include "runtime/resident_memory.h"

namespace nvdla
{

/** \brief Name of the action that failed, in errors of these functions */
inline constexpr const char *runningNetwork = "run network";

/**
 * \brief Memory for one run, and the state of that run
 *
 * Only the thread of Common::loop uses a slot, except during construction and in run().
 */
class Slot
{
public:
	/** \brief Parts that all slots of a network share */
	struct Common {
		Device device;
		Loop &loop; /**< valid while a run is in a slot, and until Pipeline::shutDown() */
		Program program;
		Loadable loadable;	/**< without blobs, except those for memories in
					   Program::own */
		ResidentMemory shared;	/**< memories of Program::shared */
		PreparedTasks prepared; /**< prepared Program::tasks */
		HostModels hosts;	/**< opened models of Program::tasks */
	};
	/** \brief Called when the run in the slot has ended; must not throw */
	using Done = std::function<void(Result<void>)>;

	static Result<std::unique_ptr<Slot>> create(Common &common);

	/**
	 * \brief Begin a run
	 *
	 * \a done is always called, either later or inside of begin(); then the slot is free again.
	 * \a request and whatever \a done refers to must be valid until then.
	 *
	 * \param[in] context id of a Context on the device
	 */
	void begin(std::shared_ptr<RequestState> request, uint32_t context, Done done) noexcept;

	/**
	 * \brief Carry out a whole run in the calling thread
	 *
	 * Waits for jobs and computes CPU tasks itself, without the loop.
	 */
	Result<void> run(std::shared_ptr<RequestState> request, uint32_t context) noexcept;

private:
	Slot(Common &common, ResidentMemory memory, Job job, std::optional<Buffer> results);

	void take(uint32_t context);
	Result<void> watch();
	Result<void> writeInputs();
	/* Called after the last step: copies outputs and states. */
	Result<void> finish();
	Result<void> readOutputs();
	Result<void> keepStates();
	Result<const ProgramStep *> nextStep();
	void stepEnded();
	Result<void> runSteps();
	Result<void> runStep(const ProgramStep &step);
	Result<bool> beginSteps();
	void goOn(Result<bool> ended) noexcept;
	void goOn() noexcept;
	void leave();

	Result<void> submitJob(const ProgramStep &step, bool waits);
	Result<void> startJob(const ProgramStep &step);
	Result<void> readResults();
	Result<void> conclude(Result<void> status);
	void jobDone() noexcept;

	bool isShort(const ProgramStep &step) const;
	Result<void> startCpu(const ProgramStep &step);
	Result<void> runCpu(const ProgramStep &step);
	Result<void> runTask(const EmuTask &task);
	Result<void> runTask(const HostTask &task, const HostModel *model);
	Result<void> runEmuOperation(const EmuTask &task, const EmuOperation &operation);
	MemoryPlace place(uint16_t memory);
	void resolve();
	Result<Buffer::Access> access(uint16_t memory, CpuAccess access);

	Common &common_;
	ResidentMemory memory_;
	std::vector<std::vector<BufferRange>> ranges_; /* address table of each task */
	bool foreign_ = false; /* true if ranges_ refer to buffers that a request has bound */
	Job job_;
	std::optional<Buffer> results_;
	std::optional<EventWatch> watch_;

	/* State of the current run. */
	std::shared_ptr<RequestState> request_;
	uint32_t context_ = 0;
	Done done_;
	size_t step_ = 0;
	RequestState::Clock::time_point started_;
	RequestState::Clock::time_point stepStarted_;
};

} /* namespace nvdla */
