/* SPDX-License-Identifier: MIT */
/*
 * The digits network on handwritten digits.
 *
 * What counts is what the network says, and that is worked out here a second
 * time, in float, from the weights in the loadable. The network itself reads
 * one, three, four, five and seven right and misreads the others, whoever
 * evaluates it: for the two, users of the existing stack have seen 0.996 for
 * "7" and 0.00407 for "5".
 */
#include <algorithm>
#include <cfenv>
#include <cmath>

#include <gtest/gtest.h>
#include <nvdla/half.h>
#include <nvdla/image.h>
#include <nvdla/network.h>

#include "float_network.h"
#include "small_stack.h"
#include "test_support.h"

namespace nvdla
{

namespace
{

size_t largest(const std::vector<float> &values)
{
	return static_cast<size_t>(std::max_element(values.begin(), values.end()) - values.begin());
}

class DigitsTest : public ::testing::TestWithParam<const char *>
{
protected:
	void SetUp() override
	{
		NVDLA_NEED_REFERENCE(reference);
		auto loadable = Loadable::readFile(reference / "loadables/NN_L0_0_fbuf");
		ASSERT_TRUE(loadable) << loadable.error().message();
		loadable_ = std::move(*loadable);

		auto image = readImage(reference / "loadables/digits" /
				       (std::string(GetParam()) + ".pgm"));
		ASSERT_TRUE(image) << image.error().message();
		auto inputs = loadable_.inputs();
		ASSERT_TRUE(inputs);
		auto elements = elementsFromImage(inputs->at(0), *image);
		ASSERT_TRUE(elements) << elements.error().message();
		elements_ = std::move(*elements);
	}

	std::vector<float> inFloat() const
	{
		auto tasks = tasksInOrder(loadable_);
		EXPECT_TRUE(tasks);
		/* POWER is the identity in this network, SOFTMAX comes last. */
		const DlaTask &task = std::get<DlaTask>(tasks->at(1));
		const test::FloatCube input{ 1, 28, 28,
					     elementsToFloat(DataType::Half, elements_) };
		return test::softmax(test::FloatNetwork(loadable_, task).run(input));
	}

	std::vector<float> onTheDevice(const char *path) const
	{
		auto device = Device::open(path);
		EXPECT_TRUE(device);
		auto network = Network::load(*device, loadable_);
		EXPECT_TRUE(network) << network.error().message();
		EXPECT_TRUE(network->setInputElements(0, elements_));
		auto report = network->run();
		EXPECT_TRUE(report) << report.error().message();
		auto output = network->outputElements(0);
		EXPECT_TRUE(output);
		return elementsToFloat(DataType::Half, *output);
	}

	Loadable loadable_;
	std::vector<std::byte> elements_;
};

} /* namespace */

TEST_P(DigitsTest, AnswerIsTheNetworks)
{
	const std::vector<float> expected = inFloat();
	const std::vector<float> answer = onTheDevice(Device::embeddedPath);
	ASSERT_EQ(expected.size(), 10U);
	ASSERT_EQ(answer.size(), expected.size());
	EXPECT_EQ(largest(answer), largest(expected));
	for (size_t digit = 0; digit < answer.size(); digit++)
		EXPECT_NEAR(answer[digit], expected[digit], 0.02f) << "probability of " << digit;

	if (std::string(GetParam()) == "two") {
		EXPECT_NEAR(answer[7], 0.996f, 0.0005f);
		EXPECT_NEAR(answer[5], 0.00407f, 0.000005f);
	}
}

/* Threads that the application starts round as it does, and run() computes in its own. */
TEST_P(DigitsTest, AnswerDoesNotDependOnTheApplicationsRounding)
{
	constexpr const char *path = "embedded:fp16=fast"; /* floating point arithmetic */
	const std::vector<float> expected = onTheDevice(path);
	std::fenv_t environment;

	std::fegetenv(&environment);
	std::fesetround(FE_UPWARD);
	const std::vector<float> answer = onTheDevice(path);
	const int rounding = std::fegetround();
	std::fesetenv(&environment);
	EXPECT_EQ(answer, expected);
	EXPECT_EQ(rounding, FE_UPWARD);
}

/* Whoever runs a network waits for it, and may carry it out, if there is room. */
TEST_P(DigitsTest, ThreadMayHaveASmallStack)
{
	const std::vector<float> expected = onTheDevice(Device::embeddedPath);
	std::vector<float> answer;

	test::callOnSmallStack([&] { answer = onTheDevice(Device::embeddedPath); });
	EXPECT_EQ(answer, expected);
}

INSTANTIATE_TEST_SUITE_P(Pictures, DigitsTest,
			 ::testing::Values("one", "two", "three", "four", "five", "six", "seven",
					   "eight", "nine"),
			 [](const auto &info) { return std::string(info.param); });

} /* namespace nvdla */
