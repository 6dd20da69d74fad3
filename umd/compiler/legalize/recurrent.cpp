/* SPDX-License-Identifier: MIT */
/*
 * Recurrent cells, step by step.
 *
 * One operation multiplies all inputs by their kernels. A step needs its products as channels, so
 * the CPU moves rows of them to channels before the first step, and the states back behind the
 * last one.
 */
#include <algorithm>
#include <map>

#include <fmt/core.h>

#include "legalize.h"

namespace nvdla::compiler::legalize
{

namespace
{

using Function = Elementwise::Function;

/* States are whole atoms of any type on any core, so that parts of a tensor need no copy. */
constexpr uint32_t atom = 32;
/* Each step is some ten operations. */
constexpr uint64_t mostSteps = 256;

Tensor ofTwo(Builder &builder, Function function, const Tensor &a, const Tensor &b)
{
	return builder.prepare(Elementwise{ function, {} }, a, a, { b.id });
}

Tensor joined(Builder &builder, const std::vector<Tensor> &tensors, uint32_t axis)
{
	return tensors.size() == 1 ? tensors.front() : concatenation(builder, tensors, axis, {});
}

Tensor columns(Builder &builder, const Tensor &matrix, uint32_t begin, uint32_t count)
{
	return count == matrix.shape[1] ? matrix : part(builder, matrix, 1, { begin, count });
}

/* The rows of a matrix, each a matrix of its own */
std::vector<Tensor> eachRow(Builder &builder, const Tensor &matrix)
{
	const uint32_t count = matrix.shape[0], width = matrix.shape[1];
	const uint32_t atOnce = mostOfSurface / width;
	std::vector<Tensor> channels, rows;

	for (uint32_t i = 0; i < count; i += atOnce) {
		const uint32_t some = std::min(atOnce, count - i);
		const Tensor lines = some == count ? matrix : part(builder, matrix, 0, { i, some });
		channels.push_back(builder.reshaped(lines, { 1, some * width }));
	}
	for (const Tensor &all : channels)
		for (uint32_t at = 0; at < all.shape[1]; at += width)
			rows.push_back(columns(builder, all, at, width));
	return rows;
}

/* Reverses eachRow(). */
Tensor ofRows(Builder &builder, const std::vector<Tensor> &rows)
{
	const uint32_t width = rows.front().shape[1];
	const size_t atOnce = mostOfSurface / width;
	std::vector<Tensor> lines;

	for (auto first = rows.begin(); first != rows.end();) {
		const auto end = first + std::min<ptrdiff_t>(static_cast<ptrdiff_t>(atOnce),
							     rows.end() - first);
		const Tensor all = joined(builder, { first, end }, 1);
		lines.push_back(
			builder.reshaped(all, { static_cast<uint32_t>(end - first), width }));
		first = end;
	}
	return joined(builder, lines, 0);
}

/* One sequence of a batch, in one direction */
class Sequence
{
public:
	Sequence(Builder &builder, const Recurrence &cell, const Recurrence::Direction &direction)
		: builder_(builder), cell_(cell), direction_(direction),
		  width_((cell.size + atom - 1) / atom * atom)
	{
	}

	/* \return the hidden state behind each of the \a inputs, a matrix of columns of states */
	Tensor run(const Tensor &inputs);

	/* The states before the first step, then behind the last one; nothing: zeros */
	std::optional<Tensor> hidden;
	std::optional<Tensor> memory;

private:
	/* Adjacent gates, from number \a first on */
	struct Gates {
		uint32_t first;
		uint32_t count;
	};
	uint32_t gates() const { return gatesOf(cell_.kind); }
	Tensor part(const Tensor &all, const Gates &some)
	{
		return columns(builder_, all, some.first * width_, some.count * width_);
	}
	/* Numbers of gates, of which each gets whole atoms of rows; \a columns 0: a vector */
	Value padded(const std::vector<double> &numbers, const Gates &some, uint32_t columns) const;
	Tensor recurrent(const Tensor &from, const Gates &some);
	void stepLstm(const Tensor &sums);
	void stepGru(const Tensor &inputs);

