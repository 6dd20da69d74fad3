/* SPDX-License-Identifier: MIT */
/*
 * Random TensorFlow Lite files on the core against TensorFlow Lite: something that moves elements
 * in front of an operator with a constant.
 *
 * NVDLA_RANDOM_MODELS is the number of files of each kind; NVDLA_RANDOM_SEED the first one's seed.
 */
#include <algorithm>
#include <cmath>

#include <fmt/core.h>
#include <fmt/ranges.h>
#include <gtest/gtest.h>
#include <nvdla/half.h>

#include "agreement.h"
#include "compiler/import/import.h"
#include "core_run.h"
#include "random_file.h"
#include "random_files.h"

namespace nvdla::test
{

namespace
{

class TfliteModel : public RandomFile
{
public:
	TfliteModel(uint64_t seed, bool isInteger) : RandomFile(seed), isInteger_(isInteger)
	{
		make();
	}

	/* A model that keeps something runs several times. */
	size_t runs() const { return isKept_ ? 3 : 1; }
	/* The inputs of a run: in each other elements are the first */
	std::vector<Array> inputsOf(size_t run) const
	{
		std::vector<Array> rotated = inputs;
		Numbers &numbers = rotated.front().numbers;
		const auto first = static_cast<ptrdiff_t>(run * 5 % numbers.size());
		std::rotate(numbers.begin(), numbers.begin() + first, numbers.end());
		return rotated;
	}

private:
	int32_t tensor(const Shape &shape, float scale, int64_t zero)
	{
		shape_ = shape;
		scale_ = scale;
		zero_ = zero;
		return isInteger_ ? builder_.integers(shape, scale, zero) : builder_.floats(shape);
	}
	int32_t constant(const Shape &shape, double most);
	void make();
	void move();
	void elementwise();
	void prelu();
	void product();
	void productWithItself();
	void convolution();
	void transposedConvolution();
	void keep();
	int32_t bias(int32_t count, float step);

