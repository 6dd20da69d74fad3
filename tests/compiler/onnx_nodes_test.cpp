/* SPDX-License-Identifier: MIT */
/*
 * ONNX's own tests of single operators and small models (Debian's libonnx-testdata): what can be
 * compiled has to give the results that are there.
 */
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <filesystem>
#include <iostream>
#include <map>
#include <set>
#include <utility>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <nvdla/compiler.h>
#include <nvdla/network.h>

#include "agreement.h"
#include "compiler/import/import.h"
#include "core_run.h"
#include "host_run.h"
#include "model_folder.h"
#include "onnx.pb.h"

namespace nvdla::test
{

namespace
{

namespace fs = std::filesystem;

constexpr const char *nodeTests = "/usr/share/libonnx-testdata/data";

std::string textOf(const fs::path &path)
{
	const std::vector<std::byte> bytes = readBytes(path);

	return { reinterpret_cast<const char *>(bytes.data()), bytes.size() };
}

std::optional<compiler::ElementType> elementTypeOf(const onnx::Tensor &tensor)
{
	using compiler::ElementType;
	const std::map<int32_t, ElementType> types = {
		{ onnx::FLOAT, ElementType::Float32 }, { onnx::FLOAT16, ElementType::Float16 },
		{ onnx::INT8, ElementType::Int8 },     { onnx::UINT8, ElementType::UInt8 },
		{ onnx::INT16, ElementType::Int16 },   { onnx::INT32, ElementType::Int32 },
		{ onnx::INT64, ElementType::Int64 },   { onnx::BOOL, ElementType::Bool },
	};
	const auto found = types.find(tensor.data_type());

	return found == types.end() ? std::nullopt : std::optional(found->second);
}

/* The files' elements are in raw_data. */
std::optional<Numbers> numbersOfTensor(const onnx::Tensor &tensor)
{
	const auto type = elementTypeOf(tensor);
	compiler::Value value;

	if (!type || !tensor.has_raw_data())
		return std::nullopt;
	const auto *bytes = reinterpret_cast<const std::byte *>(tensor.raw_data().data());
	value.type = *type;
	value.data.assign(bytes, bytes + tensor.raw_data().size());
	return rawNumbers(value);
}

std::vector<onnx::Tensor> tensorsOf(const fs::path &folder, const std::string &kind)
{
	std::vector<onnx::Tensor> tensors;

	for (size_t i = 0;; i++) {
		const fs::path path = folder / fmt::format("{}_{}.pb", kind, i);
		if (!fs::exists(path))
			return tensors;
		if (!tensors.emplace_back().ParseFromString(textOf(path)))
			return {};
	}
}

std::span<const std::byte> bytesOf(const std::string &text)
{
	return std::as_bytes(std::span(text));
}

/* One folder: a model with the inputs and outputs of a run. */
struct NodeTest {
	explicit NodeTest(const fs::path &path)
		: name(path.filename()), inputs(tensorsOf(path / "test_data_set_0", "input")),
		  outputs(tensorsOf(path / "test_data_set_0", "output"))
	{
		model.ParseFromString(textOf(path / "model.onnx"));
	}

	/* Kernels and the like are inputs here; models have them as constants. */
	NodeTest withConstants() const
	{
		NodeTest fixed = *this;
		onnx::Graph *graph = fixed.model.mutable_graph();
		for (size_t i = 1; i < inputs.size(); i++) {
			onnx::Tensor *constant = graph->add_initializer();
			*constant = inputs[i];
			constant->set_name(graph->input(static_cast<int>(i)).name());
		}
		while (graph->input_size() > 1)
			graph->mutable_input()->RemoveLast();
		fixed.inputs.resize(std::min<size_t>(inputs.size(), 1));
		return fixed;
	}

