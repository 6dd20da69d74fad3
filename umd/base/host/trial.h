/* SPDX-License-Identifier: MIT */
/* Runs of a model that find out which sizes of its outputs depend on the numbers in its inputs. */
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
	 * \param[in] number of all elements; without it they are random from 0 to 1, and integers
	 * of 8 bits from 0 to 100
	 * \param[in] divisors names of inputs whose integers are not 0
	 */
	TrialInputs(const std::vector<HostValue> &inputs, std::optional<float> number,
		    const std::set<std::string> &divisors = {});

	std::span<const HostArray> arrays() const { return arrays_; }

private:
	std::vector<std::vector<std::byte>> bytes_;
	std::vector<HostArray> arrays_;
};

/** \return the lengths that both shapes have, and -1 for other axes; nothing if their numbers of
 * axes differ */
std::optional<std::vector<int64_t>> commonShape(std::vector<int64_t> one,
						const std::vector<int64_t> &other);

/** \brief Outputs of runs of a model with different numbers */
struct TrialRuns {
	/** \brief Number that was the argument of TrialInputs in the first run that succeeded */
	std::optional<float> number = 0.0F;
	/** \brief Lengths that differ are -1, and the type is 0 if the number of axes differs, or
	 * if no run succeeded */
	std::vector<HostValue> outputs;
};

/**
 * \brief Run a model with each of some numbers
 * \param[in] outputs names of the outputs, which ONNX Runtime needs
 * \param[in] numbers one run for each; this and \a divisors are arguments of TrialInputs
 */
TrialRuns tryNumbers(const HostModel &model, const std::vector<HostValue> &inputs,
		     std::span<const std::string> outputs,
		     const std::vector<std::optional<float>> &numbers,
		     const std::set<std::string> &divisors = {});

} /* namespace nvdla */
