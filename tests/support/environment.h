/* SPDX-License-Identifier: MIT */
#pragma once

#include <cstdlib>

namespace nvdla::test
{

/** \return the number that a variable of the environment has, or the usual one */
inline unsigned long numberOf(const char *variable, unsigned long usual)
{
	const char *text = std::getenv(variable);

	return text ? std::strtoul(text, nullptr, 10) : usual;
}

} /* namespace nvdla::test */
