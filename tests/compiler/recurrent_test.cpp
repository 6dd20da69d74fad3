/* SPDX-License-Identifier: MIT */
/*
 * RNN, GRU and LSTM on the core, against the formulas of ONNX in double precision.
 */
#include <algorithm>
#include <cmath>
#include <functional>
#include <random>
#include <string>

#include <gtest/gtest.h>
#include <nvdla/core_geometry.h>

#include "agreement.h"
#include "compiler/compile.h"
#include "compiler/import/import.h"
#include "onnx_on_core.h"
#include "refused_file.h"

namespace nvdla::test
{

namespace
{

struct RecurrentCell {
	std::string type;
	uint32_t steps = 5, batch = 1, elements = 7, size = 6;
	std::string direction = "forward";
	bool hasStates = false;
	bool hasBias = true;
	bool resetsProduct = false;
	bool namesFunctions = false;

	uint32_t gates() const { return type == "LSTM" ? 4 : type == "GRU" ? 3 : 1; }
	uint32_t directions() const { return direction == "bidirectional" ? 2 : 1; }
	std::vector<std::string> functions() const
	{
		std::vector<std::string> one{ "Sigmoid", "Tanh" };
		if (type == "LSTM")
			one.emplace_back("Tanh");
		if (type == "RNN")
			one.erase(one.begin());
		const std::vector<std::string> first = one;
		if (directions() == 2)
			one.insert(one.end(), first.begin(), first.end());
		return one;
	}
	uint32_t states() const { return directions() * batch * size; }
};

struct CellTensors {
	Numbers x, w, r, b, hidden, memory;
};

Numbers anyNumbers(std::mt19937 &random, size_t count, double most)
{
	Numbers numbers(count);

	for (double &number : numbers)
		number = std::uniform_real_distribution<double>(-most, most)(random);
	return numbers;
}

CellTensors tensorsOf(const RecurrentCell &cell, std::mt19937 &random)
{
	const size_t rows = size_t{ cell.directions() } * cell.gates() * cell.size;
	const size_t states = cell.hasStates ? cell.states() : 0;

	return { anyNumbers(random, size_t{ cell.steps } * cell.batch * cell.elements, 2),
		 anyNumbers(random, rows * cell.elements, 0.6),
		 anyNumbers(random, rows * cell.size, 1 / std::sqrt(cell.size)),
		 anyNumbers(random, cell.hasBias ? rows * 2 : 0, 0.5),
		 anyNumbers(random, states, 1),
		 anyNumbers(random, cell.type == "LSTM" ? states : 0, 1) };
}

/* One sequence in one direction */
class CellSequence
{
public:
	CellSequence(const RecurrentCell &cell, const CellTensors &tensors, uint32_t direction,
		     uint32_t sample)
		: cell_(cell), tensors_(tensors), direction_(direction),
		  hidden(stateOf(tensors.hidden, sample)), memory(stateOf(tensors.memory, sample))
	{
	}

	void step(const double *x)
	{
		const Numbers before = hidden;

		for (uint32_t i = 0; i < cell_.size; i++) {
			if (cell_.type == "LSTM")
				hidden[i] = lstm(x, before, i);
			else if (cell_.type == "GRU")
				hidden[i] = gru(x, before, i);
			else
				hidden[i] = std::tanh(input(x, 0, i) + product(before, 0, i));
		}
	}

private:
	const RecurrentCell &cell_;
	const CellTensors &tensors_;
	const uint32_t direction_;

