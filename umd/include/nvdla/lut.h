/* SPDX-License-Identifier: MIT */
/* Look-up tables of SDP and CDP from functions. */
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>

#include <nvdla/error.h>
#include <nvdla/quantization.h>

#pragma GCC visibility push(default)

namespace nvdla
{

/** \brief Engine of a table; the limits of a table depend on it */
enum class LutUnit : uint8_t {
	Sdp,
	Cdp,
};

/** \brief Slope of the straight line that continues a table beyond one of its ends: change of the
 * result for each step of the input */
struct LutSlope {
	/** \brief Integers: the slope is scale / 2^shift; FP16: scale has the bits of the slope in
	 * FP16 */
	int16_t scale = 0;
	int8_t shift = 0; /**< integers: right shift of scale * (input - end of the table), -16 to
			     15 */
};

/** \brief One of the two tables of a look-up unit */
template<size_t count>
struct LutEntries {
	std::array<int16_t, count> entries{}; /**< integers, or bits of FP16 numbers */
	/** \brief Inputs of neighbouring entries are 2^step apart. In an exponential table this is
	 * the distance of the first two entries, and each further distance is twice the previous
	 * one */
	int8_t step = 0;
	int64_t start = 0;  /**< input of the first entry; FP16: as bits of FP32 */
	int64_t end = 0;    /**< input of the last entry; FP16: as bits of FP32 */
	LutSlope underflow; /**< slope for inputs below start */
	LutSlope overflow;  /**< slope for inputs above end */
};

/**
 * \brief The contents of a look-up unit, for SDP or CDP
 *
 * The values of its registers, for a pipeline of integers or, in members so marked, of FP16.
 * makeLut() computes them; programming guide, "Limitation", LUT, has their limits.
 */
struct Lut {
	static constexpr size_t leCount = 65;
	static constexpr size_t loCount = 257;

	LutEntries<leCount> le;	      /**< table LE, which may be exponential */
	LutEntries<loCount> lo;	      /**< table LO, which is always linear */
	bool exponential = false;     /**< LE is exponential, not linear */
	bool hybridSelectsLo = false; /**< LO is used if both tables hit, or if one is missed below
					 and the other above */
	bool underflowSelectsLo = false; /**< LO is used for inputs below both tables */
	bool overflowSelectsLo = false;	 /**< LO is used for inputs above both tables */
};

/** \brief A function, and the types and scales of its numbers */
struct LutRequest {
	LutUnit unit = LutUnit::Sdp;
	DataType type = DataType::Int16; /**< type of the pipeline: Int8, Int16 or Half */
	/** function of a real number; defined in the range and near it */
	std::function<double(double)> function;
	double low = 0; /**< range of inputs in real numbers: low to high */
	double high = 1;
	/** integers: quantization of the table's input, as lutInput() gives it */
	Quantization input;
	/** integers: real number that one step of the table's 16-bit entries represents */
	double outputScale = 1;
	/**
	 * Half: true continues the table in a straight line to the function's values at the largest
	 * numbers of FP16, for which it has to be defined; false continues with the slope at the
	 * edge.
	 */
	bool straightOutside = false;
};

/** \brief Tables of a function, and their errors */
struct LutTable {
	Lut lut;
	double maxError = 0;  /**< largest distance from the function in the range, as a real
				 number */
	double meanError = 0; /**< average distance from the function in the range, as a real
				 number */
};

/**
 * \brief Make both tables of a look-up unit
 *
 * LE covers the range from its start, in even steps or in steps that double; LO's 257 entries are
 * placed where they reduce the error most. All combinations of LE's steps and of LO's place and
 * density are compared with the function, and the one with the smallest sum of largest and average
 * error is taken. Beyond the range the table continues with the function's slope, or in a straight
 * line to its values at the largest numbers (straightOutside). If both tables hit, LO is used.
 *
 * The programming guide, "Limitation", LUT, has the rules: end - start is 2^(select + 6) for LE,
 * 2^(select + 8) for LO and 2^(offset + 64) for an exponential LE, where select and offset are
 * LutEntries::step and have limited ranges.
 *
 * \return InvalidArgument for an impossible range or scale; Unsupported if no table of the engine
 * covers the range
 */
Result<LutTable> makeLut(const LutRequest &request);

/**
 * \brief The result of a table look-up, without the rounding of the hardware's last steps
 *
 * \param[in] type type of the pipeline, as in LutRequest
 * \param[in] x input of the table: an integer's value, or the real number if Half
 * \return result in steps of the entries, or the real number if Half
 */
double readLut(const Lut &lut, DataType type, double x);

/** \return 1 / (1 + exp(-x)) */
double sigmoid(double x);

/**
 * \brief The factor of local response normalization, for CDP
 * \return a function of the sum of squares: (k + alpha / size * sum)^-beta
 */
std::function<double(double)> lrnFactor(double alpha, double beta, double k, uint32_t size);

} /* namespace nvdla */

#pragma GCC visibility pop
