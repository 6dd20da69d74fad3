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

/** \return the ending of the file's name in small letters, such as ".png" */
inline std::string endingOf(const std::filesystem::path &path)
{
	std::string suffix = path.extension().string();

	std::ranges::transform(suffix, suffix.begin(),
			       [](unsigned char letter) { return std::tolower(letter); });
	return suffix;
}

/** \return true if the file's name has the ending of a readable picture */
inline bool isPictureFile(const std::filesystem::path &path)
{
	constexpr std::array suffixes = { ".png", ".jpg", ".jpeg", ".pgm", ".ppm" };

	return std::ranges::find(suffixes, endingOf(path)) != suffixes.end();
}

/**
 * \brief Check the folder that an option names, to which a program writes files. Like a file to
 * write, it need not exist, but the folder around it must
 * \return InvalidArgument naming \a option if \a path cannot be such a folder
 */
inline Result<void> checkFolder(const char *option, const std::string &path)
{
	namespace fs = std::filesystem;
	std::error_code error;
	const fs::path folder = path.ends_with('/') ? fs::path(path).parent_path() : fs::path(path);
	const fs::path around = folder.has_parent_path() ? folder.parent_path() : fs::path(".");
	std::string problem;

	if (path == "-")
		problem = "is standard output, which holds no folder; name a folder";
	else if (fs::exists(folder, error))
		problem = fs::is_directory(folder, error) ? "" : "is a file; name a folder";
	else if (!fs::exists(around, error))
		problem = "there is no folder " + around.string();
	else if (!fs::is_directory(around, error))
		problem = around.string() + " is no folder";
	if (!problem.empty())
		return fail(ErrorCode::InvalidArgument, option, path, problem);
	return {};
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

/** \return true if the file's name has the ending of a picture that cannot be read */
inline bool isOtherPicture(const std::filesystem::path &path)
{
	constexpr std::array suffixes = { ".avif", ".bmp", ".gif",  ".heic",
					  ".jp2",  ".tif", ".tiff", ".webp" };

	return std::ranges::find(suffixes, endingOf(path)) != suffixes.end();
}

/**
 * \return the pictures in \a folder, sorted. A picture of a kind that cannot be read is an error,
 * because without it the result would silently be that of fewer pictures
 * \param[in] alsoWanted further files to return
 */
inline Result<std::vector<std::filesystem::path>> picturesIn(
	const std::filesystem::path &folder, const char *what,
	const std::function<bool(const std::filesystem::path &)> &alsoWanted = [](auto &) {
		return false;
	})
{
	auto paths = pathsIn(folder, what, [&](const std::filesystem::path &path) {
		return isPictureFile(path) || isOtherPicture(path) || alsoWanted(path);
	});

	for (size_t i = 0; paths && i < paths->size(); i++) {
		const std::filesystem::path &path = (*paths)[i];
		if (isOtherPicture(path))
			return fail(ErrorCode::InvalidArgument, what, path.string(),
				    "is a picture of a kind that cannot be read; convert it to PNG "
				    "or JPEG, or remove it from the folder");
	}
	return paths;
}

} /* namespace nvdla::tools */