	bool isInteger_;
	bool isKept_ = false;
	bool isSquared_ = false; /* squares of squares leave FP16's range */
	int32_t x_ = 0;		 /* the last result */
	Shape shape_;
	float scale_ = 0;
	int64_t zero_ = 0;
};

int32_t TfliteModel::constant(const Shape &shape, double most)
{
	std::vector<float> numbers;
	std::vector<int8_t> integers;

	for (size_t i = 0; i < elementsIn(shape); i++) {
		numbers.push_back(static_cast<float>(real(-most, most)));
		integers.push_back(static_cast<int8_t>(from(0, 254)) - 127);
	}
	return isInteger_ ? builder_.quantized<int8_t>(shape, integers,
						       static_cast<float>(most / 127), 0)
			  : builder_.constant<float>(shape, numbers);
}

void TfliteModel::move()
{
	const int32_t from_ = x_;

	if (shape_.size() == 4 && chance(0.5)) {
		std::vector<int32_t> order{ 0, 1, 2, 3 };
		std::shuffle(order.begin() + 1, order.end(), random_);
		Shape shape;
		for (const int32_t axis : order)
			shape.push_back(shape_[static_cast<size_t>(axis)]);
		const int32_t list = builder_.list(order);
		x_ = tensor(shape, scale_, zero_);
		builder_.node(39, { from_, list }, { x_ });
		description += fmt::format("TRANSPOSE -> [{}]; ", fmt::join(shape, ", "));
		return;
	}
	Shape shape{ 1, static_cast<int32_t>(elementsIn(shape_)) };
	if (chance(0.5))
		shape = { 1, shape_.back(), shape[1] / shape_.back() };
	x_ = tensor(shape, scale_, zero_);
	builder_.node(22, { from_, builder_.list(shape) }, { x_ });
	description += fmt::format("RESHAPE -> [{}]; ", fmt::join(shape, ", "));
}

void TfliteModel::elementwise()
{
	const Shape shape = repeatable(shape_);
	const int32_t c = constant(shape, 2), x = x_;
	const uint32_t kind = from(0, isInteger_ ? 2 : 4);
	const bool isFirst = chance(0.3);
	const std::vector<int32_t> inputs = isFirst ? Shape{ c, x } : Shape{ x, c };
	const float scale = kind == 2 ? scale_ : std::max(scale_, 2.0f / 127) * 1.5f;

	x_ = tensor(shape_, scale, static_cast<int64_t>(from(0, 40)) - 20);
	description += fmt::format("element-wise {} with [{}]{}; ", kind, fmt::join(shape, ", "),
				   isFirst ? " first" : "");
	if (kind == 0)
		builder_.node(0, inputs, { x_ }, fb::BuiltinOptions::AddOptions,
			      fb::CreateAddOptions(builder_.flat));
	else if (kind == 1)
		builder_.node(41, inputs, { x_ }, fb::BuiltinOptions::SubOptions,
			      fb::CreateSubOptions(builder_.flat));
	else if (kind == 2)
		builder_.node(18, inputs, { x_ }, fb::BuiltinOptions::MulOptions,
			      fb::CreateMulOptions(builder_.flat));
	else
		builder_.node(kind == 3 ? 55 : 57, inputs, { x_ });
}

void TfliteModel::prelu()
{
	const Shape shape = repeatable(shape_);
	const int32_t slopes = constant(shape, 0.9), x = x_;

	x_ = tensor(shape_, scale_, zero_);
	builder_.node(54, { x, slopes }, { x_ });
	description += fmt::format("PRELU with [{}]; ", fmt::join(shape, ", "));
}

/* As the format's kernels take it: steps of the sums. */
int32_t TfliteModel::bias(int32_t count, float step)
{
	std::vector<float> numbers;
	std::vector<int32_t> steps;

	for (int32_t k = 0; k < count; k++) {
		numbers.push_back(static_cast<float>(real(-2, 2)));
		steps.push_back(static_cast<int32_t>(std::lround(real(-2000, 2000))));
	}
	return isInteger_ ? builder_.quantized<int32_t>({ count }, steps, step, 0)
			  : builder_.constant<float>({ count }, numbers);
}

void TfliteModel::product()
{
	const int32_t x = x_, columns = shape_.back(), kernels = static_cast<int32_t>(from(1, 9));
	const float made = scale_ * std::sqrt(static_cast<float>(columns));
	const int32_t weights = constant({ kernels, columns }, 1);
	const int32_t b = bias(kernels, scale_ / 127);
	Shape shape = shape_;

	shape.back() = kernels;
	x_ = tensor(shape, made, 3);
	builder_.node(
		9, { x, weights, b }, { x_ }, fb::BuiltinOptions::FullyConnectedOptions,
		fb::CreateFullyConnectedOptions(builder_.flat, fb::Activation::NONE, 0, true));
	description += fmt::format("FULLY_CONNECTED to {}; ", kernels);
}

/* Rows times rows: a second factor that is computed, with a zero point if there are integers. */
void TfliteModel::productWithItself()
{
	if (isSquared_)
		return;
	isSquared_ = true;
	const int32_t x = x_, columns = shape_.back();
	const float made = isInteger_
				   ? scale_ * scale_ * 200 * std::sqrt(static_cast<float>(columns))
				   : scale_;
	Shape shape = shape_;

	shape.back() = shape[shape.size() - 2];
	x_ = tensor(shape, made, -9);
	builder_.node(126, { x, x }, { x_ }, fb::BuiltinOptions::BatchMatMulOptions,
		      fb::CreateBatchMatMulOptions(builder_.flat, false, true));
	description += "BATCH_MATMUL with itself; ";
}

void TfliteModel::convolution()
{
	const int32_t x = x_, kernels = static_cast<int32_t>(from(1, 9));
	const float made = scale_ * std::sqrt(static_cast<float>(shape_[3])) * 2;
	const int32_t weights = constant({ kernels, 2, 2, shape_[3] }, 1);
	const int32_t b = bias(kernels, scale_ / 127);

	x_ = tensor({ 1, shape_[1], shape_[2], kernels }, made, -5);
	builder_.node(3, { x, weights, b }, { x_ }, fb::BuiltinOptions::Conv2DOptions,
		      fb::CreateConv2DOptions(builder_.flat, fb::Padding::SAME, 1, 1));
	description += fmt::format("CONV_2D to {}; ", kernels);
}

void TfliteModel::transposedConvolution()
{
	const int32_t x = x_, kernels = static_cast<int32_t>(from(1, 4));
	const int32_t size = static_cast<int32_t>(from(1, 4)),
		      stride = static_cast<int32_t>(from(1, 4));
	const float made = scale_ * std::sqrt(static_cast<float>(shape_[3])) * 2;
	const int32_t weights = constant({ kernels, size, size, shape_[3] }, 1);
	const Shape out{ 1, shape_[1] * stride, shape_[2] * stride, kernels };
	const int32_t list = builder_.list(out);

	x_ = tensor(out, made, 7);
	builder_.node(
		67, { list, weights, x }, { x_ }, fb::BuiltinOptions::TransposeConvOptions,
		fb::CreateTransposeConvOptions(builder_.flat, fb::Padding::SAME, stride, stride));
	description += fmt::format("TRANSPOSE_CONV {} by {}; ", size, stride);
}

/* The greater of each element and that of the run before, or of all runs before */
void TfliteModel::keep()
{
	const int32_t x = x_, kept = tensor(shape_, scale_, zero_),
		      handle = builder_.resource("kept");
	std::vector<float> numbers;
	std::vector<int8_t> integers;

	for (size_t i = 0; i < elementsIn(shape_); i++) {
		numbers.push_back(static_cast<float>(real(-1, 1)));
		integers.push_back(static_cast<int8_t>(from(0, 255)));
	}
	builder_.initialize("kept",
			    isInteger_ ? builder_.quantized<int8_t>(shape_, integers, scale_, zero_)
				       : builder_.constant<float>(shape_, numbers));
	isKept_ = true;
	builder_.node(143, { handle }, { kept });
	x_ = tensor(shape_, scale_, zero_);
	builder_.node(55, { x, kept }, { x_ });
	builder_.node(144, { handle, chance(0.5) ? x : x_ }, {});
	description += "kept; ";
}

void TfliteModel::make()
{
	constexpr int32_t extents[] = { 1, 2, 3, 3, 4, 4, 6, 8 };
	/* A few numbers may nearly cancel out, and leave less of a range than FP16 rounds. */
	constexpr size_t leastElements = 6;
	Shape shape{ 1 };

	while (elementsIn(shape) < leastElements) {
		shape = { 1 };
		while (shape.size() < 4)
			shape.push_back(shape.size() > 1 && chance(0.4) ? shape.back()
									: extents[from(0, 7)]);
	}
	const auto scale = static_cast<float>(std::exp2(real(-7, -3)));
	const int32_t in = x_ = tensor(shape, scale, static_cast<int64_t>(from(0, 255)) - 128);
	Array &input = inputs.emplace_back();
	input.type = isInteger_ ? "|i1" : "<f4";
	for (size_t i = 0; i < elementsIn(shape); i++)
		input.numbers.push_back(isInteger_ ? std::round(real(-128, 127))
						   : static_cast<double>(halfToFloat(floatToHalf(
							     static_cast<float>(real(-4, 4))))));
	description = fmt::format("[{}]; ", fmt::join(shape, ", "));
	for (uint32_t more = from(1, 2); more > 0; more--) {
		if (chance(0.6))
			move();
		const bool isPicture = shape_.size() == 4;
		const uint32_t kind = from(0, isPicture ? 6 : 4);
		if (kind <= 1)
			elementwise();
		else if (kind == 2)
			prelu();
		else if (kind == 3)
			product();
		else if (kind == 4)
			productWithItself();
		else if (kind == 5)
			convolution();
		else
			transposedConvolution();
		if (!isKept_ && chance(0.2))
			keep();
	}
	file = builder_.file({ in }, { x_ });
}

/* TensorFlow Lite's output in a run, after the runs before it */
Numbers wantedOf(const TfliteModel &made, size_t run, bool isMoved)
{
	Interpreter alone(made.file, nullptr);
	std::vector<Array> outputs;

	for (size_t i = 0; i <= run; i++) {
		std::vector<Array> inputs = made.inputsOf(i);
		if (isMoved)
			moveByHalfRounding(inputs.front().numbers);
		outputs = alone.run(inputs);
	}
	return outputs.at(0).numbers;
}

/*
 * Integers: two steps, as each of two operators may round the other way. Float: a hundredth of the
 * range; of what nearly cancels out, eight times what FP16's rounding of the inputs alone makes of
 * it, as constants and results are rounded, too.
 */
void compare(const Numbers &got, const TfliteModel &made, size_t run, bool isInteger)
{
	const Numbers wanted = wantedOf(made, run, false);
	ASSERT_EQ(got.size(), wanted.size());
	const double range = rangeOf(wanted);
	const double largest = difference(got, wanted, 0).largest;
	double allowed = isInteger ? 2 : std::max(range, 1e-3) * 0.01;

	if (!isInteger && largest > allowed) {
		const Numbers rounded = wantedOf(made, run, true);
		allowed = std::max(allowed, 4 * difference(rounded, wanted, 0).largest);
	}
	EXPECT_LE(largest, allowed) << "of a range of " << range;
}

void check(bool isInteger, unsigned long usualCount)
{
	RandomFiles files(usualCount);

	for (unsigned long seed = files.first; seed < files.first + files.count; seed++) {
		const TfliteModel made(seed, isInteger);
		SCOPED_TRACE(fmt::format("NVDLA_RANDOM_SEED={}: {}", seed, made.description));
		auto run = CoreRun::of(compiler::importTflite(made.file));
		if (!run) {
			files.refuse(run.error());
			continue;
		}
		for (size_t i = 0; i < made.runs(); i++) {
			const auto got = run->run({ made.inputsOf(i).front().numbers });
			ASSERT_TRUE(got) << got.error().message();
			ASSERT_EQ(got->size(), 1U);
			compare(got->front(), made, i, isInteger);
		}
		files.compared++;
	}
	files.report();
}

TEST(RandomTflite, FloatsAreTensorFlowLites)
{
	check(false, 200);
}

TEST(RandomTflite, IntegersAreTensorFlowLites)
{
	check(true, 200);
}

} /* namespace */

} /* namespace nvdla::test */
