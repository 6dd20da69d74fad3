/* SPDX-License-Identifier: MIT */
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace nvdla::test
{

/** \brief Expect that a file cannot be compiled, and that the error has all these parts */
void expectRefusedFile(const std::vector<std::byte> &file, const std::vector<std::string> &parts);

} /* namespace nvdla::test */
