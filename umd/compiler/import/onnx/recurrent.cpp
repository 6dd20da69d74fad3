/* SPDX-License-Identifier: MIT */
/*
 * The recurrent cells RNN, GRU and LSTM.
 */
#include <fmt/core.h>

#include "node_reader.h"

namespace nvdla::compiler::onnx
{

namespace
{

using legalize::Recurrence;

/* Indices of the inputs; input 0 is the sequence. */
enum { Kernels = 1, RecurrentKernels, Biases, Lengths, Hidden, Memory, Peepholes };

/* Reads the activation function that has \a index among those of a direction. Both directions must
 * have the same functions. */
Unary functionAt(NodeReader &reader, int index, const char *usual)
{
	static const std::map<std::string, Unary> known = {
		{ "Relu", { .activation = { .low = 0 } } },
		{ "Sigmoid", { Unary::Function::Logistic } },
		{ "Tanh", { Unary::Function::Tanh } },
	};
	const auto *given = reader.attribute("activations");
	const int all = given ? given->strings_size() : 0;
	const int each = all / (reader.text("direction", "forward") == "bidirectional" ? 2 : 1);
	const std::string name = index < each ? given->strings(index) : usual;

	reader.support(known.contains(name) && (each == all || index >= each ||
						given->strings(index + each) == name),
		       "activations",
		       fmt::format("have {}; Relu, Sigmoid and Tanh, the same in both directions, "
				   "are known",
				   name));
	return known.at(name);
}

std::vector<double> numbersOf(NodeReader &reader, size_t index, size_t count)
{
	std::vector<double> numbers = reader.realNumbers(index);

	reader.need(numbers.size() == count, fmt::format("input {}", index),
		    fmt::format("has {} numbers, {} are needed", numbers.size(), count));
	return numbers;
}

void needUsual(NodeReader &reader, const Extents &x)
{
	reader.need(x.size() == 3, "input 0",
		    fmt::format("is {}; steps, batch and elements are needed", toString(x)));
	for (const char *name : { "activation_alpha", "activation_beta", "clip" })
		reader.support(!reader.attribute(name), name, "is given");
	for (const char *name : { "input_forget", "layout" })
		reader.support(reader.integer(name, 0) == 0, name, "is not 0");
	reader.support(!reader.hasInput(Peepholes), "peepholes", "are given");
	for (const int64_t length : reader.wholeNumbers(Lengths))
		reader.support(length == x[0], "sequence_lens",
			       fmt::format("has {} of {} steps", length, x[0]));
}

template<Recurrence::Kind kind>
Tensor readRecurrent(NodeReader &reader)
{
	const Tensor x = reader.needComputed(reader.input(0));
	const std::string direction = reader.text("direction", "forward");
	const bool isRnn = kind == Recurrence::Kind::Rnn, isGru = kind == Recurrence::Kind::Gru;

	needUsual(reader, x.shape);
	const Extents &kernels = reader.constant(RecurrentKernels).shape;
	reader.need(kernels.size() == 3 && kernels[2] > 0, "input 2",
		    fmt::format("is {}", toString(kernels)));
	const size_t size = kernels[2], each = gatesOf(kind) * size;
	Recurrence cell{ .kind = kind,
			 .size = kernels[2],
			 .directions = direction == "bidirectional" ? 2U : 1U,
			 .isReverse = direction == "reverse",
			 .gate = functionAt(reader, 0, isRnn ? "Tanh" : "Sigmoid"),
			 .candidate = functionAt(reader, isRnn ? 0 : 1, "Tanh"),
			 .output = functionAt(reader, 2, "Tanh"),
			 .resetsProduct = isGru && reader.integer("linear_before_reset", 0) != 0 };
	const size_t rows = cell.directions * each;
	cell.input = numbersOf(reader, Kernels, rows * x.shape[2]);
	cell.recurrent = numbersOf(reader, RecurrentKernels, rows * size);
	/* In each direction, biases of the inputs' products are before those of the states'. */
	const auto biases = reader.hasInput(Biases) ? numbersOf(reader, Biases, 2 * rows)
						    : std::vector<double>(2 * rows);
	for (size_t row = 0; row < rows; row++) {
		const double *both = &biases[row + row / each * each];
		const bool isReset = cell.resetsProduct && row % each >= 2 * size;
		cell.bias.push_back(both[0] + (isReset ? 0 : both[each]));
		cell.recurrentBias.push_back(isReset ? both[each] : 0);
	}
	const auto state = [&](size_t index) {
		return reader.hasInput(index) ? std::optional(reader.input(index)) : std::nullopt;
	};
	std::vector<Tensor> made =
		legalize::recurrent(reader, x, cell, state(Hidden), state(Memory));
	made.resize(std::min(made.size(), reader.outputs()));
	return reader.writeAll(made);
}

} /* namespace */

const NodeTable recurrentNodes = {
	{ "GRU", readRecurrent<Recurrence::Kind::Gru> },
	{ "LSTM", readRecurrent<Recurrence::Kind::Lstm> },
	{ "RNN", readRecurrent<Recurrence::Kind::Rnn> },
};

} /* namespace nvdla::compiler::onnx */
