/* SPDX-License-Identifier: MIT */
#include <nvdla/network.h>

#include <set>

#include "base/io/guarded.h"
#include "runtime/core_check.h"
#include "runtime/network_impl.h"

namespace nvdla
{

namespace
{

Result<void> checkTensors(const Program &program)
{
	for (const TensorDesc &desc : program.tensors()) {
		if (auto checked = desc.check(); !checked)
			return checked;
	}
	return {};
}

/*
 * Drops the loadable's blobs to save memory. Keeps the initial contents of \a memories, because
 * each new slot copies them.
 */
void keepContentsOf(Loadable &loadable, const MemoryIds &memories)
{
	std::set<std::string> names;

	for (uint16_t id : memories) {
		for (const MemoryContent &content : loadable.memory(id)->contents)
			names.insert(content.blob);
	}
	std::erase_if(loadable.blobs, [&](const Blob &blob) { return !names.contains(blob.name); });
}

} /* namespace */

Network::Network(std::unique_ptr<Impl> impl) : impl_(std::move(impl))
{
}

Network::Network(Network &&) noexcept = default;
Network &Network::operator=(Network &&) noexcept = default;
Network::~Network() = default;

Result<Network> Network::load(const Device &device, const Loadable &loadable,
			      const LoadOptions &options)
{
	return guarded("load network", [&]() -> Result<Network> {
		if (!options.slots || !options.maxQueued)
			return fail(ErrorCode::InvalidArgument, "load network", "options",
				    "slots and maxQueued have to be 1 or more");
		/* Check the loadable, because a program may have made it without
		 * Loadable::check(). */
		Loadable checked = loadable;
		if (auto result = checked.check(); !result)
			return forward(result);
		auto program = Program::create(checked, device.info().maxTasks);
		if (!program)
			return forward(program);
		if (auto core = checkCore(device, checked, *program); !core)
			return forward(core);
		if (auto tensors = checkTensors(*program); !tensors)
			return forward(tensors);
		auto prepared = program->prepare(device);
		if (!prepared)
			return tl::unexpected(
				explainRefusal(device, checked, *program, prepared.error()));
		auto shared = ResidentMemory::create(device, checked, program->shared);
		if (!shared)
			return forward(shared);
		auto hosts = openHostModels(checked, program->tasks);
		if (!hosts)
			return forward(hosts);
		keepContentsOf(checked, program->own);

		/* With states, allow only one run at a time, because a run reads the states that
		 * the previous run has written. */
		const size_t slots = program->states.empty() ? options.slots : 1;
		auto loop = options.loop ? Result<EventLoop>(*options.loop) : EventLoop::shared();
		if (!loop)
			return forward(loop);
		auto pipeline = Pipeline::create({ device, *loop->loop_, std::move(*program),
						   std::move(checked), std::move(*shared),
						   std::move(*prepared), std::move(*hosts) },
						 slots, options.maxQueued);
		if (!pipeline)
			return forward(pipeline);
		Network network(std::make_unique<Impl>(loop->loop_, std::move(*pipeline)));
		auto own = Request::create(network);
		if (!own)
			return forward(own);
		network.impl_->own.emplace(std::move(*own));
		return network;
	});
}

const std::vector<TensorDesc> &Network::inputs() const
{
	return impl_->pipeline->program().inputs;
}

const std::vector<TensorDesc> &Network::outputs() const
{
	return impl_->pipeline->program().outputs;
}

Result<void> Network::setInputQuantization(size_t index, TensorQuantization quantization)
{
	return guarded("set quantization", [&]() -> Result<void> {
		return impl_->pipeline->quantize("input", &Program::inputs, index,
						 std::move(quantization));
	});
}

Result<void> Network::setOutputQuantization(size_t index, TensorQuantization quantization)
{
	return guarded("set quantization", [&]() -> Result<void> {
		return impl_->pipeline->quantize("output", &Program::outputs, index,
						 std::move(quantization));
	});
}

Result<void> Network::setInput(size_t index, std::span<const std::byte> tensor)
{
	return impl_->own->setInput(index, tensor);
}

Result<void> Network::setInputElements(size_t index, std::span<const std::byte> elements,
				       ElementOrder order)
{
	return impl_->own->setInputElements(index, elements, order);
}

Result<void> Network::setInputFloat(size_t index, std::span<const float> values, ElementOrder order)
{
	return impl_->own->setInputFloat(index, values, order);
}

Result<std::vector<std::byte>> Network::output(size_t index) const
{
	return guarded("get output", [&]() -> Result<std::vector<std::byte>> {
		auto tensor = impl_->own->output(index);
		if (!tensor)
			return forward(tensor);
		return std::vector<std::byte>(tensor->begin(), tensor->end());
	});
}

Result<TensorDesc> Network::outputDesc(size_t index) const
{
	return impl_->own->outputDesc(index);
}

Result<std::vector<std::byte>> Network::outputElements(size_t index, ElementOrder order) const
{
	return impl_->own->outputElements(index, order);
}

Result<std::vector<float>> Network::outputFloat(size_t index, ElementOrder order) const
{
	return impl_->own->outputFloat(index, order);
}

Result<RunReport> Network::run(const RunOptions &options)
{
	return impl_->own->run(options);
}

} /* namespace nvdla */
