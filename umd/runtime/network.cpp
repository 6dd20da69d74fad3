/* SPDX-License-Identifier: MIT */
#include <nvdla/network.h>

#include <span>

#include <fmt/core.h>
#include <nvdla/core_geometry.h>

#include "base/io/guarded.h"
#include "runtime/network_impl.h"

namespace nvdla
{

namespace
{

/*
 * A loadable does not name the core it is for, but its tensors do: surfaces lie in atoms of 8
 * bytes for nv_small, of 32 for the others. What only the CPU reaches may lie as it likes.
 */
Result<void> checkAtoms(const Device &device, const Program &program)
{
	constexpr uint32_t small = 8;
	const MemoryIds ofCore = program.coreMemories();
	const auto refusal = [&](std::string where) {
		return fail(
			ErrorCode::Unsupported, "load network", std::move(where),
			fmt::format("has atoms of {} bytes, as for nv_small; the core of {} has "
				    "{} bytes",
				    small, device.path(), device.info().atomBytes));
	};

	if (device.info().atomBytes == small)
		return {};
	for (const auto *tensors : { &program.inputs, &program.outputs }) {
		for (const TensorDesc &desc : *tensors) {
			if (desc.format == PixelFormat::FeatureX8 && ofCore.contains(desc.memory))
				return refusal("tensor " + desc.describe());
		}
	}
	for (const AnyTask &any : program.tasks) {
		const auto *task = std::get_if<EmuTask>(&any);
		for (const EmuOperation &operation :
		     task ? std::span(task->operations) : std::span<const EmuOperation>()) {
			for (const EmuBuffer *cube : { &operation.src, &operation.dst }) {
				if (cube->smallAtoms &&
				    ofCore.contains(task->addresses[cube->address].memory))
					return refusal(fmt::format("CPU task {}", task->id));
			}
		}
	}
	return {};
}

Result<void> checkTensors(const Program &program)
{
	for (const auto *tensors : { &program.inputs, &program.outputs }) {
		for (const TensorDesc &desc : *tensors) {
			if (auto checked = desc.check(); !checked)
				return checked;
		}
	}
	return {};
}

/* What a loadable says it was made for; those of other compilers say nothing. */
Result<void> checkVariant(const Device &device, const Loadable &loadable)
{
	const CoreGeometry *core = findCoreVariant(device.info().variant);
	const std::string name =
		core ? core->name : fmt::format("variant {}", device.info().variant);

	if (loadable.variant.empty() || loadable.variant == name)
		return {};
	return fail(ErrorCode::Unsupported, "load network",
		    fmt::format("variant '{}'", loadable.variant),
		    fmt::format("is not that of {}, which is {}; compile the model for that",
				device.path(), name));
}

/* Of the loadable's data, only what further slots begin with stays. */
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
		/* A loadable that was put together by hand may not have been checked. */
		Loadable checked = loadable;
		if (auto result = checked.check(); !result)
			return forward(result);
		auto program = Program::create(checked, device.info().maxTasks);
		if (!program)
			return forward(program);
		if (auto variant = checkVariant(device, checked); !variant)
			return forward(variant);
		if (auto atoms = checkAtoms(device, *program); !atoms)
			return forward(atoms);
		if (auto tensors = checkTensors(*program); !tensors)
			return forward(tensors);
		auto shared = ResidentMemory::create(device, checked, program->shared);
		if (!shared)
			return forward(shared);
		auto prepared = program->prepare(device);
		if (!prepared)
			return forward(prepared);
		auto hosts = openHostModels(checked, program->tasks);
		if (!hosts)
			return forward(hosts);
		keepContentsOf(checked, program->own);

		auto loop = options.loop ? Result<EventLoop>(*options.loop) : EventLoop::shared();
		if (!loop)
			return forward(loop);
		auto pipeline = Pipeline::create({ device, *loop->loop_, std::move(*program),
						   std::move(checked), std::move(*shared),
						   std::move(*prepared), std::move(*hosts) },
						 options.slots, options.maxQueued);
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
