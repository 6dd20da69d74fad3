/* SPDX-License-Identifier: MIT */
/*
 * libFuzzer's entry.
 */
#include <cstddef>

#include "vfio_user.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	nvdla::fuzz::playVfioUser({ data, size });
	return 0;
}
