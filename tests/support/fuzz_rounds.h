/* SPDX-License-Identifier: MIT */
#pragma once

#include "environment.h"

namespace nvdla::test
{

/** \return $NVDLA_FUZZ_ROUNDS: factor by which random tests run longer; 1 if it is not set */
inline unsigned int fuzzRounds()
{
	return static_cast<unsigned int>(numberOf("NVDLA_FUZZ_ROUNDS", 1));
}

} /* namespace nvdla::test */
