/* SPDX-License-Identifier: MIT */
/*
 * Integers for the values of a float model, and the ranges of real numbers that they stand for.
 */
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include <nvdla/data_type.h>

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
 * \brief Number of values in each part of a range
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
	 * \brief Leave out what is rare
	 * \param[in] percent of the numbers that are kept, at each of the two ends: 50 to 100
	 */
	Range percentile(double percent) const;
	/**
	 * \brief Leave out what matters little
	 *
	 * Candidates are an eighth or more of each side of 0. The chosen range is the one in which
	 * the distribution of \a levels integers differs least from that of the numbers, by
	 * relative entropy (Kullback and Leibler). Numbers beyond a range count at its ends.
	 */
	Range leastEntropy(size_t levels) const;

private:
	double width() const { return (range_.high - range_.low) / bins; }
	size_t zeroBin() const;

	Range range_;
	std::vector<uint64_t> counts_;
};

/**
 * \brief Ranges as operators need them
 *
 * Values between which an operator only moves elements have one range, that of all of them. Where
 * a function has limits, its result has these.
 */
void settleRanges(const Model &model, std::vector<Range> &ranges);

/**
 * \brief Turn float values into integers, and kernels into integers for each output channel
 *
 * Biases, slopes and the other constants stay real numbers: the lowering makes what it needs of
 * them.
 *
 * \param[in] ranges of each value
 * \param[in] type Int8, with zero points, or Int16, without
 */
void quantizeModel(Model &model, const std::vector<Range> &ranges, DataType type);

} /* namespace nvdla::compiler */
