/* SPDX-License-Identifier: MIT */
/*
 * ONNX Runtime with the execution provider against the same without, on the models of the
 * reference data.
 */
#include <algorithm>
#include <iostream>
#include <map>
#include <memory>

#include <dlfcn.h>

#include <gtest/gtest.h>

#include "agreement.h"
#include "definition.h"
#include "frameworks/onnxruntime/partitioner.h"
#include "onnx_builder.h"
#include "places.h"
#include "session.h"
#include "test_support.h"

namespace nvdla::test
{

namespace
{

/* Models that take long in the device model, and say no more. */
constexpr double mostMultiplications = 1e9;

const ProviderOptions onDevice = { { "device", fastDevicePath() } };

class Provider : public testing::TestWithParam<std::string>
{
protected:
	Runtime runtime;
};

TEST_P(Provider, AgreesWithOnnxRuntimeAlone)
{
	const ModelFolder folder = readModelFolder(GetParam());
	testing::internal::CaptureStderr();
	Session with(runtime, folder.file, &onDevice);
	const std::string said = testing::internal::GetCapturedStderr();
	ASSERT_EQ(with.error(), "");
	std::cout << said;
	EXPECT_NE(said.find("nvdla: takes "), std::string::npos);
	EXPECT_EQ(said.find("nvdla: takes 0 "), std::string::npos);
	Session alone(runtime, folder.file, nullptr);
	ASSERT_EQ(alone.error(), "");

	auto model = importModel(folder);
	ASSERT_TRUE(model) << model.error().message();
	for (const ModelCase &one : folder.cases) {
		SCOPED_TRACE(one.description);
		const std::vector<Array> wanted = alone.run(one.inputs);
		const std::vector<Array> got = with.run(one.inputs);
		ASSERT_EQ(got.size(), wanted.size());
		for (size_t i = 0; i < got.size(); i++) {
			ASSERT_EQ(got[i].numbers.size(), wanted[i].numbers.size());
			EXPECT_EQ(shortfallByDefinition(folder, *model, one, i, got[i].numbers,
							wanted[i]),
				  "");
			if (one.classifies) {
				EXPECT_EQ(largest(got[i].numbers), largest(wanted[i].numbers));
			}
		}
	}
}

INSTANTIATE_TEST_SUITE_P(Models, Provider,
			 testing::ValuesIn(smallModels("onnx", mostMultiplications)),
			 [](const auto &info) { return info.param; });
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(Provider);

class ProviderLife : public testing::Test
{
protected:
	void SetUp() override
	{
		if (modelFolders("onnx").empty())
			GTEST_SKIP() << "no reference data: set NVDLA_REFERENCE_DATA";
		folder = readModelFolder("mnist_onnx_float");
	}

