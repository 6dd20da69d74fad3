/* SPDX-License-Identifier: MIT */
/*
 * Operators that reduce or normalize over axes.
 */
#include <fmt/core.h>

#include "node_reader.h"

namespace nvdla::compiler::onnx
{

namespace
{

using Function = Unary::Function;
using Method = Pool::Method;

legalize::Reduction reductionOf(NodeReader &reader)
{
	const size_t rank = reader.needComputed(reader.input(0)).shape.size();
	legalize::Reduction reduction{ reader.sortedAxes(reader.list(1, "axes"), rank),
				       reader.integer("keepdims", 1) != 0 };

	if (reduction.axes.empty() && reader.integer("noop_with_empty_axes", 0) == 0)
		reduction.axes = legalize::asInFile(rank);
	return reduction;
}

template<Method method>
Tensor readReduction(NodeReader &reader)
{
	return legalize::reduced(reader, reader.input(0), reductionOf(reader), method, {});
}

Tensor readReduceL2(NodeReader &reader)
{
	return legalize::reduced(reader, reader.input(0), reductionOf(reader), Method::Sum,
				 { { Function::Square }, { Function::Power, 0.5, {} } });
}

/* A function of the sum of a function of the elements. */
template<Function before, Function behind = Function::Identity>
Tensor readSumOf(NodeReader &reader)
{
	return legalize::reduced(reader, reader.input(0), reductionOf(reader), Method::Sum,
				 { { before }, { behind } });
}

template<bool ofSmallest>
Tensor readArgMax(NodeReader &reader)
{
	const uint32_t axis = reader.axisOf("axis", 0);

	reader.support(reader.integer("select_last_index", 0) == 0, "select_last_index",
		       "is set; the first of several is known");
	const Tensor made = legalize::argMax(reader, reader.input(0), axis, ofSmallest);
	if (reader.failed() || reader.integer("keepdims", 1) != 0)
		return made;
	Extents shape = made.shape;
	shape.erase(shape.begin() + axis);
	return reader.reshaped(made, shape);
}

Tensor readLpNormalization(NodeReader &reader)
{
	reader.support(reader.integer("p", 2) == 2, "p", "is not 2");
	return legalize::withNormOfOne(reader, reader.input(0), reader.axisOf("axis", -1));
}

Tensor readLrn(NodeReader &reader)
{
	const int64_t size = reader.integer("size", 0);

	reader.support(size >= 1 && size <= UINT8_MAX, "size", fmt::format("is {}", size));
	return legalize::localResponse(reader, reader.picture(reader.input(0)),
				       static_cast<uint32_t>(size), reader.number("bias", 1),
				       reader.number("alpha", 1e-4) / static_cast<double>(size),
				       reader.number("beta", 0.75));
}

double epsilonOf(NodeReader &reader)
{
	return reader.number("epsilon", 1e-5);
}

/* Scale and, if the node has it, bias. */
legalize::Scaling scalingOf(NodeReader &reader)
{
	return { reader.realNumbers(1),
		 reader.hasInput(2) ? reader.realNumbers(2) : std::vector<double>{} };
}

Tensor readBatchNormalization(NodeReader &reader)
{
	return legalize::batchNormalized(reader, reader.input(0), scalingOf(reader),
					 reader.realNumbers(3), reader.realNumbers(4),
					 epsilonOf(reader));
}

Tensor readLayerNormalization(NodeReader &reader)
{
	const bool wants = reader.hasOutput(1) || reader.hasOutput(2);
	const legalize::Normalized made =
		legalize::layerNormalized(reader, reader.input(0), reader.axisOf("axis", -1),
					  scalingOf(reader), epsilonOf(reader), wants);

	if (reader.hasOutput(1))
		reader.write(made.mean, 1);
	if (reader.hasOutput(2))
		reader.write(made.reciprocalWidth, 2);
	return made.tensor;
}

/* Before version 21 the scale is per group, from then on per channel. */
Tensor readGroupNormalization(NodeReader &reader)
{
	constexpr int64_t scalesChannels = 21;
	const Tensor x = reader.picture(reader.input(0));
	const int64_t groups = reader.integer("num_groups", 0);
	const legalize::Scaling scaling = scalingOf(reader);
	const bool ofGroups = reader.version() < scalesChannels && groups > 1 &&
			      scaling.factors.size() == static_cast<uint64_t>(groups);

	reader.support(!ofGroups || reader.failed() || groups == x.shape[1], "scale",
		       "is one number for each group; give one for each channel");
	return legalize::groupNormalized(reader, x, groups, scaling, epsilonOf(reader));
}

} /* namespace */

const NodeTable channelNodes = {
	{ "ArgMax", readArgMax<false> },
	{ "ArgMin", readArgMax<true> },
	{ "BatchNormalization", readBatchNormalization },
	{ "GroupNormalization", readGroupNormalization },
	{ "InstanceNormalization",
	  [](NodeReader &r) {
		  return legalize::instanceNormalized(r, r.input(0), scalingOf(r), epsilonOf(r));
	  } },
	{ "LRN", readLrn },
	{ "LayerNormalization", readLayerNormalization },
	{ "LpNormalization", readLpNormalization },
	{ "ReduceL1", readSumOf<Function::Abs> },
	{ "ReduceL2", readReduceL2 },
	{ "ReduceLogSum", readSumOf<Function::Identity, Function::Log> },
	{ "ReduceLogSumExp",
	  [](NodeReader &r) {
		  return legalize::logarithmOfExponentials(r, r.input(0), reductionOf(r));
	  } },
	{ "ReduceMax", readReduction<Method::Max> },
	{ "ReduceMean", readReduction<Method::Average> },
	{ "ReduceMin", readReduction<Method::Min> },
	{ "ReduceSum", readReduction<Method::Sum> },
	{ "ReduceSumSquare", readSumOf<Function::Square> },
};

} /* namespace nvdla::compiler::onnx */
