/* SPDX-License-Identifier: MIT */
#pragma once

#include <string>

#include <nvdla/error.h>

namespace nvdla::tools
{

/**
 * \return the core dump of the driver, or its registers in debugfs, that is in a file, with the
 * names of the registers in place of their numbers; InvalidFile if there is no register in it
 */
Result<std::string> readDump(const std::string &path);

} /* namespace nvdla::tools */
