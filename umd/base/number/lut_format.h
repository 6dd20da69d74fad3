/* SPDX-License-Identifier: MIT */
/*
 * One of the two tables of a look-up unit, with numbers in place of register contents.
 */
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include <nvdla/data_type.h>
#include <nvdla/lut.h>

namespace nvdla
{

/** \brief Continuation of a function beyond an edge */
struct LutEdge {
	LutSlope slope;
	double gradient = 0; /**< real slope, entries per unit of the input */
};

/** \brief LE (64 steps) or LO (256 steps) */
struct LutHalf {
	bool half = false; /**< entries are FP16, inputs real numbers */
	bool exponential =
		false; /**< entry i is at start + 2^(step + i), else at start + i * 2^step */
	int step = 0;
	double start = 0;
	std::vector<int16_t> entries; /**< 65 or 257 */
	LutEdge underflow, overflow;

	/** \return steps between entries */
	size_t steps() const { return entries.size() - 1; }
	/** \return distance of entry \a index from the start */
	double distance(size_t index) const;
	/** \return input of entry \a index */
	double input(size_t index) const { return start + distance(index); }
	/** \return entry \a index as a number */
	double entry(size_t index) const;
	/** \return true if \a x is inside the table: neither underflows() nor at the last entry's
	 * input or above */
	bool hits(double x) const;
	/** \return true if \a x is below the first entry's input, or equal in a linear table */
	bool underflows(double x) const;
	/** \return the function, in entries */
	double value(double x) const;
	/**
	 * \brief Fill the entries, and set the slopes to those of \a function beyond the first and
	 * the last entry
	 * \param[in] low,high range of inputs: at an entry outside of it for which \a function is
	 * not finite, the value at the nearer end is taken; slopes are measured over the first
	 * step, or 1 / 4096 of the range if that is more
	 */
	void fill(const std::function<double(double)> &function, double low, double high);
	/**
	 * \brief Set the slopes to those of straight lines to \a function's values at the lowest
	 * and highest FP16 numbers
	 */
	void straighten(const std::function<double(double)> &function);

private:
	LutEdge edge(double gradient) const;
};

/** \return LE of \a lut as numbers */
LutHalf leHalf(const Lut &lut, DataType type);
/** \return LO of \a lut as numbers */
LutHalf loHalf(const Lut &lut, DataType type);

/** \return both tables as the unit holds them; LO is used where both hit, LE where both miss */
Lut lutOf(const LutHalf &le, const LutHalf &lo);

} /* namespace nvdla */
