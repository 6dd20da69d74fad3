/* SPDX-License-Identifier: MIT */
#pragma once

#include <map>
#include <string>

namespace nvdla::test
{

/** \return the files of a ZIP archive by their names; those that are damaged are not among them */
std::map<std::string, std::string> unpackZip(const std::string &archive);

} /* namespace nvdla::test */