	Runtime runtime;
	ModelFolder folder;
};

TEST_F(ProviderLife, MissingDevice)
{
	const ProviderOptions missing = { { "device", "/dev/accel/accel99" } };
	testing::internal::CaptureStderr();
	Session with(runtime, folder.file, &missing);
	Session alone(runtime, folder.file, nullptr);
	EXPECT_EQ(with.run(folder.cases[0].inputs), alone.run(folder.cases[0].inputs));
	const std::string said = testing::internal::GetCapturedStderr();
	EXPECT_NE(said.find("nvdla: the CPU computes everything: "), std::string::npos) << said;
}

TEST_F(ProviderLife, WrongOption)
{
	const ProviderOptions wrong = { { "precision", "some" } };
	const Session with(runtime, folder.file, &wrong);

	EXPECT_NE(with.error().find("\"some\" is none of \"any\", \"integer\""), std::string::npos)
		<< with.error();
	const ProviderOptions misspelt = { { "precison", "any" } };
	const Session other(runtime, folder.file, &misspelt);
	EXPECT_NE(other.error().find("precison: is no option; there are device, precision"),
		  std::string::npos)
		<< other.error();
}

constexpr int graphAttribute = 5;
const std::vector<int64_t> branchShape = { 1, 8, 4, 4 };

/* The body of a branch: one operator of x, which is the outer graph's. */
void addBranch(onnx::Node *node, const std::string &name, const std::string &type)
{
	constexpr char graphField = 6 << 3 | 2;
	onnx::Graph graph;
	onnx::Node *inner = graph.add_node();
	onnx::ValueInfo *output = graph.add_output();
	onnx::Attribute *attribute = node->add_attribute();

	graph.set_name(name);
	inner->set_op_type(type);
	inner->add_input("x");
	inner->add_output(name + "_y");
	output->set_name(name + "_y");
	auto *tensor = output->mutable_type()->mutable_tensor_type();
	tensor->set_elem_type(onnx::FLOAT);
	for (const int64_t extent : branchShape)
		tensor->mutable_shape()->add_dim()->set_dim_value(extent);
	attribute->set_name(name);
	attribute->set_type(graphAttribute);
	/* A field that the compiler does not read, and passes on. */
	const std::string body = graph.SerializeAsString();
	ASSERT_LT(body.size(), 128u);
	std::string raw = attribute->SerializeAsString();
	raw += graphField;
	raw += static_cast<char>(body.size());
	ASSERT_TRUE(attribute->ParseFromString(raw + body));
}

/* ONNX Runtime asks for each of the graphs, and would give their partitions the same names. */
TEST(ProviderGraphs, BothBranchesOfAnIf)
{
	const Runtime runtime;

	for (const char *other : { "Relu", "Sigmoid" }) {
		SCOPED_TRACE(other);
		OnnxBuilder builder;
		builder.input("x", branchShape);
		builder.input("condition", {}, onnx::BOOL);
		builder.output("y");
		onnx::Node *node = builder.node("If", { "condition" }, "chosen");
		addBranch(node, "then_branch", "Relu");
		addBranch(node, "else_branch", other);
		builder.node("Relu", { "chosen" }, "y");
		Session with(runtime, builder.file(), &onDevice);
		Session alone(runtime, builder.file(), nullptr);
		ASSERT_EQ(with.error(), "");
		ASSERT_EQ(alone.error(), "");
		Array x{ "<f4", {} };
		for (int i = 0; i < 8 * 16; i++)
			x.numbers.push_back(i % 9 - 4);
		for (const double condition : { 0.0, 1.0 }) {
			const std::vector<Array> inputs = { x, { "|b1", { condition } } };
			const std::vector<Array> got = with.run(inputs), wanted = alone.run(inputs);
			ASSERT_EQ(got.size(), 1u);
			ASSERT_EQ(got[0].numbers.size(), wanted.at(0).numbers.size());
			for (size_t i = 0; i < got[0].numbers.size(); i++)
				EXPECT_NEAR(got[0].numbers[i], wanted[0].numbers[i], 0.01) << i;
		}
	}
}

/* Softmax stays with ONNX Runtime, so each ReLU is a partition. */
TEST(ProviderGraphs, NamesPartitionsBeyondTheLimit)
{
	const Runtime runtime;
	OnnxBuilder builder;
	std::string last = "x";

	builder.input("x", branchShape);
	for (int i = 0; i < 17; i++) {
		const std::string number = std::to_string(i);
		builder.node("Relu", { last }, "relu" + number);
		OnnxBuilder::setInteger(
			builder.node("Softmax", { "relu" + number }, "softmax" + number), "axis",
			1);
		last = "softmax" + number;
	}
	builder.output(last);
	testing::internal::CaptureStderr();
	const Session with(runtime, builder.file(), &onDevice);
	const std::string said = testing::internal::GetCapturedStderr();
	EXPECT_EQ(with.error(), "");
	EXPECT_NE(said.find("nvdla: takes 16 of 34 nodes in 16 partitions, leaves 18"),
		  std::string::npos)
		<< said;
	const std::string left = "nvdla: leaves 1 node from ";
	const size_t first = said.find(left);
	ASSERT_NE(first, std::string::npos) << said;
	EXPECT_EQ(said.find(left, first + 1), std::string::npos) << said;
	EXPECT_NE(said.find("to ONNX Runtime: there are larger partitions", first),
		  std::string::npos)
		<< said;
}

/* What the device had is computed by ONNX Runtime: all of the model's operators, and attributes. */
TEST(LostProvider, OnnxRuntimeGoesOn)
{
	if (modelFolders("onnx").empty())
		GTEST_SKIP() << "no reference data: set NVDLA_REFERENCE_DATA";
	const ProviderOptions none;
	const std::string gate = built(GATE_PROVIDER);
	Runtime runtime(gate.c_str());
	void *library = dlopen(gate.c_str(), RTLD_NOW);
	ASSERT_TRUE(library) << dlerror();
	auto *lose = reinterpret_cast<void (*)()>(dlsym(library, "loseDevice"));
	ASSERT_TRUE(lose);
	std::map<std::string, std::unique_ptr<Session>> sessions;

	for (const std::string name : { "mnist_onnx_float", "squeezenet_onnx_float" })
		sessions[name] =
			std::make_unique<Session>(runtime, readModelFolder(name).file, &none);
	lose();
	for (auto &[name, with] : sessions) {
		const ModelFolder folder = readModelFolder(name);
		Session alone(runtime, folder.file, nullptr);
		testing::internal::CaptureStderr();
		for (int i = 0; i < 2; i++) {
			const std::vector<Array> wanted = alone.run(folder.cases[0].inputs);
			const std::vector<Array> got = with->run(folder.cases[0].inputs);
			ASSERT_EQ(got.size(), 1u);
			ASSERT_EQ(wanted.size(), 1u);
			/* Sums in another order. */
			EXPECT_LE(difference(got[0].numbers, wanted[0].numbers, 0).largest, 1e-4);
		}
		const std::string said = testing::internal::GetCapturedStderr();
		const std::string warning = "the device is used no more, the CPU goes on";
		EXPECT_NE(said.find(warning), std::string::npos) << said;
		EXPECT_EQ(said.find(warning), said.rfind(warning)) << said;
	}
	sessions.clear();
	dlclose(library);
}

} /* namespace */

} /* namespace nvdla::test */
