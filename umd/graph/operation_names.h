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

/** \brief Does the operation read what has the name? */
bool reads(const op::Any &operation, const std::string &name);

} /* namespace nvdla::assembly */
