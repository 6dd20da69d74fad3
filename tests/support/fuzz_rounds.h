/* SPDX-License-Identifier: MIT */
#pragma once

#include "environment.h"

namespace nvdla::test
{

/** \return NVDLA_FUZZ_ROUNDS of the environment: how many times as long a random test runs; 1 */
inline unsigned int fuzzRounds()
{
	return static_cast<unsigned int>(numberOf("NVDLA_FUZZ_ROUNDS", 1));
}

} /* namespace nvdla::test */
