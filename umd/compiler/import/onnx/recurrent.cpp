/* SPDX-License-Identifier: MIT */
/*
 * RNN, GRU and LSTM.
 */
#include <fmt/core.h>

#include "node_reader.h"

namespace nvdla::compiler::onnx
{

namespace
{

using legalize::Recurrence;

/* Inputs behind the sequence */
enum { Kernels = 1, RecurrentKernels, Biases, Lengths, Hidden, Memory, Peepholes };

/* The function with this number among those of a direction; all directions have the same. */
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

/* The numbers of a constant for each direction; \a each: how many these have to be */
std::vector<std::vector<double>> divided(NodeReader &reader, size_t index, size_t directions,
					 size_t each)
{
	if (!reader.hasInput(index))
		return std::vector(directions, std::vector<double>(each));
	const std::vector<double> all = reader.realNumbers(index);
	reader.need(all.size() == directions * each, fmt::format("input {}", index),
		    fmt::format("has {} numbers, {} are needed", all.size(), directions * each));
	std::vector<std::vector<double>> parts;
	for (auto part = all.begin(); part != all.end(); part += static_cast<ptrdiff_t>(each))
		parts.emplace_back(part, part + static_cast<ptrdiff_t>(each));
	return parts;
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
	const size_t directions = reader.text("direction", "forward") == "bidirectional" ? 2 : 1;
	const bool isFirstReverse = reader.text("direction", "forward") == "reverse";
	const bool isRnn = kind == Recurrence::Kind::Rnn;

	needUsual(reader, x.shape);
	const Extents &kernels = reader.constant(RecurrentKernels).shape;
	reader.need(kernels.size() == 3 && kernels[2] > 0, "input 2",
		    fmt::format("is {}", toString(kernels)));
	const uint32_t size = kernels[2];
	const size_t rows = size_t{ gatesOf(kind) } * size;
	Recurrence cell{ .kind = kind,
			 .size = size,
			 .gate = functionAt(reader, 0, isRnn ? "Tanh" : "Sigmoid"),
			 .candidate = functionAt(reader, isRnn ? 0 : 1, "Tanh"),
			 .output = functionAt(reader, 2, "Tanh"),
			 .resetsProduct = reader.integer("linear_before_reset", 0) != 0 };
	const auto inputs = divided(reader, Kernels, directions, rows * x.shape[2]);
	const auto states = divided(reader, RecurrentKernels, directions, rows * size);
	const auto biases = divided(reader, Biases, directions, 2 * rows);

	for (size_t i = 0; i < directions; i++) {
		const auto middle = biases[i].begin() + static_cast<ptrdiff_t>(rows);
		cell.directions.push_back({ inputs[i],
					    states[i],
					    { biases[i].begin(), middle },
					    { middle, biases[i].end() },
					    isFirstReverse || i == 1 });
		auto &direction = cell.directions.back();
		for (size_t row = 0; row < rows - (cell.resetsProduct ? size : 0); row++)
			direction.bias[row] += direction.recurrentBias[row];
	}
	const auto state = [&](size_t index) {
		return reader.hasInput(index) ? std::optional(reader.input(index)) : std::nullopt;
	};
	const std::vector<Tensor> made =
		legalize::recurrent(reader, x, cell, state(Hidden), state(Memory));
	for (size_t i = 1; i < made.size(); i++)
		if (reader.hasOutput(i))
			reader.write(made[i], i);
	return made.front();
}

} /* namespace */

const NodeTable recurrentNodes = {
	{ "GRU", readRecurrent<Recurrence::Kind::Gru> },
	{ "LSTM", readRecurrent<Recurrence::Kind::Lstm> },
	{ "RNN", readRecurrent<Recurrence::Kind::Rnn> },
};

} /* namespace nvdla::compiler::onnx */
