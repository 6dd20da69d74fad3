/* SPDX-License-Identifier: MIT */
/* Runs a model with different inputs, to find the sizes of outputs that depend on input values. */
#pragma once

#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "base/host/host_model.h"

namespace nvdla
{

/** \brief Inputs of a model, with numbers for one run */
class TrialInputs
{
public:
	/**
	 * \param[in] inputs the model's inputs, with known shapes
	 * \param[in] number value of all elements; without it, elements are random: from 0 to 1,
	 * or for 8-bit integers from 0 to 100
	 * \param[in] divisors names of inputs by which the model divides: their integers must not
	 * be 0
	 */
	TrialInputs(const std::vector<HostValue> &inputs, std::optional<float> number,
		    const std::set<std::string> &divisors = {});

	std::span<const HostArray> arrays() const { return arrays_; }

private:
	std::vector<std::vector<std::byte>> bytes_;
	std::vector<HostArray> arrays_;
};

/** \return a shape with the lengths that are equal in both, and -1 for other axes; std::nullopt if
 * the shapes have different numbers of axes */
std::optional<std::vector<int64_t>> commonShape(std::vector<int64_t> one,
						const std::vector<int64_t> &other);

/** \brief Result of runs of a model with different numbers in its inputs */
struct TrialRuns {
	/** \brief The argument \a number of TrialInputs in the first run that succeeded */
	std::optional<float> number = 0.0F;
	/** \brief Outputs; a length that differs between runs is -1. The type is 0 if the number of
	 * axes differs, or if no run succeeded */
	std::vector<HostValue> outputs;
};

/**
 * \brief Run a model once for each of \a numbers
 * \param[in] outputs names of the outputs, which ONNX Runtime needs
 * \param[in] numbers the argument \a number of TrialInputs for each run
 */
TrialRuns tryNumbers(const HostModel &model, const std::vector<HostValue> &inputs,
		     std::span<const std::string> outputs,
		     const std::vector<std::optional<float>> &numbers,
		     const std::set<std::string> &divisors = {});

} /* namespace nvdla */
