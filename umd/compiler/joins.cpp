/* SPDX-License-Identifier: MIT */
/*
 * Chooses by predicted time how the parts of concatenations are computed.
 */
#include "compile.h"

#include <algorithm>
#include <functional>

#include <fmt/core.h>

#include "compiler/lower/lowerer.h"
#include "compiler/passes/passes.h"
#include "graph/graph_parts.h"
#include "graph/strategy/trial.h"

namespace nvdla::compiler
{

namespace
{

/* The pooling that alone reads a concatenation of channels, if it could read the parts instead, and
 * one of these from a convolution. */
const Operator *poolingBehind(const Model &model, const Operator &concatenation)
{
	const auto &kind = std::get<Concatenation>(concatenation.kind);
	const ValueId whole = concatenation.outputs.front();
	const Value &value = model.values[whole];
	const auto readers = model.readers(whole);

	if (!kind.activation.isNone() || value.shape.size() != 4 || value.batch != 1 ||
	    kind.axis != 3 || model.isOutput(whole) || readers.size() != 1)
		return nullptr;
	const Operator &reader = model.operators[readers.front()];
	const auto *pool = std::get_if<Pool>(&reader.kind);
	const bool moves = pool && isExtreme(pool->method) && pool->activation.isNone() &&
			   model.values[reader.outputs.front()].quantization == value.quantization;
	/* Requantization keeps the order of integers, so the largest one stays the largest. */
	const auto isAlike = [&](ValueId part) {
		return !model.values[part].isConstant && model.values[part].type == value.type;
	};
	const auto isHandedOver = [&](ValueId part) {
		const Operator *writer = model.writer(part);
		return writer && isAny<Convolution>(writer->kind) && model.isReadOnce(part);
	};

	return moves && std::ranges::all_of(concatenation.inputs, isAlike) &&
			       std::ranges::any_of(concatenation.inputs, isHandedOver)
		       ? &reader
		       : nullptr;
}

/* A change of a concatenation; returns the value that the changed one writes. */
using Change = std::function<ValueId(Model &, ValueId)>;

/* Convolutions make the concatenation's integers. */
ValueId takeTurned(Model &model, ValueId concatenated)
{
	std::get<Concatenation>(model.writer(concatenated)->kind).takesTurned = true;
	return concatenated;
}

/* The parts are pooled, and the results concatenated: PDP can read a convolution's result on the
 * fly, but not a concatenation in memory. removeUnused() removes the old concatenation. */
ValueId poolParts(Model &model, ValueId concatenated)
{
	Operator behind = *model.writer(concatenated);
	const Operator pooling = *poolingBehind(model, behind);
	const ValueId result = pooling.outputs.front();
	std::vector<Operator> moved;

	behind.outputs = { result };
	for (ValueId &part : behind.inputs) {
		Extents shape = model.values[result].shape;
		shape.back() = model.values[part].shape.back();
		Operator &one = moved.emplace_back(pooling);
		one.inputs = { part };
		part = model.addLike(part, " pooled", std::move(shape));
		one.outputs = { part };
	}
	moved.push_back(std::move(behind));
	const auto place =
		model.operators.begin() + (model.writer(result) - model.operators.data());
	model.operators.insert(model.operators.erase(place), moved.begin(), moved.end());
	return result;
}

struct Trial {
	double cycles = 0;
	size_t operations = 0; /**< of the graph */
};

/* Result of compiling \a part; nothing if the core cannot compute it. */
std::optional<Trial> tried(const Model &part, const CompileOptions &options,
			   const sim::TimingParameters &chip)
{
	Lowerer lowerer(part, options);

	if (!lowerer.run())
		return std::nullopt;
	const size_t operations = lowerer.graph.operations().size();
	const auto loadable = lowerer.graph.assemble({ .strategy = options.strategy,
						       .sramBytes = options.sramBytes,
						       .core = options.core });
	const auto time = loadable ? assembly::timeOf(*loadable, chip) : std::nullopt;
	if (!time || time->onCpu)
		return std::nullopt;
	return Trial{ time->cycles, operations };
}

class Joiner
{
public:
	Joiner(Model &model, const CompileOptions &options, const sim::TimingParameters &chip)
		: model_(model), options_(options), chip_(chip),
		  always_(options.strategy->join == Choice::Always)
	{
		/* A forced choice may be impossible in a part: it is tried instead. */
		for (Choice Strategy::*subject :
		     { &Strategy::winograd, &Strategy::compression, &Strategy::pixels,
		       &Strategy::postExtension, &Strategy::bands, &Strategy::fusedPooling,
		       &Strategy::reuse }) {
			Choice &choice = (*options_.strategy).*subject;
			choice = choice == Choice::Always ? Choice::Auto : choice;
		}
		options_.strategy->join = Choice::Never;
	}

