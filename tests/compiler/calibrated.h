/* SPDX-License-Identifier: MIT */
#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace nvdla::test
{

/**
 * \brief Expect the same answers from a table as from the sample that has its scales
 *
 * \param[in] file a float model with one input
 * \param[in] sample of the input, with which the model is calibrated and run
 */
void expectTableLikeSample(std::span<const std::byte> file, const std::vector<float> &sample);

} /* namespace nvdla::test */
