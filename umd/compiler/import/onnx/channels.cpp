/* SPDX-License-Identifier: MIT */
/*
 * Operators that reduce or normalize over all channels, or move elements between channels and
 * lines and columns.
 */
#include <algorithm>

#include <fmt/core.h>

#include "node_reader.h"

namespace nvdla::compiler::onnx
{

namespace
{

/* Indices are integers of 16 bits; the smallest is the largest of the negative numbers. */
template<bool ofSmallest>
void readArgMax(NodeReader &reader)
{
	const uint32_t axis =
		reader.axis(reader.integer("axis", 0), reader.input(0).shape.size(), "axis");
	FileTensor x = withAxisLast(reader, axis);

	if (ofSmallest)
		x = reader.addBetween(Elementwise{ Elementwise::Function::Multiply, {} },
				      { x.id, reader.addNumber(-1) }, reader.computed(x), x);
	reader.support(reader.integer("select_last_index", 0) == 0, "select_last_index",
		       "is set; the first of several is known");
	addReduced(reader, ArgMax{}, x, axis, { ElementType::Int16, Quantization{ 1, 0 } });
}

/* The norm of all channels is 1 then. */
void readLpNormalization(NodeReader &reader)
{
	const uint32_t axis =
		reader.axis(reader.integer("axis", -1), reader.input(0).shape.size(), "axis");
	const FileTensor x = withAxisLast(reader, axis);

	reader.support(reader.integer("p", 2) == 2, "p", "is not 2");
	reader.add(Normalization{}, { x.id }, reader.computed(x), x);
}

void readLrn(NodeReader &reader)
{
	const FileTensor x = reader.picture(0);
	const int64_t size = reader.integer("size", 0);

	if (!reader.support(size >= 1 && size <= UINT8_MAX && size % 2 == 1, "size",
			    fmt::format("is {}; odd numbers up to 255 are known", size)))
		return;
	reader.add(LocalResponse{ static_cast<uint32_t>(size), reader.number("bias", 1),
				  reader.number("alpha", 1e-4) / static_cast<double>(size),
				  reader.number("beta", 0.75) },
		   { x.id }, reader.computed(x), x);
}

/* The block's size; 0 and an error if the picture has no such blocks. */
uint32_t blockOf(NodeReader &reader, uint64_t extent, uint64_t other)
{
	const int64_t size = reader.integer("blocksize", 0);
	const bool fits = size >= 1 && size <= UINT8_MAX &&
			  extent % static_cast<uint64_t>(size) == 0 &&
			  other % static_cast<uint64_t>(size) == 0;

	reader.need(fits, "blocksize", fmt::format("is {}", size));
	return reader.failed() ? 0 : static_cast<uint32_t>(size);
}

/* DCR: channels of an element stay side by side; CRD: those of a block do. */
void readDepthToSpace(NodeReader &reader)
{
	const FileTensor x = reader.picture(0);
	const std::string mode = reader.text("mode", "DCR");

	reader.need(mode == "DCR" || mode == "CRD", "mode", "is " + mode);
	if (reader.failed())
		return;
	const uint32_t block = blockOf(reader, x.shape[1], x.shape[1]);
	if (reader.failed() ||
	    !reader.need(x.shape[1] % (block * block) == 0, "blocksize",
			 fmt::format("is {}, of {} channels", block, x.shape[1])))
		return;
	const uint32_t channels = x.shape[1] / block / block, h = x.shape[2], w = x.shape[3];
	const Transpose transpose =
		mode == "DCR" ? Transpose{ { h, w, block, block, channels }, { 0, 2, 1, 3, 4 } }
			      : Transpose{ { h, w, channels, block, block }, { 0, 3, 1, 4, 2 } };
	reader.add(ofSamples(x.shape[0], transpose), { x.id }, reader.same(x),
		   { x.shape[0], channels, h * block, w * block }, x.order);
}

void readSpaceToDepth(NodeReader &reader)
{
	const FileTensor x = reader.picture(0);
	if (reader.failed())
		return;
	const uint32_t block = blockOf(reader, x.shape[2], x.shape[3]);
	if (reader.failed())
		return;
	const uint32_t h = x.shape[2] / block, w = x.shape[3] / block;
	const Transpose transpose{ { h, block, w, block, x.shape[1] }, { 0, 2, 1, 3, 4 } };
	reader.add(ofSamples(x.shape[0], transpose), { x.id }, reader.same(x),
		   { x.shape[0], x.shape[1] * block * block, h, w }, x.order);
}

} /* namespace */

FileTensor withAxisLast(NodeReader &reader, uint32_t axis)
{
	const FileTensor x = reader.input(0);
	AxisOrder order = x.order;

	if (reader.failed())
		return x;
	order.erase(std::find(order.begin(), order.end(), axis));
	order.push_back(axis);
	return reader.inOrder(x, order);
}

void addReduced(NodeReader &reader, Kind kind, const FileTensor &x, uint32_t axis,
		const ElementKind &elements)
{
	FileTensor like = x;

	if (reader.failed())
		return;
	like.shape[axis] = 1;
	if (reader.integer("keepdims", 1) != 0) {
		reader.add(std::move(kind), { x.id }, elements, like);
		return;
	}
	const FileTensor kept = reader.addBetween(std::move(kind), { x.id }, elements, like);
	like.shape.erase(like.shape.begin() + axis);
	addReshape(reader, kept, like.shape);
}

const NodeTable channelNodes = {
	{ "ArgMax", readArgMax<false> },
	{ "ArgMin", readArgMax<true> },
	{ "DepthToSpace", readDepthToSpace },
	{ "LpNormalization", readLpNormalization },
	{ "LRN", readLrn },
	{ "SpaceToDepth", readSpaceToDepth },
};

} /* namespace nvdla::compiler::onnx */
