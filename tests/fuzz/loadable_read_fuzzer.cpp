/* SPDX-License-Identifier: MIT */
#include "loadable_read.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	nvdla::fuzz::readLoadable(data, size);
	return 0;
}
