/* SPDX-License-Identifier: MIT */
/*
 * Comparisons on a device.
 */
#pragma once

#include <string>

namespace nvdla::test
{

/**
 * \brief Compare surfaces that are equal and that are not, in all types, on the device at
 * \a path
 */
void checkComparisons(const std::string &path);

} /* namespace nvdla::test */
