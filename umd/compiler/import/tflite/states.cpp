/* SPDX-License-Identifier: MIT */
/*
 * Operators of TensorFlow Lite that keep numbers from run to run, in variable tensors.
 */
#include <fmt/core.h>

#include "operator_reader.h"

namespace nvdla::compiler::tflite
{

namespace
{

using legalize::Recurrence;

/* Indices of the LSTM's inputs; the order of gates is input, forget, candidate, output. */
enum {
	Kernels = 1,
	Recurrent = 5,
	Peepholes = 9,
	Biases = 12,
	Projection = 16,
	Hidden = 18,
	Memory = 19,
	Norms = 20
};

void needUsual(OperatorReader &reader, const fb::UnidirectionalSequenceLSTMOptions &options)
{
	const auto areAbsent = [&](size_t begin, size_t end) {
		while (begin < end && !reader.hasInput(begin))
			begin++;
		return begin == end;
	};

	reader.support(isFloat(reader.output().type), "output",
		       "is of integers, which TensorFlow Lite rounds step by step");
	reader.support(areAbsent(Peepholes, Biases) && areAbsent(Projection, Hidden) &&
			       areAbsent(Norms, reader.inputs()) && reader.hasInput(Kernels),
		       "inputs",
		       "are peepholes, a projection or normalizations, or lack the input gate");
	reader.support(options.proj_clip() == 0, "proj_clip", "is given");
	reader.support(options.activation() == fb::Activation::TANH, "fused activation",
		       fmt::format("is {}, TANH is known", static_cast<int>(options.activation())));
}

Tensor readLstm(OperatorReader &reader)
{
	const auto &options = reader.options<fb::UnidirectionalSequenceLSTMOptions>();
	Tensor x = reader.input(0);
	const std::vector<int64_t> stepsFirst{ 1, 0, 2 };

	needUsual(reader, options);
	const Extents &kernels = reader.constant(Recurrent).shape;
	reader.need(x.shape.size() == 3 && kernels.size() == 2, "inputs",
		    fmt::format("are {} with kernels {}", toString(x.shape), toString(kernels)));
	Recurrence cell{ .kind = Recurrence::Kind::Lstm,
			 .size = kernels[1],
			 .gate = { Unary::Function::Logistic },
			 .candidate = { Unary::Function::Tanh },
			 .output = { Unary::Function::Tanh } };
	if (const double limit = options.cell_clip(); limit > 0)
		cell.memory = { -limit, limit };
	for (const size_t gate : { 0, 3, 1, 2 }) {
		const auto append = [&](size_t index, size_t columns, std::vector<double> &to) {
			const auto numbers = reader.realNumbers(index + gate);
			reader.need(numbers.size() == cell.size * columns,
				    fmt::format("input {}", index + gate),
				    fmt::format("has {} numbers", numbers.size()));
			to.insert(to.end(), numbers.begin(), numbers.end());
		};
		append(Kernels, x.shape[2], cell.input);
		append(Recurrent, cell.size, cell.recurrent);
		append(Biases, 1, cell.bias);
	}
	if (!options.time_major())
		x = legalize::transposed(reader, x, stepsFirst);
	const Extents shape{ x.shape[1], cell.size };
	const Tensor hidden = reader.state(Hidden, shape), memory = reader.state(Memory, shape);
	const auto made = legalize::recurrent(reader, x, cell, hidden, memory);
	reader.keep(hidden, made[1]);
	reader.keep(memory, made[2]);
	const Tensor all = reader.reshaped(made[0], { x.shape[0], x.shape[1], cell.size });
	return options.time_major() ? all : legalize::transposed(reader, all, stepsFirst);
}

Tensor readSvdf(OperatorReader &reader)
{
	enum { Features = 1, Times, Bias, State };
	const auto &options = reader.options<fb::SVDFOptions>();
	const Tensor x = reader.input(0);
	const Value &times = reader.constant(Times);

	reader.need(times.shape.size() == 2, "weights",
		    fmt::format("are {}", toString(times.shape)));
	return legalize::filteredSteps(
		reader, x, reader.state(State, { 1, times.shape[1], 1, times.shape[0] }),
		{ reader.constant(Features), {} }, { times, biasOf(reader, x, Bias) },
		static_cast<uint32_t>(options.rank()), reader.clamp(options.activation()));
}

using enum fb::BuiltinOperator;

} /* namespace */

const OperatorTable stateOperators = {
	{ SVDF, readSvdf },
	{ UNIDIRECTIONAL_SEQUENCE_LSTM, readLstm },
};

} /* namespace nvdla::compiler::tflite */
