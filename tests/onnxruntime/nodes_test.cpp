/* SPDX-License-Identifier: MIT */
/*
 * ONNX's own tests, as a model's file is given to the compiler: on the core, and with operators
 * that ONNX Runtime computes. Those that are refused, or answered otherwise, are in nodes.txt.
 */
#include <fstream>
#include <iostream>
#include <map>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "node_tests.h"
#include "places.h"

namespace nvdla::test
{

namespace
{

/* The reason that a line of the list gives for an answer that differs from the file's. */
constexpr const char *asRuntime = "answers as ONNX Runtime alone does";
constexpr const char *asRounded = "answers as it has to for inputs rounded to FP16";

/* The tests that the list has been made of, by their number: version 1.12. */
constexpr size_t listed = 1072;

enum class Place { Nowhere, Core, Host };

struct Outcome {
	Place place = Place::Nowhere;
	std::string why; /* refused, or answered otherwise; empty: as the file says */
	bool isWrong = false;
};

NodeTolerance toleranceOf(const CompiledModel &compiled, HostUse host)
{
	for (const LayerReport &layer : compiled.report.layers)
		if (layer.host.empty())
			return NodeTolerance::Half;
	return host == HostUse::Never ? NodeTolerance::Half : NodeTolerance::Runner;
}

/* An answer other than the file's is right if ONNX Runtime has it as well. */
Outcome judge(const NodeTest &test, const std::vector<NodeArray> &got, NodeTolerance tolerance)
{
	const bool isCore = tolerance == NodeTolerance::Half;
	Outcome outcome{ isCore ? Place::Core : Place::Host, nodeShortfall(test, got, tolerance) };

	if (outcome.why.empty())
		return outcome;
	NodeTest other = isCore ? test.withHalves() : test;
	auto outputs = runByHost(other);
	if (outputs)
		other.outputs = std::move(*outputs);
	if (outputs && nodeShortfall(other, got, tolerance).empty())
		outcome.why = isCore ? asRounded : asRuntime;
	else
		outcome.isWrong = true;
	return outcome;
}

Outcome outcomeOf(const NodeTest &test, HostUse host)
{
	auto compiled = compileModel(test.file, { .shapes = test.shapes, .host = host });

	if (!compiled)
		return { Place::Nowhere, compiled.error().message(),
			 compiled.error().code == ErrorCode::InvalidFile };
	if (!test.hasArrays)
		return { Place::Nowhere, "is compiled, though its data are no arrays", true };
	auto got = runNodeTest(*compiled, test);
	if (!got)
		return { Place::Nowhere, got.error().message(), true };
	return judge(test, *got, toleranceOf(*compiled, host));
}

/*
 * Words that a message has to contain, by the name of the test; parts are separated by " ... ". Of
 * other versions than the listed one, faults that are known.
 */
std::map<std::string, std::string> readList()
{
	const bool isListed = nodeTestFolders().size() == listed;
	std::ifstream file(sourceRoot() + "/tests/onnxruntime/" +
			   (isListed ? "nodes.txt" : "nodes_newer.txt"));
	std::map<std::string, std::string> list;

	for (std::string line; std::getline(file, line);) {
		const size_t colon = line.find(": ");
		if (!line.starts_with('#') && colon != std::string::npos)
			list[line.substr(0, colon)] = line.substr(colon + 2);
	}
	return list;
}

bool hasParts(const std::string &text, std::string parts)
{
	constexpr std::string_view between = " ... ";
	size_t from = 0;

	for (;;) {
		const size_t end = parts.find(between);
		const size_t at = text.find(parts.substr(0, end), from);
		if (at == std::string::npos || end == std::string::npos)
			return at != std::string::npos;
		from = at;
		parts.erase(0, end + between.size());
	}
}

class OnnxNodes : public testing::Test
{
protected:
	void SetUp() override
	{
		if (nodeTestFolders().empty())
			GTEST_SKIP()
				<< "ONNX's tests are missing: apt-get install libonnx-testdata, or "
				   "unpack it and set NVDLA_ONNX_TESTDATA to its folder data";
	}
};

TEST_F(OnnxNodes, AreRightOrRefusedAsListed)
{
	const std::map<std::string, std::string> list = readList();
	std::map<Place, size_t> counts;
	size_t deviating = 0;

	for (const auto &folder : nodeTestFolders()) {
		const NodeTest test = readNodeTest(folder);
		SCOPED_TRACE(test.name);
		Outcome outcome = outcomeOf(test, HostUse::Never);
		if (outcome.place == Place::Nowhere && !outcome.isWrong)
			outcome = outcomeOf(test, HostUse::Auto);
		counts[outcome.place]++;
		deviating += outcome.place != Place::Nowhere && !outcome.why.empty();
		const auto known = list.find(test.name);
		const std::string words = known == list.end() ? "" : known->second;
		const bool isKnown = !words.empty() && hasParts(outcome.why, words);
		EXPECT_TRUE(!outcome.isWrong || isKnown) << outcome.why;
		if (words.empty() && !outcome.why.empty())
			std::cout << test.name << ": " << outcome.why << '\n';
		if (nodeTestFolders().size() != listed)
			continue;
		EXPECT_EQ(words.empty(), outcome.why.empty()) << words << outcome.why;
		EXPECT_TRUE(words.empty() || isKnown) << words << '\n' << outcome.why;
	}
	fmt::print(
		"{} right on the core alone, {} with host steps; of both {} as the list says; {} "
		"refused\n",
		counts[Place::Core], counts[Place::Host], deviating, counts[Place::Nowhere]);
}

/* Kernels, axes and shapes are inputs of these tests; models that people use have constants. */
TEST_F(OnnxNodes, AreRightOnTheCoreWithConstants)
{
	constexpr size_t least = 137;
	const std::map<std::string, std::string> list = readList();
	size_t right = 0;

	for (const auto &folder : nodeTestFolders()) {
		const NodeTest test = readNodeTest(folder);
		SCOPED_TRACE(test.name);
		if (!test.hasArrays || test.inputs.size() < 2)
			continue;
		const Outcome outcome = outcomeOf(test.withConstants(), HostUse::Never);
		EXPECT_TRUE(!outcome.isWrong || list.contains(test.name)) << outcome.why;
		right += outcome.place == Place::Core;
	}
	fmt::print("{} with constants right on the core alone\n", right);
	EXPECT_GE(right, least);
}

} /* namespace */

} /* namespace nvdla::test */
