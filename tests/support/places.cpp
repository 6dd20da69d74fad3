/* SPDX-License-Identifier: MIT */
#include "places.h"

namespace nvdla::test
{

std::string sourceRoot()
{
	return NVDLA_SOURCE_ROOT;
}

std::string buildRoot()
{
	return NVDLA_BUILD_ROOT;
}

} /* namespace nvdla::test */
