/* SPDX-License-Identifier: MIT */
#pragma once

#include <string>

#include <nvdla/error.h>

namespace nvdla::tools
{

/**
 * \brief Read a dump of the NVDLA's registers: a core dump of the kernel driver (in
 * /sys/class/devcoredump), or its debugfs file "registers"
 * \return the text of the file with register names in place of offsets; InvalidFile if it has no
 * register
 */
Result<std::string> readDump(const std::string &path);

} /* namespace nvdla::tools */
