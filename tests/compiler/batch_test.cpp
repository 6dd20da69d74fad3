/* SPDX-License-Identifier: MIT */
/*
 * Models with a batch: each sample gets what a model of one sample makes of it.
 */
#include <algorithm>
#include <cmath>
#include <functional>
#include <random>
#include <span>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "compiler/compile.h"
#include "core_run.h"
#include "onnx_on_core.h"

namespace nvdla::test
{

namespace
{

using namespace compiler;

constexpr uint32_t tall = 8, wide = 6, deep = 5, classes = 7;

/* Constants are the same for all batches. */
class BatchModel
{
public:
	BatchModel(ElementType type, uint32_t batch) : type_(type), batch_(batch)
	{
		x = tensor("x", { batch, tall, wide, deep });
		model.inputs = { x };
	}

	ValueId tensor(const std::string &name, const Extents &shape)
	{
		Value value;
		value.name = name;
		value.type = type_;
		value.shape = shape;
		if (type_ == ElementType::Int8)
			value.quantization = Quantization{ 1.0 / 20, 3 };
		return model.add(std::move(value));
	}
	ValueId kernels(const Extents &shape)
	{
		Value value;
		std::vector<std::byte> elements;
		std::vector<double> real;
		value.shape = shape;
		value.type = ElementType::Int8;
		value.isConstant = true;
		value.quantization = Quantization{ 1.0 / 200, 0 };
		for (uint64_t i = 0; i < elementCount(shape); i++) {
			const int64_t integer = between(-127, 127);
			elements.push_back(static_cast<std::byte>(integer));
			real.push_back(static_cast<double>(integer) / 200);
		}
		value.data = std::move(elements);
		if (isFloat(type_))
			value = floatConstant(real, shape);
		value.name = "kernels";
		return model.add(std::move(value));
	}
	ValueId add(Kind kind, std::vector<ValueId> inputs, const Extents &shape)
	{
		const std::string name = fmt::format("y{}", model.operators.size());
		const ValueId made = tensor(name, shape);
		model.operators.push_back(
			{ name, "any", std::move(kind), std::move(inputs), { made } });
		model.outputs = { made };
		return made;
	}
	ValueId convolution(ValueId from, uint32_t count, uint32_t taps)
	{
		const Extents in = model.values[from].shape;
		const uint32_t border = taps / 2;
		return add(Convolution{ .padding = { border, border, border, border },
					.activation = { 0, INFINITY } },
			   { from, kernels({ count, in[3], taps, taps }) },
			   { in[0], in[1], in[2], count });
	}
	/* Numbers for all samples. */
	Numbers numbers(uint32_t samples)
	{
		Numbers all(size_t{ samples } * tall * wide * deep);
		for (double &number : all)
			number = isFloat(type_) ? static_cast<double>(between(-512, 512)) / 128
						: static_cast<double>(between(-128, 127));
		return all;
	}
	uint32_t batch() const { return batch_; }

	Model model;
	ValueId x;

private:
	int64_t between(int64_t low, int64_t high)
	{
		return std::uniform_int_distribution<int64_t>(low, high)(random_);
	}

