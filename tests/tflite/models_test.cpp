/* SPDX-License-Identifier: MIT */
/*
 * Stock TensorFlow Lite with the delegate against the same without, on the models of the reference
 * data.
 */
#include <algorithm>
#include <iostream>

#include <gtest/gtest.h>

#include "agreement.h"
#include "interpreter.h"
#include "test_support.h"

namespace nvdla::test
{

namespace
{

class Delegate : public testing::TestWithParam<std::string>
{
};

std::string testName(const testing::TestParamInfo<std::string> &info)
{
	std::string name = info.param;

	std::replace(name.begin(), name.end(), '.', '_');
	return name;
}

/*
 * An interpreter has TensorFlow Lite's fast kernels. Its reference kernels, whose results are
 * known, are as right: in resnet8_int8 they are up to 8 steps apart from the fast ones.
 */
void expectAgreement(const Array &got, const Array &wanted, const CaseTensor &known,
		     bool classifies, double range, double step)
{
	ASSERT_EQ(got.numbers.size(), wanted.numbers.size());
	ASSERT_EQ(got.numbers.size(), known.array.numbers.size());
	const std::string found =
		shortfall(got.numbers, { wanted, known.largestOfKernels }, classifies, range, step);
	if (!found.empty()) {
		EXPECT_EQ(shortfall(got.numbers, known, classifies, range, step), "") << found;
	}
	if (classifies) {
		EXPECT_EQ(largest(got.numbers), largest(wanted.numbers));
	}
}

TEST_P(Delegate, AgreesWithTensorFlowLiteAlone)
{
	const ModelFolder folder = readModelFolder(GetParam());
	auto model = importModel(folder);
	ASSERT_TRUE(model) << model.error().message();
	testing::internal::CaptureStderr();
	const DelegatePointer delegate = loadDelegate({ { "device", fastDevicePath() } });
	Interpreter with(folder.file, delegate.get());
	const std::string said = testing::internal::GetCapturedStderr();
	std::cout << said;
	EXPECT_NE(said.find("nvdla: takes "), std::string::npos) << said;
	Interpreter alone(folder.file, nullptr);

	for (const ModelCase &one : folder.cases) {
		SCOPED_TRACE(one.description);
		const std::vector<Array> wanted = alone.run(one.inputs);
		const std::vector<Array> got = with.run(one.inputs);
		ASSERT_EQ(got.size(), one.outputs.size());
		ASSERT_EQ(wanted.size(), one.outputs.size());
		for (size_t i = 0; i < got.size(); i++)
			expectAgreement(got[i], wanted[i], one.outputs[i], one.classifies,
					rangeOf(folder, i), stepOf(*model, i));
	}
}

INSTANTIATE_TEST_SUITE_P(Models, Delegate, testing::ValuesIn(modelFolders("tflite")), testName);
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(Delegate);

} /* namespace */

} /* namespace nvdla::test */
