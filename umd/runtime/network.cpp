/* SPDX-License-Identifier: MIT */
#include <algorithm>

#include <fmt/format.h>
#include <nvdla/network.h>
#include <nvdla/task.h>

#include "emu/emu.h"
#include "resident_memory.h"

namespace nvdla
{

namespace
{

using Clock = std::chrono::steady_clock;

/* Outside of a run nothing works on the network's buffers. */
constexpr std::chrono::milliseconds idleTimeout(10000);
/* What a job may wait for others on top of its own time on the hardware. */
constexpr std::chrono::milliseconds queueGrace(60000);

} /* namespace */

class Network::Impl
{
public:
	Impl(Device device, ResidentMemory memory, std::vector<AnyTask> tasks,
	     std::vector<TensorDesc> inputs, std::vector<TensorDesc> outputs)
		: device_(std::move(device)), memory_(std::move(memory)), tasks_(std::move(tasks)),
		  inputs(std::move(inputs)), outputs(std::move(outputs))
	{
		for (const AnyTask &task : tasks_) {
			ranges_.push_back(std::visit(
				[this](const auto &any) { return memory_.resolve(any.addresses); },
				task));
		}
	}

	Result<void> setInput(size_t index, std::span<const std::byte> tensor);
	Result<std::vector<std::byte>> output(size_t index);
	Result<RunReport> run(const RunOptions &options);

private:
	Result<RunReport::Step> runDla(size_t first, size_t count, const RunOptions &options);
	Result<RunReport::Step> runCpu(const EmuTask &task);
	Result<void> runEmuOperation(const EmuTask &task, const EmuOperation &operation);

