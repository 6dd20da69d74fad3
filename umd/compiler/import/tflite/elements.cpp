/* SPDX-License-Identifier: MIT */
/*
 * TensorFlow Lite's operators, as published: functions of elements, of two tensors, over channels;
 * operators that move, add or select elements.
 */
#include <algorithm>

#include <fmt/core.h>

#include "operator_reader.h"

namespace nvdla::compiler::tflite
{

namespace
{

/* Reshapes to the shape that the file states for the output. */
Tensor readReshape(OperatorReader &reader)
{
	return reader.reshaped(reader.input(0), reader.output().shape);
}

/* Each output is one of consecutive parts along an axis. */
template<size_t input, size_t axisInput>
Tensor readParts(OperatorReader &reader)
{
	const Tensor tensor = reader.input(input);
	const uint32_t axis = reader.axisOf(axisInput, tensor);
	std::vector<int64_t> sizes;

	for (size_t i = 0; i < reader.outputs(); i++) {
		const Extents &part = reader.output(i).shape;
		reader.need(part.size() == tensor.shape.size(), "outputs", "have other axes");
		sizes.push_back(part[axis]);
	}
	return reader.writeAll(legalize::split(reader, tensor, axis, sizes));
}

/* Each output is one element along an axis. */
Tensor readUnpack(OperatorReader &reader)
{
	const auto &options = reader.options<fb::UnpackOptions>();
	const Tensor tensor = reader.input(0);

	const uint32_t axis = reader.axis(options.axis(), tensor.shape.size(), "axis");
	reader.need(reader.outputs() == tensor.shape[axis], "outputs",
		    fmt::format("are {} for {} elements", reader.outputs(), tensor.shape[axis]));
	return reader.writeAll(
		legalize::split(reader, tensor, axis, std::vector<int64_t>(reader.outputs(), 1)));
}

Tensor readSlice(OperatorReader &reader)
{
	const Tensor tensor = reader.input(0);
	const std::vector<int64_t> begin = reader.wholeNumbers(1);
	const Extents &wanted = reader.output().shape;
	Extents first;

	reader.need(begin.size() == tensor.shape.size() && wanted.size() == begin.size(), "begin",
		    "is not one number for each axis");
	for (size_t i = 0; i < begin.size(); i++) {
		reader.need(begin[i] >= 0 && begin[i] < tensor.shape[i], "begin",
			    fmt::format("{} of {}", begin[i], tensor.shape[i]));
		first.push_back(static_cast<uint32_t>(begin[i]));
	}
	return legalize::slice(reader, tensor, first, Extents(first.size(), 1), wanted);
}

/*
 * Each entry of begin and strides is for the next axis. Masks make exceptions: an ellipsis stands
 * for all axes without an entry, a new axis has one element, a shrunk axis is removed.
 */
Tensor readStridedSlice(OperatorReader &reader)
{
	const auto &options = reader.options<fb::StridedSliceOptions>();
	const Tensor tensor = reader.input(0);
	const size_t rank = tensor.shape.size();
	const Extents &out = reader.output().shape;
	const std::vector<int64_t> begin = reader.wholeNumbers(1), stride = reader.wholeNumbers(3);
	constexpr size_t mostEntries = 16; /* less than the 32 bits of a mask */
	Extents first(rank, 0), step(rank, 1), taken = tensor.shape;
	size_t axis = 0, left = 0, axesOfEntries = 0;

	reader.need(begin.size() == stride.size(), "begin", "has not one number for each stride");
	reader.support(begin.size() <= mostEntries, "begin",
		       fmt::format("is of {} axes; {} are possible", begin.size(), mostEntries));
	for (size_t i = 0; i < begin.size(); i++)
		axesOfEntries +=
			~(options.ellipsis_mask() | options.new_axis_mask()) >> i & 1 ? 1 : 0;
	reader.need(axesOfEntries <= rank, "begin",
		    fmt::format("is of {} axes, the input has {}", axesOfEntries, rank));
	for (size_t i = 0; i < begin.size(); i++) {
		if (options.ellipsis_mask() >> i & 1) {
			axis += rank - axesOfEntries;
			left += rank - axesOfEntries;
			axesOfEntries = rank;
			continue;
		}
		if (options.new_axis_mask() >> i & 1) {
			left++;
			continue;
		}
		const int64_t extent = tensor.shape[axis];
		const int64_t from = begin[i] < 0 ? begin[i] + extent : begin[i];
		const bool shrinks = options.shrink_axis_mask() >> i & 1;
		reader.support(stride[i] >= 1, "strides",
			       fmt::format("{}: only forward slices are known", stride[i]));
		reader.need(shrinks || left < out.size(), "output", "has too few axes");
		first[axis] = static_cast<uint32_t>(
			options.begin_mask() >> i & 1 ? 0 : std::clamp<int64_t>(from, 0, extent));
		step[axis] = static_cast<uint32_t>(stride[i]);
		taken[axis++] = shrinks ? 1 : out[left++];
	}
	return legalize::slice(reader, tensor, first, step, taken);
}

/* Input 1 has two numbers for each axis: elements before and elements behind. */
template<bool isMirror>
Tensor readPad(OperatorReader &reader)
{
	legalize::Padding padding{ "paddings", "constant", {}, {}, reader.scalar(2, 0) };
	const std::vector<int64_t> numbers = reader.wholeNumbers(1);

	if constexpr (isMirror) {
		const auto mode = reader.options<fb::MirrorPadOptions>().mode();
		padding.mode = mode == fb::MirrorPadMode::SYMMETRIC ? "symmetric" : "reflect";
	}
	for (size_t i = 0; i < numbers.size(); i++)
		(i % 2 ? padding.after : padding.before).push_back(numbers[i]);
	return legalize::pad(reader, reader.input(0), padding);
}

Tensor readGather(OperatorReader &reader)
{
	const auto &options = reader.options<fb::GatherOptions>();
	const Tensor tensor = reader.input(0);
	const std::vector<int64_t> indices = reader.wholeNumbers(1);

	reader.support(options.batch_dims() == 0, "batch_dims",
		       fmt::format("is {}; gather each sample's by itself", options.batch_dims()));
	for (const int64_t index : indices)
		reader.need(index >= 0, "indices", fmt::format("name element {}", index));
	return legalize::gather(reader, tensor, options.axis(), reader.constant(1));
}

/* Size of a block: large height / small height. Throws if the shapes differ otherwise. */
uint32_t blockOf(OperatorReader &reader, const Extents &large, const Extents &small)
{
	const bool fits = large.size() == 4 && small.size() == 4 && small[1] && small[2] &&
			  large[1] % small[1] == 0 && large[1] / small[1] == large[2] / small[2] &&
			  large[2] % small[2] == 0;

	reader.need(fits, "shapes",
		    fmt::format("{} and {} differ by no block", toString(large), toString(small)));
	return large[1] / small[1];
}

Tensor readDepthToSpace(OperatorReader &reader)
{
	const Tensor x = reader.picture(reader.input(0));

	return legalize::depthToSpace(reader, x, blockOf(reader, reader.output().shape, x.shape),
				      false);
}

Tensor readSpaceToDepth(OperatorReader &reader)
{
	const Tensor x = reader.picture(reader.input(0));

	return legalize::spaceToDepth(reader, x, blockOf(reader, x.shape, reader.output().shape));
}

using Function = Unary::Function;

Tensor overLastAxis(OperatorReader &reader, const Kind &function)
{
	const Tensor x = reader.input(0);

	return legalize::overAxis(reader, x, reader.axis(-1, x.shape.size(), "axis"), function);
}

Tensor readGelu(OperatorReader &reader)
{
	const auto *options = reader.givenOptions<fb::GeluOptions>();
	const bool approximate = options && options->approximate();

	return legalize::unary(reader, reader.input(0),
			       { approximate ? Function::GeluTanh : Function::Gelu });
}

Tensor readConversion(OperatorReader &reader)
{
	const Tensor x = reader.input(0);

	return reader.isConstant(x) && isFloat(reader.output().type)
		       ? x
		       : legalize::unary(reader, x, {});
}

Tensor readLocalResponse(OperatorReader &reader)
{
	const auto &options = reader.options<fb::LocalResponseNormalizationOptions>();
	constexpr int32_t mostRadius = 127;

	reader.need(options.radius() >= 0 && options.radius() <= mostRadius, "radius",
		    fmt::format("is {}", options.radius()));
	return overLastAxis(reader,
			    OverChannels{ OverChannels::Function::LocalResponse,
					  2 * static_cast<uint32_t>(options.radius()) + 1,
					  options.beta(), options.alpha(), options.bias() });
}

using enum fb::BuiltinOperator;

} /* namespace */

const OperatorTable elementOperators = {
	/* Files spell dilated convolutions as SPACE_TO_BATCH_ND, a convolution and this. */
	{ BATCH_TO_SPACE_ND,
	  [](OperatorReader &r) {
		  return legalize::dilated(r, r.input(0), "SPACE_TO_BATCH_ND", r.wholeNumbers(1),
					   r.wholeNumbers(2));
	  } },
	{ CONCATENATION,
	  [](OperatorReader &r) {
		  const auto &options = r.options<fb::ConcatenationOptions>();
		  return legalize::concatenation(r, r.allInputs(), options.axis(),
						 r.clamp(options.activation()));
	  } },
	/* Sparse constants are expanded when they are read, so nothing is left to do. */
	{ DENSIFY,
	  [](OperatorReader &r) {
		  r.constant(0);
		  return r.input(0);
	  } },
	{ DEPTH_TO_SPACE, readDepthToSpace },
	{ DEQUANTIZE, readConversion },
	{ EXPAND_DIMS, readReshape },
	{ GATHER, readGather },
	{ GELU, readGelu },
	{ LEAKY_RELU,
	  [](OperatorReader &r) {
		  const double slope = r.options<fb::LeakyReluOptions>().alpha();
		  return legalize::unary(r, r.input(0), { Function::LeakyRelu, slope, {} });
	  } },
	{ LOCAL_RESPONSE_NORMALIZATION, readLocalResponse },
	{ LOG_SOFTMAX,
	  [](OperatorReader &r) {
		  return overLastAxis(r, Softmax{ 1, true });
	  } },
	{ MIRROR_PAD, readPad<true> },
	{ PACK,
	  [](OperatorReader &r) {
		  return legalize::stack(r, r.allInputs(), r.options<fb::PackOptions>().axis());
	  } },
	{ PAD, readPad<false> },
	{ PADV2, readPad<false> },
	{ PRELU, [](OperatorReader &r) { return legalize::prelu(r, r.input(0), r.constant(1)); } },
	{ QUANTIZE, readConversion },
	{ RESHAPE, readReshape },
	{ SLICE, readSlice },
	{ SOFTMAX,
	  [](OperatorReader &r) {
		  return overLastAxis(r, Softmax{ r.options<fb::SoftmaxOptions>().beta() });
	  } },
	{ SPACE_TO_DEPTH, readSpaceToDepth },
	{ SPLIT, readParts<1, 0> },
	{ SPLIT_V, readParts<0, 2> },
	{ SQUEEZE, readReshape },
	{ STRIDED_SLICE, readStridedSlice },
	{ TILE,
	  [](OperatorReader &r) {
		  return legalize::tile(r, r.input(0), "multiples", r.wholeNumbers(1));
	  } },
	{ UNPACK, readUnpack },
};

std::optional<Tensor> readOperator(OperatorReader &reader, const fb::OperatorCode &code)
{
	/* Operators that readCommon() knows by another name. */
	static const std::map<fb::BuiltinOperator, const char *> names = {
		{ ADD_N, "Sum" },
		{ BROADCAST_TO, "Expand" },
		{ L2_NORMALIZATION, "LpNormalization" },
		{ MAXIMUM, "Max" },
		{ MEAN, "ReduceMean" },
		{ MINIMUM, "Min" },
		{ SELECT, "Where" },
		{ SELECT_V2, "Where" },
		{ SUM, "ReduceSum" },
		{ WHERE, "NonZero" },
	};
	const fb::BuiltinOperator builtin = builtinCode(code);

	if (code.custom_code())
		return code.custom_code()->str() == "Convolution2DTransposeBias"
			       ? std::optional(readConvolution2DTransposeBias(reader))
			       : std::nullopt;
	for (const OperatorTable *table :
	     { &elementOperators, &windowOperators, &stateOperators }) {
		if (const auto found = table->find(builtin); found != table->end())
			return found->second(reader);
	}
	const auto name = names.find(builtin);
	return readCommon(reader, name == names.end() ? reader.type() : name->second);
}

} /* namespace nvdla::compiler::tflite */
