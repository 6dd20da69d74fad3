/* SPDX-License-Identifier: MIT */
/*
 * Properties of each function of one number.
 */
#pragma once

#include <nvdla/element_function.h>

namespace nvdla
{

/** \brief A function of one number, and what tables of it are good for */
struct ElementFunctionInfo {
	const char *name; /**< "reciprocal_root": in texts of loadables and in reports */
	double (*compute)(double x, double parameter);
	double low;  /**< where it is defined: from here */
	double high; /**< to here */
	/**
	 * \brief It bends little, and beyond a distance of 12 from 0 is a straight line or nearly
	 * so
	 *
	 * A look-up table of any type is then good enough. Of other functions only 8 bits have one,
	 * with an entry for each number.
	 */
	bool hasTables;
	bool hasParameter = false;

	/** \return of IEEE 754: infinite where it has no bound, NaN where it is not defined */
	double operator()(double x, double parameter) const { return compute(x, parameter); }
	/**
	 * \return the same for what has neither infinity nor NaN: the largest float of the sign,
	 * and the value at the nearest number for which it is defined
	 */
	double bounded(double x, double parameter) const;
};

/** \return what is known of a function; nullptr if there is none with this code */
const ElementFunctionInfo *findElementFunction(unsigned code);
/** \return what is known of a function */
const ElementFunctionInfo &elementFunction(ElementFunction function);

} /* namespace nvdla */
