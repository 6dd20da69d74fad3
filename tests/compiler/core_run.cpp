/* SPDX-License-Identifier: MIT */
#include "core_run.h"

#include <cstdlib>

#include <fmt/core.h>

#include "compiler/compile.h"

namespace nvdla::test
{

namespace
{

constexpr double unsignedOffset = 128;

double offsetOf(compiler::ElementType type)
{
	return type == compiler::ElementType::UInt8 ? unsignedOffset : 0;
}

} /* namespace */

CoreRun::CoreRun(Device device, Network network, const compiler::Model &source)
	: device_(std::move(device)), network_(std::move(network))
{
	for (const compiler::ValueId id : source.inputs)
		inputTypes_.push_back(source.values[id].type);
	for (const compiler::ValueId id : source.outputs)
		outputTypes_.push_back(source.values[id].type);
	for (const compiler::TensorInFile &input : source.inputsInFile)
		inputOrders_.push_back(input.order);
	for (const compiler::TensorInFile &output : source.outputsInFile)
		outputOrders_.push_back(output.order);
	inputOrders_.resize(source.inputs.size(), ElementOrder::Nhwc);
	outputOrders_.resize(source.outputs.size(), ElementOrder::Nhwc);
}

Result<CoreRun> CoreRun::load(const compiler::Model &source, const Loadable &loadable)
{
	const char *path = std::getenv("NVDLA_DEVICE");
	const bool isUsual = loadable.variant == nvFull.name;
	auto device =
		Device::open(!isUsual ? fmt::format("{}:{}", Device::embeddedPath, loadable.variant)
			     : path   ? path
				      : Device::embeddedPath);
	if (!device)
		return forward(device);
	auto network = Network::load(*device, loadable);
	if (!network)
		return forward(network);
	return CoreRun(std::move(*device), std::move(*network), source);
}

Result<CoreRun> CoreRun::of(Result<compiler::Model> source)
{
	if (!source)
		return forward(source);
	auto loadable = compile(*source);
	if (!loadable)
		return forward(loadable);
	return load(*source, *loadable);
}

Result<std::vector<Numbers>> CoreRun::run(const std::vector<Numbers> &inputs)
{
	for (size_t i = 0; i < inputs.size(); i++) {
		const TensorDesc desc = network_.inputs()[i];
		std::vector<float> numbers;
		for (const double number : inputs[i])
			numbers.push_back(static_cast<float>(number - offsetOf(inputTypes_[i])));
		std::vector<std::byte> tensor(desc.size);
		const Result<std::vector<std::byte>> elements =
			isFloat(inputTypes_[i]) && desc.type != DataType::Half
				? elementsFromFloat(desc, numbers, inputOrders_[i])
				: elementsFromFloat(desc.type, numbers);
		if (!elements)
			return tl::unexpected<Error>(elements.error());
		if (auto done = packElements(desc, *elements, tensor, inputOrders_[i]); !done)
			return forward(done);
		if (auto done = network_.setInput(i, tensor); !done)
			return forward(done);
	}
	RunOptions options;
	/* FP16 takes its time on a busy machine. */
	options.timeout = std::chrono::minutes(5);
	if (auto report = network_.run(options); !report)
		return forward(report);
	std::vector<Numbers> outputs;
	for (size_t i = 0; i < network_.outputs().size(); i++) {
		const TensorDesc &desc = network_.outputs()[i];
		auto tensor = network_.output(i);
		if (!tensor)
			return forward(tensor);
		auto elements = unpackElements(desc, *tensor, outputOrders_[i]);
		if (!elements)
			return forward(elements);
		const bool dequantizes = isFloat(outputTypes_[i]);
		Result<std::vector<float>> numbers =
			dequantizes ? elementsToFloat(desc, *elements, outputOrders_[i])
				    : elementsToFloat(desc.type, *elements);
		if (!numbers)
			return forward(numbers);
		outputs.emplace_back(numbers->begin(), numbers->end());
		for (double &number : outputs.back())
			number += offsetOf(outputTypes_[i]);
	}
	return outputs;
}

Result<Loadable> compile(compiler::Model model, const CoreGeometry &core)
{
	auto compiled = compiler::compileInMemory(std::move(model), { .core = core });
	if (!compiled)
		return forward(compiled);
	return std::move(compiled->loadable);
}

} /* namespace nvdla::test */
