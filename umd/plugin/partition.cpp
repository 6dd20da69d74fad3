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

/* A model of the device in this process takes its time, but it does not hang. */
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

Result<CompiledModel> compilePartition(std::span<const std::byte> model,
				       const std::string &cacheFolder)
{
	const Cache cache(cacheFolder);
	if (auto known = cache.find(model))
		return std::move(*known);
	auto compiled = compileModel(model);
	if (!compiled)
		return compiled;
	if (!hasWork(compiled->report))
		return fail(ErrorCode::Unsupported, "compile partition", "",
			    "the core has nothing to compute");
	/* The others are not to be run. */
	if (layersOnCpu(compiled->report).empty())
		cache.keep(model, *compiled);
	return compiled;
}

std::vector<LayerReport> layersOnCpu(const CompileReport &report)
{
	std::vector<LayerReport> layers;

	std::copy_if(report.layers.begin(), report.layers.end(), std::back_inserter(layers),
		     [](const LayerReport &layer) { return !layer.cpu.empty(); });
	return layers;
}

Partition::Partition(std::shared_ptr<Session> session, Network network,
		     const CompiledModel &compiled, std::string name,
		     std::unique_ptr<CpuNetwork> cpu)
	: session_(std::move(session)), network_(std::move(network)),
	  inputOrders_(compiled.inputOrders), outputOrders_(compiled.outputOrders),
	  name_(std::move(name)), cpu_(std::move(cpu))
{
	uint64_t largest = 0;

	for (const TensorDesc &desc : network_.inputs())
		largest = std::max(largest, desc.size);
	tensor_.resize(largest);
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
	/* A framework waits for each run: there is never a second one on the way. */
	auto network = Network::load(session->device(), compiled.loadable, { .slots = 1 });
	if (!network)
		return forward(network);
	return std::unique_ptr<Partition>(new Partition(std::move(session), std::move(*network),
							compiled, std::move(name), std::move(cpu)));
}

Result<void> Partition::runOnDevice(std::span<const HostTensor> inputs,
				    std::span<const HostTensor> outputs)
{
	const auto start = Clock::now();

	for (size_t i = 0; i < inputs.size(); i++) {
		const TensorDesc &desc = network_.inputs()[i];
		const auto tensor = std::span(tensor_).first(desc.size);
		auto set = pack(desc, inputOrders_[i], inputs[i], tensor).and_then([&] {
			return network_.setInput(i, tensor);
		});
		if (!set)
			return set;
	}
	auto report = network_.run({ .timeout = timeoutOf(session_->device()),
				     .priority = session_->options().priority });
	if (!report)
		return forward(report);
	for (size_t i = 0; i < outputs.size(); i++) {
		auto tensor = network_.output(i);
		if (!tensor)
			return forward(tensor);
		auto taken = unpack(network_.outputs()[i], outputOrders_[i], *tensor, outputs[i]);
		if (!taken)
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
