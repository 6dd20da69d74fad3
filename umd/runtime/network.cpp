/* SPDX-License-Identifier: MIT */
#include <nvdla/network.h>

#include <fmt/core.h>
#include <nvdla/core_geometry.h>

#include "base/io/with_memory.h"
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

	if (device.info().atomBytes == small)
		return {};
	for (const auto *tensors : { &program.inputs, &program.outputs }) {
		for (const TensorDesc &desc : *tensors) {
			if (desc.format == PixelFormat::FeatureX8 && ofCore.contains(desc.memory))
				return fail(ErrorCode::Unsupported, "load network",
					    "tensor " + desc.describe(),
					    fmt::format("has atoms of {} bytes, as for nv_small; "
							"the core of {} has {} bytes",
							small, device.path(),
							device.info().atomBytes));
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
	auto shared = ResidentMemory::create(device, checked, program->shared);
	if (!shared)
		return forward(shared);
	auto prepared = program->prepare(device);
	if (!prepared)
		return forward(prepared);
	keepContentsOf(checked, program->own);

	auto loop = options.loop ? Result<EventLoop>(*options.loop) : EventLoop::shared();
	if (!loop)
		return forward(loop);
	auto pipeline =
		Pipeline::create({ device, *loop->loop_, std::move(*program), std::move(checked),
				   std::move(*shared), std::move(*prepared) },
				 options.slots, options.maxQueued);
	if (!pipeline)
		return forward(pipeline);
	Network network(std::make_unique<Impl>(loop->loop_, std::move(*pipeline)));
	auto own = Request::create(network);
	if (!own)
		return forward(own);
	network.impl_->own.emplace(std::move(*own));
	return network;
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
	return impl_->pipeline->quantize("input", &Program::inputs, index, std::move(quantization));
}

Result<void> Network::setOutputQuantization(size_t index, TensorQuantization quantization)
{
	return impl_->pipeline->quantize("output", &Program::outputs, index,
					 std::move(quantization));
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
	auto tensor = impl_->own->output(index);
	if (!tensor)
		return forward(tensor);
	return withMemory("get output", "tensor " + outputs()[index].describe(),
			  [&]() -> Result<std::vector<std::byte>> {
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
