/* SPDX-License-Identifier: MIT */
/*
 * The line of an operation with a single output position, as a fully connected layer is one.
 */
#pragma once

#include <memory>

#include "conv/conv_lines.h"
#include "conv/conv_op.h"
#include "conv/csc.h"

namespace nvdla::sim
{

/** \return there is one position, whose window needs no padding */
bool isDense(const ConvOp &op);

/**
 * \brief What makes it, of FP16 in the fast way
 * \param op with isDense(), sums of integers fitting; must outlive the maker \param data likewise
 */
std::unique_ptr<LineMaker> newDenseMaker(const ConvOp &op, const DataView &data);

/**
 * \return kernels of \a op, one with isDense(), are a group whose compressed weights may be for one
 *	   channel each, with masks of whole bytes
 */
bool staysCompressed(const ConvOp &op);

/**
 * \brief Maker of the output line whose weights stay compressed
 * \param op for which staysCompressed() is true, and otherwise what newDenseMaker() takes; must
 *	  outlive the maker
 * \param data must outlive the maker
 */
std::unique_ptr<LineMaker> newCompressedMaker(const ConvOp &op, const DataView &data);

} /* namespace nvdla::sim */
