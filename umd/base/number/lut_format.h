/* SPDX-License-Identifier: MIT */
/*
 * One of the two tables (LE, LO) of a look-up unit, with numbers in place of the contents of
 * registers.
 */
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include <nvdla/data_type.h>
#include <nvdla/lut.h>

namespace nvdla
{

/** \brief The straight line that continues a table beyond one of its ends */
struct LutEdge {
	LutSlope slope;
	double gradient = 0; /**< slope as a number: change of the result, in units of the entries,
				for a change of the input by 1 */
};

/** \brief One table: LE (64 steps between entries) or LO (256 steps) */
struct LutHalf {
	bool half = false; /**< true: entries are FP16 and inputs real numbers; false: both are
			      integers */
	bool exponential =
		false; /**< true: entry i is at start + 2^(step + i); else at start + i * 2^step */
	int step = 0;
	double start = 0;
	std::vector<int16_t> entries; /**< 65 entries (LE) or 257 (LO) */
	LutEdge underflow, overflow;

	/** \return number of steps between entries: 64 (LE) or 256 (LO) */
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
	/** \return the result of the look-up at \a x, in units of the entries */
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

/** \return table LE of \a lut, with numbers in place of register contents */
LutHalf leHalf(const Lut &lut, DataType type);
/** \return table LO of \a lut, with numbers in place of register contents */
LutHalf loHalf(const Lut &lut, DataType type);

/** \return register contents with which LO is used if both tables hit, or if one is missed below
 * and the other above; LE is used for inputs below or above both */
Lut lutOf(const LutHalf &le, const LutHalf &lo);

} /* namespace nvdla */
