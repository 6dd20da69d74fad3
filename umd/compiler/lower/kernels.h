/* SPDX-License-Identifier: MIT */
/*
 * Kernels of convolutions as the core takes them.
 */
#pragma once

#include "lowerer.h"

namespace nvdla::compiler
{

/** \brief Kernels without zero points, K x C/groups x R x S, and what a convolution does with them
 */
struct Kernels {
	uint32_t k = 0;
	uint32_t c = 0; /**< of one group */
	uint32_t r = 0;
	uint32_t s = 0;
	std::vector<double> elements; /**< integers less zero point; real numbers in FP16 */
	std::vector<double> scales;   /**< of each kernel; 1 in FP16 */
	std::vector<double> bias;     /**< of each kernel, in real numbers */

	double at(size_t kernel, size_t channel, size_t rs) const
	{
		return elements[(kernel * c + channel) * r * s + rs];
	}
	/** \return the elements of one kernel */
	std::span<double> one(size_t kernel)
	{
		return std::span(elements).subspan(kernel * size(), size());
	}
	std::span<const double> one(size_t kernel) const
	{
		return std::span(elements).subspan(kernel * size(), size());
	}
	/** \return the largest magnitude of a kernel's sum of inputs of magnitude 1 */
	double largestSum(size_t kernel) const;

private:
	size_t size() const { return size_t{ c } * r * s; }
};

/** \brief Windows of the kernels on the input */
struct ConvolutionPass {
	ValueId input = 0;
	ValueId output = 0;
	Cube out; /**< shape of the output */
	op::Axes stride;
	op::Axes dilation;
	op::Padding padding;
	uint32_t groups = 1;
	Clamp activation;
	/** \brief Additional factors of the sums: one number, or h x w of factorShape */
	std::vector<double> factors = { 1.0 };
	Cube factorShape;
	/** \brief A part of the input's surface, and its shape; empty: all of it */
	std::string from;
	Cube in;
	/** \brief It makes the whole result of its operator, so an addition behind can be folded */
	bool canSum = false;
	/** \brief Integers are summed as they are, zero points and all; results are rounded once */
	bool keepsZero = false;
	/** \brief With keepsZero: padding adds the zero point to a sum, and not 0 */
	bool countsPadding = false;
	/** \brief A surface of the input's type and the shape \a out; empty: all of the output */
	std::string to = {};
	/** \brief Affine::firstBits of the sums */
	std::optional<int> firstBits = {};
};

/**
 * \brief Fraction bits that TFLite's kernels keep in a mean of \a count elements when they round
 * for the first time; 0 for a sum, whose kernel rounds once
 *
 * \param[in] count 0: a sum
 */
int sumBits(const Lowerer &lowerer, ValueId input, ValueId output, uint32_t count);

/**
 * \brief A factor of sums of 8 bits that divides by a whole number
 *
 * Multipliers are not exact. Larger by a quarter of the distance between two quotients, a factor
 * rounds ties away from zero, as a division does, and nothing else otherwise.
 */
inline double dividing(double factor)
{
	constexpr double largestQuotient = 128;

	return factor * (1 + factor / (4 * largestQuotient));
}

/** \return the kernels of an operator whose inputs are x, weights and maybe a bias */
Kernels kernelsOf(Lowerer &lowerer, const Operator &operation);

/** \return all kernels, as constants of a graph */
GraphWeights weightsOf(const Kernels &kernels, DataType type, const std::string &name);

/** \brief A convolution of the graph, and what makes the output of its sums */
void convolve(Lowerer &lowerer, const Kernels &kernels, const ConvolutionPass &pass);

/** \return bits that the largest sum of kernels has beyond 32 */
uint8_t excessBits(const Kernels &kernels, const Quantization &in, DataType range);

/** \brief Lower a slice, with an activation behind it */
void takeSlice(Lowerer &lowerer, const Operator &operation, const Slice &slice,
	       const Clamp &activation);

/** \return kernels without scales and biases, all of whose elements are \a element */
Kernels uniformKernels(const Extents &shape, double element);
/** \return 1 x 1 kernels, kernel k of which takes channel \a channels[k]; none if that is -1 */
Kernels selection(uint32_t c, const std::vector<int64_t> &channels);

} /* namespace nvdla::compiler */
