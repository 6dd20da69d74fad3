/* SPDX-License-Identifier: MIT */
#include "host_run.h"

#include <fmt/core.h>
#include <gtest/gtest.h>

#include "test_support.h"

namespace nvdla::test
{

CompiledModel compiledFile(const std::vector<std::byte> &file, const CompileOptions &options)
{
	auto made = compileModel(file, options);

	EXPECT_TRUE(made) << made.error().message();
	return made ? std::move(*made) : CompiledModel{};
}

std::vector<std::string> placesOf(const CompiledModel &compiled)
{
	std::vector<std::string> places;

	for (const LayerReport &layer : compiled.report.layers)
		places.push_back((layer.host.empty() ? "core " : "host ") + layer.type);
	return places;
}

Result<std::vector<Numbers>> tryNetwork(Network &network, const std::vector<Numbers> &inputs)
{
	std::vector<Numbers> outputs;

	for (size_t i = 0; i < inputs.size(); i++) {
		const std::vector<float> numbers(inputs[i].begin(), inputs[i].end());
		auto set = network.setInputFloat(i, numbers, network.inputs().at(i).order());
		if (!set)
			return forward(set);
	}
	if (auto ran = network.run(); !ran)
		return forward(ran);
	for (size_t i = 0; i < network.outputs().size(); i++) {
		auto numbers = network.outputFloat(i, network.outputs()[i].order());
		if (!numbers)
			return forward(numbers);
		outputs.emplace_back(numbers->begin(), numbers->end());
	}
	return outputs;
}

std::vector<Numbers> runNetwork(Network &network, const std::vector<Numbers> &inputs)
{
	auto outputs = tryNetwork(network, inputs);

	EXPECT_TRUE(outputs) << outputs.error().message();
	return outputs ? std::move(*outputs) : std::vector<Numbers>{};
}

std::vector<Numbers> runOnce(const CompiledModel &compiled, const std::vector<Numbers> &inputs)
{
	/* A network of host steps alone has no core. */
	const std::string &core = compiled.loadable.variant;
	auto device = Device::open(core.empty() ? Device::embeddedPath
						: fmt::format("{}:{}", Device::embeddedPath, core));
	auto network = device.and_then(
		[&](auto &&opened) { return Network::load(opened, compiled.loadable); });

	if (!network) {
		ADD_FAILURE() << network.error().message();
		return {};
	}
	return runNetwork(*network, inputs);
}

} /* namespace nvdla::test */
