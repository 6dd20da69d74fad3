/* SPDX-License-Identifier: MIT */
#pragma once

#include <string>

#include <nvdla/error.h>

namespace nvdla::tools
{

/**
 * \brief Read a core dump of the driver, or its debugfs file "registers"
 * \return the text of the file with register names in place of offsets; InvalidFile if there is no
 * register in it
 */
Result<std::string> readDump(const std::string &path);

} /* namespace nvdla::tools */
