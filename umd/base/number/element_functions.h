/* SPDX-License-Identifier: MIT */
/*
 * Properties of each function of one number.
 */
#pragma once

#include <nvdla/element_function.h>

namespace nvdla
{

/** \brief A function of one number, and whether tables of it are exact enough */
struct ElementFunctionInfo {
	const char *name; /**< "reciprocal_root": in texts of loadables and in reports */
	double (*compute)(double x, double parameter);
	double low;  /**< start of the interval where the function is defined */
	double high; /**< end of that interval */
	/**
	 * \brief The function bends little, and is almost a straight line beyond a distance of 12
	 * from 0
	 *
	 * A look-up table of any type is then good enough. Other functions have a table only in 8
	 * bits, with an entry for each number.
	 */
	bool hasTables;
	bool hasParameter = false;

	/** \return the value by IEEE 754: infinite at a pole, NaN where it is not defined */
	double operator()(double x, double parameter) const { return compute(x, parameter); }
	/**
	 * \return the value for types without infinity and NaN: the largest float of the sign,
	 * or the value at the nearest number for which the function is defined
	 */
	double bounded(double x, double parameter) const;
};

/** \return properties of a function; nullptr if there is none with this code */
const ElementFunctionInfo *findElementFunction(unsigned code);
/** \return properties of a function */
const ElementFunctionInfo &elementFunction(ElementFunction function);

} /* namespace nvdla */
