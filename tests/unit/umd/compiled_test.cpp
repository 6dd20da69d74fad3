/* SPDX-License-Identifier: MIT */
/*
 * What NVDLA's own compiler emitted, against a float evaluation of the
 * networks and within the tolerance that comes with them.
 */
#include <cmath>
#include <fstream>

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>
#include <nvdla/network.h>
#include <nvdla/tensor_file.h>

#include "test_support.h"

namespace nvdla
{

namespace
{

struct Configuration {
	std::string network;
	std::string tag;
	unsigned inputs;
};

nlohmann::json configurationOf(const nlohmann::json &info, const std::string &tag)
{
	for (const auto &configuration : info["configs"]) {
		if (configuration["tag"] == tag)
			return configuration;
	}
	return {};
}

} /* namespace */

class Compiled : public testing::TestWithParam<Configuration>
{
};

TEST_P(Compiled, WithinItsTolerance)
{
	NVDLA_NEED_REFERENCE(reference);
	const auto folder = reference / "loadables/compiled" / GetParam().network;
	std::ifstream file(folder / "info.json");
	const auto info = nlohmann::json::parse(file);
	const auto configuration = configurationOf(info, GetParam().tag);
	ASSERT_TRUE(configuration.is_object());
	const float tolerance = configuration["suggested_tol_max_abs"];
	const bool int8 = GetParam().tag.find("int8") != std::string::npos;
	const float outputScale =
		int8 ? info["output_scale_int8"].begin().value().get<float>() : 1.0f;

	auto device = Device::open(Device::embeddedPath);
	ASSERT_TRUE(device);
	auto loadable = Loadable::readFile(folder / (GetParam().tag + ".nvdla"));
	ASSERT_TRUE(loadable) << loadable.error().message();
	auto network = Network::load(*device, *loadable);
	ASSERT_TRUE(network) << network.error().message();

	for (unsigned i = 0; i < GetParam().inputs; i++) {
		const std::string raw = configuration["raw_inputs"][i];
		ASSERT_TRUE(network->setInput(0, test::readBytes(folder / raw)));
		auto report = network->run();
		ASSERT_TRUE(report) << report.error().message();
		auto elements = network->outputElements(0);
		ASSERT_TRUE(elements) << elements.error().message();
		auto values = elementsToFloat(network->outputs()[0].type, *elements);
		auto expected = readNpy(folder / fmt::format("out{}.npy", i));
		ASSERT_TRUE(expected) << expected.error().message();
		const auto floats = elementsToFloat(expected->type, expected->elements);
		ASSERT_EQ(values.size(), floats.size());
		float worst = 0.0f;
		for (size_t e = 0; e < values.size(); e++)
			worst = std::max(worst, std::fabs(values[e] * outputScale - floats[e]));
		EXPECT_LE(worst, tolerance) << "input " << i;
	}
}

/* The stored input in numpy form and in the tensor's layout have to be the same tensor. */
TEST(Compiled, InputsPackAsTheyWereStored)
{
	NVDLA_NEED_REFERENCE(reference);
	const struct {
		const char *network;
		const char *tag;
	} cases[] = { { "conv_feat_odd", "nv_full_int8_fast-math" },
		      { "conv_feat_odd", "nv_full_fp16_fast-math" },
		      { "conv_relu_odd", "nv_full_int8_fast-math" },
		      { "conv_relu_odd", "nv_full_fp16_fast-math" },
		      { "resnet18_32", "nv_full_int8_fast-math" } };

	for (const auto &one : cases) {
		const auto folder = reference / "loadables/compiled" / one.network;
		std::ifstream file(folder / "info.json");
		const auto info = nlohmann::json::parse(file);
		const std::string raw = configurationOf(info, one.tag)["raw_inputs"][0];
		auto loadable = Loadable::readFile(folder / (std::string(one.tag) + ".nvdla"));
		ASSERT_TRUE(loadable);
		const TensorDesc desc = loadable->inputs()->at(0);
		auto array = readNpy(folder / "in0.npy");
		ASSERT_TRUE(array) << array.error().message();
		const float scale =
			desc.type == DataType::Int8 ? info["input_scale_int8"].get<float>() : 1.0f;
		auto elements = elementsFromNpy(desc, *array, scale);
		ASSERT_TRUE(elements) << elements.error().message();
		std::vector<std::byte> packed(desc.size);
		ASSERT_TRUE(packElements(desc, *elements, packed));
		EXPECT_EQ(packed, test::readBytes(folder / raw)) << one.network << " " << one.tag;
	}
}

INSTANTIATE_TEST_SUITE_P(
	Networks, Compiled,
	testing::Values(Configuration{ "conv_feat_odd", "nv_full_int8_fast-math", 3 },
			Configuration{ "lenet_trained", "nv_full_fp16_fast-math", 2 },
			Configuration{ "lenet_trained", "nv_full_int8_fast-math", 3 }),
	[](const auto &info) { return fmt::format("n{}", info.index); });

} /* namespace nvdla */
