/* SPDX-License-Identifier: MIT */
/*
 * Kernels in a larger or smaller window.
 */
#pragma once

#include "compiler/ir/model.h"

namespace nvdla::compiler
{

/** \brief Lines and columns of a kernel */
struct Window {
	uint32_t lines = 0;
	uint32_t columns = 0;
};

/** \brief One axis of a convolution */
struct ConvolutionAxis {
	uint32_t in, out, taps;
	uint32_t stride, dilation;
	uint32_t before, after; /**< padding */
};

/** \brief Lines and columns of a convolution */
struct ConvolutionAxes {
	ConvolutionAxis y, x;

	ConvolutionAxes(const Model &model, const Operator &operation, const Convolution &conv);
};

/** \return ones for each channel by itself (channels x 1 x R x S), each of which is worth so much
 */
Value onesOf(uint32_t channels, Window window, double worth = 1);

/** \brief A place in kernels, or beside them */
struct Place {
	int64_t line = 0;
	int64_t column = 0;
};

/**
 * \brief Kernels (K x C x R x S) seen through a window: beyond them are elements that add nothing
 * \param[in] at where in the window they begin
 */
Value inWindow(const Value &kernels, Window window, Place at = {});

} /* namespace nvdla::compiler */
