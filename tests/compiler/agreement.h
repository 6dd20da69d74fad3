/* SPDX-License-Identifier: MIT */
/*
 * When the results of a network agree with what is known of it.
 */
#pragma once

#include <string>

#include "model_folder.h"

namespace nvdla::test
{

/** \return the index of the largest number: the class */
size_t largest(const Numbers &numbers);

struct Difference {
	double largest = 0;
	double beyond = 0; /**< share of elements beyond what is allowed */
};

Difference difference(const Numbers &got, const Numbers &wanted, double allowed);

/** \brief Move each number as far as rounding to FP16 may move it, neighbours in opposite directions */
void moveByHalfRounding(Numbers &numbers);

/** \return the numbers, those beyond FP16's range replaced by its largest */
Numbers saturatedAsHalf(Numbers numbers);

/** \return from the least of the numbers and 0 to the greatest of them and 0 */
double rangeOf(const Numbers &numbers);

/** \return the range of an output over all cases; some have one element */
double rangeOf(const ModelFolder &folder, size_t output);

/** \return what a step of an output's 8 bits is worth in the file's numbers; 0 of other types */
double stepOf(const compiler::Model &model, size_t output);

/**
 * \brief What an output breaks of what its kind of network has to hold
 * \param[in] output what is wanted
 * \param[in] range of the output over all cases
 * \param[in] step as stepOf()
 * \return in words; nothing if it holds
 */
std::string shortfall(const Numbers &got, const CaseTensor &output, bool classifies, double range,
		      double step);

} /* namespace nvdla::test */
