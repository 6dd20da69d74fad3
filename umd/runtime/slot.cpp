/* SPDX-License-Identifier: MIT */
#include "slot.h"

#include <algorithm>
#include <cstring>

#include <drm/nvdla_accel.h>
#include <fmt/core.h>

#include "base/io/guarded.h"
#include "runtime/binding.h"
#include "runtime/emu/emu.h"

namespace nvdla
{

namespace
{

/* Timeout for accesses to a slot's buffers. Accesses do not wait, because no job uses the buffers
 * at that time. */
constexpr std::chrono::milliseconds slotTimeout(10000);

OperationReport operationReport(const drm_nvdla_operation_result &said)
{
	OperationReport report{ .engine = said.op_type,
				.started = (said.flags & DRM_NVDLA_OPERATION_STARTED) != 0,
				.completed = (said.flags & DRM_NVDLA_OPERATION_COMPLETED) != 0,
				.counted = (said.flags & DRM_NVDLA_OPERATION_COUNTED) != 0,
				.startNs = said.start_ns,
				.endNs = said.end_ns,
				.readStall = said.read_stall,
				.writeStall = said.write_stall,
				.weightReadStall = said.weight_read_stall,
				.readLatency = said.read_latency,
				.weightReadLatency = said.weight_read_latency,
				.saturation = said.saturation,
				.nanInput = said.nan_input,
				.infInput = said.inf_input,
				.nanOutput = said.nan_output,
				.nanWeight = said.nan_weight,
				.infWeight = said.inf_weight,
				.unequal = said.unequal,
				.lut = { said.lut.underflow, said.lut.overflow, said.lut.le_hit,
					 said.lut.lo_hit, said.lut.hybrid } };

	std::copy(std::begin(said.operand_read_stall), std::end(said.operand_read_stall),
		  report.operandReadStall.begin());
	return report;
}

} /* namespace */

Slot::Slot(Common &common, ResidentMemory memory, Job job, std::optional<Buffer> results)
	: common_(common), memory_(std::move(memory)), job_(std::move(job)),
	  results_(std::move(results))
{
	resolve();
}

/* Returns the place of a memory: in a bound buffer, in this slot, or shared by all slots. */
MemoryPlace Slot::place(uint16_t memory)
{
	if (request_) {
		const auto bound = request_->bound.find(memory);
		if (bound != request_->bound.end())
			return memoryPlace(bound->second, *common_.loadable.memory(memory),
					   common_.device.info().atomBytes);
	}
	const MemoryPlace own = memory_.place(memory);
	return own.handle ? own : common_.shared.place(memory);
}

void Slot::resolve()
{
	auto at = [this](uint16_t memory) { return place(memory); };

	ranges_.clear();
	for (const AnyTask &task : common_.program.tasks) {
		ranges_.push_back(std::visit(
			[&](const auto &any) { return resolveAddresses(any.addresses, at); },
			task));
	}
}

Result<std::unique_ptr<Slot>> Slot::create(Common &common)
{
	auto memory = ResidentMemory::create(common.device, common.loadable, common.program.own);
	if (!memory)
		return forward(memory);
	auto job = common.device.createJob();
	if (!job)
		return forward(job);
	std::optional<Buffer> results;
	if (common.device.has(Feature::Results)) {
		auto buffer =
			common.device.allocate(Device::resultBytes(common.program.maxOperations()));
		if (!buffer)
			return forward(buffer);
		results = std::move(*buffer);
	}
	return std::unique_ptr<Slot>(
		new Slot(common, std::move(*memory), std::move(*job), std::move(results)));
}

void Slot::take(uint32_t context)
{
	context_ = context;
	step_ = 0;
	started_ = RequestState::Clock::now();
	request_->report = {};
	request_->report.queued = started_ - request_->submitted;

	const bool binds = !request_->bound.empty();
	if (foreign_ || binds) {
		/* If resolve() throws, foreign_ stays true, so that the next run calls resolve()
		 * again. */
		foreign_ = true;
		resolve();
	}
	foreign_ = binds;
}

void Slot::begin(std::shared_ptr<RequestState> request, uint32_t context, Done done) noexcept
{
	request_ = std::move(request);
	done_ = std::move(done);
	goOn(guarded(runningNetwork, [&]() -> Result<bool> {
		take(context);
		auto ready = watch();
		if (ready)
			ready = writeInputs();
		if (!ready)
			return forward(ready);
		return beginSteps();
	}));
}

Result<void> Slot::run(std::shared_ptr<RequestState> request, uint32_t context) noexcept
{
	request_ = std::move(request);
	auto result = guarded(runningNetwork, [&] {
		take(context);
		auto ready = writeInputs();
		return ready ? runSteps() : ready;
	});
	leave();
	return result;
}

Result<void> Slot::runSteps()
{
	for (;;) {
		auto step = nextStep();
		if (!step)
			return forward(step);
		if (!*step)
			return finish();
		if (auto done = runStep(**step); !done)
			return done;
	}
}

Result<void> Slot::runStep(const ProgramStep &step)
{
	if (step.cpu) {
		auto done = runCpu(step);
		stepEnded();
		return done;
	}
	if (auto submitted = submitJob(step, true); !submitted)
		return submitted;
	/* No timeout here, because the driver ends a job that takes too long. */
	auto status = job_.wait(std::chrono::milliseconds::max());
	stepEnded();
	return conclude(std::move(status));
}

/* Creates the event watch at the first run, because only the loop's thread may do that. */
Result<void> Slot::watch()
{
	if (watch_)
		return {};
	auto watch = EventWatch::create(common_.loop, [this] { jobDone(); });
	if (!watch)
		return forward(watch);
	watch_.emplace(std::move(*watch));
	return {};
}

/* Goes on to the next step when the previous one has ended. \return the step; null after the last
 * step */
Result<const ProgramStep *> Slot::nextStep()
{
	if (request_->cancelled)
		return fail(ErrorCode::Cancelled, runningNetwork, common_.device.path(),
			    fmt::format("before step {} of {}", step_ + 1,
					common_.program.steps.size()));
	if (step_ == common_.program.steps.size())
		return nullptr;

	const ProgramStep &step = common_.program.steps[step_++];
	RunReport::Step &report = request_->report.steps.emplace_back();
	report.cpu = step.cpu;
	report.tasks = static_cast<unsigned>(step.count);
	report.operations = step.operations;
	stepStarted_ = RequestState::Clock::now();
	return &step;
}

void Slot::stepEnded()
{
	request_->report.steps.back().duration = RequestState::Clock::now() - stepStarted_;
}

/*
 * Begins steps in the loop's thread: computes short steps at once, and starts the first long step,
 * whose end continues the run. \return true if all steps are done
 */
Result<bool> Slot::beginSteps()
{
	for (;;) {
		auto step = nextStep();
		if (!step)
			return forward(step);
		if (!*step) {
			auto finished = finish();
			if (!finished)
				return forward(finished);
			return true;
		}
		const bool isShort = (*step)->cpu && this->isShort(**step);
		auto begun = isShort	    ? runStep(**step)
			     : (*step)->cpu ? startCpu(**step)
					    : startJob(**step);
		if (!begun)
			return forward(begun);
		if (!isShort)
			return false;
	}
}

/* Reports the end of the run if the run has ended, with or without an error. */
void Slot::goOn(Result<bool> ended) noexcept
{
	if (ended && !*ended)
		return;
	leave();
	const Done done = std::move(done_);
	done(ended ? Result<void>() : forward(ended));
}

/* Continues the run after a long step. */
void Slot::goOn() noexcept
{
	goOn(guarded(runningNetwork, [this] { return beginSteps(); }));
}

void Slot::leave()
{
	request_->report.duration = RequestState::Clock::now() - started_;
	request_.reset();
}

Result<void> Slot::submitJob(const ProgramStep &step, bool waits)
{
	std::vector<JobTask> tasks;

	for (size_t i = step.first; i < step.first + step.count; i++) {
		JobTask &job = tasks.emplace_back();
		job.addresses = ranges_[i];
		if (common_.prepared[i]) {
			job.prepared = common_.prepared[i]->handle();
			continue;
		}
		const DlaTask &task = std::get<DlaTask>(common_.program.tasks[i]);
		static_cast<TaskGraph &>(job) = { task.graph, task.operations, task.surfaces,
						  task.luts };
	}
	const SubmitOptions options{ .timeout = request_->options.timeout,
				     .context = context_,
				     .restartable = step.restartable,
				     .statistics = request_->options.statistics,
				     .results = results_ ? results_->handle() : 0,
				     .waits = waits };
	return common_.device.submit(tasks, options, job_);
}

Result<void> Slot::startJob(const ProgramStep &step)
{
	if (auto submitted = submitJob(step, false); !submitted)
		return submitted;
	if (auto watched = job_.notify(watch_->fd()); !watched) {
		/* Wait for the job, because no event would tell when it no longer uses its
		 * memory. */
		job_.wait(request_->options.timeout);
		return watched;
	}
	watch_->expect(true);
	return {};
}

void Slot::jobDone() noexcept
{
	watch_->expect(false);
	stepEnded();
	auto status = guarded(runningNetwork, [this] { return conclude(job_.status()); });
	status ? goOn() : goOn(forward(status));
}

/* Reads the driver's report on the job; \return the job's status, or the read's error. */
Result<void> Slot::conclude(Result<void> status)
{
	if (!status)
		common_.device.log(LogLevel::Warning, status.error().message());
	if (auto read = readResults(); !read && status)
		return read;
	return status;
}

Result<void> Slot::readResults()
{
	if (!results_)
		return {};
	auto access = results_->access(CpuAccess::Read, slotTimeout);
	if (!access)
		return forward(access);

	RunReport::Step &report = request_->report.steps.back();
	const std::byte *from = access->bytes().data();
	drm_nvdla_job_result job;
	std::memcpy(&job, from, sizeof(job));
	from += job.header_size;
	if (job.status && job.failed_operation != ~0u)
		common_.device.log(LogLevel::Warning,
				   fmt::format("run network: {}: step {} task {} operation {}: did "
					       "not complete",
					       common_.device.path(), step_ - 1, job.failed_task,
					       job.failed_operation));
	report.job = { job.num_operations, job.num_completed, job.num_runs,
		       job.submit_ns,	   job.start_ns,      job.end_ns };
	for (uint32_t i = 0; i < job.num_operations; i++) {
		drm_nvdla_operation_result operation;
		std::memcpy(&operation, from, sizeof(operation));
		report.results.push_back(operationReport(operation));
		from += job.operation_size;
	}
	return {};
}

/*
 * Returns whether a CPU step has so few elements that computing it in this thread is faster than
 * handing it to another thread.
 */
bool Slot::isShort(const ProgramStep &step) const
{
	constexpr uint64_t most = 2048;
	uint64_t elements = 0;

	/* A step with bound buffers counts as long: other jobs may use these buffers, and the
	 * loop's thread must not wait for them. */
	if (!request_->bound.empty())
		return false;
	const auto *task = std::get_if<EmuTask>(&common_.program.tasks[step.first]);
	if (!task)
		return false;
	for (const EmuOperation &operation : task->operations) {
		const EmuBuffer &cube = operation.src;
		elements += uint64_t{ cube.c } * cube.h * cube.w;
	}
	return elements <= most;
}

/* Runs a step on the thread pool; the loop gets the result. */
Result<void> Slot::startCpu(const ProgramStep &step)
{
	return common_.loop.work(
		runningNetwork, [this, &step] { return runCpu(step); },
		[this](Result<void> result) {
			stepEnded();
			result ? goOn() : goOn(forward(result));
		});
}

Result<void> Slot::runCpu(const ProgramStep &step)
{
	const AnyTask &task = common_.program.tasks[step.first];

	if (const auto *host = std::get_if<HostTask>(&task)) {
		const auto &model = common_.hosts[step.first];
		return runTask(*host, model ? &*model : nullptr);
	}
	return runTask(std::get<EmuTask>(task));
}

Result<void> Slot::runTask(const HostTask &task, const HostModel *model)
{
	std::vector<Buffer::Access> accesses;
	std::vector<std::span<std::byte>> bytes;

	for (size_t i = 0; i < task.addresses.size(); i++) {
		const TaskAddress &address = task.addresses[i];
		auto access =
			this->access(address.memory, i < task.inputs.size() ? CpuAccess::Read
									    : CpuAccess::ReadWrite);
		if (!access)
			return forward(access);
		bytes.push_back(access->bytes().subspan(
			place(address.memory).offset + address.offset, address.size));
		accesses.push_back(std::move(*access));
	}
	std::vector<HostResult *> results;
	for (const TensorDesc &output : task.outputs)
		results.push_back(output.isOpen() ? &request_->results.at(output.memory) : nullptr);
	const std::span all(bytes);
	return runHost(task, model, all.first(task.inputs.size()), all.subspan(task.inputs.size()),
		       results);
}

Result<void> Slot::runTask(const EmuTask &task)
{
	for (size_t i = 0; i < task.operations.size(); i++) {
		if (auto done = runEmuOperation(task, task.operations[i]); !done) {
			done.error().where = fmt::format("task {} operation {} {}", task.id, i,
							 done.error().where);
			return done;
		}
	}
	return {};
}

Result<void> Slot::runEmuOperation(const EmuTask &task, const EmuOperation &operation)
{
	struct Side {
		const EmuBuffer &cube;
		const char *name;
		CpuAccess access;
	};
	const Side sides[] = { { operation.src, "source", CpuAccess::Read },
			       { operation.dst, "destination", CpuAccess::ReadWrite } };
	std::vector<Buffer::Access> accesses;
	std::span<std::byte> bytes[2];

	for (size_t i = 0; i < 2; i++) {
		const TaskAddress &address = task.addresses[sides[i].cube.address];
		if (sides[i].cube.offset > address.size)
			return fail(ErrorCode::InvalidFile, "run CPU operation", sides[i].name,
				    fmt::format("starts at {}, the address has {} bytes",
						sides[i].cube.offset, address.size));
		auto access = this->access(address.memory, sides[i].access);
		if (!access)
			return forward(access);
		bytes[i] = access->bytes()
				   .subspan(place(address.memory).offset + address.offset,
					    address.size)
				   .subspan(sides[i].cube.offset);
		accesses.push_back(std::move(*access));
	}
	return runEmu(operation, bytes[0], bytes[1]);
}

Result<Buffer::Access> Slot::access(uint16_t memory, CpuAccess access)
{
	const auto bound = request_->bound.find(memory);
	if (bound != request_->bound.end())
		return bound->second.buffer.access(access, slotTimeout);
	const Buffer *own = memory_.find(memory);
	return (own ? own : common_.shared.find(memory))->access(access, slotTimeout);
}

} /* namespace nvdla */
