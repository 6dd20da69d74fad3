/* SPDX-License-Identifier: MIT */
/*
 * Chooses ranges of real numbers for a float model's values, and quantizes the model with them.
 */
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include <nvdla/compiler.h>

#include "compiler/ir/model.h"

namespace nvdla::compiler
{

/** \brief Real numbers from \a low to \a high; 0 is among them */
struct Range {
	double low = 0;
	double high = 0;

	/** \brief Widen the range to hold some numbers */
	void include(std::span<const float> numbers);
	void include(const Range &other);
	bool operator==(const Range &) const = default;
};

/**
 * \brief Counts how many numbers fall into each bin of a range
 *
 * Zeros are not counted: integers represent 0 exactly in every range, and a ReLU makes many.
 */
class Histogram
{
public:
	static constexpr size_t bins = 2048;

	/** \param[in] range of all numbers that will be counted */
	explicit Histogram(const Range &range) : range_(range), counts_(bins) {}

	void count(std::span<const float> numbers);

	/**
	 * \brief Range without outliers
	 * \param[in] percent share of the numbers, 50 to 100, that each of the two limits keeps
	 */
	Range percentile(double percent) const;
	/**
	 * \brief Range that distorts the distribution least
	 *
	 * Each limit is tried from an eighth of the whole range's limit up to that limit. The best
	 * range is the one whose 256 integers have the distribution with the least relative entropy
	 * (Kullback and Leibler) to that of the numbers; numbers outside count at the range's ends.
	 */
	Range leastEntropy() const;

private:
	double width() const { return (range_.high - range_.low) / bins; }
	size_t zeroBin() const;

	Range range_;
	std::vector<uint64_t> counts_;
};

/**
 * \brief Adapt ranges to the operators' requirements
 *
 * Values between which operators only move elements share one range, which covers all of them. The
 * result of a function with limits, such as a sigmoid, gets these limits as range.
 *
 * \param[in] areGiven ranges that are not empty come from a table: functions with limits keep them
 */
void settleRanges(const Model &model, std::vector<Range> &ranges, const CoreGeometry &core,
		  bool areGiven = false);

/**
 * \brief Quantize float values, with one scale each, and kernels, with one per output channel
 *
 * Biases, slopes and other constants stay real numbers: the lowering quantizes them.
 *
 * With RangeMethod::PowersOfTwo all scales are powers of two, and a kernel tensor has only one.
 *
 * \param[in] ranges of each value
 */
void quantizeModel(Model &model, const std::vector<Range> &ranges, const Calibration &calibration);

} /* namespace nvdla::compiler */
