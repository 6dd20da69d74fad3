/* SPDX-License-Identifier: MIT */
/*
 * Float models calibrated to fixed-point numbers: scales are powers of two.
 */
#include <bit>
#include <cmath>

#include <gtest/gtest.h>

#include "agreement.h"
#include "compiler/compile.h"
#include "compiler/lower/lowerer.h"
#include "compiler/passes/passes.h"
#include "core_run.h"
#include "graph/fixed_formats.h"
#include "graph/graph_parts.h"
#include "model_folder.h"

namespace nvdla::test
{

namespace
{

using assembly::GraphParts;
using compiler::Model;
using Bits = std::optional<uint32_t>;

/* Returns the fraction bits of a scale of 1 or less. */
Bits bitsOf(double scale)
{
	int exponent = 0;

	if (std::frexp(scale, &exponent) != 0.5 || exponent > 1)
		return {};
	return static_cast<uint32_t>(1 - exponent);
}

Calibration calibrationOf(const ModelFolder &folder, DataType type = DataType::Int8)
{
	Calibration calibration{ .method = RangeMethod::PowersOfTwo, .type = type };

	for (const ModelCase &one : folder.cases) {
		const Numbers &numbers = one.inputs.front().numbers;
		calibration.samples.push_back(
			{ std::vector<float>(numbers.begin(), numbers.end()) });
	}
	return calibration;
}

/* With pictures of the numbers 0 to 1, as a pixel of 255 is beyond the formats of 8 bits. */
Model calibratedModel(const ModelFolder &folder)
{
	Model model = *importModel(folder);
	Calibration calibration = calibrationOf(folder);

	for (auto &sample : calibration.samples)
		for (float &number : sample.front())
			number /= 256;
	EXPECT_TRUE(runPasses(model));
	auto errors = calibrate(model, calibration);
	EXPECT_TRUE(errors) << errors.error().message();
	return model;
}

/* Says in a graph of the compiler which fixed-point formats its numbers have. */
class FixedGraph
{
public:
	FixedGraph(Graph &graph, const Model &model) : graph_(graph)
	{
		for (Surface &surface : GraphParts::surfaces(graph)) {
			if (surface.quantization.none())
				continue;
			surface.fractionBits = bitsOf(surface.quantization.channel(0).scale);
			surface.quantization = {};
			known_[surface.name] = surface.fractionBits;
		}
		for (GraphWeights &weights : GraphParts::weights(graph)) {
			/* The kernels of an average are ones, which stand for their share. */
			const auto ones = static_cast<size_t>(
				std::ranges::count(weights.elements.bytes, std::byte{ 1 }));
			weights.fractionBits = std::countr_zero(ones / weights.k);
			for (const compiler::Operator &one : model.operators) {
				if (hasKernels(one.kind) &&
				    weights.name.starts_with(one.name + " "))
					weights.fractionBits =
						bitsOf(model.values[one.inputs[1]]
							       .quantization.channel(0)
							       .scale);
			}
		}
		for (op::Any &operation : GraphParts::operations(graph)) {
			if (const auto *conv = std::get_if<op::Convolution>(&operation))
				known_[conv->output] = *bitsOf(conv->input) + *bitsOf(*conv) -
						       conv->accumulatorShift;
			if (auto *sdp = std::get_if<op::Sdp>(&operation))
				describe(*sdp);
		}
	}
	size_t shifts = 0; /* operations whose factors are powers of two */

private:
	/* Of a part of a surface: those of the whole. */
	Bits bitsOf(const std::string &name)
	{
		const auto surface =
			std::ranges::find(GraphParts::surfaces(graph_), name, &Surface::name);
		const bool isPart =
			surface != GraphParts::surfaces(graph_).end() && !surface->within.empty();

		return known_[isPart ? surface->within : name];
	}
	Bits bitsOf(const op::Convolution &conv) const
	{
		return std::ranges::find(GraphParts::weights(graph_), conv.weights,
					 &GraphWeights::name)
			->fractionBits;
	}
	static Bits bitsOf(double scale) { return test::bitsOf(scale); }
	/* Each factor is the number 1, in as many fraction bits as the power of two has. */
	static Bits powerOf(const Elements &factors)
	{
		const std::vector<float> numbers = elementsToFloat(factors.type, factors.bytes);
		const auto first = static_cast<uint32_t>(numbers.front());

		EXPECT_TRUE(std::has_single_bit(first));
		EXPECT_EQ(std::ranges::count(numbers, numbers.front()),
			  static_cast<ptrdiff_t>(numbers.size()));
		return static_cast<uint32_t>(std::countr_zero(first));
	}
	GraphOperands *find(const std::string &name)
	{
		const auto found =
			std::ranges::find(GraphParts::operands(graph_), name, &GraphOperands::name);
		return found == GraphParts::operands(graph_).end() ? nullptr : &*found;
	}
	/* A factor in a register has no format: it becomes a constant. */
	GraphOperands &factorsOf(const op::Sdp &sdp, op::SdpUnit &unit)
	{
		if (unit.operands.empty()) {
			unit.mulOperands = sdp.name + " factor";
			graph_.operands({ .name = unit.mulOperands,
					  .mul = Elements::of(std::vector<int16_t>{
						  static_cast<int16_t>(unit.mulOperand) }) });
		}
		return *find(unit.operands.empty() ? unit.mulOperands : unit.operands);
	}
	void describe(op::Sdp &sdp)
	{
		Bits bits = known_[sdp.input];
		for (auto *unit : { &sdp.x1, &sdp.x2 }) {
			if (!bits || !*unit)
				return;
			if (GraphOperands *sums = find((*unit)->operands))
				sums->aluFractionBits = *bits - (*unit)->aluShift;
			if ((*unit)->multiply) {
				GraphOperands &factors = factorsOf(sdp, **unit);
				factors.mulFractionBits = powerOf(factors.mul);
				bits = *bits + *factors.mulFractionBits;
			}
			bits = *bits - (*unit)->shift;
		}
		shifts++;
	}

