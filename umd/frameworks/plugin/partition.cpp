/* SPDX-License-Identifier: MIT */
#include "partition.h"

#include <algorithm>
#include <utility>

#include <fmt/core.h>

#include "cache.h"

namespace nvdla::plugin
{

namespace
{

using Clock = std::chrono::steady_clock;

/* The timeout of the embedded device is long, because the device model may be slow but does not
 * hang. */
std::chrono::milliseconds timeoutOf(const Device &device)
{
	return device.path().starts_with(Device::embeddedPath) ? std::chrono::minutes(30)
							       : RunOptions{}.timeout;
}

double milliseconds(std::chrono::nanoseconds time)
{
	return std::chrono::duration<double, std::milli>(time).count();
}

Result<void> checkCount(size_t count, size_t wanted, const char *where)
{
	if (count != wanted)
		return fail(ErrorCode::InvalidArgument, "run partition", where,
			    fmt::format("are {}, the network has {}", count, wanted));
	return {};
}

bool hasWork(const CompileReport &report)
{
	return std::any_of(report.layers.begin(), report.layers.end(),
			   [](const LayerReport &layer) { return !layer.operations.empty(); });
}

} /* namespace */

Result<CompiledModel> compilePartition(const Session &session, std::span<const std::byte> model)
{
	/* HostUse::Never, because the framework itself computes the operators that the core
	 * cannot. */
	const CompileOptions options{ .core = session.core(), .host = HostUse::Never };
	const Cache cache(session.options().cacheFolder);
	if (auto known = cache.find(model, options))
		return std::move(*known);
	auto compiled = compileModel(model, options);
	if (!compiled)
		return compiled;
	if (!hasWork(compiled->report))
		return fail(ErrorCode::Unsupported, "compile partition", "",
			    "the core has nothing to compute");
	/* Do not keep partitions with layers on the CPU, which callers reject: the cache would lose
	 * the report that names these layers. */
	if (!layersOnCpu(compiled->report).empty())
		return compiled;
	if (auto kept = cache.keep(model, *compiled, options); !kept)
		session.logNotKept(kept.error());
	return compiled;
}

std::vector<LayerReport> layersOnCpu(const CompileReport &report)
{
	std::vector<LayerReport> layers;

	std::copy_if(report.layers.begin(), report.layers.end(), std::back_inserter(layers),
		     [](const LayerReport &layer) { return !layer.cpu.empty(); });
	return layers;
}

Partition::Partition(std::shared_ptr<Session> session, Network network, Request request,
		     std::string name, std::unique_ptr<CpuNetwork> cpu)
	: session_(std::move(session)), network_(std::move(network)), request_(std::move(request)),
	  name_(std::move(name)), cpu_(std::move(cpu))
{
}

/* Allocates a buffer for each tensor and binds the buffer to the request, so that the device
 * accesses the buffer directly. If the network does not support that for a tensor, the tensor gets
 * no buffer, and run() copies the tensor. */
Result<std::vector<Partition::End>> Partition::makeEnds(const std::vector<TensorDesc> &tensors,
							Bind bind)
{
	std::vector<End> ends;

	for (size_t i = 0; i < tensors.size(); i++) {
		ends.push_back({ .desc = tensors[i] });
		auto buffer = session_->device().allocate(tensors[i].size);
		if (!buffer)
			return forward(buffer);
		auto bound = (request_.*bind)(i, { .buffer = *buffer });
		if (bound)
			ends.back().buffer = *buffer;
		else if (bound.error().code != ErrorCode::Unsupported)
			return forward(bound);
	}
	if (auto taken = takeBack(ends); !taken)
		return forward(taken);
	return ends;
}

/* Gives the CPU access to the buffers of inputs or outputs until the next run. */
Result<void> Partition::takeBack(std::vector<End> &ends)
{
	for (End &end : ends) {
		if (!end.buffer)
			continue;
		auto access =
			end.buffer->access(CpuAccess::ReadWrite, timeoutOf(session_->device()));
		if (!access)
			return forward(access);
		end.bytes = access->bytes().first(end.desc.size);
		end.access.emplace(std::move(*access));
	}
	return {};
}

std::span<std::byte> Partition::memoryOf(const End &end, DataType type)
{
	if (!end.buffer || !liesAlike(end.desc, end.desc.order(), type))
		return {};
	return end.bytes.first(end.desc.elements() * elementBytes(type));
}

std::span<std::byte> Partition::inputMemory(size_t index, DataType type) const
{
	return memoryOf(inputs_.at(index), type);
}

std::span<std::byte> Partition::outputMemory(size_t index, DataType type) const
{
	return memoryOf(outputs_.at(index), type);
}

Partition::~Partition()
{
	if (!session_->options().profile)
		return;
	const unsigned runs = std::max(runs_, 1u);
	session_->log(fmt::format("profile: {}: {} runs, {:.3f} ms each, {:.3f} ms of them on the "
				  "device; {} runs on the CPU",
				  name_, runs_, milliseconds(whole_) / runs,
				  milliseconds(onDevice_) / runs, runsOnCpu_));
}

Result<std::unique_ptr<Partition>> Partition::load(std::shared_ptr<Session> session,
						   const CompiledModel &compiled, std::string name,
						   std::unique_ptr<CpuNetwork> cpu)
{
	/* One slot: a framework waits for each run, so there is never a second one in flight. */
	auto network = Network::load(session->device(), compiled.loadable, { .slots = 1 });
	if (!network)
		return forward(network);
	auto request = Request::create(*network);
	if (!request)
		return forward(request);
	std::unique_ptr<Partition> partition(new Partition(std::move(session), std::move(*network),
							   std::move(*request), std::move(name),
							   std::move(cpu)));
	auto inputs = partition->makeEnds(partition->network_.inputs(), &Request::bindInput);
	if (!inputs)
		return forward(inputs);
	partition->inputs_ = std::move(*inputs);
	auto outputs = partition->makeEnds(partition->network_.outputs(), &Request::bindOutput);
	if (!outputs)
		return forward(outputs);
	partition->outputs_ = std::move(*outputs);
	return partition;
}

Result<void> Partition::setInput(size_t index, const HostTensor &input)
{
	const End &end = inputs_[index];

	if (end.buffer && input.bytes.data() == end.bytes.data())
		return {};
	if (end.buffer)
		return packHost(end.desc, end.desc.order(), input, end.bytes);
	std::vector<std::byte> tensor(end.desc.size);
	return packHost(end.desc, end.desc.order(), input, tensor).and_then([&] {
		return request_.setInput(index, tensor);
	});
}

Result<void> Partition::takeOutput(size_t index, const HostTensor &output)
{
	const End &end = outputs_[index];

	if (end.buffer && output.bytes.data() == end.bytes.data())
		return {};
	if (end.buffer)
		return unpackHost(end.desc, end.desc.order(), end.bytes, output);
	auto tensor = request_.output(index);
	if (!tensor)
		return forward(tensor);
	return unpackHost(end.desc, end.desc.order(), *tensor, output);
}

Result<void> Partition::runOnDevice(std::span<const HostTensor> inputs,
				    std::span<const HostTensor> outputs)
{
	const auto start = Clock::now();

	for (size_t i = 0; i < inputs.size(); i++) {
		if (auto set = setInput(i, inputs[i]); !set)
			return set;
	}
	for (std::vector<End> *ends : { &inputs_, &outputs_ }) {
		for (End &end : *ends)
			end.access.reset();
	}
	auto report = request_.run({ .timeout = timeoutOf(session_->device()),
				     .priority = session_->options().priority });
	/* Give the CPU access also after a failed run, because the CPU then computes the partition
	 * in the same buffers. */
	for (std::vector<End> *ends : { &inputs_, &outputs_ }) {
		if (auto taken = takeBack(*ends); !taken && report)
			return taken;
	}
	if (!report)
		return forward(report);
	for (size_t i = 0; i < outputs.size(); i++) {
		if (auto taken = takeOutput(i, outputs[i]); !taken)
			return taken;
	}
	runs_++;
	whole_ += Clock::now() - start;
	onDevice_ += report->duration;
	return {};
}

Result<void> Partition::run(std::span<const HostTensor> inputs, std::span<const HostTensor> outputs)
{
	auto counted = checkCount(inputs.size(), network_.inputs().size(), "inputs").and_then([&] {
		return checkCount(outputs.size(), network_.outputs().size(), "outputs");
	});
	if (!counted)
		return counted;
	if (!session_->isLost()) {
		auto done = runOnDevice(inputs, outputs);
		if (done)
			return done;
		session_->lose(done.error());
	}
	runsOnCpu_++;
	return cpu_->run(inputs, outputs);
}

} /* namespace nvdla::plugin */
