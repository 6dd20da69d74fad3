/* SPDX-License-Identifier: MIT */
#include "core_registers.h"

extern "C" size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t maximum);

/* The core stays that of the seeds. */
extern "C" size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t maximum, unsigned int)
{
	using nvdla::fuzz::kGeometryBytes;

	if (size <= kGeometryBytes)
		return size;
	return kGeometryBytes + LLVMFuzzerMutate(data + kGeometryBytes, size - kGeometryBytes,
						 maximum - kGeometryBytes);
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	nvdla::fuzz::playAccesses({ data, size });
	return 0;
}
