/* SPDX-License-Identifier: MIT */
#include "operation_names.h"

#include <algorithm>

namespace nvdla::assembly
{

OperationNames namesOf(const op::Any &operation)
{
	OperationNames names;
	auto collect = [&](const auto &any) {
		if constexpr (requires { any.transfers; }) {
			for (const auto &transfer : any.transfers) {
				names.reads.push_back(transfer.input);
				names.writes.push_back(transfer.output);
			}
		} else {
			names.reads.push_back(any.input);
		}
		if constexpr (requires { any.output; })
			names.writes.push_back(any.output);
		if constexpr (requires { any.weights; })
			names.reads.push_back(any.weights);
		if constexpr (requires { any.with; })
			names.reads.push_back(any.with);
		if constexpr (requires { any.lut; })
			names.reads.push_back(any.lut);
		if constexpr (requires { any.x1; }) {
			for (const auto *unit : { &any.x1, &any.x2, &any.y }) {
				if (!*unit)
					continue;
				names.reads.push_back((*unit)->operands);
				names.reads.push_back((*unit)->mulOperands);
			}
		}
	};

	std::visit(collect, operation);
	std::erase(names.reads, "");
	std::erase(names.writes, "");
	return names;
}

bool reads(const op::Any &operation, const std::string &name)
{
	return std::ranges::count(namesOf(operation).reads, name) > 0;
}

} /* namespace nvdla::assembly */
