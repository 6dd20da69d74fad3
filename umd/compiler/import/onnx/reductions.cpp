/* SPDX-License-Identifier: MIT */
/*
 * Sums, means and extremes over axes, and functions made of them.
 */
#include <algorithm>

#include <fmt/core.h>

#include "node_reader.h"

namespace nvdla::compiler::onnx
{

Rows rowsOf(NodeReader &reader, const FileTensor &tensor, const AxisOrder &axes)
{
	AxisOrder kept;
	uint64_t elements = 1;
	Rows made;

	std::ranges::copy_if(tensor.order, std::back_inserter(kept), [&](uint32_t axis) {
		return std::ranges::find(axes, axis) == axes.end();
	});
	AxisOrder order = kept;
	order.insert(order.end(), axes.begin(), axes.end());
	made.turned = reader.inOrder(tensor, order);
	if (reader.failed())
		return {};
	made.kept = made.turned;
	for (const uint32_t axis : axes) {
		elements *= tensor.shape[axis];
		made.kept.shape[axis] = 1;
		if (!reader.support(elements <= mostOfAxis, "axes",
				    fmt::format("have {} elements together", elements)))
			return {};
	}
	made.rows = made.turned;
	made.reduced = made.kept;
	if (axes.size() == 1)
		return made;
	made.rows.shape.clear();
	for (const uint32_t axis : kept)
		made.rows.shape.push_back(tensor.shape[axis]);
	made.rows.shape.push_back(static_cast<uint32_t>(elements));
	made.rows.order = asInFile(made.rows.shape.size());
	made.reduced = made.rows;
	made.reduced.shape.back() = 1;
	made.rows = reader.addBetween(Reshape{}, { made.turned.id }, reader.same(made.turned),
				      made.rows);
	/* A batch stays the first axis. */
	made.kept.order = kept;
	made.kept.order.insert(made.kept.order.begin() +
				       (kept.empty() || kept.front() != 0 ? 0 : 1),
			       axes.begin(), axes.end());
	return made;
}

namespace
{

/* Of what, over which axes, and whether these stay, with one element each. */
struct Reduction {
	FileTensor in;
	AxisOrder axes; /* sorted */
	bool keeps = true;

