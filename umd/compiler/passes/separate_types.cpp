/* SPDX-License-Identifier: MIT */
#include "passes.h"

#include <map>
#include <utility>

namespace nvdla::compiler
{

namespace
{

/* These take integers and make real numbers, or the other way round, as they are. */
bool takesBoth(const Kind &kind)
{
	const auto *unary = std::get_if<Unary>(&kind);

	return (unary && unary->isConversion()) || isOverChannels(kind);
}

} /* namespace */

void separateTypes(Model &model)
{
	std::map<ValueId, ValueId> known; /* integers, and the same as real numbers */
	std::vector<Operator> all;

	auto asFloat = [&](ValueId id) {
		const auto [entry, isNew] = known.try_emplace(id, 0);
		if (!isNew)
			return entry->second;
		Value value;
		value.name = model.values[id].name + " as float";
		value.shape = model.values[id].shape;
		entry->second = model.add(value);
		all.push_back({ value.name, "(as float)", Unary{}, { id }, { entry->second } });
		return entry->second;
	};
	for (Operator &operation : std::exchange(model.operators, {})) {
		if (isFloat(model.values[operation.outputs.front()].type) &&
		    !takesBoth(operation.kind)) {
			for (ValueId &id : operation.inputs) {
				if (!model.values[id].isConstant && !isFloat(model.values[id].type))
					id = asFloat(id);
			}
		}
		all.push_back(std::move(operation));
	}
	model.operators = std::move(all);
}

} /* namespace nvdla::compiler */
