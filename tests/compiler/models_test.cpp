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

#include "agreement.h"
#include "compiler/passes/passes.h"
#include "core_run.h"
#include "definition.h"
#include "model_folder.h"

namespace nvdla::test
{

namespace
{

class Models : public testing::TestWithParam<std::string>
{
};

class SmallModels : public Models
{
};

class Layers : public Models
{
};

class LayersOfOthers : public testing::TestWithParam<std::tuple<std::string, std::string>>
{
};

/* Plain loops take their time: models with fewer multiplications, whatever the operators. */
std::vector<std::string> modelsForLoops()
{
	return smallModels("tflite", 15e6);
}

/* Those with every tensor, and small ones. */
std::vector<std::string> modelsWithLayers()
{
	std::vector<std::string> names = modelsForLoops();

	for (const char *format : { "tflite", "onnx" }) {
		for (const std::string &name : modelFolders(format)) {
			if (std::find(names.begin(), names.end(), name) == names.end() &&
			    hasTensors(name))
				names.push_back(name);
		}
	}
	return names;
}

std::string testName(const testing::TestParamInfo<std::string> &info)
{
	std::string name = info.param;

	std::replace(name.begin(), name.end(), '.', '_');
	return name;
}

/* Against the file's results; where these are off, against what the operators are defined to be. */
TEST_P(Models, CoreAgreesWithReferenceKernels)
{
	const ModelFolder folder = readModelFolder(GetParam());
	auto model = importModel(folder);
	ASSERT_TRUE(model) << model.error().message();
	auto loadable = compile(*model);
	ASSERT_TRUE(loadable) << loadable.error().message();
	auto run = CoreRun::load(*model, *loadable);
	ASSERT_TRUE(run) << run.error().message();
	for (const ModelCase &one : folder.cases) {
		SCOPED_TRACE(one.description);
		auto outputs = run->run(numbersOf(one.inputs));
		ASSERT_TRUE(outputs) << outputs.error().message();
		ASSERT_EQ(outputs->size(), one.outputs.size());
		for (size_t i = 0; i < outputs->size(); i++) {
			SCOPED_TRACE(i);
			const Numbers &got = (*outputs)[i], &wanted = one.outputs[i].array.numbers;
			const double range = rangeOf(folder, i), step = stepOf(*model, i);
			ASSERT_EQ(got.size(), wanted.size());
			EXPECT_EQ(shortfallByDefinition(folder, *model, one, i, got,
							one.outputs[i].array),
				  "");
			if (one.classifies &&
			    !shortfall(got, one.outputs[i], true, range, step).empty()) {
				EXPECT_EQ(largest(got), largest(wanted));
			}
		}
	}
}

/* The tests of single operators rest on it. */
TEST_P(SmallModels, PlainReferenceIsThatOfTheKernels)
{
	const ModelFolder folder = readModelFolder(GetParam());
	auto model = importModel(folder);
	ASSERT_TRUE(model) << model.error().message();
	const ModelCase &known = folder.cases.front();
	const std::vector<Numbers> values =
		evaluate(*model, numbersOf(known.inputs), Hybrid::Quantized);

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

/*
 * What the reference kernels have in each value, as the model has it after the passes; nothing of
 * constants and of values that the file with tensors does not have.
 */
std::vector<Numbers> valuesOf(const ModelFolder &folder, const compiler::Model &model,
			      const compiler::Model &imported)
{
	constexpr double unsignedOffset = 128;
	const std::map<std::string, Array> tensors = readTensors(folder.name);
	std::vector<Numbers> values =
		tensors.empty() ? evaluate(imported, numbersOf(folder.cases[0].inputs))
				: std::vector<Numbers>{};
	values.resize(model.values.size());

	for (size_t i = 0; i < imported.inputs.size() && !tensors.empty(); i++) {
		const compiler::ValueId id = imported.inputs[i];
		const Numbers &input = folder.cases[0].inputs[i].numbers;
		values[id] = folder.format == "tflite"
				     ? input
				     : channelsLast(input, model.values[id].shape);
	}
	for (compiler::ValueId id = 0; id < model.values.size(); id++) {
		const std::string key =
			folder.format == "tflite" ? fmt::format("t{}", id) : model.values[id].name;
		const auto found = tensors.find(key);
		/* Flattened tensors of ONNX have another order here. */
		const bool alike = folder.format == "tflite" || model.values[id].shape.size() == 4;
		if (found != tensors.end() && alike)
			values[id] = folder.format == "tflite"
					     ? found->second.numbers
					     : channelsLast(found->second.numbers,
							    model.values[id].shape);
		if (id < imported.values.size() &&
		    imported.values[id].type == compiler::ElementType::UInt8 &&
		    model.values[id].type == compiler::ElementType::Int8) {
			for (double &number : values[id])
				number -= unsignedOffset;
		}
	}
	return values;
}

/* Nothing; or what a layer breaks, in words. */
std::string layerShortfall(const Numbers &got, const Numbers &wanted, compiler::ElementType type,
			   double more)
{
	using compiler::ElementType;
	const auto [low, high] = std::minmax_element(wanted.begin(), wanted.end());
	const double range = std::max(*high, 0.0) - std::min(*low, 0.0);
	const double allowed = isFloat(type)		    ? 0.01 * range
			       : type == ElementType::Int16 ? 65536 * 1e-3
							    : 1 + more;
	const Difference found = difference(got, wanted, allowed);
	const bool wide = isFloat(type) || type == ElementType::Int16;

	if (wide ? found.beyond > 0 : found.beyond > 0.01 || !(found.largest <= 2 + more))
		return fmt::format("{:.2f} % of the elements are off by more than {}, one by {}",
				   100 * found.beyond, allowed, found.largest);
	return {};
}

std::vector<std::string> integerModels()
{
	std::vector<std::string> names = modelsWithLayers();

	std::erase_if(names, [](const std::string &name) {
		return name.find("int8") == std::string::npos || name.ends_with("uint8") ||
		       name.ends_with("hybrid");
	});
	return names;
}

/* Elements in which a layer on a core is not what it is on nv_full. */
struct Deviation {
	size_t elements = 0;
	size_t different = 0;
};

void countDifferent(const compiler::Model &one, const std::vector<Numbers> &inputs,
		    const Numbers &got, Deviation &deviation)
{
	auto run = CoreRun::of(one);
	ASSERT_TRUE(run) << run.error().message();
	auto usual = run->run(inputs);
	ASSERT_TRUE(usual) << usual.error().message();
	for (size_t i = 0; i < got.size(); i++)
		deviation.different += got[i] != usual->front()[i];
	deviation.elements += got.size();
}

/* Each layer, given the same input: 99 % within a step, none beyond two (of uint8: one more). */
void checkLayers(const std::string &name, const CoreGeometry &core, Deviation *deviation)
{
	const ModelFolder folder = readModelFolder(name);
	auto imported = importModel(folder);
	ASSERT_TRUE(imported) << imported.error().message();
	compiler::Model model = *imported;
	ASSERT_TRUE(runPasses(model, core));
	const std::vector<Numbers> values = valuesOf(folder, model, *imported);
	const bool uint8 = folder.name.ends_with("uint8");
	size_t layers = 0;

	for (const compiler::Operator &operation : model.operators) {
		SCOPED_TRACE(operation.type + " " + operation.name);
		const Numbers &wanted = values[operation.outputs.front()];
		std::vector<Numbers> inputs;
		bool known = !wanted.empty();
		std::set<compiler::ValueId> seen;
		for (const compiler::ValueId id : operation.inputs) {
			if (model.values[id].isConstant || !seen.insert(id).second)
				continue;
			known = known && !values[id].empty();
			inputs.push_back(values[id]);
		}
		if (!known)
			continue;
		layers++;
		const compiler::Model one = model.alone(operation);
		auto loadable = compile(one, core);
		ASSERT_TRUE(loadable) << loadable.error().message();
		auto run = CoreRun::load(one, *loadable);
		ASSERT_TRUE(run) << run.error().message();
		auto outputs = run->run(inputs);
		ASSERT_TRUE(outputs) << outputs.error().message();
		ASSERT_EQ(outputs->front().size(), wanted.size());
		EXPECT_EQ(layerShortfall(outputs->front(), wanted,
					 model.values[operation.outputs.front()].type, uint8),
			  "");
		if (deviation)
			countDifferent(one, inputs, outputs->front(), *deviation);
	}
	EXPECT_GT(layers, 0U);
	std::cout << layers << " of " << model.operators.size() << " layers\n";
}

TEST_P(Layers, AreWithinAStep)
{
	checkLayers(GetParam(), nvFull, nullptr);
}

TEST_P(LayersOfOthers, AreWithinAStepAndThoseOfTheUsualCore)
{
	const CoreGeometry core = findCoreVariant(std::get<1>(GetParam())).value();
	Deviation deviation;

	checkLayers(std::get<0>(GetParam()), core, &deviation);
	std::cout << deviation.different << " of " << deviation.elements << " elements differ\n";
	/* Without unit Y, what may be negative is rounded once, and TFLite's kernels round twice.
	 */
	if (core.has(Capability::SdpY))
		EXPECT_EQ(deviation.different, 0U);
	else
		EXPECT_LE(deviation.different, deviation.elements / 1000);
}

INSTANTIATE_TEST_SUITE_P(Tflite, Models, testing::ValuesIn(modelFolders("tflite")), testName);
INSTANTIATE_TEST_SUITE_P(Onnx, Models, testing::ValuesIn(modelFolders("onnx")), testName);
INSTANTIATE_TEST_SUITE_P(Tflite, SmallModels, testing::ValuesIn(modelsForLoops()), testName);
INSTANTIATE_TEST_SUITE_P(All, Layers, testing::ValuesIn(modelsWithLayers()), testName);
INSTANTIATE_TEST_SUITE_P(Integers, LayersOfOthers,
			 testing::Combine(testing::ValuesIn(integerModels()),
					  testing::Values("nv_small", "nv_large")),
			 [](const auto &info) {
				 return std::get<0>(info.param) + "_" + std::get<1>(info.param);
			 });
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(LayersOfOthers);
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(SmallModels);
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(Layers);
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(Models);

} /* namespace */

} /* namespace nvdla::test */
