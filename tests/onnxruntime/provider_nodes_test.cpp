/* SPDX-License-Identifier: MIT */
/*
 * ONNX's own tests through ONNX Runtime, with the execution provider and without: none that passes
 * without fails with it.
 */
#include <algorithm>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "node_tests.h"
#include "session.h"

namespace nvdla::test
{

namespace
{

const ProviderOptions embedded = { { "device", Device::embeddedPath } };

/* Outputs of one run, or nothing and why. */
Result<std::vector<NodeArray>> runTest(Session &session, const NodeTest &test)
{
	std::vector<SessionTensor> inputs;
	std::vector<std::string> names;

	if (!session.error().empty())
		return fail(ErrorCode::Unsupported, "open", "session", session.error());
	for (const NodeArray &input : test.inputs)
		inputs.push_back({ { input.name, input.type, input.shape }, nodeElements(input) });
	for (const NodeArray &output : test.outputs)
		names.push_back(output.name);
	return session.tryRun(inputs, names).map([](auto &&tensors) {
		std::vector<NodeArray> outputs;
		for (const SessionTensor &tensor : tensors)
			outputs.push_back(nodeArrayOf(tensor.what, tensor.elements));
		return outputs;
	});
}

/* Nothing, or why a session does not answer as the test's files do. */
std::string failureOf(Session &session, const NodeTest &test, NodeTolerance tolerance)
{
	auto outputs = runTest(session, test);

	return outputs ? nodeShortfall(test, *outputs, tolerance) : outputs.error().message();
}

/* Strings, sequences and the like: only that a session can be made, or not. */
bool canBeRun(const NodeTest &test)
{
	return test.hasArrays && !test.isRandom;
}

/* Whether the numbers of a test need more bits than the device's FP16 has. */
bool needsFloats(Session &alone, Session &with, const NodeTest &test)
{
	NodeTest rounded = test.withHalves();
	auto outputs = runTest(alone, rounded);

	if (!outputs)
		return false;
	rounded.outputs = std::move(*outputs);
	return failureOf(with, rounded, NodeTolerance::Half).empty();
}

TEST(ProviderNodes, NoneFailsThatPassesWithout)
{
	const Runtime runtime;
	size_t passed = 0, taken = 0, beyondHalves = 0;

	if (nodeTestFolders().empty())
		GTEST_SKIP() << "ONNX's tests are missing: apt-get install libonnx-testdata";
	for (const auto &folder : nodeTestFolders()) {
		const NodeTest test = readNodeTest(folder);
		SCOPED_TRACE(test.name);
		testing::internal::CaptureStderr();
		Session alone(runtime, test.file, nullptr), with(runtime, test.file, &embedded);
		const std::string said = testing::internal::GetCapturedStderr();
		if (!alone.error().empty())
			continue;
		EXPECT_EQ(with.error(), "");
		if (!canBeRun(test) || !failureOf(alone, test, NodeTolerance::Runner).empty())
			continue;
		passed++;
		const bool takes = said.find("nvdla: takes ") != std::string::npos &&
				   said.find("nvdla: takes 0 ") == std::string::npos;
		taken += takes;
		const std::string failure =
			failureOf(with, test, takes ? NodeTolerance::Half : NodeTolerance::Runner);
		if (!failure.empty() && takes && needsFloats(alone, with, test)) {
			fmt::print("{}: {}\n", test.name, failure);
			beyondHalves++;
			continue;
		}
		EXPECT_EQ(failure, "");
	}
	fmt::print(
		"{} pass without the provider, and with it, which takes a part of {}; {} of these "
		"answer as for inputs rounded to FP16\n",
		passed, taken, beyondHalves);
	EXPECT_GT(taken, 0u);
	EXPECT_LE(beyondHalves, 4u);
}

} /* namespace */

} /* namespace nvdla::test */
