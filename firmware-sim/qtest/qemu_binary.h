/* SPDX-License-Identifier: MIT */
/*
 * Finding QEMU.
 */
#pragma once

#include <string>
#include <vector>

namespace nvdla::sim::qtest
{

/**
 * \brief QEMU's program file and first arguments; the search runs once
 *
 * $NVDLA_QEMU (words separated by spaces: program, loader, -L options), else qemu-system-x86_64
 * from PATH. A program in $NVDLA_QEMU must work. The one in PATH may be missing or too old for
 * vfio-user: callers can then skip tests that need QEMU.
 */
struct QemuBinary {
	std::vector<std::string> words;
	std::string skipReason; /**< why QEMU from PATH cannot be used; empty if it can */
	std::string error;	/**< why $NVDLA_QEMU cannot be used; empty if it can */

	static const QemuBinary &find();
};

} /* namespace nvdla::sim::qtest */
