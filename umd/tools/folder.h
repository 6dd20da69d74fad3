/* SPDX-License-Identifier: MIT */
#pragma once

#include <algorithm>
#include <array>
#include <cctype>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include <nvdla/error.h>

#include "base/io/error_code.h"

namespace nvdla::tools
{

/** \return true if the file's name has the ending of a readable picture */
inline bool isPictureFile(const std::filesystem::path &path)
{
	constexpr std::array suffixes = { ".png", ".jpg", ".jpeg", ".pgm", ".ppm" };
	std::string suffix = path.extension().string();

	std::ranges::transform(suffix, suffix.begin(),
			       [](unsigned char letter) { return std::tolower(letter); });
	return std::ranges::find(suffixes, suffix) != suffixes.end();
}

/**
 * \return the paths in \a folder for which \a wanted is true, sorted; if the folder cannot be read,
 * an error with the code that codeOfName() makes of errno, such as NotFound
 * \param[in] what the attempted action, for the error
 */
inline Result<std::vector<std::filesystem::path>>
pathsIn(const std::filesystem::path &folder, const char *what,
	const std::function<bool(const std::filesystem::path &)> &wanted)
{
	std::vector<std::filesystem::path> paths;
	std::error_code error;

	/* No range-based for: its ++ throws if the next entry cannot be read. */
	for (std::filesystem::directory_iterator entry(folder, error);
	     !error && entry != std::filesystem::directory_iterator(); entry.increment(error)) {
		if (wanted(entry->path()))
			paths.push_back(entry->path());
	}
	if (error)
		return fail(codeOfName(error.value()), what, folder.string(), error.message());
	std::ranges::sort(paths);
	return paths;
}

} /* namespace nvdla::tools */
