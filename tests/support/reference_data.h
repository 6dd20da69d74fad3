/* SPDX-License-Identifier: MIT */
#pragma once

#include <cstdlib>
#include <filesystem>

#include "places.h"

namespace nvdla::test
{

/**
 * \brief Folder of the reference data (golden vectors, loadables)
 *
 * $NVDLA_REFERENCE_DATA, or else the folder "shared" beside the checkout. Without this folder, each
 * test that needs it skips itself and says why.
 */
inline std::filesystem::path referenceData()
{
	if (const char *path = std::getenv("NVDLA_REFERENCE_DATA"); path && *path)
		return path;

	return std::filesystem::path(sourceRoot()).parent_path() / "shared";
}

} /* namespace nvdla::test */
