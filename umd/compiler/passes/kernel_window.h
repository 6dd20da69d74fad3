/* SPDX-License-Identifier: MIT */
/*
 * Places kernels in a larger or smaller window.
 */
#pragma once

#include "compiler/ir/model.h"

namespace nvdla::compiler
{

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

/** \return depthwise kernels (channels x 1 x R x S), each of whose elements stands for \a worth */
Value onesOf(uint32_t channels, op::Axes window, double worth = 1);

/** \brief A place in kernels, or beside them */
struct Place {
	int64_t line = 0;
	int64_t column = 0;
};

/**
 * \brief Kernels (K x C x R x S) cropped to a window, or padded with elements that add nothing
 * \param[in] at position of the kernels' first element in the window
 */
Value inWindow(const Value &kernels, op::Axes window, Place at = {});

} /* namespace nvdla::compiler */
