/* SPDX-License-Identifier: MIT */
/* Properties of each function of one number. */
#pragma once

#include <nvdla/element_function.h>

namespace nvdla
{

/** \brief A function of one number and its properties */
struct ElementFunctionInfo {
	const char *name; /**< name in reports and in loadables as text: "hard_swish" */
	double (*compute)(double x, double parameter);
	double low;  /**< start of the interval where the function is defined */
	double high; /**< end of the interval where the function is defined */
	/**
	 * \brief True if a look-up table of the function is exact enough for all types
	 *
	 * Such a function bends little and, except for Square, is almost a straight line for
	 * numbers farther than 12 from 0. Other functions have tables only in 8 bits, with an entry
	 * for each number.
	 */
	bool hasTables;
	bool hasParameter = false;

	/** \return the value by IEEE 754: infinite at a pole, NaN where it is not defined */
	double operator()(double x, double parameter) const { return compute(x, parameter); }
	/**
	 * \return the value for types without infinity and NaN. The largest float of the same sign
	 * replaces an infinite value. Where the function is not defined, the value at the nearest
	 * number with a definition is taken
	 */
	double bounded(double x, double parameter) const;
};

/** \return properties of a function; nullptr if there is none with this code */
const ElementFunctionInfo *findElementFunction(unsigned code);
/** \return properties of a function */
const ElementFunctionInfo &elementFunction(ElementFunction function);

} /* namespace nvdla */
