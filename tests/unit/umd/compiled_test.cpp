/* SPDX-License-Identifier: MIT */
/*
 * What NVDLA's own compiler emitted, against a float evaluation of the
 * networks and within the tolerance that comes with them.
 */
#include <algorithm>
#include <cmath>

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <nvdla/network.h>
#include <nvdla/tensor_file.h>

#include "compiled_info.h"
#include "test_support.h"

namespace nvdla
{

namespace
{

using test::configurationOf;
using test::infoOf;

/* Distance of an output from the float evaluation, in the network's own units. */
float worstError(const Network &network, const Request &request, size_t output,
		 const std::filesystem::path &folder, const nlohmann::json &info, unsigned input)
{
	const TensorDesc &desc = network.outputs()[output];
	const float scale = desc.type == DataType::Int8
				    ? info["output_scale_int8"][desc.name].get<float>()
				    : 1.0f;
	const std::string name = network.outputs().size() > 1 ? fmt::format("out_{}", desc.name)
							      : std::string("out");
	auto elements = request.outputElements(output);
	auto expected = readNpy(folder / fmt::format("{}{}.npy", name, input));
	EXPECT_TRUE(elements && expected);
	if (!elements || !expected)
		return INFINITY;

	const auto values = elementsToFloat(desc.type, *elements);
	const auto floats = elementsToFloat(expected->type, expected->elements);
	const size_t compared = std::min(values.size(), floats.size());
	EXPECT_EQ(values.size() % floats.size(), 0u) << desc.name;
	float worst = 0.0f;
	for (size_t e = 0; e < compared; e++) {
		const float error = std::fabs(values[e] * scale - floats[e]);
		worst = std::isnan(error) ? INFINITY : std::max(worst, error);
	}
	return worst;
}

/* Runs all stored inputs at once. */
void checkFile(const Device &device, const std::filesystem::path &path)
{
	const auto folder = path.parent_path();
	const auto info = infoOf(folder);
	const auto configuration = configurationOf(info, path.stem().string());
	ASSERT_TRUE(configuration.is_object()) << path;
	const float tolerance = configuration["suggested_tol_max_abs"];

	auto loadable = Loadable::readFile(path);
	ASSERT_TRUE(loadable) << loadable.error().message();
	auto network = Network::load(device, *loadable);
	ASSERT_TRUE(network) << network.error().message();
	std::vector<Request> requests;
	for (const auto &input : test::storedInputs(path)) {
		requests.push_back(Request::create(*network).value());
		ASSERT_TRUE(requests.back().setInput(0, input));
		ASSERT_TRUE(requests.back().submit());
	}
	EXPECT_GT(requests.size(), 1u) << path;
	for (unsigned i = 0; i < requests.size(); i++) {
		auto report = requests[i].wait();
		ASSERT_TRUE(report) << path << ": " << report.error().message();
		for (size_t output = 0; output < network->outputs().size(); output++)
			EXPECT_LE(worstError(*network, requests[i], output, folder, info, i),
				  tolerance)
				<< path << " output " << output << " input " << i;
	}
}

} /* namespace */

/* Files that do not implement their network are another test's. */
TEST(Compiled, EveryFile)
{
	NVDLA_NEED_REFERENCE(reference);
	auto device = Device::open(Device::embeddedPath);
	ASSERT_TRUE(device);
	unsigned files = 0;

	for (const auto &path : test::referenceLoadables(reference)) {
		const std::string tag = path.stem().string();
		if (path.extension() != ".nvdla")
			continue;
		if (!configurationOf(infoOf(path.parent_path()), tag)["implements_network"])
			continue;
		checkFile(*device, path);
		files++;
	}
	EXPECT_GT(files, 80u);
}

/* The compiler's faulty files: an error that says what is wrong, or a run that ends. */
TEST(Compiled, FaultyFilesAreRefusedByOperation)
{
	NVDLA_NEED_REFERENCE(reference);
	auto device = Device::open(Device::embeddedPath);
	ASSERT_TRUE(device);

	for (const char *tag : { "nv_full_fp16_default", "nv_full_int8_default" }) {
		auto loadable =
			Loadable::readFile(reference / "loadables/compiled/inception_misaligned" /
					   (std::string(tag) + ".nvdla"));
		ASSERT_TRUE(loadable);
		auto network = Network::load(*device, *loadable);
		ASSERT_TRUE(network) << network.error().message();
		auto report = network->run();
		ASSERT_FALSE(report);
		EXPECT_EQ(report.error().code, ErrorCode::DeviceRefused);
		EXPECT_NE(report.error().where.find("operation"), std::string::npos);
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
		const auto info = infoOf(folder);
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

} /* namespace nvdla */