	ElementType type_;
	uint32_t batch_;
	std::mt19937 random_{ 1 };
};

using Build = void (*)(BatchModel &);

void pictures(BatchModel &made)
{
	const ValueId first = made.convolution(made.x, 20, 3);
	made.add(Pool{ .method = Pool::Method::Max, .kernel = { 2, 2 }, .stride = { 2, 2 } },
		 { first }, { made.batch(), tall / 2, wide / 2, 20 });
}

/* Parts that begin within atoms, and what reads two batches. */
void branches(BatchModel &made)
{
	const ValueId first = made.convolution(made.x, 20, 3);
	const ValueId second = made.convolution(made.x, 13, 1);
	const ValueId all = made.add(Concatenation{ 3, {} }, { first, second },
				     { made.batch(), tall, wide, 33 });
	const ValueId other = made.convolution(all, 33, 1);
	made.add(Elementwise{}, { all, other }, { made.batch(), tall, wide, 33 });
	made.model.outputs.push_back(first);
}

/* Rows that are flattened pictures; the products of all samples are one operation. */
void classifier(BatchModel &made)
{
	const ValueId first = made.convolution(made.x, 4, 3);
	const uint32_t elements = tall * wide * 4;
	const ValueId flat = made.add(Reshape{}, { first }, { made.batch(), elements });
	const ValueId hidden =
		made.add(FullyConnected{ { 0, INFINITY } },
			 { flat, made.kernels({ 40, elements }) }, { made.batch(), 40 });
	const ValueId sums = made.add(FullyConnected{}, { hidden, made.kernels({ classes, 40 }) },
				      { made.batch(), classes });
	made.add(Softmax{}, { sums }, { made.batch(), classes });
	made.model.outputs.push_back(sums);
}

void averages(BatchModel &made)
{
	const ValueId first = made.convolution(made.x, 40, 3);
	const ValueId average = made.add(wholeAverage({ 1, tall, wide, 40 }), { first },
					 { made.batch(), 1, 1, 40 });
	const ValueId row = made.add(Reshape{}, { average }, { made.batch(), 40 });
	made.add(FullyConnected{}, { row, made.kernels({ classes, 40 }) },
		 { made.batch(), classes });
}

void turned(BatchModel &made)
{
	const ValueId other =
		made.add(Transpose{ { made.batch(), tall, wide, deep }, { 0, 2, 1, 3 } },
			 { made.x }, { made.batch(), wide, tall, deep });
	made.convolution(other, 9, 3);
}

/* A weight for each element of a picture. */
void attention(BatchModel &made)
{
	const ValueId weight = made.convolution(made.x, 1, 3);
	made.add(Elementwise{ Elementwise::Function::Multiply }, { made.x, weight },
		 { made.batch(), tall, wide, deep });
}

/* Channels become blocks of the picture. */
void blocks(BatchModel &made)
{
	const ValueId first = made.convolution(made.x, 8, 1);
	made.add(ofSamples(made.batch(), Transpose{ { tall, wide, 2, 2, 2 }, { 0, 2, 1, 3, 4 } }),
		 { first }, { made.batch(), 2 * tall, 2 * wide, 2 });
}

void larger(BatchModel &made)
{
	made.add(Enlarge{ Enlarge::Method::Nearest, { 2, 2 } }, { made.x },
		 { made.batch(), 2 * tall, 2 * wide, deep });
}

struct BatchCase {
	const char *what;
	Build build;
};

const BatchCase batchCases[] = {
	{ "pictures", pictures },   { "branches", branches }, { "classifier", classifier },
	{ "averages", averages },   { "turned", turned },     { "larger", larger },
	{ "attention", attention }, { "blocks", blocks },
};

Numbers part(const Numbers &all, size_t index, size_t count)
{
	const size_t size = all.size() / count;
	const auto begin = all.begin() + static_cast<ptrdiff_t>(index * size);

	return { begin, begin + static_cast<ptrdiff_t>(size) };
}

std::vector<Numbers> ofModel(const Model &model, const Numbers &input)
{
	auto run = CoreRun::of(model);
	if (!run) {
		ADD_FAILURE() << run.error().message();
		return {};
	}
	auto outputs = run->run({ input });
	EXPECT_TRUE(outputs) << outputs.error().message();
	return outputs ? *outputs : std::vector<Numbers>{};
}

void checkBatch(const BatchCase &one, ElementType type)
{
	constexpr uint32_t batch = 3;
	BatchModel all(type, batch), single(type, 1);
	one.build(all);
	one.build(single);
	const Numbers input = all.numbers(batch);
	const std::vector<Numbers> got = ofModel(all.model, input);
	ASSERT_EQ(got.size(), all.model.outputs.size());
	for (uint32_t i = 0; i < batch; i++) {
		const std::vector<Numbers> wanted = ofModel(single.model, part(input, i, batch));
		ASSERT_EQ(wanted.size(), got.size());
		for (size_t output = 0; output < got.size(); output++)
			EXPECT_EQ(part(got[output], i, batch), wanted[output])
				<< "sample " << i << ", output " << output;
	}
}

/* What the core makes of a model that is calibrated first. */
std::vector<Numbers> calibrated(const Model &model, const Calibration &calibration,
				const Numbers &input)
{
	auto compiled = compileInMemory(model, { calibration });
	if (!compiled) {
		ADD_FAILURE() << compiled.error().message();
		return {};
	}
	for (const LayerReport &layer : compiled->report.layers) {
		const bool isForBatch =
			layer.type == "(batch)" || layer.type.starts_with("(sample");
		EXPECT_TRUE(layer.error || isForBatch) << layer.type << " " << layer.name;
	}
	auto run = CoreRun::load(model, compiled->loadable);
	EXPECT_TRUE(run) << run.error().message();
	auto outputs = run ? run->run({ input }) : Result<std::vector<Numbers>>();
	EXPECT_TRUE(outputs) << outputs.error().message();
	return outputs ? *outputs : std::vector<Numbers>{};
}

/* Examples are single samples. */
void checkCalibrated(const BatchCase &one)
{
	constexpr uint32_t batch = 3;
	BatchModel all(ElementType::Float32, batch), single(ElementType::Float32, 1);
	one.build(all);
	one.build(single);
	const Numbers input = all.numbers(batch);
	Calibration calibration;
	for (uint32_t i = 0; i < batch; i++) {
		const Numbers sample = part(input, i, batch);
		calibration.samples.push_back({ { sample.begin(), sample.end() } });
	}
	const std::vector<Numbers> got = calibrated(all.model, calibration, input);
	ASSERT_EQ(got.size(), all.model.outputs.size());
	for (uint32_t i = 0; i < batch; i++) {
		const auto wanted = calibrated(single.model, calibration, part(input, i, batch));
		ASSERT_EQ(wanted.size(), got.size());
		for (size_t output = 0; output < got.size(); output++)
			EXPECT_EQ(part(got[output], i, batch), wanted[output])
				<< "sample " << i << ", output " << output;
	}
}

std::string refusalOf(const BatchModel &made)
{
	auto compiled = compileInMemory(made.model);

	return compiled ? "" : compiled.error().message();
}

} /* namespace */

TEST(Batch, EachSampleIsAsAlone)
{
	for (const ElementType type : { ElementType::Int8, ElementType::Float32 }) {
		for (const BatchCase &one : batchCases) {
			SCOPED_TRACE(fmt::format("{} {}", one.what, elementTypeName(type)));
			checkBatch(one, type);
		}
	}
}

TEST(Batch, IsCalibratedWithSingleSamples)
{
	for (const BatchCase &one : batchCases) {
		SCOPED_TRACE(one.what);
		checkCalibrated(one);
	}
}

TEST(Batch, TensorsHaveTheBatch)
{
	BatchModel made(ElementType::Float32, 3);
	classifier(made);
	const auto compiled = compileInMemory(made.model);
	ASSERT_TRUE(compiled) << compiled.error().message();
	const auto inputs = compiled->loadable.inputs(), outputs = compiled->loadable.outputs();
	ASSERT_TRUE(inputs && outputs);
	EXPECT_EQ(inputs->at(0).n, 3U);
	EXPECT_EQ(inputs->at(0).c, deep);
	EXPECT_EQ(outputs->at(0).n, 3U);
	EXPECT_EQ(outputs->at(0).c, classes);
	/* Three convolutions of pictures, and one for each of two matrices. */
	size_t convolutions = 0;
	for (const LayerReport &layer : compiled->report.layers)
		convolutions +=
			std::ranges::count_if(layer.operations, [](const std::string &name) {
				return name.find("convolution") != std::string::npos;
			});
	EXPECT_EQ(convolutions, 5U);
	/* Kernels are there once. */
	EXPECT_EQ(std::ranges::count_if(compiled->report.ranges,
					[](const AssembledRange &range) {
						return range.name.find("kernels") !=
						       std::string::npos;
					}),
		  3);
}

/* A constant may have numbers for each sample. */
TEST(Batch, ConstantsOfEachSample)
{
	BatchModel made(ElementType::Float32, 2);
	const ValueId first = made.convolution(made.x, 3, 1);
	const ValueId factors = made.model.add(floatConstant({ 1, 1, 1, 2, 2, 2 }, { 2, 1, 1, 3 }));
	made.add(Elementwise{ Elementwise::Function::Multiply }, { first, factors },
		 { 2, tall, wide, 3 });
	made.model.outputs.push_back(first);
	const auto got = ofModel(made.model, made.numbers(2));
	ASSERT_EQ(got.size(), 2U);
	for (size_t i = 0; i < got[0].size(); i++)
		EXPECT_EQ(got[0][i], got[1][i] * (i < got[0].size() / 2 ? 1 : 2));
}

TEST(Batch, SaysWhatIsNotSampleBySample)
{
	const auto refused = [](uint32_t batch, const std::function<void(BatchModel &)> &build) {
		BatchModel made(ElementType::Float32, batch);
		build(made);
		return refusalOf(made);
	};
	const auto has = [](const std::string &text, const char *part) {
		return text.find(part) != std::string::npos;
	};

	EXPECT_TRUE(has(refused(65, pictures), "has a batch of 65; up to 64 are possible"));
	EXPECT_TRUE(has(refused(4,
				[](BatchModel &made) {
					const ValueId y = made.convolution(made.x, 3, 1);
					made.add(Slice{ { 1, 0, 0, 0 }, { 1, 1, 1, 1 } }, { y },
						 { 2, tall, wide, 3 });
				}),
			"any 'y1': makes 2 x 8 x 6 x 3 of a batch of 4"));
	EXPECT_TRUE(has(refused(2,
				[](BatchModel &made) {
					const ValueId y = made.convolution(made.x, 3, 1);
					made.add(Transpose{ { 2, tall * wide, 3 }, { 1, 0, 2 } },
						 { y }, { tall * wide, 2, 1, 3 });
				}),
			"any 'y1'"));
	EXPECT_TRUE(has(refused(2,
				[](BatchModel &made) {
					const ValueId y = made.convolution(made.x, 3, 1);
					made.add(Pad{ { 0, 0, 0, 0 }, { 1, 0, 0, 0 } }, { y },
						 { 3, tall, wide, 3 });
				}),
			"any 'y1'"));
}

/* ONNX: a flattened batch of pictures meets weights in the file's order. */
TEST(Batch, FlattenedPictures)
{
	const auto file = [](int64_t batch) {
		OnnxBuilder builder;
		builder.input("x", { batch, 2, 2, 3 });
		std::vector<float> weights;
		for (int i = 0; i < 24; i++)
			weights.push_back(static_cast<float>(i % 7 - 3));
		builder.floats("k", { 2, 2, 1, 1 }, { 1, 0, 0, 1 });
		builder.node("Conv", { "x", "k" }, "c");
		builder.node("Flatten", { "c" }, "flat");
		builder.floats("w", { 12, 2 }, weights);
		builder.node("MatMul", { "flat", "w" }, "y");
		builder.output("y");
		return builder;
	};
	Numbers two = picture;
	for (const double number : picture)
		two.push_back(number / 2 + 1);
	const auto all = onCore(file(2), { two });
	const auto first = onCore(file(1), { part(two, 0, 2) });
	const auto second = onCore(file(1), { part(two, 1, 2) });
	ASSERT_EQ(all.size(), 1U);
	EXPECT_EQ(part(all[0], 0, 2), first.at(0));
	EXPECT_EQ(part(all[0], 1, 2), second.at(0));
}

} /* namespace nvdla::test */
