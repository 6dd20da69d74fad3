/* SPDX-License-Identifier: MIT */
/*
 * Kernels in a larger window.
 */
#pragma once

#include "compiler/ir/model.h"

namespace nvdla::compiler
{

/** \brief Lines and columns of a kernel, or a place in it */
struct Window {
	uint32_t lines = 0;
	uint32_t columns = 0;
};

/**
 * \brief Kernels (K x C x R x S) with elements around them that add nothing
 * \param[in] window not smaller than \a at and the kernels' own one
 * \param[in] at where in the window they begin
 */
Value inWindow(const Value &kernels, Window window, Window at = {});

/** \brief The part of kernels (K x C x R x S) that begins \a at a place in them */
Value cutOf(const Value &kernels, Window window, Window at);

} /* namespace nvdla::compiler */
