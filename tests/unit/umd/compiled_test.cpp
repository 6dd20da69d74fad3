/* SPDX-License-Identifier: MIT */
/*
 * What NVDLA's own compiler emitted, against a float evaluation of the
 * networks and within the tolerance that comes with them.
 */
#include <iterator>
#include <set>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>
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

/* Runs all stored inputs at once. */
void checkFile(const Device &device, const std::filesystem::path &path)
{
	const float tolerance = test::toleranceOf(path);
	auto loadable = Loadable::readFile(path);
	ASSERT_TRUE(loadable) << loadable.error().message();
	auto network = Network::load(device, *loadable);
	ASSERT_TRUE(network) << network.error().message();
	EXPECT_FALSE(network->inputs()[0].isUnsigned) << "the compiler takes pixels as signed";
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
		const auto &outputs = network->outputs();
		for (size_t o = 0; o < outputs.size(); o++) {
			auto elements = requests[i].outputElements(o);
			ASSERT_TRUE(elements);
			EXPECT_LE(worstError(
					  test::expectedOutput(path, outputs[o], outputs.size(), i),
					  outputs[o], elementsToFloat(outputs[o].type, *elements)),
				  tolerance)
				<< path << " output " << o << " input " << i;
		}
	}
}

/* Float in, float out: an application that has the scales sees nothing of the integers. */
void checkNumbers(const Device &device, const std::filesystem::path &path)
{
	const auto folder = path.parent_path();
	auto network = Network::load(device, Loadable::readFile(path).value()).value();
	const auto outputs = network.outputs();
	if (network.inputs()[0].type == DataType::Int8) {
		ASSERT_TRUE(network.setInputQuantization(
			0, Quantization{ infoOf(folder)["input_scale_int8"] }));
	}
	for (unsigned i = 0; i < 2; i++) {
		const auto array = readNpy(folder / ("in" + std::to_string(i) + ".npy")).value();
		auto set = network.setInputFloat(0, elementsToFloat(array.type, array.elements));
		ASSERT_TRUE(set) << set.error().message();
		ASSERT_TRUE(network.run());
		for (size_t o = 0; o < outputs.size(); o++) {
			auto expected = test::expectedOutput(path, outputs[o], outputs.size(), i);
			if (outputs[o].type == DataType::Int8) {
				ASSERT_TRUE(network.setOutputQuantization(
					o, Quantization{ expected.scale }));
			}
			expected.scale = 1;
			EXPECT_LE(worstError(expected, outputs[o], network.outputFloat(o).value()),
				  test::toleranceOf(path))
				<< "output " << o << " input " << i;
		}
	}
}

class Compiled : public testing::TestWithParam<const char *>
{
};

} /* namespace */

/* Files that do not implement their network are another test's. */
TEST_P(Compiled, EveryFileOnEveryInput)
{
	NVDLA_NEED_REFERENCE(reference);
	const Device device = test::openDevice();
	const auto paths = test::compiledLoadables(reference / "loadables/compiled" / GetParam());

	EXPECT_FALSE(paths.empty());
	for (const auto &path : paths)
		checkFile(device, path);
}

INSTANTIATE_TEST_SUITE_P(Networks, Compiled, testing::ValuesIn(test::compiledNetworks),
			 [](const auto &info) { return std::string(info.param); });

TEST(CompiledFiles, AllAreInATest)
{
	NVDLA_NEED_REFERENCE(reference);
	std::set<std::string> networks{ "inception_misaligned" };

	networks.insert(std::begin(test::compiledNetworks), std::end(test::compiledNetworks));
	for (const auto &path : test::referenceLoadables(reference)) {
		const std::string network = path.parent_path().filename().string();
		/* Those for other cores than nv_full are beside that folder. */
		if (path.parent_path().parent_path() != reference / "loadables/compiled")
			continue;
		EXPECT_TRUE(networks.contains(network)) << path;
		EXPECT_EQ(configurationOf(infoOf(path.parent_path()),
					  path.stem().string())["implements_network"],
			  network != "inception_misaligned")
			<< path;
	}
}

TEST(CompiledFiles, NumbersInAndOut)
{
	NVDLA_NEED_REFERENCE(reference);
	const Device device = test::openDevice();

	for (const char *name : { "conv_feat_odd", "lenet_trained", "pools", "two_outputs" }) {
		for (const char *tag : { "nv_full_int8_fast-math", "nv_full_fp16_fast-math" }) {
			const auto path = reference / "loadables/compiled" / name /
					  (std::string(tag) + ".nvdla");
			SCOPED_TRACE(path);
			checkNumbers(device, path);
		}
	}
}

/* What SOFTMAX writes on the CPU is the only tensor whose scale is in a loadable. */
TEST(CompiledFiles, ScalesOfCpuOperationsAreThoseOfTheirOutputs)
{
	NVDLA_NEED_REFERENCE(reference);
	const Device device = test::openDevice();
	auto quantizationOf = [&](const char *name, const char *tag) {
		const auto path = reference / "loadables/compiled" / name / tag;
		auto network = Network::load(device, Loadable::readFile(path).value());
		return network.value().outputs()[0].quantization;
	};

	const auto folder = reference / "loadables/compiled/lenet_trained";
	const auto &info = infoOf(folder);
	const TensorQuantization prob =
		Quantization{ info["output_scale_int8"]["prob"].get<float>() };
	EXPECT_EQ(quantizationOf("lenet_trained", "nv_full_int8_fast-math.nvdla"), prob);
	EXPECT_TRUE(quantizationOf("lenet_trained", "nv_full_fp16_fast-math.nvdla").none());
	EXPECT_TRUE(quantizationOf("pools", "nv_full_int8_fast-math.nvdla").none());
}

/* The compiler's faulty files: an error that says what is wrong, or a run that ends. */
TEST(CompiledFiles, FaultyFilesAreRefusedByOperation)
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
TEST(CompiledFiles, InputsPackAsTheyWereStored)
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
		const auto &info = infoOf(folder);
		const std::string raw = configurationOf(info, one.tag)["raw_inputs"][0];
		auto loadable = Loadable::readFile(folder / (std::string(one.tag) + ".nvdla"));
		ASSERT_TRUE(loadable);
		TensorDesc desc = loadable->inputs()->at(0);
		auto array = readNpy(folder / "in0.npy");
		ASSERT_TRUE(array) << array.error().message();
		if (desc.type == DataType::Int8)
			desc.quantization = Quantization{ info["input_scale_int8"].get<double>() };
		auto elements = elementsFromNpy(desc, *array);
		ASSERT_TRUE(elements) << elements.error().message();
		std::vector<std::byte> packed(desc.size);
		ASSERT_TRUE(packElements(desc, *elements, packed));
		EXPECT_EQ(packed, test::readBytes(folder / raw)) << one.network << " " << one.tag;
	}
}

} /* namespace nvdla */
