/* SPDX-License-Identifier: MIT */
#pragma once

#include <sstream>
#include <string>
#include <vector>

#include "base/io/file.h"

namespace nvdla::tools
{

/** \return the lines of a text file, without ends of lines; none if \a path is empty */
inline Result<std::vector<std::string>> readLines(const std::string &path)
{
	constexpr uint64_t maxBytes = uint64_t{ 1 } << 26;
	std::vector<std::string> lines;

	if (path.empty())
		return lines;
	auto bytes = readWholeFile(path, maxBytes);
	if (!bytes)
		return forward(bytes);
	std::istringstream text(
		std::string(reinterpret_cast<const char *>(bytes->data()), bytes->size()));
	for (std::string line; std::getline(text, line);) {
		if (line.ends_with('\r'))
			line.pop_back();
		lines.push_back(line);
	}
	return lines;
}

/** \return the names of classes in the file of --labels, one a line; none if \a path is empty;
 * InvalidFile if the file has no line */
inline Result<std::vector<std::string>> readClasses(const std::string &path)
{
	auto names = readLines(path);

	if (names && names->empty() && !path.empty())
		return fail(ErrorCode::InvalidFile, "--labels", path,
			    "is empty; it must have the name of a class in each line");
	return names;
}

} /* namespace nvdla::tools */