	std::string name;
	onnx::Model model;
	std::vector<onnx::Tensor> inputs;
	std::vector<onnx::Tensor> outputs;
};

/* How far an output may be off, and is; shares of the range for real numbers, else elements. */
struct Off {
	double allowed = 0;
	double largest = 0;
};

Off offBy(Numbers got, Numbers wanted, bool real)
{
	if (got.empty())
		return {};
	/* Roots of negative numbers are none, on both sides. */
	for (size_t i = 0; i < wanted.size(); i++)
		if (std::isnan(wanted[i]) && std::isnan(got[i]))
			got[i] = wanted[i] = 0;
	const auto [low, high] = std::minmax_element(wanted.begin(), wanted.end());
	const double range = std::max(*high, 0.0) - std::min(*low, 0.0);
	const double largest = difference(got, wanted, 0).largest;

	if (!real)
		return { 1, largest };
	return { 0.01, largest == 0 ? 0 : largest / range };
}

/*
 * Tests whose names begin so are off by as much, of their outputs' range: numbers of 10000 are
 * eight apart in FP16. Behind that the names say how the model is made: "_expanded", and of which
 * version's operators.
 */
const std::map<std::string, double> beyondHalves = {
	{ "test_softmax_large_number", 0.6117 },
	{ "test_logsoftmax_large_number", 0.5969 },
};

/*
 * The definition of QLinearMatMul saturates; ONNX 1.17's outputs of these wrap instead, -236 to 20.
 * What saturated here is not compared.
 */
const std::set<std::string> wrapping = {
	"test_qlinearmatmul_2D_int8_float16",
	"test_qlinearmatmul_2D_int8_float32",
};

Numbers withoutWrapped(Numbers wanted, const Numbers &got)
{
	for (size_t i = 0; i < wanted.size(); i++)
		if (got[i] == INT8_MIN || got[i] == INT8_MAX)
			wanted[i] = got[i];
	return wanted;
}

void checkOutputs(const std::vector<Numbers> &outputs, const NodeTest &test)
{
	ASSERT_EQ(outputs.size(), test.outputs.size());
	for (size_t i = 0; i < outputs.size(); i++) {
		auto wanted = numbersOfTensor(test.outputs[i]);
		ASSERT_TRUE(wanted);
		ASSERT_EQ(outputs[i].size(), wanted->size());
		if (wrapping.contains(test.name))
			wanted = withoutWrapped(std::move(*wanted), outputs[i]);
		const Off off =
			offBy(outputs[i], *wanted, isFloat(*elementTypeOf(test.outputs[i])));
		const auto beyond = std::find_if(
			beyondHalves.begin(), beyondHalves.end(),
			[&](const auto &known) { return test.name.starts_with(known.first); });
		if (beyond != beyondHalves.end())
			EXPECT_NEAR(off.largest, beyond->second, 0.02 * beyond->second);
		else
			EXPECT_TRUE(off.largest <= off.allowed) << off.largest; /* no NaN */
	}
}

std::vector<Numbers> inputsOf(const NodeTest &test)
{
	std::vector<Numbers> inputs;

	for (const onnx::Tensor &input : test.inputs)
		inputs.push_back(numbersOfTensor(input).value_or(Numbers{}));
	return inputs;
}

/* Outputs of the core and the CPU steps */
Result<std::vector<Numbers>> onCore(const NodeTest &test)
{
	return CoreRun::of(compiler::importOnnx(bytesOf(test.model.SerializeAsString())))
		.and_then([&](CoreRun &&run) { return run.run(inputsOf(test)); });
}

/* With operators that ONNX Runtime computes, where it is installed. */
Result<std::vector<Numbers>> withHost(const NodeTest &test)
{
	auto device = Device::open("embedded");
	auto compiled = compileModel(bytesOf(test.model.SerializeAsString()));

	if (!compiled)
		return forward(compiled);
	auto network = Network::load(*device, compiled->loadable);
	if (!network)
		return forward(network);
	return tryNetwork(*network, inputsOf(test));
}

/* ONNX Runtime answers these by itself otherwise than the standard's files do. */
const std::set<std::string> unlikeRuntime = {
	"test_maxunpool_export_with_output_shape",
	"test_resize_downsample_scales_cubic_align_corners",
	"test_resize_downsample_scales_linear_align_corners",
};

bool isRandom(const std::string &name)
{
	return name.find("bernoulli") != std::string::npos ||
	       name.find("training_dropout") != std::string::npos;
}

/* Whether tensors can have the types of inputs and outputs, and the outputs are known before. */
bool isComparable(const NodeTest &test)
{
	const auto isKnown = [](const onnx::Tensor &tensor) {
		return numbersOfTensor(tensor).has_value();
	};

	return !test.inputs.empty() && !test.outputs.empty() &&
	       std::ranges::all_of(test.inputs, isKnown) &&
	       std::ranges::all_of(test.outputs, isKnown) && !isRandom(test.name) &&
	       !unlikeRuntime.contains(test.name);
}

TEST(OnnxNodes, GiveTheirResults)
{
	if (!fs::exists(nodeTests))
		GTEST_SKIP() << nodeTests << " is missing: apt-get install libonnx-testdata";
	const size_t leastOnCore = 460, leastWithHost = 800;
	size_t ran = 0, ranWithHost = 0, all = 0;
	std::map<std::string, std::string> refused;

	for (const char *kind : { "node", "pytorch-converted", "pytorch-operator", "simple" }) {
		for (const auto &entry : fs::directory_iterator(fs::path(nodeTests) / kind)) {
			const NodeTest test(entry.path());
			all++;
			if (!isComparable(test)) {
				refused[test.name] =
					"is random, or has types that tensors cannot have";
				continue;
			}
			SCOPED_TRACE(test.name);
			const NodeTest fixed = test.withConstants();
			auto outputs = onCore(test).or_else([&](auto &&) { return onCore(fixed); });
			ran += outputs.has_value();
			if (!outputs) {
				outputs = withHost(test).or_else(
					[&](auto &&) { return withHost(fixed); });
				ranWithHost += outputs.has_value();
			}
			if (outputs)
				checkOutputs(*outputs, test);
			else
				refused[test.name] = outputs.error().message();
		}
	}
	for (const auto &[name, why] : refused)
		std::cout << name << ": " << why << '\n';
	std::cout << ran << " of " << all << " ran, and with ONNX Runtime " << ranWithHost << '\n';
	EXPECT_GE(ran + ranWithHost, ranWithHost > 0 ? leastWithHost : leastOnCore);
}

} /* namespace */

} /* namespace nvdla::test */
