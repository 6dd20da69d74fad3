/* SPDX-License-Identifier: MIT */
/*
 * Recurrent cells (RNN, GRU, LSTM), unrolled into the operations of each step.
 *
 * One operation multiplies the inputs of all steps by their kernels. A step needs its products as
 * channels. So the CPU moves the rows of products to channels before the first step, and the states
 * back to rows behind the last step.
 */
#include <algorithm>
#include <map>
#include <span>

#include <fmt/core.h>

#include "legalize.h"

namespace nvdla::compiler::legalize
{

namespace
{

using Function = Elementwise::Function;

/* States are padded to multiples of this number of channels, which is whole atoms of any type on
 * any core: then a part of a tensor needs no copy. */
constexpr uint32_t atom = 32;
/* Limit of steps times batch times directions, because each step makes some ten operations. */
constexpr uint64_t mostSteps = 256;

/* Returns each row of a matrix as a matrix of one row. */
std::vector<Tensor> eachRow(Builder &builder, const Tensor &matrix)
{
	const uint32_t count = matrix.shape[0], width = matrix.shape[1];
	const uint32_t atOnce = mostOfSurface / width;
	std::vector<Tensor> rows;

	for (uint32_t i = 0; i < count; i += atOnce) {
		const uint32_t some = std::min(atOnce, count - i);
		const Tensor channels = builder.reshaped(part(builder, matrix, 0, { i, some }),
							 { 1, some * width });
		for (uint32_t row = 0; row < some; row++)
			rows.push_back(part(builder, channels, 1, { row * width, width }));
	}
	return rows;
}

/* Returns the matrix of some rows: the inverse of eachRow(). */
Tensor ofRows(Builder &builder, std::span<const Tensor> rows)
{
	const uint32_t width = rows.front().shape[1];
	std::vector<Tensor> lines;

	for (size_t i = 0; i < rows.size(); i += mostOfSurface / width) {
		const auto some =
			rows.subspan(i, std::min<size_t>(mostOfSurface / width, rows.size() - i));
		const Tensor all = concatenation(builder, { some.begin(), some.end() }, 1, {});
		lines.push_back(
			builder.reshaped(all, { static_cast<uint32_t>(some.size()), width }));
	}
	return concatenation(builder, lines, 0, {});
}

/* A cell's steps for one sequence of the batch, in one direction */
class Sequence
{
public:
	Sequence(Builder &builder, const Recurrence &cell, uint32_t direction)
		: builder_(builder), cell_(cell), direction_(direction),
		  width_((cell.size + atom - 1) / atom * atom)
	{
	}

	/* \return the hidden states, one row for each step; \a inputs has one row for each step */
	Tensor run(const Tensor &inputs);

	/* The states: run() begins with them and leaves those of the last step; nothing: zeros */
	std::optional<Tensor> hidden;
	std::optional<Tensor> memory;

private:
	Tensor ofTwo(Function function, const Tensor &a, const Tensor &b, Clamp limits = {})
	{
		return builder_.prepare(Elementwise{ function, limits }, a, a, { b.id });
	}
	Tensor gatesIn(const Tensor &all, const Part &some)
	{
		return part(builder_, all, 1, { some.begin * width_, some.count * width_ });
	}
	/* The rows of some gates: rows of zeros fill each gate up to width_ rows, and zeros fill
	 * each row up to \a columns numbers. 0 columns: a vector of one number for each row */
	Value padded(const std::vector<double> &numbers, const Part &some, uint32_t columns) const;
	Tensor recurrent(const Tensor &from, const Part &some);
	void stepLstm(const Tensor &sums);
	void stepGru(const Tensor &inputs);

