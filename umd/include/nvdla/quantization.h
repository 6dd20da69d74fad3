/* SPDX-License-Identifier: MIT */
/*
 * Quantization: real numbers that the integers of a tensor represent.
 *
 * "VTA" is the document on quantized operations of the VTA accelerator, which calls quantization Q
 * and its inverse D. nvdla/converter.h and nvdla/layer_scaling.h turn scales and zero points into
 * parameters of operations.
 */
#pragma once

#include <cmath>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include <nvdla/error.h>
#include <nvdla/rounding.h>

#pragma GCC visibility push(default)

namespace nvdla
{

/**
 * \brief Real numbers that integers represent: real = scale * (q - zeroPoint)
 *
 * FixedFormat::quantization() gives the quantization of a fixed-point format.
 */
struct Quantization {
	double scale = 1.0; /**< real number that one step stands for, positive */
	int32_t zeroPoint = 0;

	/** \return D(q) of VTA */
	double real(double q) const { return scale * (q - zeroPoint); }
	/** \return real / scale + zeroPoint, Q(real) of VTA before it is rounded */
	double steps(double real) const { return real / scale + zeroPoint; }
	/**
	 * \return Q(real) of VTA: real / scale is rounded half away from zero, the zero point is
	 * added, and the sum saturated; a NaN becomes the zero point
	 */
	int64_t quantize(double real, const IntegerLimits &limits) const
	{
		const double rounded = std::isnan(real) ? 0 : roundReal(real / scale);

		return limits.saturate(rounded + zeroPoint);
	}
	/** \brief Call quantize() with the limits of Int8 or Int16 */
	int64_t quantize(double real, DataType type) const
	{
		return quantize(real, integerLimits(type));
	}

	bool operator==(const Quantization &) const = default;
};

/**
 * \brief Quantization of a tensor
 *
 * Three cases: none (elements are the real numbers themselves); one Quantization for all elements;
 * or one for each channel (C). FP16 tensors have none.
 */
class TensorQuantization
{
public:
	/** \brief No quantization: elements are the real numbers themselves */
	TensorQuantization() = default;
	/** \brief One quantization for all elements */
	TensorQuantization(const Quantization &all) : channels_{ all } {}
	/** \brief One quantization for each channel */
	explicit TensorQuantization(std::vector<Quantization> perChannel)
		: channels_(std::move(perChannel))
	{
	}

	/** \return whether there is no quantization */
	bool none() const { return channels_.empty(); }
	/** \return the quantizations: none, one, or one for each channel */
	std::span<const Quantization> values() const { return channels_; }
	/** \return quantization of a channel; scale 1 and zero point 0 if there is none */
	Quantization channel(uint32_t c) const
	{
		if (channels_.empty())
			return {};
		return channels_.size() == 1 ? channels_.front() : channels_[c];
	}

	bool operator==(const TensorQuantization &) const = default;

private:
	std::vector<Quantization> channels_;
};

/** \brief Whether the integer 0 has to represent the real number 0 */
enum class ZeroPoint : uint8_t {
	Zero, /**< the zero point is 0 ("symmetric"), as for weights */
	Free, /**< the zero point is such that all integers are used ("affine") */
};

/**
 * \brief Compute the quantization of a tensor whose numbers are from \a low to \a high
 *
 * The range is widened to hold 0, so that padding and ReLU are exact.
 *
 * \return InvalidArgument unless low <= high, both are finite and not both 0
 */
Result<Quantization> quantizationOf(double low, double high, DataType type, ZeroPoint zeroPoint);

} /* namespace nvdla */

#pragma GCC visibility pop