	Device device_;
	ResidentMemory memory_;
	std::vector<AnyTask> tasks_;
	std::vector<std::vector<BufferRange>> ranges_; /* address table of each task */

public:
	const std::vector<TensorDesc> inputs;
	const std::vector<TensorDesc> outputs;
};

Result<void> Network::Impl::setInput(size_t index, std::span<const std::byte> tensor)
{
	constexpr const char *what = "set input";
	if (index >= inputs.size())
		return fail(ErrorCode::InvalidArgument, what, fmt::format("input {}", index),
			    fmt::format("the network has {}", inputs.size()));
	const TensorDesc &desc = inputs[index];
	if (tensor.size() != desc.size)
		return fail(
			ErrorCode::InvalidArgument, what,
			fmt::format("input {} ({})", index, desc.describe()),
			fmt::format("{} bytes given, the tensor has {}", tensor.size(), desc.size));

	auto access = memory_.find(desc.memory)->access(DRM_NVDLA_BO_WRITE, idleTimeout);
	if (!access)
		return forward(access);
	std::copy(tensor.begin(), tensor.end(),
		  access->bytes().begin() + static_cast<ptrdiff_t>(desc.offset));
	return {};
}

Result<std::vector<std::byte>> Network::Impl::output(size_t index)
{
	if (index >= outputs.size())
		return fail(ErrorCode::InvalidArgument, "get output",
			    fmt::format("output {}", index),
			    fmt::format("the network has {}", outputs.size()));
	const TensorDesc &desc = outputs[index];

	auto access = memory_.find(desc.memory)->access(DRM_NVDLA_BO_READ, idleTimeout);
	if (!access)
		return forward(access);
	const auto bytes = access->bytes().subspan(desc.offset, desc.size);
	return std::vector<std::byte>(bytes.begin(), bytes.end());
}

Result<RunReport> Network::Impl::run(const RunOptions &options)
{
	const auto start = Clock::now();
	RunReport report;

	for (size_t i = 0; i < tasks_.size();) {
		size_t count = 1;
		Result<RunReport::Step> step;

		if (const auto *emu = std::get_if<EmuTask>(&tasks_[i])) {
			step = runCpu(*emu);
		} else {
			/* Neighbours on the device go as one job. */
			while (i + count < tasks_.size() && count < device_.info().max_tasks &&
			       std::holds_alternative<DlaTask>(tasks_[i + count]))
				count++;
			step = runDla(i, count, options);
		}
		if (!step)
			return forward(step);
		report.steps.push_back(*step);
		i += count;
	}
	report.duration = Clock::now() - start;
	return report;
}

Result<RunReport::Step> Network::Impl::runDla(size_t first, size_t count, const RunOptions &options)
{
	const auto start = Clock::now();
	RunReport::Step step;
	std::vector<JobTask> tasks;

	step.tasks = static_cast<unsigned>(count);
	for (size_t i = first; i < first + count; i++) {
		const DlaTask &task = std::get<DlaTask>(tasks_[i]);
		tasks.push_back(
			{ task.graph, task.operations, task.surfaces, task.luts, ranges_[i] });
		step.operations += static_cast<unsigned>(task.graph.size());
	}
	auto job = device_.submit(tasks, { .timeout = options.timeout });
	if (!job)
		return forward(job);
	if (auto done = job->wait(options.timeout + queueGrace); !done)
		return forward(done);
	step.duration = Clock::now() - start;
	return step;
}

Result<RunReport::Step> Network::Impl::runCpu(const EmuTask &task)
{
	const auto start = Clock::now();
	RunReport::Step step;

	step.cpu = true;
	step.tasks = 1;
	step.operations = static_cast<unsigned>(task.operations.size());
	for (size_t i = 0; i < task.operations.size(); i++) {
		if (auto done = runEmuOperation(task, task.operations[i]); !done) {
			done.error().where = fmt::format("task {} operation {} {}", task.id, i,
							 done.error().where);
			return forward(done);
		}
	}
	step.duration = Clock::now() - start;
	return step;
}

Result<void> Network::Impl::runEmuOperation(const EmuTask &task, const EmuOperation &operation)
{
	struct Side {
		const EmuBuffer &cube;
		const char *name;
		uint32_t flags;
	};
	const Side sides[] = { { operation.src, "source", DRM_NVDLA_BO_READ },
			       { operation.dst, "destination",
				 DRM_NVDLA_BO_READ | DRM_NVDLA_BO_WRITE } };
	std::vector<Buffer::Access> accesses;
	std::span<std::byte> bytes[2];

	for (size_t i = 0; i < 2; i++) {
		const TaskAddress &address = task.addresses[sides[i].cube.address];
		if (sides[i].cube.offset > address.size)
			return fail(ErrorCode::InvalidFile, "run CPU operation", sides[i].name,
				    fmt::format("starts at {}, the address has {} bytes",
						sides[i].cube.offset, address.size));
		auto access = memory_.find(address.memory)->access(sides[i].flags, idleTimeout);
		if (!access)
			return forward(access);
		bytes[i] = access->bytes()
				   .subspan(address.offset, address.size)
				   .subspan(sides[i].cube.offset);
		accesses.push_back(std::move(*access));
	}
	return runEmu(operation, bytes[0], bytes[1]);
}

Network::Network(std::unique_ptr<Impl> impl) : impl_(std::move(impl))
{
}

Network::Network(Network &&) noexcept = default;
Network &Network::operator=(Network &&) noexcept = default;
Network::~Network() = default;

Result<Network> Network::load(const Device &device, const Loadable &loadable)
{
	/* A loadable that was put together by hand may not have been checked. */
	Loadable checked = loadable;
	if (auto result = checked.check(); !result)
		return forward(result);
	auto tasks = tasksInOrder(checked);
	if (!tasks)
		return forward(tasks);
	auto inputs = checked.inputs();
	if (!inputs)
		return forward(inputs);
	auto outputs = checked.outputs();
	if (!outputs)
		return forward(outputs);

	std::vector<TensorDesc> tensors = *inputs;
	tensors.insert(tensors.end(), outputs->begin(), outputs->end());
	auto memory = ResidentMemory::create(device, checked, *tasks, tensors);
	if (!memory)
		return forward(memory);
	return Network(std::make_unique<Impl>(device, std::move(*memory), std::move(*tasks),
					      std::move(*inputs), std::move(*outputs)));
}

const std::vector<TensorDesc> &Network::inputs() const
{
	return impl_->inputs;
}

const std::vector<TensorDesc> &Network::outputs() const
{
	return impl_->outputs;
}

Result<void> Network::setInput(size_t index, std::span<const std::byte> tensor)
{
	return impl_->setInput(index, tensor);
}

Result<void> Network::setInputElements(size_t index, std::span<const std::byte> elements)
{
	if (index >= inputs().size())
		return impl_->setInput(index, elements);

	std::vector<std::byte> tensor(inputs()[index].size);
	if (auto packed = packElements(inputs()[index], elements, tensor); !packed)
		return packed;
	return impl_->setInput(index, tensor);
}

Result<std::vector<std::byte>> Network::output(size_t index) const
{
	return impl_->output(index);
}

Result<std::vector<std::byte>> Network::outputElements(size_t index) const
{
	auto tensor = impl_->output(index);
	if (!tensor)
		return tensor;
	return unpackElements(outputs()[index], *tensor);
}

Result<RunReport> Network::run(const RunOptions &options)
{
	return impl_->run(options);
}

} /* namespace nvdla */
