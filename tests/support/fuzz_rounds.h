/* SPDX-License-Identifier: MIT */
#pragma once

#include <cstdlib>

namespace nvdla::test
{

/** \return NVDLA_FUZZ_ROUNDS of the environment: how many times as long a random test runs; 1 */
inline unsigned int fuzzRounds()
{
	const char *text = std::getenv("NVDLA_FUZZ_ROUNDS");
	return text ? static_cast<unsigned int>(std::strtoul(text, nullptr, 10)) : 1;
}

} /* namespace nvdla::test */
