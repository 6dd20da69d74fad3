/* SPDX-License-Identifier: MIT */
#include "task_create.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	nvdla::fuzz::createTask({ data, size });
	return 0;
}
