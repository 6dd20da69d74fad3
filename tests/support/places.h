/* SPDX-License-Identifier: MIT */
#pragma once

#include <string>

namespace nvdla::test
{

/**
 * \brief The folder of the sources, and that of what is built of them
 *
 * One file knows them: another clone's compiler cache has all the others.
 */
std::string sourceRoot();
std::string buildRoot();

/** \return the path of what was built, which is given from the folder of that on */
inline std::string built(const std::string &path)
{
	return buildRoot() + "/" + path;
}

} /* namespace nvdla::test */
