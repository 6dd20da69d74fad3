/* SPDX-License-Identifier: MIT */
/*
 * The convolutions that make a deconvolution, one axis at a time.
 */
#pragma once

#include <cstdint>

namespace nvdla::assembly
{

/** \brief One axis of a deconvolution */
struct DeconvAxis {
	uint32_t in;
	uint32_t kernel; /**< elements of a phase's kernels: kernel size / stride, rounded up */
	uint32_t stride;
	uint32_t before; /**< elements cut off at the start of the output */
	uint32_t out;
	uint32_t room; /**< largest number of outputs of a phase, including unneeded ones */
};

/**
 * \brief A phase: output elements number, number + stride, ...
 *
 * One convolution with one set of kernels computes all of them, from a range of the input and
 * padding around it.
 */
struct DeconvPhase {
	uint32_t set = 0; /**< index of the set of kernels on this axis, below the stride */
	uint32_t outputs = 0;
	uint32_t firstInput = 0;
	uint32_t inputs = 0;
	uint32_t before = 0; /**< elements of padding before the inputs */
	uint32_t after = 0;
};

/**
 * \brief Compute the phase of the output's element \a number
 *
 * If the input suffices for more outputs than DeconvAxis::out, the phase includes them up to
 * DeconvAxis::room, so that all phases of a line read the same input.
 */
DeconvPhase deconvPhase(const DeconvAxis &axis, uint32_t number);

} /* namespace nvdla::assembly */
