/* SPDX-License-Identifier: MIT */
#include "model_file.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	nvdla::fuzz::compileModelFile(data, size);
	return 0;
}
