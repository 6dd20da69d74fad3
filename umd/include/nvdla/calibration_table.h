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
 * A scale is a finite number above 0. An integer of 8 bits stands for its product with the scale,
 * and the integer 0 for 0.
 */
using CalibrationTable = std::map<std::string, double>;

/**
 * \brief Read the bytes of a calibration table
 *
 * There are two formats: the JSON of NVDLA's compiler, an object with a row for each tensor, of
 * which "scale" is used and "offset" must be 0; and the cache of TensorRT, with lines of a name, a
 * colon and the bits of a float in hexadecimal digits.
 *
 * \param[in] name of the file, for errors
 * \return InvalidFile naming the wrong row or line
 */
Result<CalibrationTable> decodeCalibrationTable(std::span<const std::byte> bytes,
						const std::string &name);

/** \brief Do decodeCalibrationTable() with the file at \a path, of less than 64 MiB */
Result<CalibrationTable> readCalibrationTable(const std::string &path);

} /* namespace nvdla */

#pragma GCC visibility pop
