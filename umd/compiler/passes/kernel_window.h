/* SPDX-License-Identifier: MIT */
/*
 * Places kernels in a larger or smaller window.
 */
#pragma once

#include <algorithm>

#include "compiler/ir/model.h"

namespace nvdla::compiler
{

/** \brief Windows along one axis of a picture */
struct WindowAxis {
	uint32_t in, out, taps;
	uint32_t stride = 1, dilation = 1;
	uint32_t before = 0, after = 0; /**< padding */

	/** \return elements from the first tap of a window to its last one */
	uint32_t span() const { return (taps - 1) * dilation + 1; }
	/** \return how many elements behind the picture the windows reach */
	uint32_t behind() const
	{
		const uint32_t end = (out - 1) * stride + span();
		return end - std::min(end, before + in);
	}
};

/** \brief Lines and columns of a convolution, a transposed one or a pooling */
struct WindowAxes {
	WindowAxis y, x;

	WindowAxes(const Model &model, const Operator &operation);
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