	bool has(uint32_t axis) const { return std::ranges::binary_search(axes, axis); }
	/* The output's shape. */
	Extents shape() const
	{
		Extents left;

		for (uint32_t axis = 0; axis < in.shape.size(); axis++) {
			if (!has(axis))
				left.push_back(in.shape[axis]);
			else if (keeps)
				left.push_back(1);
		}
		return left;
	}
	/* Lines, columns or both of a picture, whose columns are not the last axis of the value. */
	bool isWindow() const
	{
		const bool plane = std::ranges::all_of(
			axes, [](uint32_t axis) { return axis == 2 || axis == 3; });

		return plane && in.shape.size() == 4 &&
		       !(axes.size() == 1 && in.order.back() == axes[0]);
	}
};

Reduction reductionOf(NodeReader &reader)
{
	Reduction reduction{ reader.computedInput(), {}, reader.integer("keepdims", 1) != 0 };
	const size_t rank = reduction.in.shape.size();

	for (const int64_t number : reader.list(1, "axes"))
		reduction.axes.push_back(reader.axis(number, rank, "axes"));
	if (reduction.axes.empty() && reader.integer("noop_with_empty_axes", 0) == 0)
		reduction.axes = asInFile(rank);
	std::ranges::sort(reduction.axes);
	reduction.axes.erase(std::unique(reduction.axes.begin(), reduction.axes.end()),
			     reduction.axes.end());
	reader.support(!reduction.axes.empty(), "axes",
		       "are none; leave the operator out, which does nothing");
	return reader.failed() ? Reduction{} : reduction;
}

/* A pooling with one window. */
Kind windowOf(const Reduction &reduction, Pool::Method method)
{
	if (method == Pool::Method::Average && reduction.axes.size() == 2)
		return GlobalAverage{};
	Pool pool{ method, {}, {}, {}, false, {} };
	if (reduction.has(2))
		pool.kernel.y = reduction.in.shape[2];
	if (reduction.has(3))
		pool.kernel.x = reduction.in.shape[3];
	return pool;
}

/* Name the result; axes of one element fall away, if they are not kept. */
void finish(NodeReader &reader, const Reduction &reduction, Kind kind,
	    const std::vector<ValueId> &inputs, const ElementKind &elements, const FileTensor &kept)
{
	if (reduction.keeps)
		reader.add(std::move(kind), inputs, elements, kept);
	else if (const FileTensor made = reader.addBetween(std::move(kind), inputs, elements, kept);
		 !reader.failed())
		addReshape(reader, made, reduction.shape());
}

/* A function of each element before or behind a reduction; Identity: none. */
struct Around {
	Unary before;
	Unary behind;
};

void addReduction(NodeReader &reader, const Reduction &reduction, Pool::Method method,
		  const Around &around)
{
	const bool isWindow = reduction.isWindow();
	Rows all;

	if (reader.failed())
		return;
	if (isWindow) {
		all.rows = reader.inOrder(reduction.in, channelsLast(4));
		all.reduced = all.rows;
		for (const uint32_t axis : reduction.axes)
			all.reduced.shape[axis] = 1;
		all.kept = all.reduced;
	} else {
		all = rowsOf(reader, reduction.in, reduction.axes);
	}
	if (reader.failed())
		return;
	const ElementKind elements =
		isExtreme(method) ? reader.same(all.rows) : reader.computed(all.rows);
	FileTensor x = all.rows;
	if (around.before != Unary{})
		x = reader.addBetween(around.before, { x.id }, elements, x);
	const Kind kind = isWindow ? windowOf(reduction, method) : ChannelReduction{ method };
	const bool isLast = around.behind == Unary{};
	const bool isFlat = all.kept.shape != all.reduced.shape;
	if (isLast && !isFlat) {
		finish(reader, reduction, kind, { x.id }, elements, all.kept);
		return;
	}
	x = reader.addBetween(kind, { x.id }, elements, all.reduced);
	if (!isLast && isFlat)
		x = reader.addBetween(around.behind, { x.id }, elements, x);
	finish(reader, reduction, isFlat ? Kind(Reshape{}) : Kind(around.behind), { x.id },
	       elements, all.kept);
}

template<Pool::Method method>
void readReduction(NodeReader &reader)
{
	addReduction(reader, reductionOf(reader), method, {});
}

void readReduceL2(NodeReader &reader)
{
	addReduction(reader, reductionOf(reader), Pool::Method::Sum,
		     { { Unary::Function::Square }, { Unary::Function::Power, 0.5, {} } });
}

/* The sum of a function, and a function of that. */
template<Unary::Function before, Unary::Function behind = Unary::Function::Identity>
void readSumOf(NodeReader &reader)
{
	addReduction(reader, reductionOf(reader), Pool::Method::Sum, { { before }, { behind } });
}

/*
 * The logarithm of a softmax is each number less what is wanted. That of the largest is within
 * a few of 0, and so exact in FP16, where a sum of exponentials would be infinite.
 */
void readReduceLogSumExp(NodeReader &reader)
{
	const Reduction reduction = reductionOf(reader);
	const Kind largest = ChannelReduction{ Pool::Method::Max };
	const Kind difference = Elementwise{ Elementwise::Function::Subtract, {} };

	if (reader.failed())
		return;
	const Rows all = rowsOf(reader, reduction.in, reduction.axes);
	const ElementKind elements = reader.computed(all.rows);
	const FileTensor most = reader.addBetween(largest, { all.rows.id }, elements, all.reduced);
	const FileTensor logarithms =
		reader.addBetween(Softmax{ 1, true }, { all.rows.id }, elements, all.rows);
	const FileTensor highest =
		reader.addBetween(largest, { logarithms.id }, elements, all.reduced);
	const std::vector<ValueId> both{ most.id, highest.id };
	if (all.kept.shape == all.reduced.shape) {
		finish(reader, reduction, difference, both, elements, all.kept);
		return;
	}
	const FileTensor sums = reader.addBetween(difference, both, elements, all.reduced);
	finish(reader, reduction, Reshape{}, { sums.id }, elements, all.kept);
}

} /* namespace */

const NodeTable reductionNodes = {
	{ "ReduceL1", readSumOf<Unary::Function::Abs> },
	{ "ReduceL2", readReduceL2 },
	{ "ReduceLogSum", readSumOf<Unary::Function::Identity, Unary::Function::Log> },
	{ "ReduceLogSumExp", readReduceLogSumExp },
	{ "ReduceMax", readReduction<Pool::Method::Max> },
	{ "ReduceMean", readReduction<Pool::Method::Average> },
	{ "ReduceMin", readReduction<Pool::Method::Min> },
	{ "ReduceSum", readReduction<Pool::Method::Sum> },
	{ "ReduceSumSquare", readSumOf<Unary::Function::Square> },
};

} /* namespace nvdla::compiler::onnx */