	Builder &builder_;
	const Recurrence &cell_;
	const uint32_t direction_;
	const uint32_t width_;		    /* channels of a padded state */
	std::map<uint32_t, Value> kernels_; /* for the hidden state, by index of the first gate */
};

Value Sequence::padded(const std::vector<double> &numbers, const Part &some, uint32_t columns) const
{
	const size_t rows = size_t{ gatesOf(cell_.kind) } * cell_.size;
	const size_t given = numbers.size() / cell_.directions / rows;
	const size_t stride = std::max(columns, 1U);
	const size_t first = direction_ * rows + size_t{ some.begin } * cell_.size;
	Extents shape{ some.count * width_, columns };
	std::vector<double> made(shape[0] * stride);

	for (size_t row = 0; row < size_t{ some.count } * cell_.size; row++)
		std::copy_n(&numbers[(first + row) * given], given,
			    &made[(row / cell_.size * width_ + row % cell_.size) * stride]);
	shape.resize(columns ? 2 : 1);
	return floatConstant(made, shape);
}

/* Multiplies a state by the kernels of some gates in one operation. The next step multiplies by the
 * same kernels, which stay in the convolution buffer. */
Tensor Sequence::recurrent(const Tensor &from, const Part &some)
{
	const auto [kernels, isNew] = kernels_.try_emplace(some.begin);
	std::vector<Value> bias;

	if (isNew)
		kernels->second = padded(cell_.recurrent, some, width_);
	if (cell_.resetsProduct)
		bias = { padded(cell_.recurrentBias, some, 0) };
	return product(builder_, from, { kernels->second, std::move(bias) }, {});
}

/* One step. \a sums has the gates in the order input, output, forget, candidate. */
void Sequence::stepLstm(const Tensor &sums)
{
	const Tensor three = unary(builder_, gatesIn(sums, { 0, 3 }), cell_.gate);
	const Tensor candidate = unary(builder_, gatesIn(sums, { 3, 1 }), cell_.candidate);
	const Tensor fresh = ofTwo(Function::Multiply, candidate, gatesIn(three, { 0, 1 }));

	if (memory)
		memory = ofTwo(Function::Multiply, *memory, gatesIn(three, { 2, 1 }));
	memory = memory ? ofTwo(Function::Add, *memory, fresh, cell_.memory) : fresh;
	hidden = ofTwo(Function::Multiply, unary(builder_, *memory, cell_.output),
		       gatesIn(three, { 1, 1 }));
}

/* Gates: update, reset, candidate. New state: (1 - update) * candidate + update * old state */
void Sequence::stepGru(const Tensor &inputs)
{
	const Part both{ 0, 2 }, last{ 2, 1 };
	Tensor sums = gatesIn(inputs, both), candidate = gatesIn(inputs, last);
	std::optional<Tensor> products;

	if (hidden) {
		products = recurrent(*hidden, cell_.resetsProduct ? Part{ 0, 3 } : both);
		sums = ofTwo(Function::Add, gatesIn(*products, both), sums);
	}
	const Tensor two = unary(builder_, sums, cell_.gate);
	const Tensor update = gatesIn(two, { 0, 1 }), reset = gatesIn(two, { 1, 1 });
	std::optional<Tensor> more;
	if (hidden && !cell_.resetsProduct)
		more = recurrent(ofTwo(Function::Multiply, *hidden, reset), last);
	else if (hidden)
		more = ofTwo(Function::Multiply, gatesIn(*products, last), reset);
	else if (cell_.resetsProduct)
		more = builder_.prepare(
			Elementwise{ Function::Multiply, {} }, reset, reset,
			{ builder_.addMeeting(reset, padded(cell_.recurrentBias, last, 0)) });
	if (more)
		candidate = ofTwo(Function::Add, *more, candidate);
	candidate = unary(builder_, candidate, cell_.candidate);
	const Tensor change = hidden ? ofTwo(Function::Subtract, *hidden, candidate) : candidate;
	hidden = ofTwo(hidden ? Function::Add : Function::Subtract, candidate,
		       ofTwo(Function::Multiply, change, update));
}

Tensor Sequence::run(const Tensor &inputs)
{
	const Part all{ 0, gatesOf(cell_.kind) };
	const bool isReverse = cell_.isReverse || direction_ == 1;
	builder_.support(
		all.count * width_ <= mostOfSurface, "hidden_size",
		fmt::format("is {}; up to {} are possible", cell_.size, mostOfSurface / all.count));
	const Tensor products = product(
		builder_, inputs,
		{ padded(cell_.input, all, inputs.shape[1]), { padded(cell_.bias, all, 0) } }, {});
	std::vector<Tensor> steps = eachRow(builder_, products), states;

	if (isReverse)
		std::ranges::reverse(steps);
	for (Tensor &sums : steps) {
		if (hidden && cell_.kind != Recurrence::Kind::Gru)
			sums = ofTwo(Function::Add, recurrent(*hidden, all), sums);
		if (cell_.kind == Recurrence::Kind::Lstm)
			stepLstm(sums);
		else if (cell_.kind == Recurrence::Kind::Gru)
			stepGru(sums);
		else
			hidden = unary(builder_, sums, cell_.candidate);
		states.push_back(*hidden);
	}
	if (isReverse)
		std::ranges::reverse(states);
	return part(builder_, ofRows(builder_, states), 1, { 0, cell_.size });
}

/* The state of sequence \a index before its first step; nothing if that state is all zeros */
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
	const uint32_t missing = (atom - size % atom) % atom;
	const Tensor one =
		part(builder, builder.reshaped(*states, { 1, all }), 1, { index * size, size });
	return missing ? builder.move(Pad{ { 0, 0 }, { 0, missing } }, one,
				      withExtent(one, 1, size + missing))
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
	const uint64_t all = uint64_t{ steps } * batch * cell.directions;
	const uint64_t wanted = uint64_t{ batch } * cell.directions * size;
	std::vector<Tensor> states, hiddens, memories;

