/* SPDX-License-Identifier: MIT */
/*
 * Surfaces of inputs, outputs and concatenations; types of elements in the core's memory.
 */
#include <algorithm>

#include <fmt/core.h>

#include "lowerer.h"

namespace nvdla::compiler
{

namespace
{

DataType storageOf(ElementType type)
{
	if (isFloat(type))
		return DataType::Half;
	return type == ElementType::Int8    ? DataType::Int8
	       : type == ElementType::Int16 ? DataType::Int16
					    : DataType::Unknown;
}

} /* namespace */

void Lowerer::placeInput(size_t index)
{
	const ValueId id = model_.inputs[index];
	const auto readers = model_.readers(id);
	const std::string where = fmt::format("input '{}'", value(id).name);
	const bool channelsLast = index >= model_.inputsInFile.size() ||
				  model_.inputsInFile[index].order == ElementOrder::Nhwc;

	/* If only a reshape reads the input, the surface takes the shape of the reshape's result
	 * where that keeps the order of the elements: then nothing has to be moved. */
	if (readers.size() == 1 && !pictures_.contains(id)) {
		const Operator &reader = model_.operators[readers.front()];
		const Cube read = countingCube(value(reader.outputs.front()).shape);
		const bool isLong = cubes_[id].w > mostOfSurface && cubes_[id].c == read.c;
		if (isAny<Reshape>(reader.kind) && (channelsLast || isLong) &&
		    read.c <= mostOfSurface)
			cubes_[id] = read;
	}
	needSurface(id, where, cubes_[id]);
	surfaces_[id] = unique(value(id).name);
	graph.input({ .name = surfaces_[id],
		      .type = storage(id),
		      .c = cubes_[id].c,
		      .h = cubes_[id].h,
		      .w = cubes_[id].w,
		      .n = value(id).batch,
		      .mayBePixels = !model_.isOfState(id),
		      .quantization = value(id).quantization });
}

/* Describes a surface for a refused operator's result, so that its readers can be checked, too. */
void Lowerer::pretend(ValueId id)
{
	const Cube natural = naturalCube(value(id).cubeShape());

	if (storage(id) == DataType::Unknown ||
	    natural.elements() != elementCount(value(id).cubeShape()))
		missing_.insert(id);
	else
		write(id, natural);
}

/* Reserves a part of the concatenation's surface for each input whose operator can write it there
 * directly, so that no copy is needed. */
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
	/* A concatenation inside another one needs atom-aligned parts in both. */
	const auto isPlaceable = [&](const Operator &writer) {
		const auto *inner = std::get_if<Concatenation>(&writer.kind);
		const ValueId made = writer.outputs.front();
		return !inner || (areAligned(parts, output) &&
				  areAligned(partsOf(*this, writer, *inner), made));
	};

	for (size_t i = 0; i < parts.size(); i++) {
		const ValueId input = operation.inputs[i];
		const Operator *writer = model_.writer(input);
		const bool computes =
			writer && traitsOf(writer->kind).writesParts &&
			!isOverChannels(writer->kind) && isPlaceable(*writer) &&
			isFloat(value(writer->inputs.front()).type) == isFloat(value(input).type);
		if (!computes || std::ranges::count(operation.inputs, input) != 1 ||
		    !model_.isReadOnce(input) || storage(input) != storage(output) ||
		    isAlone(naturalCube(value(input).shape),
			    naturalCube(value(output).cubeShape())))
			continue;
		if (value(input).quantization != value(output).quantization) {
			const auto behind = requantizedBehind(*writer, output);
			if (!behind)
				continue;
			requantized_[input] = *behind;
		}
		places_[input] = parts[i];
	}
}

/* Place later concatenations first: an earlier one may be a part of a later one. */
void Lowerer::placeConcatenations()
{
	for (size_t i = model_.operators.size(); i-- > 0;) {
		const Operator &operation = model_.operators[i];
		const auto *concatenation = std::get_if<Concatenation>(&operation.kind);
		if (!concatenation)
			continue;
		if (!isPlaced(operation.outputs.front()))
			write(operation.outputs.front(), cube(operation.outputs.front()));
		placeConcatenation(operation, *concatenation);
	}
}

/* Names the outputs; copies those that are inputs, other outputs, or parts of larger surfaces. */
void Lowerer::nameOutputs()
{
	std::set<std::string> taken;

	for (const ValueId id : model_.inputs)
		taken.insert(surfaces_[id]);
	for (const ValueId id : model_.outputs) {
		std::string surface = surfaces_[id];
		if (!taken.insert(surface).second || places_.contains(id) || views_.contains(id)) {
			const std::string from = surface;
			surface = intermediate(value(id).name + " copy", storage(id), cube(id),
					       value(id));
			graph.add(op::Sdp{
				.name = unique("copy " + from), .input = from, .output = surface });
		}
		graph.output(surface);
	}
}

/* An INT8 tensor whose kernels need 16 bits is itself stored in 16 bits, for all its operators. */
void Lowerer::chooseStorage()
{
	bool changed = true;

	for (ValueId id = 0; id < storage_.size(); id++)
		storage_[id] = storageOf(value(id).type);
	auto widen = [&](ValueId id) {
		changed |= storage_[id] == DataType::Int8;
		if (storage_[id] == DataType::Int8)
			storage_[id] = DataType::Int16;
	};
	for (const Operator &operation : model_.operators) {
		if (hasKernels(operation.kind) && needsWideWeights(value(operation.inputs[1])))
			widen(operation.inputs.front());
		/* An 8-bit integer minus its zero point can need more than 8 bits. */
		if (isAny<Product>(operation.kind) &&
		    value(operation.inputs[1]).quantization.channel(0).zeroPoint != 0)
			widen(operation.inputs[1]);
	}
	/* All tensors of an operator that moves elements or computes with two surfaces need one
	 * type. Results of products and averages are exempt: convolutions convert their type. */
	while (changed) {
		changed = false;
		for (const Operator &operation : model_.operators) {
			const Kind &kind = operation.kind;
			const auto *pool = std::get_if<Pool>(&kind);
			const bool multiplies = isAny<Product>(kind);
			if (!multiplies &&
			    (traitsOf(kind).isProduct || (pool && !isExtreme(pool->method)) ||
			     isAny<ChannelReduction, Unary, Softmax, OverChannels>(kind)))
				continue;
			std::vector<ValueId> all = operation.inputs;
			if (!multiplies)
				all.push_back(operation.outputs.front());
			std::erase_if(all, [&](ValueId id) { return value(id).isConstant; });
			if (std::ranges::any_of(all, [&](ValueId id) {
				    return storage_[id] == DataType::Int16;
			    }))
				std::ranges::for_each(all, widen);
		}
	}
}

DataType Lowerer::range(ValueId id) const
{
	return storageOf(value(id).type);
}

} /* namespace nvdla::compiler */
