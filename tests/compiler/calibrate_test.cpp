/* SPDX-License-Identifier: MIT */
/*
 * Integers of float models.
 */
#include <algorithm>
#include <cmath>
#include <iostream>
#include <limits>
#include <numeric>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "agreement.h"
#include "compiler/calibrate/quantize_model.h"
#include "compiler/compile.h"
#include "compiler/passes/passes.h"
#include "compiler/real/evaluator.h"
#include "core_run.h"
#include "model_folder.h"
#include "random_operator.h"

namespace nvdla::test
{

namespace
{

using compiler::Extents;
using compiler::Model;
using compiler::RealNumbers;
using compiler::Value;
using compiler::ValueId;

RealNumbers realOf(const Numbers &numbers)
{
	return { numbers.begin(), numbers.end() };
}

/* The evaluator that models are calibrated with, against plain loops. */
TEST(Evaluator, ComputesWhatOperatorsAreDefinedToMake)
{
	constexpr uint32_t seeds = 300;

	for (uint32_t seed = 1; seed <= seeds; seed++) {
		std::mt19937_64 random(seed);
		const RandomModel made = randomOperator(random, compiler::ElementType::Float32);
		std::vector<RealNumbers> inputs;
		for (const Numbers &input : made.inputs)
			inputs.push_back(realOf(input));
		const ValueId output = made.model.outputs.front();
		const RealNumbers got = compiler::evaluateAll(made.model, inputs)[output];
		const Numbers wanted = evaluate(made.model, made.inputs)[output];
		double most = 1;
		for (const double number : wanted)
			most = std::max(most, std::fabs(number));
		ASSERT_EQ(got.size(), wanted.size()) << "seed " << seed;
		EXPECT_LE(difference({ got.begin(), got.end() }, wanted, 0).largest, 1e-4 * most)
			<< "seed " << seed << ", kind "
			<< made.model.operators.front().kind.index();
	}
}

/* A fully connected layer is computed some kernels at a time. */
TEST(Evaluator, ComputesAllKernelsOfALargeLayer)
{
	Numbers kernels(150);
	std::iota(kernels.begin(), kernels.end(), -75);
	const Model model{ .values = { { .shape = { 1, 1 } },
				       compiler::floatConstant(kernels, { 150, 1 }),
				       { .shape = { 1, 150 } } } };
	const compiler::Operator layer{ "y", "", compiler::FullyConnected{}, { 0, 1 }, { 2 } };

	EXPECT_EQ(evaluate(model, layer, { { 1 }, {}, {} }), realOf(kernels));
}

/*
 * Two layers of 1 x 1 kernels whose numbers are integers times a step: the input's are -128 to 127
 * times 1/16, the kernels' largest 127 times 1/64 and 1/128, of the second layer 1/32.
 */
struct TwoLayers {
	static constexpr double inputStep = 1.0 / 16;
	static constexpr double kernelSteps[] = { 1.0 / 64, 1.0 / 128 };
	static constexpr double lastStep = 1.0 / 32;

	Model model;
	/* Each is a picture of one channel, 16 x 16. */
	std::vector<std::vector<std::vector<float>>> samples;

	TwoLayers()
	{
		const ValueId x = value("x", 1), y = value("y", 2), z = value("z", 1);
		const ValueId first = model.add(compiler::floatConstant(
			{ 127 * kernelSteps[0], -127 * kernelSteps[1] }, { 2, 1, 1, 1 }));
		const ValueId second = model.add(
			compiler::floatConstant({ 127 * lastStep, 64 * lastStep }, { 1, 2, 1, 1 }));
		model.inputs = { x };
		model.outputs = { z };
		model.operators.push_back(
			{ "first", "CONV_2D", compiler::Convolution{}, { x, first }, { y } });
		model.operators.push_back(
			{ "second", "CONV_2D", compiler::Convolution{}, { y, second }, { z } });
		std::vector<float> all;
		for (int i = -128; i < 128; i++)
			all.push_back(static_cast<float>(i * inputStep));
		samples = { { all } };
	}

