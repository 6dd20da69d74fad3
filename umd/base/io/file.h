/* SPDX-License-Identifier: MIT */
/*
 * Reading and writing whole files.
 */
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include <nvdla/error.h>

namespace nvdla
{

/** \brief Read the regular file or pipe at \a path, which must have less than \a limit bytes */
Result<std::vector<std::byte>> readWholeFile(const std::string &path, uint64_t limit);

/** \brief Replace the contents of the file at \a path by \a bytes. If writing fails, the file stays
 * as it was, unless it had to be overwritten in place */
Result<void> writeWholeFile(const std::string &path, std::span<const std::byte> bytes);

} /* namespace nvdla */
