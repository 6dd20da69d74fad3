/* SPDX-License-Identifier: MIT */
/*
 * Operators of TensorFlow Lite that move elements between axes, or look at all channels.
 */
#include <fmt/core.h>

#include "operators.h"

namespace nvdla::compiler::tflite
{

namespace
{

/* How often the larger picture has the smaller one's height; 0 and an error if that is no block. */
uint32_t blockOf(OperatorReader &reader, const Extents &large, const Extents &small)
{
	const bool fits = large.size() == 4 && small.size() == 4 && small[1] && small[2] &&
			  large[1] % small[1] == 0 && large[1] / small[1] == large[2] / small[2] &&
			  large[2] % small[2] == 0;

	reader.need(fits, "shapes",
		    fmt::format("{} and {} differ by no block", toString(large), toString(small)));
	return reader.failed() ? 0 : large[1] / small[1];
}

void readTranspose(OperatorReader &reader)
{
	const Extents in = reader.value(reader.input(0)).shape;
	const Extents out = reader.value(reader.output(0)).shape;
	const std::vector<int64_t> perm = reader.numbers(1);
	Transpose transpose{ in, {} };
	Extents made;

	if (reader.failed() ||
	    !reader.need(perm.size() == in.size(), "perm", "does not name each axis"))
		return;
	for (const int64_t number : perm) {
		transpose.order.push_back(reader.axis(number, in.size(), "perm"));
		made.push_back(in[transpose.order.back()]);
	}
	reader.need(made == out, "perm",
		    fmt::format("makes {}, the output is {}", toString(made), toString(out)));
	reader.add(std::move(transpose));
}

/* Each block's elements, line by line, are channels, those of an element side by side. */
template<bool toDepth>
void readBlocks(OperatorReader &reader)
{
	const Extents in = reader.value(reader.input(0)).shape;
	const Extents out = reader.value(reader.output(0)).shape;
	const Extents &large = toDepth ? in : out, &small = toDepth ? out : in;
	const uint32_t block = blockOf(reader, large, small);

	if (reader.failed())
		return;
	const Extents seen = toDepth ? Extents{ small[1], block, small[2], block, large[3] }
				     : Extents{ small[1], small[2], block, block, large[3] };
	reader.add(ofSamples(in[0], { seen, { 0, 2, 1, 3, 4 } }));
}

/* Indices are integers of 16 bits here, whatever the file has. */
void addArgMax(OperatorReader &reader, ValueId input)
{
	const size_t rank = reader.value(input).shape.size();
	const std::vector<int64_t> axis = reader.numbers(1);
	const ValueId output = reader.output(0);

	if (reader.failed() || !reader.need(axis.size() == 1, "axis", "is not one number"))
		return;
	reader.support(reader.axis(axis.front(), rank, "axis") + 1 == rank, "axis",
		       "is not that of channels, the only one that is known; transpose before it");
	reader.makeIndices(output);
	reader.add(ArgMax{}, { input }, { output });
}

void readArgMax(OperatorReader &reader)
{
	addArgMax(reader, reader.input(0));
}

/* The largest of the negative numbers. */
void readArgMin(OperatorReader &reader)
{
	const ValueId input = reader.input(0);
	const ValueId factor = reader.addConstant(floatConstant({ -1 }, { 1 }));

	reader.supportFloat(input);
	const ValueId negative = reader.addBetween(input, reader.value(input).shape);
	reader.add(Elementwise{ Elementwise::Function::Multiply, {} }, { input, factor },
		   { negative });
	addArgMax(reader, negative);
}

void readL2Normalization(OperatorReader &reader)
{
	const auto *options = reader.options(&fb::Operator::builtin_options_as_L2NormOptions);

	if (!options)
		return;
	reader.support(reader.clamp(options->activation()).isNone(), "fused activation",
		       "is not known here; make it an operator of its own");
	reader.add(Normalization{});
}

void readLocalResponse(OperatorReader &reader)
{
	const auto *options =
		reader.options(&fb::Operator::builtin_options_as_LocalResponseNormalizationOptions);
	constexpr int32_t mostRadius = 127;

	if (!options || !reader.need(options->radius() >= 0 && options->radius() <= mostRadius,
				     "radius", fmt::format("is {}", options->radius())))
		return;
	reader.add(LocalResponse{ 2 * static_cast<uint32_t>(options->radius()) + 1, options->bias(),
				  options->alpha(), options->beta() });
}

using enum fb::BuiltinOperator;

} /* namespace */

const OperatorTable channelOperators = {
	{ ARG_MAX, readArgMax },
	{ ARG_MIN, readArgMin },
	{ DEPTH_TO_SPACE, readBlocks<false> },
	{ L2_NORMALIZATION, readL2Normalization },
	{ LOCAL_RESPONSE_NORMALIZATION, readLocalResponse },
	{ SPACE_TO_DEPTH, readBlocks<true> },
	{ TRANSPOSE, readTranspose },
};

} /* namespace nvdla::compiler::tflite */
