/* SPDX-License-Identifier: MIT */
/*
 * What NVDLA's own compiler emitted for other cores than nv_full, on embedded devices that have
 * those cores; and what is said where the core is another one.
 */
#include <cmath>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>
#include <nvdla/image.h>
#include <nvdla/network.h>
#include <nvdla/tensor_file.h>

#include "compiled_info.h"
#include "test_support.h"

namespace nvdla
{

namespace
{

namespace fs = std::filesystem;

constexpr const char *cores[] = { "nv_small", "nv_large" };
constexpr const char *networks[] = { "convonly", "oddnet", "tinycnn" };

std::string embedded(const std::string &core)
{
	return std::string(Device::embeddedPath) + ":" + core;
}

std::vector<float> numbersOf(const fs::path &path)
{
	const auto array = readNpy(path).value();

	return elementsToFloat(array.type, array.elements);
}

/* Pixels have four channels, of which a network with fewer uses the first ones. */
std::vector<float> inputFor(const TensorDesc &desc, std::vector<float> values)
{
	EXPECT_GE(desc.elements(), values.size());
	values.resize(desc.elements());
	return values;
}

/* The largest distance from what the network means, in steps of the output. */
float worstSteps(const fs::path &path, const Device &device)
{
	const auto info = test::infoOf(path.parent_path());
	auto network = Network::load(device, Loadable::readFile(path).value());
	float worst = 0;

	EXPECT_TRUE(network) << path << ": " << network.error().message();
	if (!network)
		return INFINITY;
	EXPECT_TRUE(network->setInputQuantization(0, Quantization{ info["input_scale_int8"] }));
	EXPECT_TRUE(network->setOutputQuantization(0, Quantization{ info["output_scale_int8"] }));
	for (int i = 0; i < 3; i++) {
		const std::string number = std::to_string(i) + ".npy";
		const auto expected = numbersOf(path.parent_path() / ("out" + number));
		const auto input = inputFor(network->inputs()[0],
					    numbersOf(path.parent_path() / ("in" + number)));
		EXPECT_TRUE(network->setInputFloat(0, input));
		auto report = network->run();
		EXPECT_TRUE(report) << path << ": " << report.error().message();
		const auto output = network->outputFloat(0).value();
		EXPECT_EQ(output.size(), expected.size());
		for (size_t e = 0; e < expected.size() && e < output.size(); e++)
			worst = std::max(worst, std::fabs(output[e] - expected[e]));
	}
	return worst / static_cast<float>(info["output_scale_int8"]);
}

class OtherCore : public testing::TestWithParam<const char *>
{
protected:
	fs::path folder(const fs::path &reference) const
	{
		return reference / "loadables" / GetParam();
	}
};

} /* namespace */

/* The tolerance is that of the files' description: three to four steps. */
TEST_P(OtherCore, EveryFileComputesItsNetwork)
{
	NVDLA_NEED_REFERENCE(reference);
	const Device device = Device::open(embedded(GetParam())).value();
	unsigned files = 0;

	for (const char *name : networks) {
		for (const fs::path &path : test::compiledLoadables(folder(reference) / name)) {
			EXPECT_LE(worstSteps(path, device), 4.0f) << path;
			files++;
		}
	}
	EXPECT_GE(files, 18u);
}

/* The compiler gave PDP the kernel of a global average, 12 x 12: no core has one. */
TEST_P(OtherCore, AKernelThatNoCoreHasIsRefused)
{
	NVDLA_NEED_REFERENCE(reference);
	const Device device = Device::open(embedded(GetParam())).value();

	for (const fs::path &path : test::compiledLoadables(folder(reference) / "rgbnet")) {
		auto network = Network::load(device, Loadable::readFile(path).value());
		ASSERT_FALSE(network) << path;
		EXPECT_TRUE(test::has(network.error().message(),
				      "(PDP) pool_width: kernels are 1 to 8 wide"))
			<< path << network.error().message();
	}
}

TEST_P(OtherCore, ItsFilesAreRefusedByOthersByName)
{
	NVDLA_NEED_REFERENCE(reference);
	for (const char *name : networks) {
		for (const fs::path &path : test::compiledLoadables(folder(reference) / name)) {
			const auto loadable = Loadable::readFile(path).value();
			for (const std::string &other :
			     { std::string("nv_full"), std::string("nv_small"),
			       std::string("nv_large") }) {
				if (other == GetParam())
					continue;
				auto device = Device::open(embedded(other)).value();
				auto network = Network::load(device, loadable);
				ASSERT_FALSE(network) << path << " on " << other;
				EXPECT_EQ(network.error().code, ErrorCode::Unsupported);
				EXPECT_EQ(network.error().message(),
					  std::string("load network: the network is for ") +
						  GetParam() + ", but the device '" +
						  embedded(other) + "' is " + other +
						  ": compile the model for " + other +
						  ", or open an " + GetParam() +
						  " device: --device " + embedded(GetParam()))
					<< path;
			}
		}
	}
}

INSTANTIATE_TEST_SUITE_P(Cores, OtherCore, testing::ValuesIn(cores),
			 [](const auto &info) { return std::string(info.param); });

/* As the existing runtime has it of such a core in an FPGA. */
TEST(OtherCores, LeNetOfNvSmallGivesWhatHardwareGives)
{
	NVDLA_NEED_REFERENCE(reference);
	const fs::path folder = reference / "loadables/nv_small/lenet_mnist";
	auto network = Network::load(Device::open(embedded("nv_small")).value(),
				     Loadable::readFile(folder / "lenet_mnist.nvdla").value())
			       .value();
	const Image picture = readImage(folder / "seven.pgm").value();
	const auto pixels = elementsFromImage(network.inputs()[0], picture).value();
	ASSERT_TRUE(network.setInputElements(0, pixels));
	ASSERT_TRUE(network.run());
	const std::vector<int> expected = { 0, 2, 0, 0, 0, 0, 0, 124, 0, 0 };
	const auto elements = network.outputElements(0).value();
	std::vector<int> digits;
	for (const std::byte byte : elements)
		digits.push_back(static_cast<int8_t>(byte));
	EXPECT_EQ(digits, expected);
}

TEST(OtherCores, DevicesTellWhatTheyAre)
{
	const DeviceInfo full = test::openEmbedded().info();
	EXPECT_EQ(full.variant, 0u);
	EXPECT_EQ(full.capabilities, 7u);
	EXPECT_EQ(full.maxBatch, 32u);
	EXPECT_NE(full.onChipBytes, 0u);

	const Device device = Device::open("embedded:threads=1,nv_small").value();
	const DeviceInfo &small = device.info();
	EXPECT_EQ(small.variant, 1u);
	EXPECT_EQ(small.hwVersion, full.hwVersion);
	EXPECT_EQ(small.atomBytes, 8u);
	EXPECT_EQ(small.precisions, 1u);
	EXPECT_EQ(small.capabilities, 0u);
	EXPECT_EQ(small.maxBatch, 1u);
	EXPECT_EQ(small.macChannels, 8u);
	EXPECT_EQ(small.int8Kernels, 8u);
	EXPECT_EQ(small.bufferBanks, 32u);
	EXPECT_EQ(small.bankEntries, 512u);
	EXPECT_EQ(small.entryBytes, 8u);
	EXPECT_FALSE(device.has(Feature::OnChipMemory));

	/* It has the memory, but nothing that could clear it. */
	const Device large = Device::open(embedded("nv_large")).value();
	EXPECT_EQ(large.info().variant, 2u);
	EXPECT_EQ(large.info().onChipBytes, 0u);
	EXPECT_FALSE(large.allocateOnChip(4096));
	EXPECT_FALSE(Device::open(embedded("nv_tiny")));
}

/* A loadable is refused by the core that it names, and one without a name by its atoms. */
TEST(OtherCores, ANameThatIsNotTheDevicesIsRefused)
{
	const Device small = Device::open(embedded("nv_small")).value();
	Loadable loadable = test::passLoadable(32, 4);

	auto unnamed = Network::load(small, loadable);
	ASSERT_FALSE(unnamed) << "atoms of 32 bytes";
	EXPECT_EQ(unnamed.error().message(),
		  "load network: the network is for nv_full, but the device 'embedded:nv_small' is "
		  "nv_small: compile the model for nv_small, or open an nv_full device: --device "
		  "embedded");

	loadable.variant = "nv_large";
	auto named = Network::load(small, loadable);
	ASSERT_FALSE(named);
	EXPECT_EQ(
		named.error().message(),
		"load network: the network is for nv_large, but the device 'embedded:nv_small' is "
		"nv_small: compile the model for nv_small, or open an nv_large device: --device "
		"embedded:nv_large");
	loadable.variant = "nv_full";
	EXPECT_TRUE(Network::load(test::openEmbedded(), loadable));
}

} /* namespace nvdla */
