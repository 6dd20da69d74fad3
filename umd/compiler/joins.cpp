/* SPDX-License-Identifier: MIT */
#include "compile.h"

#include <algorithm>

#include <fmt/core.h>

#include "compiler/lower/lowerer.h"
#include "compiler/passes/passes.h"
#include "graph/graph_parts.h"
#include "graph/strategy/trial.h"

namespace nvdla::compiler
{

namespace
{

/* A model of those operators alone that write some values. */
Model partOf(const Model &model, std::vector<ValueId> values, std::initializer_list<ValueId> behind)
{
	std::vector<Operator> some;

	values.insert(values.end(), behind);
	for (const Operator &operation : model.operators) {
		if (std::ranges::count(values, operation.outputs.front()) > 0)
			some.push_back(operation);
	}
	return model.alone(some);
}

struct Trial {
	double cycles = 0;
	size_t operations = 0;	     /**< of the graph */
	std::vector<uint8_t> cutOff; /**< bits, by the accumulator, of each convolution */
};

/* Result of compiling \a part; nothing if the core cannot compute it. */
std::optional<Trial> tried(const Model &part, const CompileOptions &options,
			   const sim::TimingParameters &chip)
{
	Lowerer lowerer(part, options);
	Trial trial;

	if (!lowerer.run())
		return std::nullopt;
	for (const op::Any &operation : lowerer.graph.operations()) {
		if (const auto *conv = std::get_if<op::Convolution>(&operation))
			trial.cutOff.push_back(conv->accumulatorShift);
	}
	const auto loadable = lowerer.graph.assemble({ .strategy = options.strategy,
						       .sramBytes = options.sramBytes,
						       .core = options.core });
	const auto time = loadable ? assembly::timeOf(*loadable, chip) : std::nullopt;
	if (!time || time->onCpu)
		return std::nullopt;
	trial.cycles = time->cycles;
	trial.operations = lowerer.graph.operations().size();
	return trial;
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
			for (const JoinableParts &parts :
			     joinableParts(model_, *model_.writer(whole)))
				consider(whole, parts);
			considerTurned(whole);
			considerPooled(whole);
		}
	}

	Joins joins;
	bool joinedAny = false;

private:
	/* Compile both variants; false if the core cannot compute one of them. */
	bool tryBoth(const Model &apart, const Model &changed)
	{
		const auto before = tried(apart, options_, chip_);
		const auto after = tried(changed, options_, chip_);
		if (before && after) {
			before_ = *before;
			after_ = *after;
		}
		return before && after;
	}
	bool gains() const { return always_ || after_.cycles < before_.cycles; }

	void consider(ValueId whole, const JoinableParts &parts)
	{
		const Model apart = partOf(model_, parts, { whole });
		Model joined = apart;
		const Operator &last = joined.operators.back();
		const auto same = joinableParts(joined, last);
		if (same.size() != 1)
			return;
		joinConvolutions(joined, last.outputs.front(), same.front());
		removeUnused(joined);
		if (!tryBoth(apart, joined) || before_.cutOff.empty() || after_.cutOff.empty() ||
		    std::ranges::any_of(before_.cutOff, [&](uint8_t bits) {
			    return bits != after_.cutOff.front();
		    }))
			return;
		choose(gains() ? joinConvolutions(model_, whole, parts) : whole,
		       fmt::format("one convolution for {}", parts.size()));
	}

	/* Convert in the convolutions? Y is slower than SDP's other units, but memory may be slower
	 * yet. */
	void considerTurned(ValueId whole)
	{
		Operator *writer = model_.writer(whole);
		const auto countsOtherwise = [&](ValueId part) {
			return model_.values[part].quantization !=
			       model_.values[whole].quantization;
		};
		if (!isAny<Concatenation>(writer->kind) ||
		    std::ranges::none_of(writer->inputs, countsOtherwise))
			return;
		const Model apart = partOf(model_, writer->inputs, { whole });
		Model turned = apart;
		std::get<Concatenation>(turned.operators.back().kind).takesTurned = true;
		if (!tryBoth(apart, turned) || before_.operations == after_.operations)
			return;
		std::get<Concatenation>(writer->kind).takesTurned = gains();
		choose(whole, "its integers made by the convolutions");
	}

	/* PDP can read a convolution's result on the fly, but not a concatenation in memory. */
	void considerPooled(ValueId whole)
	{
		const Operator writer = *model_.writer(whole);
		if (!canPoolParts(model_, writer))
			return;
		const Operator &pooling = model_.operators[model_.readers(whole).front()];
		const Model apart =
			partOf(model_, writer.inputs, { whole, pooling.outputs.front() });
		Model pooled = apart;
		poolParts(pooled, pooled.operators.back().inputs.front());
		removeUnused(pooled);
		if (tryBoth(apart, pooled))
			choose(gains() ? poolParts(model_, whole) : whole,
			       fmt::format("{} poolings before it", writer.inputs.size()));
	}

	void choose(ValueId shown, const std::string &what)
	{
		joins.insert({ shown,
			       { model_.writer(shown)->name,
				 { { "as it is", before_.cycles }, { what, after_.cycles } },
				 gains() } });
		joinedAny |= gains();
	}

	Model &model_;
	CompileOptions options_; /* of the trials */
	const sim::TimingParameters &chip_;
	const bool always_;
	Trial before_, after_; /* of the last comparison */
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
				   "is to be chosen, but no convolutions of one input that are "
				   "alike are concatenated");
	return std::move(joiner.joins);
}

} /* namespace nvdla::compiler */
