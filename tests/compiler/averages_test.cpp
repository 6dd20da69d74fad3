/* SPDX-License-Identifier: MIT */
/*
 * Averages and sums of whole pictures, whose atoms of channels are lines to the core.
 */
#include <algorithm>
#include <cmath>
#include <random>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "compiler/compile.h"
#include "core_run.h"

namespace nvdla::test
{

namespace
{

using namespace compiler;

constexpr Quantization averagedX{ 1.0 / 50, 7 };

struct AveragedCase {
	ElementType type;
	uint32_t c;
	uint32_t h;
	uint32_t w;
	Kind kind;
	size_t layers;			       /* convolutions on the core */
	Quantization result = { 1.0 / 40, 4 }; /* of integers */
	uint32_t batch = 1;

	std::string text() const
	{
		return fmt::format("{}, {} x {} x {} x {}", elementTypeName(type), batch, c, h, w);
	}
};

Pool wholePicture(Pool::Method method, uint32_t h, uint32_t w, Clamp activation = {})
{
	return {
		.method = method, .kernel = { w, h }, .stride = { w, h }, .activation = activation
	};
}

/* Of real numbers, as ONNX and MEAN have it. */
Pool mean(uint32_t h, uint32_t w)
{
	return wholeAverage({ 1, h, w, 1 });
}

ValueId addAveraged(Model &model, const AveragedCase &one, const Extents &shape,
		    const Quantization &quantization)
{
	Value value;

	value.name = model.values.empty() ? "x" : "y";
	value.type = one.type;
	value.shape = shape;
	value.batch = shape.front();
	if (one.type == ElementType::Int8)
		value.quantization = quantization;
	else if (one.type == ElementType::Int16)
		value.quantization = Quantization{ quantization.scale / 256, 0 };
	return model.add(std::move(value));
}

Model averageOf(const AveragedCase &one, uint32_t batch)
{
	Model model;
	const ValueId x = addAveraged(model, one, { batch, one.h, one.w, one.c }, averagedX);
	const ValueId y = addAveraged(model, one, { batch, 1, 1, one.c }, one.result);

	model.operators = { { "average", "AVERAGE", one.kind, { x }, { y } } };
	model.inputs = { x };
	model.outputs = { y };
	/* The reference rounds once; sums of the integers themselves are, in any case. */
	if (one.result != averagedX)
		model.roundingOf8Bits = ScaleRounding::Once;
	return model;
}

const AveragedCase averagedCases[] = {
	{ ElementType::Int8, 1000, 13, 13, mean(13, 13), 1 },
	{ ElementType::Int8, 96, 7, 5, mean(7, 5), 1 },
	{ ElementType::Int8, 32, 7, 7, mean(7, 7), 1 },
	{ ElementType::Int8, 1000, 16, 16, mean(16, 16), 2 },
	{ ElementType::Int8, 70, 8, 4, wholePicture(Pool::Method::Average, 8, 4), 1, averagedX },
	{ ElementType::Int8, 70, 8, 4, wholePicture(Pool::Method::Average, 8, 4, { 0, 1 }), 1 },
	{ ElementType::Int8, 70, 8, 4, wholePicture(Pool::Method::Sum, 8, 4), 1, { 1.0 / 4, 7 } },
	{ ElementType::Int8, 70, 1, 9, mean(1, 9), 1 },
	{ ElementType::Int8, 70, 9, 1, mean(9, 1), 1 },
	{ ElementType::Int8, 70, 5, 5, mean(5, 5), 2, { 1.0 / 40, 4 }, 2 },
	{ ElementType::Int16, 40, 7, 7, mean(7, 7), 1 },
	{ ElementType::Float32, 48, 7, 7, mean(7, 7), 1 },
	/* What is left of an atom of FP16 might be NaN. */
	{ ElementType::Float32, 40, 7, 7, mean(7, 7), 2 },
};

void checkAveraged(const AveragedCase &one)
{
	std::mt19937 random(1);
	std::uniform_int_distribution<int> integers(-128, 127);
	const Model sample = averageOf(one, 1), model = averageOf(one, one.batch);
	std::vector<Numbers> samples(one.batch, Numbers(size_t{ one.c } * one.h * one.w));
	Numbers all, wanted;

	for (Numbers &numbers : samples) {
		std::ranges::generate(numbers, [&] {
			return isFloat(one.type) ? integers(random) / 64.0 : integers(random);
		});
		all.insert(all.end(), numbers.begin(), numbers.end());
		const Numbers made = evaluate(sample, { numbers })[sample.outputs.front()];
		wanted.insert(wanted.end(), made.begin(), made.end());
	}
	const auto compiled = compileInMemory(model, {});
	ASSERT_TRUE(compiled) << compiled.error().message();
	const auto isConvolution = [](const AssembledStep &step) {
		return step.operation.find("convolution") != std::string::npos;
	};
	EXPECT_EQ(std::ranges::count_if(compiled->report.steps, isConvolution),
		  static_cast<ptrdiff_t>(one.layers));
	auto run = CoreRun::load(model, compiled->loadable);
	ASSERT_TRUE(run) << run.error().message();
	const auto outputs = run->run({ all });
	ASSERT_TRUE(outputs) << outputs.error().message();
	const Numbers &got = outputs->front();
	ASSERT_EQ(got.size(), wanted.size());
	/* What is nearly a tie may be rounded otherwise. */
	size_t off = 0;
	for (size_t i = 0; i < wanted.size(); i++) {
		EXPECT_NEAR(got[i], wanted[i], isFloat(one.type) ? 0.002 : 1) << "element " << i;
		off += got[i] != wanted[i];
	}
	EXPECT_LE(off, isFloat(one.type) ? wanted.size() : wanted.size() / 20);
}

} /* namespace */

TEST(Averages, OfPicturesTakeOneOperation)
{
	for (const AveragedCase &one : averagedCases) {
		SCOPED_TRACE(one.text());
		checkAveraged(one);
	}
}

} /* namespace nvdla::test */
