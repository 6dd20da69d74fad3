/* SPDX-License-Identifier: MIT */
#include "host_run.h"

#include <gtest/gtest.h>

#include "test_support.h"

namespace nvdla::test
{

CompiledModel compiledFile(const std::vector<std::byte> &file)
{
	auto made = compileModel(file);

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

std::vector<Numbers> runNetwork(Network &network, const std::vector<Numbers> &inputs)
{
	std::vector<Numbers> outputs;

	for (size_t i = 0; i < inputs.size(); i++) {
		const TensorDesc &desc = network.inputs().at(i);
		const auto set = network.setInputFloat(
			i, std::vector<float>(inputs[i].begin(), inputs[i].end()), desc.order());
		EXPECT_TRUE(set) << set.error().message();
	}
	const auto ran = network.run();
	EXPECT_TRUE(ran) << ran.error().message();
	for (size_t i = 0; i < network.outputs().size(); i++) {
		auto numbers = network.outputFloat(i, network.outputs()[i].order());
		EXPECT_TRUE(numbers) << numbers.error().message();
		outputs.emplace_back(numbers->begin(), numbers->end());
	}
	return outputs;
}

std::vector<Numbers> runOnce(const CompiledModel &compiled, const std::vector<Numbers> &inputs)
{
	auto network = Network::load(openEmbedded(), compiled.loadable);

	if (!network) {
		ADD_FAILURE() << network.error().message();
		return {};
	}
	return runNetwork(*network, inputs);
}

} /* namespace nvdla::test */
