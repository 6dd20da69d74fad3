/* SPDX-License-Identifier: MIT */
/*
 * The same convolutions in oneDNN, where it was found (NVDLA_HAVE_ONEDNN).
 */
#pragma once

#include <cstdint>
#include <functional>

namespace nvdla::bench
{

/** \brief A convolution with bias and ReLU; sizes in elements */
struct ConvShape {
	const char *name;
	uint32_t width, height, channels; /**< of the input */
	uint32_t kernels;
	uint32_t kernelSize = 1;
	uint32_t stride = 1;
	uint32_t padding = 0;	    /**< left and above */
	uint32_t paddingBehind = 0; /**< right and below */
	bool image = false;	    /**< pixels of four bytes, of which three count */
	uint32_t groups = 1;

	uint32_t outWidth() const { return outOf(width); }
	uint32_t outHeight() const { return outOf(height); }
	double macs() const
	{
		return double(outWidth()) * outHeight() * kernels * kernelSize * kernelSize *
		       (channels / groups);
	}

private:
	uint32_t outOf(uint32_t size) const
	{
		return (size + padding + paddingBehind - kernelSize) / stride + 1;
	}
};

/**
 * \brief A convolution of random numbers, ready to be run on one thread
 *
 * Operands are in oneDNN's own layouts before it is timed. INT8 has a scale behind the bias
 * and 8-bit output; else everything is f32.
 *
 * \return runs it once; empty without oneDNN
 */
std::function<void()> onednnConvolution(const ConvShape &shape, bool int8);

} /* namespace nvdla::bench */
