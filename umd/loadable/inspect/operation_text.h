/* SPDX-License-Identifier: MIT */
/* Describes an operation in a few words. */
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include <nvdla/task.h>

namespace nvdla::inspect
{

/** \brief An operation in words */
struct OperationText {
	std::string engine; /**< engine, or kind of CPU operation: "CONV", "POWER" */
	std::string action; /**< mode and settings: "direct 3x3, pad 1" */
	std::string shape;  /**< "64x56x56 -> 64x56x56", channels x height x width */
	std::string types;  /**< "int8", or "int8 -> fp16" if they differ */
	std::string places; /**< memory and offset: "@3+0 -> on the fly" */
	std::string layer;  /**< entry of Task::layers; empty if there is none, or several */
};

/** \return operation \a index of a task in words, for any values of its fields */
OperationText describeOperation(const DlaTask &task, size_t index);
OperationText describeOperation(const EmuTask &task, size_t index);
/** \brief Describe a task for the host, which is one operation */
OperationText describeOperation(const HostTask &task);

/** \return shapes of the first input and the last output: "64x56x56 -> 64x56x56" */
std::string shapeBetween(const OperationText &first, const OperationText &last);

} /* namespace nvdla::inspect */