	ValueId value(const std::string &name, uint32_t channels)
	{
		Value value;

		value.name = name;
		value.shape = { 1, 16, 16, channels };
		return model.add(value);
	}
};

double scaleOf(const Model &model, size_t id)
{
	return model.values[id].quantization.channel(0).scale;
}

TEST(Calibration, FindsTheScalesOfTwoLayers)
{
	TwoLayers known;
	Model model = known.model;
	auto errors = calibrate(model, { .samples = known.samples });

	ASSERT_TRUE(errors) << errors.error().message();
	EXPECT_DOUBLE_EQ(scaleOf(model, 0), TwoLayers::inputStep);
	EXPECT_EQ(model.values[0].quantization.channel(0).zeroPoint, 0);
	const Value &first = model.values[model.operators[0].inputs[1]];
	ASSERT_EQ(first.quantization.values().size(), 2U);
	EXPECT_DOUBLE_EQ(first.quantization.channel(0).scale, TwoLayers::kernelSteps[0]);
	EXPECT_DOUBLE_EQ(first.quantization.channel(1).scale, TwoLayers::kernelSteps[1]);
	EXPECT_EQ(rawNumbers(first), (Numbers{ 127, -127 }));
	const Value &second = model.values[model.operators[1].inputs[1]];
	EXPECT_DOUBLE_EQ(second.quantization.channel(0).scale, TwoLayers::lastStep);
	EXPECT_EQ(rawNumbers(second), (Numbers{ 127, 64 }));
	/* The first layer's results go from -128 to 127 times this, and fill 255 steps. */
	EXPECT_DOUBLE_EQ(scaleOf(model, 1), TwoLayers::inputStep * 127 * TwoLayers::kernelSteps[0]);
	EXPECT_GT(errors->at(1).ownRatio, 45);
}

/* An outlier sixteen times as large, once among ten thousand numbers. */
std::vector<std::vector<std::vector<float>>> withOutlier(const TwoLayers &known)
{
	auto samples = known.samples;

	for (int i = 0; i < 39; i++)
		samples.push_back(samples.front());
	samples.back()[0][200] *= 16;
	return samples;
}

TEST(Calibration, OutliersDecideUnlessTheyAreLeftOut)
{
	TwoLayers known;
	const auto samples = withOutlier(known);
	auto inputScale = [&](RangeMethod method) {
		Model model = known.model;
		auto errors = calibrate(model, { .samples = samples, .method = method });
		EXPECT_TRUE(errors) << errors.error().message();
		return scaleOf(model, 0);
	};

	EXPECT_GT(inputScale(RangeMethod::MinMax), 4 * TwoLayers::inputStep);
	/* A bin of the histogram is 1/128 of the right range. */
	EXPECT_NEAR(inputScale(RangeMethod::Percentile), TwoLayers::inputStep,
		    TwoLayers::inputStep * 0.02);
}

/* Of normal numbers those beyond three deviations matter little, and there is one of hundred. */
TEST(Calibration, EntropyLeavesOutWhatMattersLittle)
{
	TwoLayers known;
	std::mt19937_64 random(1);
	std::normal_distribution<float> normal;
	std::vector<float> numbers(256);
	Model model = known.model;
	Calibration calibration{ .method = RangeMethod::Entropy };

	for (int i = 0; i < 40; i++) {
		std::generate(numbers.begin(), numbers.end(), [&] { return normal(random); });
		calibration.samples.push_back({ numbers });
	}
	calibration.samples.back()[0][0] = 100;
	auto errors = calibrate(model, calibration);
	ASSERT_TRUE(errors) << errors.error().message();
	const double range = 255 * scaleOf(model, 0);
	EXPECT_GT(range, 6);
	EXPECT_LT(range, 30);
}

/* Each kernel element is rounded down by 0.4 steps; inputs are positive. */
TEST(Calibration, BiasesTakeWhatRoundingOfKernelsLoses)
{
	TwoLayers known;
	Model model = known.model;
	const double step = 1.0 / 64;
	double off[2];

	model.operators.resize(1);
	model.outputs = { 1 };
	model.operators[0].inputs[1] =
		model.add(compiler::floatConstant({ 127 * step, 100.4 * step }, { 1, 2, 1, 1 }));
	model.values[0].shape.back() = 2;
	model.values[1].shape.back() = 1;
	std::vector<float> inputs(512);
	std::mt19937_64 random(1);
	for (float &input : inputs)
		input = static_cast<float>(random() % 256) / 16;
	for (const bool corrects : { false, true }) {
		Model quantized = model;
		auto errors = calibrate(quantized,
					{ .samples = { { inputs } }, .correctBias = corrects });
		ASSERT_TRUE(errors) << errors.error().message();
		const RealNumbers wanted =
			compiler::evaluateAll(model, std::vector<RealNumbers>{ inputs })[1];
		const RealNumbers got =
			compiler::evaluateAll(quantized, std::vector<RealNumbers>{ inputs })[1];
		double sum = 0;
		for (size_t i = 0; i < got.size(); i++)
			sum += got[i] - wanted[i];
		off[corrects] = std::fabs(sum / static_cast<double>(got.size()));
	}
	/* 0.4 steps of 1/64, times 8 on average. */
	EXPECT_NEAR(off[false], 0.4 * step * 8, 0.01);
	EXPECT_LT(off[true], 0.01);
}

/* What the report says holds for the core: it computes what the evaluator does. */
TEST(Calibration, CoreComputesWhatWasMeasured)
{
	NVDLA_NEED_MODELS();
	const ModelFolder folder = readModelFolder("resnet8_float");
	auto imported = importModel(folder);
	ASSERT_TRUE(imported) << imported.error().message();
	Model model = *imported;
	ASSERT_TRUE(runPasses(model));
	Calibration calibration;
	for (const ModelCase &one : folder.cases)
		calibration.samples.push_back({ realOf(one.inputs[0].numbers) });
	auto errors = calibrate(model, calibration);
	ASSERT_TRUE(errors) << errors.error().message();

	for (const compiler::Operator &operation : model.operators) {
		SCOPED_TRACE(operation.type + " " + operation.name);
		const auto values = evaluateAll(model, calibration.samples.front());
		const ValueId output = operation.outputs.front();
		auto run = CoreRun::of(model.alone(operation));
		ASSERT_TRUE(run) << run.error().message();
		std::vector<Numbers> inputs;
		for (const ValueId id : operation.inputs) {
			if (model.values[id].isConstant)
				continue;
			Numbers steps;
			for (const float number : values[id])
				steps.push_back(std::round(
					model.values[id].quantization.channel(0).steps(number)));
			inputs.push_back(steps);
		}
		auto outputs = run->run(inputs);
		ASSERT_TRUE(outputs) << outputs.error().message();
		Numbers wanted;
		for (const float number : values[output])
			wanted.push_back(std::round(
				model.values[output].quantization.channel(0).steps(number)));
		const Difference found = difference(outputs->front(), wanted, 0);
		EXPECT_LE(found.largest, 1);
		EXPECT_LE(found.beyond, 0.01);
	}
}

/* The samples' ranges are -128 to 127 times the table's scales, so both ways agree. */
TEST(Calibration, TableGivesTheIntegersThatSamplesGive)
{
	TwoLayers known;
	const double second = TwoLayers::inputStep * 127 * TwoLayers::kernelSteps[0];
	Model bySamples = known.model, byTable = known.model;
	/* One kernel per layer: its results have no zero points either. */
	for (Model *model : { &bySamples, &byTable }) {
		model->values[1].shape.back() = 1;
		model->operators[0].inputs[1] = model->add(compiler::floatConstant(
			{ 127 * TwoLayers::kernelSteps[0] }, { 1, 1, 1, 1 }));
		model->operators[1].inputs[1] = model->add(
			compiler::floatConstant({ 127 * TwoLayers::lastStep }, { 1, 1, 1, 1 }));
	}
	const CalibrationTable table = { { "x", TwoLayers::inputStep },
					 { "y", second },
					 { "z", second * 127 * TwoLayers::lastStep },
					 { "another", 1 } };
	ASSERT_TRUE(calibrate(bySamples, { .samples = known.samples, .correctBias = false }));
	auto errors = calibrate(byTable, { .table = table });
	ASSERT_TRUE(errors) << errors.error().message();
	EXPECT_TRUE(errors->empty());
	for (size_t id = 0; id < 3; id++) {
		const std::string &name = byTable.values[id].name;
		EXPECT_DOUBLE_EQ(scaleOf(byTable, id), table.at(name)) << name;
		EXPECT_DOUBLE_EQ(scaleOf(bySamples, id), table.at(name)) << name;
		EXPECT_EQ(byTable.values[id].quantization.channel(0).zeroPoint, 0) << name;
	}
	for (size_t i = 0; i < 2; i++) {
		const Value &one = byTable.values[byTable.operators[i].inputs[1]];
		const Value &other = bySamples.values[bySamples.operators[i].inputs[1]];
		EXPECT_EQ(rawNumbers(one), rawNumbers(other));
	}
	/* Samples beside a table only give errors and correct biases. */
	Model both = known.model;
	errors = calibrate(both, { .samples = known.samples, .table = table });
	ASSERT_TRUE(errors) << errors.error().message();
	EXPECT_EQ(errors->size(), 2U);
	EXPECT_DOUBLE_EQ(scaleOf(both, 1), second);
}

/* A reshaped tensor has the range of its source, and a sigmoid one of its own. Every other tensor
 * needs a row of the table. */
TEST(Calibration, TableHasARowForWhatHasNoRangeOfItsOwn)
{
	TwoLayers known;
	Model model = known.model;
	const CalibrationTable table = { { "x", 0.5 }, { "z", 0.25 } };

	model.values[1].shape.back() = 1;
	model.operators[0] = { "flat", "RESHAPE", compiler::Reshape{}, { 0 }, { 1 } };
	model.operators[1] = { "limits",
			       "LOGISTIC",
			       compiler::Unary{ compiler::Unary::Function::Logistic },
			       { 1 },
			       { 2 } };
	for (const bool hasRow : { false, true }) {
		Model quantized = model;
		CalibrationTable rows = table;
		if (!hasRow)
			rows.erase("z");
		auto errors = calibrate(quantized, { .table = rows });
		ASSERT_TRUE(errors) << errors.error().message();
		EXPECT_DOUBLE_EQ(scaleOf(quantized, 1), 0.5);
		EXPECT_DOUBLE_EQ(scaleOf(quantized, 2), hasRow ? 0.25 : 255.0 / 256 / 127);
	}
	for (const char *missing : { "x", "y", "z" }) {
		CalibrationTable rows = { { "x", 1 }, { "y", 1 }, { "z", 1 } };
		Model incomplete = known.model;
		rows.erase(missing);
		auto errors = calibrate(incomplete, { .table = rows });
		ASSERT_FALSE(errors);
		EXPECT_NE(errors.error().message().find(fmt::format("'{}': has no row", missing)),
			  std::string::npos)
			<< errors.error().message();
	}
}

TEST(Calibration, RefusesWhatIsNoCalibration)
{
	TwoLayers known;
	auto refusal = [&](const Calibration &calibration) {
		Model model = known.model;
		auto errors = checkCalibration(calibration).and_then([&] {
			return calibrate(model, calibration);
		});
		return errors ? std::string() : errors.error().message();
	};
	auto spoilt = known.samples;
	spoilt[0][0][7] = std::numeric_limits<float>::quiet_NaN();
	auto large = known.samples;
	large[0][0][7] = 1e38f;
	auto few = known.samples;
	few[0][0].pop_back();
	const struct {
		Calibration calibration;
		const char *words;
	} cases[] = {
		{ {}, "there are none" },
		{ { .samples = { {} } }, "has 0 inputs, the model 1" },
		{ { .samples = few },
		  "has 255 numbers, the input 'x' of 1 x 16 x 16 x 1 needs 256" },
		{ { .samples = spoilt }, "has NaN or infinite numbers for the input 'x'" },
		{ { .samples = large }, "becomes NaN or infinite" },
		{ { .samples = known.samples, .type = DataType::Half }, "int8 and int16" },
		{ { .samples = known.samples, .percentile = 20 }, "is 20; 50 to 100" },
	};
	for (const auto &one : cases)
		EXPECT_NE(refusal(one.calibration).find(one.words), std::string::npos)
			<< refusal(one.calibration);
	const Model quantized = [&] {
		Model model = known.model;
		EXPECT_TRUE(calibrate(model, { .samples = known.samples }));
		return model;
	}();
	Model again = quantized;
	auto errors = calibrate(again, { .samples = known.samples });
	ASSERT_FALSE(errors);
	EXPECT_NE(errors.error().message().find("'x': is int8 already"), std::string::npos)
		<< errors.error().message();
}

/* How often the class stays the same; of networks without classes how large the difference is. */
struct Kept {
	size_t right = 0;
	size_t all = 0;
	double worst = 0; /* difference, as a share of the output's range */
};

Kept runCalibrated(const std::string &name, const Calibration &options)
{
	const ModelFolder folder = readModelFolder(name);
	auto imported = importModel(folder);
	Calibration calibration = options;
	Kept kept;

	EXPECT_TRUE(imported);
	for (const ModelCase &one : folder.cases) {
		std::vector<std::vector<float>> inputs;
		for (const Array &input : one.inputs)
			inputs.push_back(realOf(input.numbers));
		calibration.samples.push_back(std::move(inputs));
	}
	auto compiled = compiler::compileInMemory(*imported, { calibration });
	EXPECT_TRUE(compiled) << compiled.error().message();
	if (!compiled)
		return kept;
	auto run = CoreRun::load(*imported, compiled->loadable);
	EXPECT_TRUE(run) << run.error().message();
	for (const ModelCase &one : folder.cases) {
		std::vector<Numbers> inputs;
		for (const Array &input : one.inputs)
			inputs.push_back(input.numbers);
		auto outputs = run->run(inputs);
		EXPECT_TRUE(outputs) << outputs.error().message();
		for (size_t i = 0; outputs && i < outputs->size(); i++) {
			const Numbers &wanted = one.outputs[i].array.numbers;
			const double off = difference((*outputs)[i], wanted, 0).largest;
			kept.worst = std::max(kept.worst, off / rangeOf(folder, i));
			if (!one.classifies)
				continue;
			kept.all++;
			kept.right += largest((*outputs)[i]) == largest(wanted);
		}
	}
	std::cout << fmt::format("{}: {} of {} classes, off by {:.4f} of the range\n", name,
				 kept.right, kept.all, kept.worst);
	return kept;
}

/* At least 95 % of the classes of all inputs together. */
void expectClasses(const std::vector<std::string> &names, const Calibration &calibration)
{
	size_t right = 0, all = 0;

	for (const std::string &name : names) {
		const Kept kept = runCalibrated(name, calibration);
		right += kept.right;
		all += kept.all;
	}
	EXPECT_GE(static_cast<double>(right), 0.95 * static_cast<double>(all));
	EXPECT_GT(all, 0U);
}

const std::vector<std::string> smallClassifiers = { "kws_dscnn_float", "mnist_onnx_float",
						    "resnet8_float", "vww_96_float" };

TEST(Calibration, Int8KeepsTheClassesOfFloatModels)
{
	NVDLA_NEED_MODELS();
	std::vector<std::string> names = smallClassifiers;

	names.push_back("squeezenet_onnx_float");
	expectClasses(names, {});
}

TEST(Calibration, RangesWithoutWhatIsRareKeepTheClasses)
{
	NVDLA_NEED_MODELS();
	expectClasses(smallClassifiers, { .method = RangeMethod::Percentile });
	expectClasses(smallClassifiers, { .method = RangeMethod::Entropy });
}

TEST(Calibration, Int16IsNearTheFloatModel)
{
	NVDLA_NEED_MODELS();
	std::vector<std::string> names = smallClassifiers;

	names.insert(names.end(), { "ad_autoencoder_float", "face_detection_short_range_float",
				    "hello_world_float" });
	for (const std::string &name : names)
		EXPECT_LE(runCalibrated(name, { .type = DataType::Int16 }).worst, 0.01) << name;
}

} /* namespace */

} /* namespace nvdla::test */
