/* SPDX-License-Identifier: MIT */
/*
 * Names of surfaces and operands in operations of any kind.
 */
#pragma once

#include <string>
#include <vector>

#include <nvdla/operations.h>

namespace nvdla::assembly
{

/** \brief Names of surfaces, constants and tables, each of them not empty */
struct OperationNames {
	std::vector<std::string> reads;
	std::vector<std::string> writes;
};

OperationNames namesOf(const op::Any &operation);

/** \return whether the operation reads the surface \a name */
bool reads(const op::Any &operation, const std::string &name);

} /* namespace nvdla::assembly */
