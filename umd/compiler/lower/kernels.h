/* SPDX-License-Identifier: MIT */
/*
 * Kernels of convolutions in the form that the core takes.
 */
#pragma once

#include "sdp.h"

namespace nvdla::compiler
{

/** \brief Kernels without zero points, K x C/groups x R x S, with scales and bias */
struct Kernels {
	uint32_t k = 0;
	uint32_t c = 0; /**< channels of one group */
	uint32_t r = 0;
	uint32_t s = 0;
	std::vector<float> elements; /**< integers less zero point; real numbers in FP16 */
	std::vector<double> scales;  /**< scale of each kernel; 1 in FP16 */
	std::vector<double> bias;    /**< bias of each kernel, as a real number */

	/** \return the elements of one kernel */
	std::span<float> one(size_t kernel)
	{
		return std::span(elements).subspan(kernel * size(), size());
	}
	std::span<const float> one(size_t kernel) const
	{
		return std::span(elements).subspan(kernel * size(), size());
	}
	/** \return the largest magnitude of a kernel's sum for inputs of magnitude 1 */
	double largestSum(size_t kernel) const;

private:
	size_t size() const { return size_t{ c } * r * s; }
};

/** \brief How a convolution applies kernels to its input, and how SDP converts the sums */
struct ConvolutionPass {
	ValueId input = 0;
	ValueId output = 0;
	Cube out; /**< shape of the output */
	op::Axes stride;
	op::Axes dilation;
	op::Padding padding;
	std::optional<int16_t> padValue = {}; /**< none: the input's zero point */
	uint32_t groups = 1;
	Clamp activation;
	/** \brief Additional factors of the sums: one number, or one for each output position */
	std::vector<double> factors = { 1.0 };
	/** \brief Name and shape of the part of the input's surface to read; empty: all of it */
	std::string from;
	Cube in;
	/** \brief The pass makes its operator's whole result, so a later operator can be fused */
	bool canFuse = false;
	/** \brief The input's zero point is part of the sums, and results are rounded once */
	bool keepsZero = false;
	/** \brief Transposed convolution: padding is cut off the sums */
	bool isTransposed = false;
	/** \brief Each sum is divided by the sum of the kernel elements that lie over the input */
	bool normalizes = false;
	/** \brief Surface to write, of shape \a out; empty: the output's surface */
	std::string to = {};
	/** \brief Affine::firstBits of the function that converts the sums */
	std::optional<int> firstBits = {};
	/**
	 * \brief Surface with weights that a CPU step packs. The elements of Kernels then only give
	 * the largest possible sums, and taps on the padding subtract the input's zero point
	 */
	std::string packed = {};
	uint32_t channels = 0; /**< number of channels of a packed kernel */
};

/**
 * \brief Number of fraction bits that TFLite's first rounding of a mean of \a count elements keeps;
 * 0 for a sum, which TFLite rounds only once
 *
 * \param[in] count 0: a sum
 */
int sumBits(const Lowerer &lowerer, ValueId input, ValueId output, uint32_t count);

/**
 * \return the bias of an operator, its third input, in real numbers
 *
 * An integer bias is in steps of the sums if it has no scale, or nearly that of the sums.
 */
std::vector<double> biasOf(Lowerer &lowerer, const Operator &operation, const Kernels &kernels);
/** \return the kernels of an operator whose inputs are x, weights and maybe a bias */
Kernels kernelsOf(Lowerer &lowerer, const Operator &operation);

/** \brief Add a convolution to the graph, with the SDP operation that converts its sums */
void convolve(Lowerer &lowerer, const Kernels &kernels, const ConvolutionPass &pass);

/** \brief Lower a slice, followed by an activation */
void takeSlice(Lowerer &lowerer, const Operator &operation, const Slice &slice,
	       const Clamp &activation);

/** \return kernels of scale 1 and bias 0, all of whose elements are \a element */
Kernels uniformKernels(const Extents &shape, float element);
/** \return 1 x 1 kernels; kernel k selects channel \a channels[k], or none if that is -1 */
Kernels selection(uint32_t c, const std::vector<int64_t> &channels);

} /* namespace nvdla::compiler */
