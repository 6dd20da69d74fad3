/* SPDX-License-Identifier: MIT */
/*
 * The unit loadables of the existing stack, on the embedded device, against
 * the results it recorded.
 */
#include <cmath>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

#include <gtest/gtest.h>
#include <nvdla/half.h>
#include <nvdla/network.h>
#include <nvdla/tensor_file.h>

#include "test_support.h"

namespace nvdla
{

namespace
{

constexpr const char *exactNames[] = { "BDMA_L0_0", "SDP_X1_L0_0", "CONV_D_L0_0",
				       "PDP_L0_0",  "CDP_L0_0",	   "RBK_L0_0" };

Result<std::vector<std::byte>> runToDimg(const Device &device, const std::filesystem::path &path,
					 unsigned runs = 1)
{
	auto loadable = Loadable::readFile(path);
	if (!loadable)
		return forward(loadable);
	auto network = Network::load(device, *loadable);
	if (!network)
		return forward(network);
	for (unsigned i = 0; i < runs; i++) {
		if (auto report = network->run(); !report)
			return forward(report);
	}
	auto elements = network->outputElements(0);
	if (!elements)
		return elements;
	return encodeDimg(network->outputs()[0], *elements);
}

bool isGolden(const std::filesystem::path &reference, const std::string &name, unsigned runs)
{
	auto device = Device::open(Device::embeddedPath);
	if (!device)
		return false;
	auto dimg = runToDimg(*device, reference / "loadables" / (name + "_fbuf"), runs);
	return dimg && *dimg == test::readBytes(reference / "loadables/golden" / (name + ".dimg"));
}

} /* namespace */

class Golden : public testing::TestWithParam<const char *>
{
};

TEST_P(Golden, EveryByteIsTheSame)
{
	NVDLA_NEED_REFERENCE(reference);
	auto device = Device::open(Device::embeddedPath);
	ASSERT_TRUE(device) << device.error().message();

	const std::string name = GetParam();
	auto dimg = runToDimg(*device, reference / "loadables" / (name + "_fbuf"));
	ASSERT_TRUE(dimg) << dimg.error().message();
	EXPECT_EQ(*dimg, test::readBytes(reference / "loadables/golden" / (name + ".dimg")));
}

TEST_P(Golden, AgainAndAgain)
{
	NVDLA_NEED_REFERENCE(reference);
	EXPECT_TRUE(isGolden(reference, GetParam(), 3));
}

INSTANTIATE_TEST_SUITE_P(UnitLoadables, Golden, testing::ValuesIn(exactNames),
			 [](const auto &info) { return std::string(info.param); });

/*
 * FP16: the last term of the convolution's threshold in the precision document,
 * 2^(exp(a) - 10), is one unit in the last place; no more is allowed here.
 */
TEST(GoldenFp16, DigitsNetworkOnAnEmptyPicture)
{
	NVDLA_NEED_REFERENCE(reference);
	auto device = Device::open(Device::embeddedPath);
	ASSERT_TRUE(device);
	auto bytes = runToDimg(*device, reference / "loadables/NN_L0_0_fbuf");
	ASSERT_TRUE(bytes) << bytes.error().message();
	auto ours = decodeDimg(*bytes, "ours");
	auto golden = readDimg(reference / "loadables/golden/NN_L0_0.dimg");
	ASSERT_TRUE(ours && golden);
	EXPECT_EQ(ours->format, golden->format);
	EXPECT_EQ(ours->channel, golden->channel);
	EXPECT_EQ(ours->size, golden->size);

	const auto a = elementsToFloat(DataType::Half, golden->elements);
	const auto b = elementsToFloat(DataType::Half, ours->elements);
	ASSERT_EQ(a.size(), b.size());
	for (size_t i = 0; i < a.size(); i++)
		EXPECT_LE(std::fabs(a[i] - b[i]), std::ldexp(1.0f, std::ilogb(a[i]) - 10)) << i;
}

TEST(GoldenParallel, TwoThreadsOnOneDevice)
{
	NVDLA_NEED_REFERENCE(reference);
	auto device = Device::open(Device::embeddedPath);
	ASSERT_TRUE(device);
	bool same[2] = {};
	std::thread threads[2];

	for (size_t t = 0; t < 2; t++) {
		threads[t] = std::thread([&, t] {
			const std::string name = exactNames[1 + t];
			auto dimg =
				runToDimg(*device, reference / "loadables" / (name + "_fbuf"), 5);
			same[t] = dimg && *dimg == test::readBytes(reference / "loadables/golden" /
								   (name + ".dimg"));
		});
	}
	for (std::thread &thread : threads)
		thread.join();
	EXPECT_TRUE(same[0]);
	EXPECT_TRUE(same[1]);
}

TEST(GoldenParallel, TwoProcesses)
{
	NVDLA_NEED_REFERENCE(reference);
	pid_t children[2];

	for (size_t i = 0; i < 2; i++) {
		children[i] = fork();
		ASSERT_GE(children[i], 0);
		if (!children[i])
			_exit(isGolden(reference, exactNames[2 + i], 3) ? 0 : 1);
	}
	for (pid_t child : children) {
		int status = 0;
		ASSERT_EQ(waitpid(child, &status, 0), child);
		EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0);
	}
}

} /* namespace nvdla */
