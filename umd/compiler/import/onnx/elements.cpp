/* SPDX-License-Identifier: MIT */
/*
 * Functions of elements and over channels that ONNX alone has, or defines in its own way; operators
 * that move, add or select elements.
 */
#include <algorithm>

#include <fmt/core.h>

#include "node_reader.h"

namespace nvdla::compiler::onnx
{

namespace
{

using Function = Unary::Function;

/* Old versions of Clip have the limits as attributes, newer ones as inputs. */
Tensor readClip(NodeReader &reader)
{
	Clamp clamp;

	clamp.low = reader.attribute("min") ? reader.number("min", 0) : reader.scalar(1, clamp.low);
	clamp.high =
		reader.attribute("max") ? reader.number("max", 0) : reader.scalar(2, clamp.high);
	return legalize::unary(reader, reader.input(0), { .activation = clamp });
}

Tensor readCelu(NodeReader &reader)
{
	const double alpha = reader.number("alpha", 1);

	reader.support(alpha != 0, "alpha", "is 0");
	return legalize::scaledUnary(
		reader, reader.input(0),
		{ .function = Function::Elu, .parameter = 1, .scale = 1 / alpha }, alpha);
}

/* Defaults of Selu's attributes, from the standard */
constexpr double seluAlpha = 1.67326319217681884765625;
constexpr double seluGamma = 1.05070102214813232421875;

Tensor readSelu(NodeReader &reader)
{
	return legalize::scaledUnary(reader, reader.input(0),
				     { Function::Elu, reader.number("alpha", seluAlpha), {} },
				     reader.number("gamma", seluGamma));
}

Tensor readGelu(NodeReader &reader)
{
	return legalize::unary(reader, reader.input(0),
			       { reader.choice<Function>("approximate", "none",
							 { { "none", Function::Gelu },
							   { "tanh", Function::GeluTanh } }) });
}

/* Casts between float types change nothing here; constants can be cast to any number type. */
Tensor readCast(NodeReader &reader)
{
	const Tensor x = reader.input(0);
	const auto to = static_cast<int32_t>(reader.integer("to", pb::UNDEFINED));
	const auto type = elementTypeOf(to);

	if (reader.isConstant(x) && to == pb::INT64 && !isFloat(reader.value(x).type))
		return reader.constantTensor(wholeConstant(wholeNumbers(reader.value(x)), x.shape));
	if (reader.isConstant(x) && type && *type != ElementType::Bool)
		return reader.make(Unary{}, { x.id }, { *type, {} }, x);
	reader.support(isFloat(reader.value(x).type) && (to == pb::FLOAT || to == pb::FLOAT16),
		       "to", fmt::format("is {}; from float to float or float16 is known", to));
	return x;
}

/* Before version 7 of the operator set there is one slope for each channel. */
Tensor readPRelu(NodeReader &reader)
{
	const Tensor x = reader.input(0);
	Value slopes = reader.constant(1);
	const auto count = static_cast<uint32_t>(elementCount(slopes.shape));

	if (reader.isBeforeBroadcasting() && count > 1 && x.shape.size() > 1) {
		slopes.shape.assign(x.shape.size() - 1, 1);
		slopes.shape.front() = count;
	}
	return legalize::prelu(reader, x, slopes);
}

/* Before version 13 of the operator set, softmax takes all axes from `axis` on as one. */
template<bool isLogarithm>
Tensor readSoftmax(NodeReader &reader)
{
	constexpr int64_t oneAxis = 13;
	const Tensor x = reader.input(0);
	const bool all = reader.version() < oneAxis;
	const uint32_t axis = reader.axisOf("axis", all ? 1 : -1);
	const auto several = legalize::severalOf(x.shape, legalize::asInFile(x.shape.size()));

	reader.support(!all || std::none_of(several.begin(), several.end(),
					    [&](uint32_t one) { return one > axis; }),
		       "axis", "and those behind it have several elements");
	return legalize::overAxis(reader, x, axis, Softmax{ 1, isLogarithm });
}

/* Dropout zeroes random elements in training only. */
Tensor readDropout(NodeReader &reader)
{
	constexpr size_t trainingMode = 2;

	if (reader.hasInput(trainingMode))
		reader.support(reader.scalar(trainingMode, 0) == 0, "training_mode",
			       "is set; export the model for inference");
	return reader.input(0);
}

Tensor readLrn(NodeReader &reader)
{
	const int64_t size = reader.integer("size", 0);

	reader.support(size >= 1 && size <= UINT8_MAX && size % 2 == 1, "size",
		       fmt::format("is {}; an odd number up to 255 is possible", size));
	return legalize::overAxis(
		reader, reader.picture(reader.input(0)), 1,
		OverChannels{ OverChannels::Function::LocalResponse, static_cast<uint32_t>(size),
			      reader.number("beta", 0.75),
			      reader.number("alpha", 1e-4) / static_cast<double>(size),
			      reader.number("bias", 1) });
}

double epsilonOf(NodeReader &reader)
{
	return reader.number("epsilon", 1e-5);
}

legalize::Scaling scalingOf(NodeReader &reader)
{
	return { reader.realNumbers(1),
		 reader.hasInput(2) ? reader.realNumbers(2) : std::vector<double>{} };
}

/* Each output is a part of the input along an axis. */
Tensor readSplit(NodeReader &reader)
{
	const Tensor tensor = reader.input(0);
	const uint32_t axis = reader.axisOf("axis", 0);
	std::vector<int64_t> sizes = reader.list(1, "split");

	const auto count = static_cast<int64_t>(reader.outputs());
	const int64_t all = tensor.shape[axis], each = (all + count - 1) / count;
	for (int64_t i = 0; static_cast<int64_t>(sizes.size()) < count && i < count; i++)
		sizes.push_back(std::min(each, all - i * each));
	reader.need(sizes.size() == reader.outputs(), "split", "has not a size for each output");
	return reader.writeAll(legalize::split(reader, tensor, axis, sizes));
}

/*
 * The pads are one list: first the numbers of elements before each axis, then those behind each
 * axis. An input may name the axes; otherwise they are all.
 */
Tensor readPad(NodeReader &reader)
{
	constexpr size_t axesAt = 3;
	const std::vector<int64_t> pads = reader.list(1, "pads");
	const auto middle = pads.begin() + static_cast<ptrdiff_t>(pads.size() / 2);
	legalize::Padding padding{ .field = "pads",
				   .mode = reader.text("mode", "constant"),
				   .before = { pads.begin(), middle },
				   .after = { middle, pads.end() },
				   .value = reader.attribute("value") ? reader.number("value", 0)
								      : reader.scalar(2, 0) };

	if (reader.hasInput(axesAt))
		padding.axes = reader.wholeNumbers(axesAt);
	return legalize::pad(reader, reader.input(0), padding);
}

/* Adjacent input channels become channels of one pixel (DCR), or the pixels of a block (CRD). */
Tensor readDepthToSpace(NodeReader &reader)
{
	const bool blocksTogether =
		reader.choice<bool>("mode", "DCR", { { "CRD", true }, { "DCR", false } });

	return legalize::depthToSpace(reader, reader.picture(reader.input(0)),
				      reader.integer("blocksize", 0), blocksTogether);
}

} /* namespace */

const NodeTable elementNodes = {
	{ "BatchNormalization",
	  [](NodeReader &r) {
		  return legalize::batchNormalized(r, r.input(0), scalingOf(r), r.realNumbers(3),
						   r.realNumbers(4), epsilonOf(r));
	  } },
	{ "Cast", readCast },
	{ "Celu", readCelu },
	{ "Clip", readClip },
	{ "Concat",
	  [](NodeReader &r) {
		  return legalize::concatenation(r, r.allInputs(), r.integer("axis", 1), {});
	  } },
	{ "DepthToSpace", readDepthToSpace },
	{ "Dropout", readDropout },
	{ "Flatten",
	  [](NodeReader &r) {
		  return legalize::flattenedAt(r, r.input(0), r.integer("axis", 1));
	  } },
	{ "Gather",
	  [](NodeReader &r) {
		  return legalize::gather(r, r.input(0), r.integer("axis", 0), r.value(1));
	  } },
	{ "Gelu", readGelu },
	{ "GroupNormalization",
	  [](NodeReader &r) {
		  return legalize::groupNormalized(r, r.picture(r.input(0)),
						   r.integer("num_groups", 0), scalingOf(r),
						   epsilonOf(r));
	  } },
	{ "HardSigmoid",
	  [](NodeReader &r) {
		  return legalize::hardSigmoid(r, r.input(0), r.number("alpha", 0.2),
					       r.number("beta", 0.5));
	  } },
	{ "Identity", [](NodeReader &r) { return r.input(0); } },
	{ "InstanceNormalization",
	  [](NodeReader &r) {
		  return legalize::instanceNormalized(r, r.input(0), scalingOf(r), epsilonOf(r));
	  } },
	{ "LRN", readLrn },
	/* The outputs mean and deviation, which files from training have, are left to the host. */
	{ "LayerNormalization",
	  [](NodeReader &r) {
		  return legalize::layerNormalized(r, r.input(0), r.axisOf("axis", -1),
						   scalingOf(r), epsilonOf(r));
	  } },
	{ "LogSoftmax", readSoftmax<true> },
	{ "Mean", [](NodeReader &r) { return legalize::mean(r, r.allInputs()); } },
	{ "PRelu", readPRelu },
	{ "Pad", readPad },
	{ "Reshape",
	  [](NodeReader &r) {
		  const bool zeroKeeps = r.integer("allowzero", 0) == 0;
		  return legalize::reshaped(r, r.input(0), r.list(1, "shape"), zeroKeeps);
	  } },
	{ "Selu", readSelu },
	{ "Shrink",
	  [](NodeReader &r) {
		  return legalize::shrink(r, r.input(0), r.number("lambd", 0.5),
					  r.number("bias", 0));
	  } },
	{ "Slice",
	  [](NodeReader &r) {
		  return legalize::slice(r, r.input(0),
					 { r.list(1, "starts"), r.list(2, "ends"),
					   r.list(3, "axes"), r.list(4, "steps") });
	  } },
	{ "Softmax", readSoftmax<false> },
	{ "SpaceToDepth",
	  [](NodeReader &r) {
		  return legalize::spaceToDepth(r, r.picture(r.input(0)),
						r.integer("blocksize", 0));
	  } },
	{ "Split", readSplit },
	{ "Squeeze",
	  [](NodeReader &r) { return legalize::squeezed(r, r.input(0), r.list(1, "axes")); } },
	{ "Tile",
	  [](NodeReader &r) {
		  return legalize::tile(r, r.input(0), "repeats", r.list(1, "repeats"));
	  } },
	{ "Unsqueeze",
	  [](NodeReader &r) { return legalize::unsqueezed(r, r.input(0), r.list(1, "axes")); } },
};

} /* namespace nvdla::compiler::onnx */
