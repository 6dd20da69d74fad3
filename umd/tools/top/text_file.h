/* SPDX-License-Identifier: MIT */
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

namespace nvdla::top
{

/**
 * \brief Read a file of unknown size, as in sysfs and proc
 * \return nothing if the file is gone or may not be read
 */
std::optional<std::string> readText(const std::filesystem::path &path);

/** \return the decimal number at the start of \a text, nothing if there is none */
std::optional<uint64_t> parseNumber(std::string_view text);

} /* namespace nvdla::top */