	void run()
	{
		std::vector<ValueId> concatenated;
		for (const Operator &operation : model_.operators) {
			if (isAny<Concatenation>(operation.kind))
				concatenated.push_back(operation.outputs.front());
		}
		for (const ValueId whole : concatenated) {
			const Operator writer = *model_.writer(whole);
			const auto countsOtherwise = [&](ValueId part) {
				return model_.values[part].quantization !=
				       model_.values[whole].quantization;
			};
			std::vector<ValueId> made = writer.inputs;
			made.push_back(whole);
			/* Y is slower than SDP's other units, but memory may be slower yet. */
			if (std::ranges::any_of(writer.inputs, countsOtherwise))
				consider(whole, made, "its integers made by the convolutions",
					 takeTurned);
			if (const Operator *pooling = poolingBehind(model_, writer)) {
				made.push_back(pooling->outputs.front());
				consider(whole, made,
					 fmt::format("{} poolings before it", writer.inputs.size()),
					 poolParts);
			}
		}
	}

	Joins joins;
	bool joinedAny = false;

private:
	/* Makes a change if the operators that write \a made are faster with it. */
	void consider(ValueId whole, const std::vector<ValueId> &made, const std::string &what,
		      const Change &change)
	{
		std::vector<Operator> some;
		std::ranges::copy_if(
			model_.operators, std::back_inserter(some), [&](const Operator &operation) {
				return std::ranges::count(made, operation.outputs.front());
			});
		const Model asItIs = model_.alone(some);
		Model changed = asItIs;
		const auto last = std::find_if(changed.operators.rbegin(), changed.operators.rend(),
					       [](const Operator &operation) {
						       return isAny<Concatenation>(operation.kind);
					       });
		change(changed, last->outputs.front());
		removeUnused(changed);
		const auto before = tried(asItIs, options_, chip_);
		const auto after = tried(changed, options_, chip_);
		/* A change without effect is none. */
		if (!before || !after || before->operations == after->operations)
			return;
		const bool gains = always_ || after->cycles < before->cycles;
		const ValueId shown = gains ? change(model_, whole) : whole;
		joins.insert({ shown,
			       { model_.writer(shown)->name,
				 { { "as it is", before->cycles }, { what, after->cycles } },
				 gains } });
		joinedAny |= gains;
	}

	Model &model_;
	CompileOptions options_; /* of the trials */
	const sim::TimingParameters &chip_;
	const bool always_;
};

} /* namespace */

Result<Joins> joinWhatGains(Model &model, const CompileOptions &options)
{
	if (!options.strategy || options.strategy->join == Choice::Never)
		return Joins{};
	auto chip = assembly::chipOf(*options.strategy);
	if (!chip)
		return forward(chip);
	Joiner joiner(model, options, *chip);
	joiner.run();
	if (options.strategy->join == Choice::Always && !joiner.joinedAny)
		return nvdla::fail(ErrorCode::InvalidArgument, compiling, "strategy, join",
				   "is to be chosen, but no convolution can make the integers of a "
				   "concatenation that it writes into, and no pooling of a "
				   "concatenation can read the parts");
	return std::move(joiner.joins);
}

} /* namespace nvdla::compiler */