	Graph &graph_;
	std::map<std::string, Bits> known_;
};

} /* namespace */

TEST(PowersOfTwo, AreTheScalesOfAllTensors)
{
	NVDLA_NEED_MODELS();
	for (const char *name : { "resnet8_float", "kws_dscnn_float" }) {
		const Model model = calibratedModel(readModelFolder(name));
		for (const compiler::Operator &one : model.operators) {
			SCOPED_TRACE(one.name);
			for (const compiler::ValueId id : { one.inputs[0], one.outputs[0] }) {
				const auto quantization = model.values[id].quantization;
				EXPECT_TRUE(bitsOf(quantization.channel(0).scale / 1024));
				EXPECT_EQ(quantization.channel(0).zeroPoint, 0);
			}
			if (!hasKernels(one.kind))
				continue;
			const auto kernels = model.values[one.inputs[1]].quantization.values();
			EXPECT_TRUE(bitsOf(kernels.front().scale));
			EXPECT_EQ(std::ranges::count(kernels, kernels.front()),
				  static_cast<ptrdiff_t>(kernels.size()));
		}
	}
}

/* The largest number may be half a step above 127 steps. Numbers above 127 have no format, but a
 * scale. */
TEST(PowersOfTwo, AreTheNextOnes)
{
	for (const auto &[largest, scale] :
	     { std::pair(0.9, 1.0 / 128), std::pair(0.996, 1.0 / 128), std::pair(1.0, 1.0 / 64),
	       std::pair(3.5, 1.0 / 32), std::pair(255.0, 2.0) }) {
		Model model;
		compiler::Value value;
		value.shape = { 1, 1, 1, 1 };
		const compiler::ValueId x = model.add(value), y = model.add(value);
		model.inputs = { x };
		model.outputs = { y };
		model.operators.push_back({ "y",
					    "RELU",
					    compiler::Unary{ .activation = { .low = 0 } },
					    { x },
					    { y } });
		auto errors = calibrate(model, { .samples = { { { static_cast<float>(largest) } } },
						 .method = RangeMethod::PowersOfTwo });
		ASSERT_TRUE(errors) << errors.error().message();
		EXPECT_EQ(model.values[x].quantization.channel(0).scale, scale) << largest;
	}
}

/* Graph assembly follows the formats: every factor that brings one to another is a shift. */
TEST(PowersOfTwo, MakeGraphsOfFixedPointNumbers)
{
	NVDLA_NEED_MODELS();
	const Model model = calibratedModel(readModelFolder("resnet8_float"));
	compiler::Lowerer lowerer(model, {});
	ASSERT_TRUE(lowerer.run());
	const FixedGraph fixed(lowerer.graph, model);

	EXPECT_GE(fixed.shifts, 9U); /* convolutions */
	auto formats = assembly::fixedFormats(lowerer.graph);
	ASSERT_TRUE(formats) << formats.error().message();
	EXPECT_EQ(formats->size(), 2U);
}

/* A step is less than twice one of any size, and has one bit less for lack of a zero point. */
TEST(PowersOfTwo, KeepTheClasses)
{
	NVDLA_NEED_MODELS();
	for (const DataType type : { DataType::Int8, DataType::Int16 }) {
		const ModelFolder folder = readModelFolder("resnet8_float");
		auto compiled = compiler::compileInMemory(
			*importModel(folder), { .calibration = calibrationOf(folder, type) });
		ASSERT_TRUE(compiled) << compiled.error().message();
		for (const auto &tensors :
		     { *compiled->loadable.inputs(), *compiled->loadable.outputs() })
			EXPECT_TRUE(bitsOf(tensors.front().quantization.channel(0).scale / 1024));
		auto run = CoreRun::load(*importModel(folder), compiled->loadable);
		ASSERT_TRUE(run) << run.error().message();
		for (const ModelCase &one : folder.cases) {
			auto outputs = run->run({ one.inputs.front().numbers });
			ASSERT_TRUE(outputs) << outputs.error().message();
			const Numbers &wanted = one.outputs.front().array.numbers;
			EXPECT_EQ(largest(outputs->front()), largest(wanted)) << one.description;
			EXPECT_LE(difference(outputs->front(), wanted, 0).largest,
				  type == DataType::Int8 ? 0.2 : 0.01);
		}
	}
}

} /* namespace nvdla::test */
