/* SPDX-License-Identifier: MIT */
/*
 * Look-up tables of SDP and CDP from functions.
 */
#pragma once

#include <cstdint>
#include <functional>

#include <drm/nvdla_descriptors.h>
#include <nvdla/error.h>
#include <nvdla/quantization.h>

#pragma GCC visibility push(default)

namespace nvdla
{

/** \brief The engine that a table is for; what decides its limits */
enum class LutUnit : uint8_t {
	Sdp,
	Cdp,
};

/** \brief A function and how its numbers are held */
struct LutRequest {
	LutUnit unit = LutUnit::Sdp;
	DataType type = DataType::Int16; /**< of the pipeline: Int8, Int16 or Half */
	/** of a real number; defined in the range and some way beyond it */
	std::function<double(double)> function;
	double low = 0; /**< the range that matters, in real numbers */
	double high = 1;
	/** integers: what the numbers that the table is indexed by stand for (lutInput()) */
	Quantization input;
	/** integers: what a step of the table's 16-bit entries is worth */
	double outputScale = 1;
};

/** \brief A table for a task, and how good it is */
struct LutTable {
	nvdla_lut_desc desc;
	double maxError = 0;  /**< largest distance from the function in the range, real */
	double meanError = 0; /**< average distance */
};

/**
 * \brief Make both tables of a look-up unit
 *
 * LE covers the range from its start, evenly or with each step twice the one before; LO's 257
 * entries stand where they help most. All combinations of the method, and of LO's place and
 * density, are measured against the function, and the one with the smallest largest (and then
 * average) error is taken. Beyond the range the function goes on with its slope there.
 * Where both tables hit, LO answers.
 *
 * Programming guide, "Limitation", LUT: end - start is 2^(select + 6) for LE, 2^(select + 8)
 * for LO, 2^(offset + 64) if exponential, and the ranges of select and offset.
 *
 * \return InvalidArgument for a range or a scale that cannot be; Unsupported if no table
 * of the engine covers the range
 */
Result<LutTable> makeLut(const LutRequest &request);

/**
 * \brief What a table answers, without the rounding of the hardware's last steps
 *
 * \param[in] type of the pipeline, as in LutRequest
 * \param[in] x input of the table: an integer's value, or the real number if Half
 * \return in steps of the entries, or the real number if Half
 */
double readLut(const nvdla_lut_desc &desc, DataType type, double x);

/** \return 1 / (1 + exp(-x)) */
double sigmoid(double x);

/**
 * \brief The factor of local response normalization, for CDP
 * \return a function of the sum of squares: (k + alpha / size * sum)^-beta
 */
std::function<double(double)> lrnFactor(double alpha, double beta, double k, uint32_t size);

} /* namespace nvdla */

#pragma GCC visibility pop
