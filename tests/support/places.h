/* SPDX-License-Identifier: MIT */
#pragma once

#include <string>

namespace nvdla::test
{

/**
 * \brief The source folder, and the build folder
 *
 * Only places.cpp contains these paths. All other files are the same in each clone of the
 * repository, so that clones share their compiled files through ccache.
 */
std::string sourceRoot();
std::string buildRoot();

/** \return the path of a built file, which is given relative to the build folder */
inline std::string built(const std::string &path)
{
	return buildRoot() + "/" + path;
}

} /* namespace nvdla::test */
