/* SPDX-License-Identifier: MIT */
#pragma once

#include <cstdlib>

namespace nvdla::test
{

/** \return the number in an environment variable; \a usual if the variable is not set */
inline unsigned long numberOf(const char *variable, unsigned long usual)
{
	const char *text = std::getenv(variable);

	return text ? std::strtoul(text, nullptr, 10) : usual;
}

} /* namespace nvdla::test */
