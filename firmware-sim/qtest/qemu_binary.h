/* SPDX-License-Identifier: MIT */
/*
 * Which QEMU.
 */
#pragma once

#include <string>
#include <vector>

namespace nvdla::sim::qtest
{

/**
 * \brief QEMU's command line as far as the binary, found once
 *
 * $NVDLA_QEMU (words separated by spaces: program, loader, -L options), else
 * qemu-system-x86_64 from PATH. The program in $NVDLA_QEMU must work; the one in PATH
 * may be missing or too old for vfio-user, and callers may do without it.
 */
struct QemuBinary {
	std::vector<std::string> words;
	std::string skipReason; /**< why PATH has none to work with; empty if it has */
	std::string error;	/**< what is wrong with $NVDLA_QEMU; empty if it can be used */

	static const QemuBinary &find();
};

} /* namespace nvdla::sim::qtest */
