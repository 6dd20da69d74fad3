/* SPDX-License-Identifier: MIT */
#include "input_file.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	nvdla::fuzz::readInputFile(data, size);
	return 0;
}
