/* SPDX-License-Identifier: MIT */
/*
 * Surfaces of inputs, outputs and concatenations, and of what no operator writes.
 */
#include <algorithm>

#include <fmt/core.h>

#include "lowerer.h"

namespace nvdla::compiler
{

void Lowerer::placeInput(size_t index)
{
	const ValueId id = model_.inputs[index];
	const auto readers = model_.readers(id);
	const std::string where = fmt::format("input '{}'", value(id).name);
	const bool channelsLast = index >= model_.inputOrders.size() ||
				  model_.inputOrders[index] == ElementOrder::Nhwc;

	/* Elements can be given in any shape, if they are in the order that reshapes count in. */
	if (readers.size() == 1 && channelsLast) {
		const Operator &reader = model_.operators[readers.front()];
		if (std::holds_alternative<Reshape>(reader.kind))
			cubes_[id] = countingCube(value(reader.outputs.front()).shape);
	}
	need(cubes_[id].elements() == elementCount(value(id).cubeShape()), where,
	     fmt::format("is {}; batches of 1 and three more axes are what there can be",
			 toString(value(id).shape)));
	need(storage(id) != DataType::Unknown, where,
	     fmt::format("is {}; the core works on int8, int16 and float",
			 elementTypeName(value(id).type)));
	surfaces_[id] = unique(value(id).name);
	if (failed())
		missing_.insert(id);
	else
		graph.input({ .name = surfaces_[id],
			      .type = storage(id),
			      .c = cubes_[id].c,
			      .h = cubes_[id].h,
			      .w = cubes_[id].w,
			      .n = value(id).batch,
			      .mayBePixels = true,
			      .quantization = value(id).quantization });
}

/* A result as it would be, for those who read it. */
void Lowerer::pretend(ValueId id)
{
	cubes_[id] = naturalCube(value(id).cubeShape());
	if (storage(id) == DataType::Unknown ||
	    cubes_[id].elements() != elementCount(value(id).cubeShape()))
		missing_.insert(id);
	else
		write(id);
}

void Lowerer::placeUnwritten()
{
	std::set<ValueId> written(model_.inputs.begin(), model_.inputs.end());

	for (const Operator &operation : model_.operators)
		written.insert(operation.outputs.begin(), operation.outputs.end());
	for (const Operator &operation : model_.operators) {
		for (const ValueId id : operation.inputs) {
			if (!value(id).isConstant && written.insert(id).second)
				pretend(id);
		}
	}
}

/* What only a concatenation reads is written where that has it. */
void Lowerer::placeConcatenation(const Operator &operation, const Concatenation &concatenation)
{
	const ValueId output = operation.outputs.front();
	if (!concatenation.activation.isNone() || storage(output) == DataType::Unknown)
		return;
	const std::vector<PartOf> parts = partsOf(*this, operation, concatenation);
	const auto areAligned = [this](const std::vector<PartOf> &some, ValueId whole) {
		return std::ranges::all_of(
			some, [&](const PartOf &part) { return isAligned(part, whole); });
	};
	/* Where parts begin within atoms, those of one surface have to agree. */
	const auto isPlaceable = [&](const Operator &writer) {
		const auto *inner = std::get_if<Concatenation>(&writer.kind);
		const ValueId made = writer.outputs.front();
		return !inner || (areAligned(parts, output) &&
				  areAligned(partsOf(*this, writer, *inner), made));
	};

	for (size_t i = 0; i < parts.size(); i++) {
		const ValueId input = operation.inputs[i];
		const Operator *writer = model_.writer(input);
		const auto *elementwise =
			writer ? std::get_if<Elementwise>(&writer->kind) : nullptr;
		const bool divides =
			elementwise && elementwise->function == Elementwise::Function::Divide;
		const bool computes =
			writer && !divides && !std::holds_alternative<Reshape>(writer->kind) &&
			!std::holds_alternative<Slice>(writer->kind) &&
			!isOverChannels(writer->kind) &&
			!std::holds_alternative<Transpose>(writer->kind) &&
			!std::holds_alternative<TransposedConvolution>(writer->kind) &&
			!std::holds_alternative<Enlarge>(writer->kind) && isPlaceable(*writer) &&
			isFloat(value(writer->inputs.front()).type) == isFloat(value(input).type);
		if (!computes || std::ranges::count(operation.inputs, input) != 1 ||
		    model_.readers(input).size() != 1 || model_.isOutput(input) ||
		    storage(input) != storage(output) ||
		    isAlone(naturalCube(value(input).shape),
			    naturalCube(value(output).cubeShape())))
			continue;
		if (value(input).quantization != value(output).quantization) {
			const auto behind = concatenation.takesTurned
						    ? requantizedBehind(*writer, output)
						    : std::nullopt;
			if (!behind)
				continue;
			requantized_[input] = *behind;
		}
		places_[input] = parts[i];
	}
}

/* Later ones first: a concatenation may be a part of another one. */
void Lowerer::placeConcatenations()
{
	for (size_t i = model_.operators.size(); i-- > 0;) {
		const Operator &operation = model_.operators[i];
		const auto *concatenation = std::get_if<Concatenation>(&operation.kind);
		if (!concatenation)
			continue;
		if (!isPlaced(operation.outputs.front()))
			write(operation.outputs.front());
		placeConcatenation(operation, *concatenation);
	}
}

/* What is handed through, or is part of another surface, is copied. */
Result<void> Lowerer::nameOutputs()
{
	std::set<std::string> taken;

	for (const ValueId id : model_.inputs)
		taken.insert(surfaces_[id]);
	for (const ValueId id : model_.outputs) {
		std::string surface = surfaces_[id];
		if (surface.empty())
			return nvdla::fail(ErrorCode::Unsupported, compiling,
					   fmt::format("output '{}'", value(id).name),
					   "is a constant");
		if (!taken.insert(surface).second || places_.contains(id) || views_.contains(id)) {
			const std::string from = surface;
			surface = unique(value(id).name + " copy");
			describe(surface, id);
			graph.add(op::Sdp{
				.name = unique("copy " + from), .input = from, .output = surface });
		}
		graph.output(surface);
	}
	return {};
}

} /* namespace nvdla::compiler */