	Builder &builder_;
	const Recurrence &cell_;
	const Recurrence::Direction &direction_;
	const uint32_t width_;		    /* channels of a state */
	std::map<uint32_t, Value> kernels_; /* by their first gate */
};

Value Sequence::padded(const std::vector<double> &numbers, const Gates &some,
		       uint32_t columns) const
{
	const size_t given = numbers.size() / gates() / cell_.size;
	const size_t stride = std::max(columns, 1U), first = size_t{ some.first } * cell_.size;
	Extents shape{ some.count * width_, columns };
	std::vector<double> made(shape[0] * stride);

	for (size_t row = 0; row < size_t{ some.count } * cell_.size; row++)
		std::copy_n(&numbers[(first + row) * given], given,
			    &made[(row / cell_.size * width_ + row % cell_.size) * stride]);
	shape.resize(columns ? 2 : 1);
	return floatConstant(made, shape);
}

/* One operation for as many gates as possible: its kernels stay in the core for the next step. */
Tensor Sequence::recurrent(const Tensor &from, const Gates &some)
{
	const auto [kernels, isNew] = kernels_.try_emplace(some.first);

	if (isNew)
		kernels->second = padded(direction_.recurrent, some, width_);
	return product(builder_, from, { kernels->second, {} }, {});
}

/* Gates: input, output, forget, candidate */
void Sequence::stepLstm(const Tensor &sums)
{
	const Tensor three = unary(builder_, part(sums, { 0, 3 }), cell_.gate);
	const Tensor candidate = unary(builder_, part(sums, { 3, 1 }), cell_.candidate);
	const Tensor fresh = ofTwo(builder_, Function::Multiply, candidate, part(three, { 0, 1 }));

	memory = memory ? ofTwo(builder_, Function::Add,
				ofTwo(builder_, Function::Multiply, *memory, part(three, { 2, 1 })),
				fresh)
			: fresh;
	hidden = ofTwo(builder_, Function::Multiply, unary(builder_, *memory, cell_.output),
		       part(three, { 1, 1 }));
}

/* Gates: update, reset, candidate; the state is (1 - update) * candidate + update * state. */
void Sequence::stepGru(const Tensor &inputs)
{
	const Gates both{ 0, 2 }, last{ 2, 1 };
	Tensor sums = part(inputs, both), candidate = part(inputs, last);
	std::optional<Tensor> products;

	if (hidden) {
		products = recurrent(*hidden, cell_.resetsProduct ? Gates{ 0, 3 } : both);
		sums = ofTwo(builder_, Function::Add, part(*products, both), sums);
	}
	const Tensor two = unary(builder_, sums, cell_.gate);
	const Tensor update = part(two, { 0, 1 }), reset = part(two, { 1, 1 });
	if (cell_.resetsProduct) {
		const Tensor &from = hidden ? part(*products, last) : reset;
		const Elementwise function{ hidden ? Function::Add : Function::Multiply, {} };
		Tensor more = builder_.prepare(
			function, from, from,
			{ builder_.addMeeting(from, padded(direction_.recurrentBias, last, 0)) });
		if (hidden)
			more = ofTwo(builder_, Function::Multiply, more, reset);
		candidate = ofTwo(builder_, Function::Add, more, candidate);
	} else if (hidden) {
		candidate =
			ofTwo(builder_, Function::Add,
			      recurrent(ofTwo(builder_, Function::Multiply, *hidden, reset), last),
			      candidate);
	}
	candidate = unary(builder_, candidate, cell_.candidate);
	const Tensor change =
		hidden ? ofTwo(builder_, Function::Subtract, *hidden, candidate) : candidate;
	hidden = ofTwo(builder_, hidden ? Function::Add : Function::Subtract, candidate,
		       ofTwo(builder_, Function::Multiply, change, update));
}

Tensor Sequence::run(const Tensor &inputs)
{
	const Gates all{ 0, gates() };
	builder_.support(
		all.count * width_ <= mostOfSurface, "hidden_size",
		fmt::format("is {}; up to {} are possible", cell_.size, mostOfSurface / all.count));
	const Tensor products = product(builder_, inputs,
					{ padded(direction_.input, all, inputs.shape[1]),
					  { padded(direction_.bias, all, 0) } },
					{});
	std::vector<Tensor> steps = eachRow(builder_, products), states;

	if (direction_.isReverse)
		std::ranges::reverse(steps);
	for (Tensor &sums : steps) {
		if (hidden && cell_.kind != Recurrence::Kind::Gru)
			sums = ofTwo(builder_, Function::Add, recurrent(*hidden, all), sums);
		if (cell_.kind == Recurrence::Kind::Lstm)
			stepLstm(sums);
		else if (cell_.kind == Recurrence::Kind::Gru)
			stepGru(sums);
		else
			hidden = unary(builder_, sums, cell_.candidate);
		states.push_back(*hidden);
	}
	if (direction_.isReverse)
		std::ranges::reverse(states);
	return columns(builder_, ofRows(builder_, states), 0, cell_.size);
}

/* The state of sequence \a index before its first step; nothing if it is 0 */
std::optional<Tensor> stateAt(Builder &builder, const std::optional<Tensor> &states, uint32_t index,
			      uint32_t size)
{
	if (!states)
		return std::nullopt;
	if (builder.isConstant(*states)) {
		const std::vector<double> numbers = realNumbers(builder.value(*states));
		builder.support(std::ranges::all_of(numbers, [](double one) { return one == 0; }),
				"initial state", "is a constant other than 0");
		return std::nullopt;
	}
	const auto all = static_cast<uint32_t>(elementCount(states->shape));
	const Tensor one =
		columns(builder, builder.reshaped(*states, { 1, all }), index * size, size);
	const int64_t missing = (atom - size % atom) % atom;
	return missing ? pad(builder, one,
			     { "initial state", "constant", { 0, 0 }, { 0, missing } })
		       : one;
}

} /* namespace */

uint32_t gatesOf(Recurrence::Kind kind)
{
	return kind == Recurrence::Kind::Lstm ? 4 : kind == Recurrence::Kind::Gru ? 3 : 1;
}

std::vector<Tensor> recurrent(Builder &builder, const Tensor &x, const Recurrence &cell,
			      const std::optional<Tensor> &hidden,
			      const std::optional<Tensor> &memory)
{
	const uint32_t steps = x.shape[0], batch = x.shape[1], size = cell.size;
	const auto directions = static_cast<uint32_t>(cell.directions.size());
	const bool isLstm = cell.kind == Recurrence::Kind::Lstm;
	std::vector<Tensor> states, hiddens, memories;

	builder.support(uint64_t{ steps } * batch * directions <= mostSteps, "input 0",
			fmt::format("is {} steps; up to {} are possible",
				    uint64_t{ steps } * batch * directions, mostSteps));
	for (uint32_t i = 0; i < directions * batch; i++) {
		Sequence sequence(builder, cell, cell.directions[i / batch]);
		const Tensor own = batch == 1 ? x : part(builder, x, 1, { i % batch, 1 });
		sequence.hidden = stateAt(builder, hidden, i, size);
		sequence.memory = stateAt(builder, memory, i, size);
		states.push_back(sequence.run(builder.reshaped(own, { steps, x.shape[2] })));
		hiddens.push_back(columns(builder, *sequence.hidden, 0, size));
		if (isLstm)
			memories.push_back(columns(builder, *sequence.memory, 0, size));
	}
	std::vector<Tensor> results{ builder.reshaped(joined(builder, states, 1),
						      { steps, directions, batch, size }) };
	for (const auto *last : { &hiddens, &memories })
		if (!last->empty())
			results.push_back(builder.reshaped(joined(builder, *last, 1),
							   { directions, batch, size }));
	return results;
}

} /* namespace nvdla::compiler::legalize */
