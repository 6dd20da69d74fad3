/* SPDX-License-Identifier: MIT */
/*
 * Types of elements in the core's memory.
 */
#include <algorithm>

#include "lowerer.h"

namespace nvdla::compiler
{

namespace
{

DataType storageOf(ElementType type)
{
	switch (type) {
	case ElementType::Int8:
		return DataType::Int8;
	case ElementType::Int16:
		return DataType::Int16;
	case ElementType::Float32:
	case ElementType::Float16:
		return DataType::Half;
	default:
		return DataType::Unknown;
	}
}

/* Sums are convolutions, which make what they are told to. */
bool convolves(const Kind &kind)
{
	const auto *pool = std::get_if<Pool>(&kind);

	return hasKernels(kind) || std::holds_alternative<GlobalAverage>(kind) ||
	       std::holds_alternative<ChannelReduction>(kind) || (pool && !isExtreme(pool->method));
}

} /* namespace */

/* An INT8 tensor that meets 16-bit weights is held in 16 bits by all who write and read it. */
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
	}
	/* What does not compute, and what computes with two surfaces, has one type throughout. */
	while (changed) {
		changed = false;
		for (const Operator &operation : model_.operators) {
			if (convolves(operation.kind) ||
			    std::holds_alternative<Unary>(operation.kind) ||
			    isOverChannels(operation.kind))
				continue;
			std::vector<ValueId> all = operation.inputs;
			all.insert(all.end(), operation.outputs.begin(), operation.outputs.end());
			const bool wide = std::any_of(all.begin(), all.end(), [&](ValueId id) {
				return storage_[id] == DataType::Int16 && !value(id).isConstant;
			});
			for (ValueId id : all) {
				if (wide && !value(id).isConstant)
					widen(id);
			}
		}
	}
}

DataType Lowerer::range(ValueId id) const
{
	return storageOf(value(id).type);
}

} /* namespace nvdla::compiler */
