/* SPDX-License-Identifier: MIT */
/*
 * Sums that are computed behind a convolution, whose result is rounded, but not saturated before.
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

constexpr uint32_t fromChannels = 20, toChannels = 40, height = 3, width = 5;

struct ResidualCase {
	ElementType type;
	int spread;	  /**< kernels' scales differ by up to 2^spread */
	bool zeroPoints;  /**< or all are 0 */
	Clamp activation; /**< of the sum */
	bool operandFirst;
	double scale;	   /**< of the operand, in those of what the convolution makes */
	size_t operations; /**< of the convolution with the sum; 0: they stay apart */

	std::string text() const
	{
		return fmt::format("{}, spread {}, zero points {}, {} to {}, {}, scale {}",
				   elementTypeName(type), spread, zeroPoints, activation.low,
				   activation.high, operandFirst, scale);
	}
};

class ResidualModel
{
public:
	ResidualModel(const ResidualCase &residual, uint32_t seed) : case_(residual), random_(seed)
	{
		const ValueId x = tensor("x", { 1, height, width, fromChannels }, 1.0 / 32);
		const ValueId other =
			tensor("other", { 1, height, width, toChannels }, residual.scale / 20);
		const ValueId w = weights();
		const ValueId product =
			tensor("product", { 1, height, width, toChannels }, 1.0 / 20);
		const ValueId sum = tensor("sum", { 1, height, width, toChannels }, 1.0 / 11);
		std::vector<ValueId> operands{ product, other };

		model.inputs = { x, other };
		inputs = { numbers(x), numbers(other) };
		model.operators.push_back(
			{ "product", "CONV_2D", Convolution{}, { x, w }, { product } });
		if (residual.operandFirst)
			std::swap(operands[0], operands[1]);
		model.operators.push_back(
			{ "sum",
			  "ADD",
			  Elementwise{ Elementwise::Function::Add, residual.activation },
			  operands,
			  { sum } });
		model.outputs = { sum };
	}

	/* The sum in real numbers, in steps of the output. */
	Numbers wanted() const
	{
		const Quantization in = quantization(0), other = quantization(1);
		const Quantization product = quantization(model.operators[0].outputs[0]);
		Numbers result;

		for (size_t pixel = 0; pixel < height * width; pixel++) {
			for (size_t k = 0; k < toChannels; k++) {
				double sum = 0;
				for (size_t c = 0; c < fromChannels; c++)
					sum += in.real(inputs[0][pixel * fromChannels + c]) *
					       kernels_[k * fromChannels + c];
				if (!isFloat(case_.type) && case_.operations == 0)
					sum = product.real(static_cast<double>(
						product.quantize(sum, limits())));
				else if (!isFloat(case_.type))
					sum = product.scale * std::round(sum / product.scale);
				sum += other.real(inputs[1][pixel * toChannels + k]);
				sum = std::clamp(sum, case_.activation.low, case_.activation.high);
				result.push_back(isFloat(case_.type) ? sum : toInteger(sum));
			}
		}
		return result;
	}

	Model model;
	std::vector<Numbers> inputs;

private:
	Quantization quantization(ValueId id) const
	{
		return model.values[id].quantization.channel(0);
	}
	IntegerLimits limits() const
	{
		return integerLimits(case_.type == ElementType::Int8 ? 8U : 16U);
	}
	double toInteger(double real) const
	{
		return static_cast<double>(quantization(model.outputs[0]).quantize(real, limits()));
	}
	ValueId tensor(const char *name, const Extents &shape, double scale)
	{
		Value value;
		value.name = name;
		value.type = case_.type;
		value.shape = shape;
		if (case_.type == ElementType::Int16)
			value.quantization = Quantization{ scale / 256, 0 };
		else if (case_.type == ElementType::Int8)
			value.quantization = Quantization{
				scale, static_cast<int32_t>(case_.zeroPoints ? between(-20, 20) : 0)
			};
		return model.add(std::move(value));
	}
	ValueId weights()
	{
		std::vector<Quantization> scales;
		Value value;
		value.name = "w";
		value.shape = { toChannels, fromChannels, 1, 1 };
		value.isConstant = true;
		for (uint32_t k = 0; k < toChannels; k++)
			scales.push_back({ std::ldexp(1.0 / 300,
						      -(static_cast<int>(k) % (case_.spread + 1))),
					   0 });
		std::vector<std::byte> elements;
		for (uint32_t i = 0; i < toChannels * fromChannels; i++) {
			const int64_t integer = between(-127, 127);
			const double scale = scales[i / fromChannels].scale;
			kernels_.push_back(static_cast<double>(integer) * scale);
			elements.push_back(static_cast<std::byte>(integer));
		}
		value.data = std::move(elements);
		if (isFloat(case_.type)) {
			value = floatConstant(kernels_, value.shape);
			value.name = "w";
		} else {
			value.type = ElementType::Int8;
			value.quantization = TensorQuantization(scales);
		}
		return model.add(std::move(value));
	}
	Numbers numbers(ValueId id)
	{
		Numbers all(elementCount(model.values[id].shape));
		const bool real = isFloat(case_.type);
		for (double &number : all)
			number = real ? static_cast<double>(between(-512, 512)) / 128
				      : static_cast<double>(
						between(limits().lowest, limits().highest));
		return all;
	}
	int64_t between(int64_t low, int64_t high)
	{
		return std::uniform_int_distribution<int64_t>(low, high)(random_);
	}

	ResidualCase case_;
	std::mt19937 random_;
	std::vector<double> kernels_;
};

