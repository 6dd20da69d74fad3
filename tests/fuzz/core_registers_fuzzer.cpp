/* SPDX-License-Identifier: MIT */
#include "core_registers.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	nvdla::fuzz::playAccesses({ data, size });
	return 0;
}