	builder.support(elementCount(x.shape) > 0 && all <= mostSteps, "input 0",
			fmt::format("is {}, {} steps in all; 1 to {} are possible",
				    toString(x.shape), all, mostSteps));
	for (const auto *state : { &hidden, &memory })
		builder.need(!*state || elementCount((*state)->shape) == wanted, "initial state",
			     fmt::format("has not {} numbers", wanted));
	for (uint32_t i = 0; i < cell.directions * batch; i++) {
		Sequence sequence(builder, cell, i / batch);
		const Tensor own = part(builder, x, 1, { i % batch, 1 });
		sequence.hidden = stateAt(builder, hidden, i, size);
		sequence.memory = stateAt(builder, memory, i, size);
		states.push_back(sequence.run(builder.reshaped(own, { steps, x.shape[2] })));
		hiddens.push_back(part(builder, *sequence.hidden, 1, { 0, size }));
		if (sequence.memory)
			memories.push_back(part(builder, *sequence.memory, 1, { 0, size }));
	}
	std::vector<Tensor> results{ builder.reshaped(concatenation(builder, states, 1, {}),
						      { steps, cell.directions, batch, size }) };
	for (const auto *last : { &hiddens, &memories })
		if (!last->empty())
			results.push_back(builder.reshaped(concatenation(builder, *last, 1, {}),
							   { cell.directions, batch, size }));
	return results;
}

Tensor filteredSteps(Builder &builder, const Tensor &x, const Tensor &state, Weights features,
		     Weights times, uint32_t rank, const Clamp &activation)
{
	const uint32_t steps = state.shape[1], filters = state.shape[3];
	const ElementKind made = builder.computed(x);

	builder.need(rank > 0 && filters % rank == 0, "rank",
		     fmt::format("is {} of {} filters", rank, filters));
	builder.support(x.shape.size() == 2 && x.shape[0] == 1 && steps > 1, "input 0",
			fmt::format("is {}, with {} steps; one sample and several steps are needed",
				    toString(x.shape), steps));
	builder.setResults(builder.same(state));
	const Tensor newest = builder.reshaped(product(builder, x, std::move(features), {}),
					       { 1, 1, 1, filters });
	const Tensor before = part(builder, state, 1, { 1, steps - 1 });
	const Tensor after = concatenation(builder, { before, newest }, 1, {});
	builder.keep(state, after);
	builder.setResults(made);
	times.kernels.shape = { filters / rank, rank, steps, 1 };
	return convolution(builder, after, {}, std::move(times), filters / rank, activation);
}

} /* namespace nvdla::compiler::legalize */