void checkSum(const ResidualCase &one, uint32_t seed)
{
	const ResidualModel made(one, seed);
	const auto compiled = compileInMemory(made.model, { .foldSums = FoldSums::Always });
	ASSERT_TRUE(compiled) << compiled.error().message();
	const std::vector<LayerReport> &layers = compiled->report.layers;
	ASSERT_EQ(layers.size(), 2U);
	/* The same operation, so it is the convolution's SDP operation. */
	const bool folds = layers[1].operations == std::vector{ layers[0].operations.at(1) };
	EXPECT_EQ(folds ? layers[0].operations.size() : 0, one.operations);

	auto run = CoreRun::load(made.model, compiled->loadable);
	ASSERT_TRUE(run) << run.error().message();
	auto outputs = run->run(made.inputs);
	ASSERT_TRUE(outputs) << outputs.error().message();
	const Numbers wanted = made.wanted(), &got = outputs->front();
	ASSERT_EQ(got.size(), wanted.size());
	const double range = *std::ranges::max_element(wanted) - *std::ranges::min_element(wanted);
	size_t off = 0;
	double largest = 0;
	for (size_t i = 0; i < wanted.size(); i++) {
		off += got[i] != wanted[i];
		largest = std::max(largest, std::fabs(got[i] - wanted[i]));
	}
	switch (one.type) {
	case ElementType::Int8: /* only what is nearly a tie may be rounded otherwise */
		EXPECT_LE(largest, 1);
		EXPECT_LE(off, wanted.size() / 20);
		break;
	case ElementType::Int16:
		EXPECT_LE(largest, 4);
		break;
	default:
		EXPECT_LE(largest, range / 1000);
	}
}

} /* namespace */

TEST(Residual, IsAddedBehindTheConvolution)
{
	const Clamp none, relu{ .low = 0 }, relu6{ .low = 0, .high = 6 };
	const ResidualCase cases[] = {
		{ ElementType::Int8, 0, true, none, false, 0.8, 2 },
		{ ElementType::Int8, 0, false, none, true, 1.7, 2 },
		/* Scales that are far apart; with 7.72e-5, the factor is next to the largest one. */
		{ ElementType::Int8, 0, true, none, false, 7.72e-5, 2 },
		{ ElementType::Int8, 0, true, none, true, 1e-9, 2 },
		{ ElementType::Int8, 0, true, none, false, 3e4, 2 },
		/* One multiplier is too few for kernels of very different scales. */
		{ ElementType::Int8, 6, true, none, true, 1, 0 },
		/* X2 has the ReLU where it can add the operand as it is. */
		{ ElementType::Int8, 0, false, relu, true, 1, 2 },
		{ ElementType::Int8, 0, false, relu, false, 0.8, 3 },
		{ ElementType::Int8, 0, true, relu, false, 1, 3 },
		{ ElementType::Int8, 0, false, relu6, false, 1, 3 },
		{ ElementType::Int16, 0, false, none, false, 0.8, 2 },
		{ ElementType::Int16, 0, false, relu, true, 1, 2 },
		{ ElementType::Float32, 2, false, none, true, 1, 2 },
		{ ElementType::Float32, 0, false, relu, false, 1, 2 },
		{ ElementType::Float32, 0, false, relu6, false, 1, 2 },
	};
	for (const ResidualCase &one : cases) {
		for (uint32_t seed = 1; seed <= 3; seed++) {
			SCOPED_TRACE(fmt::format("{}, seed {}", one.text(), seed));
			checkSum(one, seed);
		}
	}
}

/* What else reads it, what the application sees, and what it does not want to be folded. */
TEST(Residual, StaysApartWhereItIsNeeded)
{
	const ResidualModel made({ ElementType::Int8, 0, true, {}, false, 1, 2 }, 1);
	const auto isApart = [](const Model &model, const CompileOptions &options) {
		const auto compiled = compileInMemory(model, options);
		EXPECT_TRUE(compiled) << compiled.error().message();
		const auto &layers = compiled->report.layers;
		return layers[1].operations.at(0) != layers[0].operations.at(1);
	};
	const CompileOptions always = { .foldSums = FoldSums::Always };
	EXPECT_FALSE(isApart(made.model, always));
	EXPECT_TRUE(isApart(made.model, {}));
	EXPECT_TRUE(isApart(made.model, { .everyTensor = true, .foldSums = FoldSums::Always }));
	const ResidualModel real({ ElementType::Float32, 0, true, {}, false, 1, 2 }, 1);
	EXPECT_FALSE(isApart(real.model, {}));
	EXPECT_TRUE(isApart(real.model, { .foldSums = FoldSums::Never }));
	Calibration calibration{ .samples = { {} } };
	for (const Numbers &numbers : real.inputs)
		calibration.samples.front().emplace_back(numbers.begin(), numbers.end());
	EXPECT_FALSE(isApart(real.model, { .calibration = calibration }));
	EXPECT_TRUE(isApart(real.model,
			    { .calibration = calibration, .core = *findCoreVariant("nv_small") }));
	EXPECT_TRUE(
		isApart(real.model, { .calibration = calibration, .foldSums = FoldSums::Never }));
	Model read = made.model;
	Value copy = read.values[read.outputs[0]];
	copy.name = "copy";
	const ValueId id = read.add(copy);
	read.operators.push_back(
		{ "copy", "RELU", Unary{}, { read.operators[0].outputs[0] }, { id } });
	read.outputs.push_back(id);
	EXPECT_TRUE(isApart(read, always));
}

} /* namespace nvdla::test */
