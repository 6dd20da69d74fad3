/* SPDX-License-Identifier: MIT */
#include "loadable_json.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	nvdla::fuzz::readLoadableJson(data, size);
	return 0;
}
