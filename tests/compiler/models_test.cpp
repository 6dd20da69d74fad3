/* SPDX-License-Identifier: MIT */
/*
 * Whole models of the reference data: the plain reference against TensorFlow Lite's results, and
 * the core against both.
 */
#include <algorithm>
#include <cmath>
#include <iostream>
#include <map>
#include <set>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "core_run.h"
#include "model_folder.h"

namespace nvdla::test
{

namespace
{

/*
 * Networks that fall short of what the others hold, and why. Only their first classes are tested.
 */
const std::map<std::string, std::string> fallsShort = {
	{ "resnet8_int8", "averages round ties away from the zero point, the kernels away from 0" },
	{ "kws_dscnn_hybrid", "its kernels quantize activations on the way; the core computes "
			      "with what is written" },
	{ "squeezenet_onnx_int8_qdq",
	  "a step of an input of its softmax is 12 steps of the output" },
};

std::vector<Numbers> numbersOf(const std::vector<Array> &arrays)
{
	std::vector<Numbers> numbers;

	for (const Array &array : arrays)
		numbers.push_back(array.numbers);
	return numbers;
}

size_t largest(const Numbers &numbers)
{
	return static_cast<size_t>(std::max_element(numbers.begin(), numbers.end()) -
				   numbers.begin());
}

struct Difference {
	double largest = 0;
	double beyond = 0; /**< share of elements beyond what is allowed */
};

Difference difference(const Numbers &got, const Numbers &wanted, double allowed)
{
	Difference difference;

	for (size_t i = 0; i < wanted.size(); i++) {
		const double distance = std::fabs(got[i] - wanted[i]);
		/* Written so that a NaN counts. */
		if (!(distance <= allowed))
			difference.beyond += 1.0 / static_cast<double>(wanted.size());
		if (!(distance <= difference.largest))
			difference.largest = distance;
	}
	return difference;
}

class Models : public testing::TestWithParam<std::string>
{
};

/* Plain loops take their time: what has fewer multiplications, whatever the operators. */
class SmallModels : public Models
{
};

std::vector<std::string> smallModels()
{
	constexpr double most = 15e6;
	/* The plain reference does not quantize activations on the way, as its kernels do. */
	const std::string hybrid = "kws_dscnn_hybrid";
	std::vector<std::string> names;

	for (const std::string &name : modelFolders("tflite")) {
		if (name != hybrid && readModelFolder(name).multiplications <= most)
			names.push_back(name);
	}
	return names;
}

std::string testName(const testing::TestParamInfo<std::string> &info)
{
	std::string name = info.param;

	std::replace(name.begin(), name.end(), '.', '_');
	return name;
}

/* Of an output over all cases; some have one element. */
double rangeOf(const ModelFolder &folder, size_t output)
{
	double low = 0, high = 0;

	for (const ModelCase &known : folder.cases) {
		for (const double number : known.outputs[output].array.numbers) {
			low = std::min(low, number);
			high = std::max(high, number);
		}
	}
	return high - low;
}

/* What a step of an output's 8 bits is worth in the file's numbers; 0 of other types. */
double stepOf(const compiler::Model &model, size_t output)
{
	using compiler::ElementType;
	const compiler::Value *value = &model.values[model.outputs[output]];
	const compiler::Operator *writer = model.writer(model.outputs[output]);
	const bool real = isFloat(value->type);

	if (real && writer)
		value = &model.values[writer->inputs.front()];
	if (value->type != ElementType::Int8 && value->type != ElementType::UInt8)
		return 0;
	return real ? value->quantization.channel(0).scale : 1;
}

/* What an output breaks of what its kind of network has to hold, in words; nothing if it holds. */
std::string shortfall(const Numbers &got, const CaseTensor &output, bool classifies, double range,
		      double step)
{
	const Numbers &wanted = output.array.numbers;
	const bool real = output.array.type[1] == 'f';
	double most = range * 0.01;

	if (step > 0) {
		const double beyond = difference(got, wanted, 2.01 * step).beyond;
		if (beyond > 0.01)
			return fmt::format("{} of the elements are off by more than 2 steps",
					   beyond);
		most = std::max(8 * step, 3 * output.largestOfKernels);
	} else if (!real) {
		most = 65536 * 1e-3;
	}
	const double largestOff = difference(got, wanted, most).largest;
	/* Written so that a NaN counts. */
	if (!(largestOff <= most))
		return fmt::format("an element is off by {}, more than {}", largestOff, most);
	/* Unless the reference itself is within a step. */
	if (classifies && wanted[largest(got)] < wanted[largest(wanted)] - (step > 0 ? step
									    : real   ? most
										     : 1))
		return fmt::format("the first class is {} instead of {}", largest(got),
				   largest(wanted));
	return {};
}

TEST_P(Models, CoreAgreesWithReferenceKernels)
{
	const ModelFolder folder = readModelFolder(GetParam());
	auto model = importModel(folder);
	ASSERT_TRUE(model) << model.error().message();
	auto loadable = compile(*model);
	ASSERT_TRUE(loadable) << loadable.error().message();
	auto run = CoreRun::load(*model, *loadable);
	ASSERT_TRUE(run) << run.error().message();
	const auto known = fallsShort.find(folder.name);
	bool holds = true;
	for (const ModelCase &one : folder.cases) {
		SCOPED_TRACE(one.description);
		auto outputs = run->run(numbersOf(one.inputs));
		ASSERT_TRUE(outputs) << outputs.error().message();
		ASSERT_EQ(outputs->size(), one.outputs.size());
		for (size_t i = 0; i < outputs->size(); i++) {
			SCOPED_TRACE(i);
			const Numbers &got = (*outputs)[i], &wanted = one.outputs[i].array.numbers;
			ASSERT_EQ(got.size(), wanted.size());
			const std::string found = shortfall(got, one.outputs[i], one.classifies,
							    rangeOf(folder, i), stepOf(*model, i));
			holds = holds && found.empty();
			if (known == fallsShort.end())
				EXPECT_EQ(found, "");
			else
				EXPECT_EQ(largest(got), largest(wanted));
			if (known != fallsShort.end() && !found.empty())
				std::cout << "falls short: " << one.description << ": " << found
					  << " (" << known->second << ")\n";
		}
	}
	EXPECT_EQ(holds, known == fallsShort.end()) << "if it holds: take it off the list";
}

/* The tests of single operators rest on it. */
TEST_P(SmallModels, PlainReferenceIsThatOfTheKernels)
{
	const ModelFolder folder = readModelFolder(GetParam());
	auto model = importModel(folder);
	ASSERT_TRUE(model) << model.error().message();
	const ModelCase &known = folder.cases.front();
	const std::vector<Numbers> values = evaluate(*model, numbersOf(known.inputs));

	for (size_t i = 0; i < known.outputs.size(); i++) {
		const Array &wanted = known.outputs[i].array;
		const Numbers &got = values[model->outputs[i]];
		ASSERT_EQ(got.size(), wanted.numbers.size());
		const bool integers = wanted.type != "<f4";
		const double most = std::fabs(*std::max_element(
			wanted.numbers.begin(), wanted.numbers.end(),
			[](double a, double b) { return std::fabs(a) < std::fabs(b); }));
		EXPECT_LE(difference(got, wanted.numbers, 0).largest,
			  integers ? 1 : 1e-5 + 1e-4 * most);
	}
}

/* Each layer, given the same input: 99 % within a step, none beyond two (of uint8: one more). */
void expectLayers(const compiler::Model &model, const std::vector<Numbers> &values)
{
	for (const compiler::Operator &operation : model.operators) {
		SCOPED_TRACE(operation.type + " " + operation.name);
		const compiler::Value &output = model.values[operation.outputs.front()];
		if (isFloat(output.type) || isFloat(model.values[operation.inputs.front()].type))
			continue;
		const compiler::Model one = model.alone(operation);
		auto loadable = compile(one);
		ASSERT_TRUE(loadable) << loadable.error().message();
		auto run = CoreRun::load(one, *loadable);
		ASSERT_TRUE(run) << run.error().message();
		std::vector<Numbers> inputs;
		std::set<compiler::ValueId> seen;
		for (const compiler::ValueId id : operation.inputs) {
			if (!model.values[id].isConstant && seen.insert(id).second)
				inputs.push_back(values[id]);
		}
		auto outputs = run->run(inputs);
		ASSERT_TRUE(outputs) << outputs.error().message();
		const Numbers &wanted = values[operation.outputs.front()];
		const bool wide = output.type == compiler::ElementType::Int16;
		const double more = output.type == compiler::ElementType::UInt8 ? 1 : 0;
		const Difference found = difference(outputs->front(), wanted, 1 + more);
		if (wide) {
			EXPECT_LE(found.largest, 65536 * 1e-3);
			continue;
		}
		EXPECT_LE(found.beyond, 0.01);
		EXPECT_LE(found.largest, 2 + more);
	}
}

TEST_P(SmallModels, LayersAreWithinAStep)
{
	const ModelFolder folder = readModelFolder(GetParam());
	auto model = importModel(folder);
	ASSERT_TRUE(model) << model.error().message();
	expectLayers(*model, evaluate(*model, numbersOf(folder.cases.front().inputs)));
}

INSTANTIATE_TEST_SUITE_P(Tflite, Models, testing::ValuesIn(modelFolders("tflite")), testName);
INSTANTIATE_TEST_SUITE_P(Onnx, Models, testing::ValuesIn(modelFolders("onnx")), testName);
INSTANTIATE_TEST_SUITE_P(Tflite, SmallModels, testing::ValuesIn(smallModels()), testName);
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(SmallModels);
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(Models);

} /* namespace */

} /* namespace nvdla::test */