	Numbers stateOf(const Numbers &all, uint32_t sample) const
	{
		const auto first = all.begin() + (direction_ * cell_.batch + sample) * cell_.size;

		return all.empty() ? Numbers(cell_.size) : Numbers(first, first + cell_.size);
	}
	size_t row(uint32_t gate, uint32_t i) const
	{
		return (size_t{ direction_ } * cell_.gates() + gate) * cell_.size + i;
	}
	double bias(uint32_t half, uint32_t gate, uint32_t i) const
	{
		const size_t rows = size_t{ cell_.gates() } * cell_.size;

		return cell_.hasBias
			       ? tensors_.b[(direction_ * 2 + half) * rows + gate * cell_.size + i]
			       : 0;
	}
	double input(const double *x, uint32_t gate, uint32_t i) const
	{
		double sum = bias(0, gate, i);

		for (uint32_t c = 0; c < cell_.elements; c++)
			sum += x[c] * tensors_.w[row(gate, i) * cell_.elements + c];
		return sum;
	}
	double product(const Numbers &state, uint32_t gate, uint32_t i) const
	{
		double sum = bias(1, gate, i);

		for (uint32_t c = 0; c < cell_.size; c++)
			sum += state[c] * tensors_.r[row(gate, i) * cell_.size + c];
		return sum;
	}
	double gate(const double *x, const Numbers &state, uint32_t index, uint32_t i) const
	{
		return 1 / (1 + std::exp(-input(x, index, i) - product(state, index, i)));
	}
	double lstm(const double *x, const Numbers &before, uint32_t i)
	{
		const double candidate = std::tanh(input(x, 3, i) + product(before, 3, i));

		memory[i] = gate(x, before, 2, i) * memory[i] + gate(x, before, 0, i) * candidate;
		return gate(x, before, 1, i) * std::tanh(memory[i]);
	}
	double gru(const double *x, const Numbers &before, uint32_t i) const
	{
		const double update = gate(x, before, 0, i);
		Numbers reset(cell_.size);

		for (uint32_t c = 0; c < cell_.size; c++)
			reset[c] = gate(x, before, 1, c) * before[c];
		const double whole = cell_.resetsProduct
					     ? gate(x, before, 1, i) * product(before, 2, i)
					     : product(reset, 2, i);
		return (1 - update) * std::tanh(input(x, 2, i) + whole) + update * before[i];
	}

public:
	Numbers hidden;
	Numbers memory;
};

/* Y, Y_h and Y_c */
std::vector<Numbers> statesOf(const RecurrentCell &cell, const CellTensors &tensors)
{
	std::vector<Numbers> made{ Numbers(size_t{ cell.steps } * cell.states()), {}, {} };

	for (uint32_t direction = 0; direction < cell.directions(); direction++) {
		const bool isReverse = direction == 1 || cell.direction == "reverse";
		for (uint32_t sample = 0; sample < cell.batch; sample++) {
			CellSequence sequence(cell, tensors, direction, sample);
			for (uint32_t i = 0; i < cell.steps; i++) {
				const uint32_t step = isReverse ? cell.steps - 1 - i : i;
				const size_t at = size_t{ step } * cell.batch + sample;
				sequence.step(&tensors.x[at * cell.elements]);
				std::ranges::copy(sequence.hidden,
						  made[0].begin() +
							  ((step * cell.directions() + direction) *
								   cell.batch +
							   sample) *
								  cell.size);
			}
			made[1].insert(made[1].end(), sequence.hidden.begin(),
				       sequence.hidden.end());
			made[2].insert(made[2].end(), sequence.memory.begin(),
				       sequence.memory.end());
		}
	}
	made.resize(cell.type == "LSTM" ? 3 : 2);
	return made;
}

std::vector<float> floatsOf(const Numbers &numbers)
{
	return { numbers.begin(), numbers.end() };
}

onnx::Node *addCell(OnnxBuilder &builder, const RecurrentCell &cell, const CellTensors &tensors)
{
	const int64_t directions = cell.directions(), rows = int64_t{ cell.gates() } * cell.size;
	const std::vector<int64_t> states{ directions, cell.batch, cell.size };
	std::vector<std::string> inputs{ "x", "w", "r", "", "", "", "" };

	builder.input("x", { cell.steps, cell.batch, cell.elements });
	builder.floats("w", { directions, rows, cell.elements }, floatsOf(tensors.w));
	builder.floats("r", { directions, rows, cell.size }, floatsOf(tensors.r));
	if (cell.hasBias) {
		builder.floats("b", { directions, 2 * rows }, floatsOf(tensors.b));
		inputs[3] = "b";
	}
	if (cell.hasStates) {
		builder.input("hidden", states);
		inputs[5] = "hidden";
		if (cell.type == "LSTM") {
			builder.input("memory", states);
			inputs[6] = "memory";
		}
	}
	onnx::Node *node = builder.node(cell.type, inputs, "y");
	OnnxBuilder::setText(node, "direction", cell.direction);
	if (cell.namesFunctions)
		OnnxBuilder::setTexts(node, "activations", cell.functions());
	OnnxBuilder::setInteger(node, "hidden_size", cell.size);
	OnnxBuilder::setInteger(node, "linear_before_reset", cell.resetsProduct);
	return node;
}

void expectFormulas(const RecurrentCell &cell, std::mt19937 &random)
{
	const CellTensors tensors = tensorsOf(cell, random);
	OnnxBuilder builder;
	onnx::Node *node = addCell(builder, cell, tensors);
	std::vector<Numbers> inputs{ tensors.x };

	builder.output("y");
	for (const char *name : { "y_h", "y_c" }) {
		if (name == std::string("y_c") && cell.type != "LSTM")
			continue;
		node->add_output(name);
		builder.output(name);
	}
	if (cell.hasStates) {
		inputs.push_back(tensors.hidden);
		if (cell.type == "LSTM")
			inputs.push_back(tensors.memory);
	}
	const auto wanted = statesOf(cell, tensors);
	const auto got = onCore(builder, inputs);
	ASSERT_EQ(got.size(), wanted.size());
	for (size_t i = 0; i < wanted.size(); i++) {
		ASSERT_EQ(got[i].size(), wanted[i].size());
		EXPECT_LE(difference(got[i], wanted[i], 0).largest, 5e-3) << "output " << i;
	}
}

TEST(Recurrent, CellsComputeTheirFormulas)
{
	std::mt19937 random(41);

	for (const std::string type : { "RNN", "GRU", "LSTM" }) {
		for (const std::string direction : { "forward", "reverse", "bidirectional" }) {
			for (uint32_t variant = 0; variant < 8; variant++) {
				RecurrentCell cell{ .type = type, .direction = direction };
				cell.hasStates = variant & 1;
				cell.hasBias = variant & 2;
				cell.resetsProduct = type == "GRU" && variant & 4;
				cell.namesFunctions = variant % 3 == 2;
				cell.batch = variant & 4 ? 1 : 2;
				/* Whole atoms, and others; one step, and many */
				cell.size = std::uniform_int_distribution<uint32_t>(1, 3)(random) *
					    (variant & 1 ? 32 : 9);
				cell.steps = variant % 3 ? 4 : 1;
				SCOPED_TRACE(type + " " + direction + " " +
					     std::to_string(variant));
				expectFormulas(cell, random);
			}
		}
	}
}

/* Their products are more channels than a surface has, so that they are several tensors. */
TEST(Recurrent, ManyStepsOfALargeState)
{
	std::mt19937 random(42);

	expectFormulas({ .type = "LSTM", .steps = 24, .size = 96 }, random);
	expectFormulas({ .type = "GRU", .steps = 45, .size = 40, .direction = "reverse" }, random);
}

TEST(Recurrent, TheLastStateAloneIsRead)
{
	std::mt19937 random(43);
	const RecurrentCell cell{ .type = "GRU", .steps = 9 };
	const CellTensors tensors = tensorsOf(cell, random);
	OnnxBuilder builder;
	onnx::Node *node = addCell(builder, cell, tensors);

	node->set_output(0, "");
	node->add_output("y_h");
	builder.output("y_h");
	const auto got = onCore(builder, { tensors.x });
	ASSERT_EQ(got.size(), 1U);
	EXPECT_LE(difference(got[0], statesOf(cell, tensors)[1], 0).largest, 5e-3);
}

/* Products of states, of which nv_small can take the zero point of only one factor away */
TEST(Recurrent, CalibratedToIntegersOnEachCore)
{
	std::mt19937 random(45);

	for (const std::string type : { "RNN", "GRU", "LSTM" }) {
		for (const char *core : { "nv_full", "nv_small" }) {
			SCOPED_TRACE(type + " " + core);
			const RecurrentCell cell{ .type = type, .size = 32 };
			const CellTensors tensors = tensorsOf(cell, random);
			OnnxBuilder builder;
			addCell(builder, cell, tensors);
			builder.output("y");
			auto model = compiler::importOnnx(builder.file());
			ASSERT_TRUE(model) << model.error().message();
			Calibration calibration;
			calibration.samples = { { floatsOf(tensors.x) } };
			auto compiled =
				compiler::compileInMemory(*model, { .calibration = calibration,
								    .core = *findCoreVariant(core),
								    .host = HostUse::Never });
			ASSERT_TRUE(compiled) << compiled.error().message();
			auto run = CoreRun::load(*model, compiled->loadable);
			ASSERT_TRUE(run) << run.error().message();
			auto got = run->run({ tensors.x });
			ASSERT_TRUE(got) << got.error().message();
			const Numbers wanted = statesOf(cell, tensors)[0];
			EXPECT_LE(difference((*got)[0], wanted, 0).largest, 0.05);
		}
	}
}

TEST(Recurrent, RefusesWhatItDoesNotKnow)
{
	/* Another tensor of this shape in place of an input */
	const auto reading = [](int input, const std::vector<int64_t> &shape) {
		return [=](OnnxBuilder &builder, onnx::Node *node) {
			builder.input("other", shape);
			node->set_input(input, "other");
		};
	};
	const struct {
		const char *name;
		std::function<void(OnnxBuilder &, onnx::Node *)> change;
	} cases[] = {
		{ "clip",
		  [](OnnxBuilder &, onnx::Node *node) { OnnxBuilder::setReal(node, "clip", 2); } },
		{ "layout", [](OnnxBuilder &,
			       onnx::Node *node) { OnnxBuilder::setInteger(node, "layout", 1); } },
		{ "activations",
		  [](OnnxBuilder &, onnx::Node *node) {
			  OnnxBuilder::setTexts(node, "activations",
						{ "Sigmoid", "Softsign", "Tanh" });
		  } },
		{ "sequence_lens",
		  [](OnnxBuilder &builder, onnx::Node *node) {
			  builder.integers("lengths", { 1 }, { 3 }, onnx::INT32);
			  node->set_input(4, "lengths");
		  } },
		{ "peepholes",
		  [](OnnxBuilder &builder, onnx::Node *node) {
			  builder.floats("p", { 1, 18 }, std::vector<float>(18, 1));
			  node->add_input("p");
		  } },
		{ "input 1", [](OnnxBuilder &, onnx::Node *node) { node->set_input(1, ""); } },
		{ "initial state", reading(5, { 1, 1, 12 }) },
		{ "initial state", reading(5, { 1, 1, 5 }) },
		{ "input 0", reading(0, { 257, 1, 7 }) },
		{ "input 2",
		  [](OnnxBuilder &builder, onnx::Node *node) {
			  builder.floats("flat", { 24 }, std::vector<float>(24));
			  node->set_input(2, "flat");
		  } },
	};

	for (const auto &[name, change] : cases) {
		SCOPED_TRACE(name);
		std::mt19937 random(44);
		const RecurrentCell cell{ .type = "LSTM", .hasStates = false };
		OnnxBuilder builder;
		onnx::Node *node = addCell(builder, cell, tensorsOf(cell, random));
		change(builder, node);
		builder.output("y");
		expectRefusedFile(builder.file(), { "LSTM 'y'", name });
	}
}

} /* namespace */

} /* namespace nvdla::test */
