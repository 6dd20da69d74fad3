/* SPDX-License-Identifier: MIT */
/* Scales of a model's tensors, which other tools measured. */
#pragma once

#include <cstddef>
#include <map>
#include <span>
#include <string>

#include <nvdla/error.h>

#pragma GCC visibility push(default)

namespace nvdla
{

/**
 * \brief The scale of each tensor, by its name in the model's file or the name of its layer
 *
 * A scale is a finite number above 0. It is the scale for 8 bits: the integer q of -128 to 127
 * represents the real number q * scale.
 */
using CalibrationTable = std::map<std::string, double>;

/**
 * \brief Read the bytes of a calibration table
 *
 * There are two formats. The JSON of NVIDIA's compiler for NVDLA is an object with an object for
 * each tensor, whose member "scale" is used and whose "offset" must be 0. The calibration cache of
 * TensorRT has one line for each tensor: its name, a colon and the bits of a float in hexadecimal
 * digits.
 *
 * \param[in] name of the file, for errors
 * \return InvalidFile naming the wrong row or line
 */
Result<CalibrationTable> decodeCalibrationTable(std::span<const std::byte> bytes,
						const std::string &name);

/** \brief Read the calibration table in the file at \a path, of less than 64 MiB; see
 * decodeCalibrationTable() */
Result<CalibrationTable> readCalibrationTable(const std::string &path);

} /* namespace nvdla */

#pragma GCC visibility pop
