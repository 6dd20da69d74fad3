/* SPDX-License-Identifier: MIT */
#pragma once

#include <algorithm>
#include <array>
#include <cctype>
#include <filesystem>
#include <string>

namespace nvdla::tools
{

/** \return the ending of the file's name is that of a picture which can be read */
inline bool isPictureFile(const std::filesystem::path &path)
{
	constexpr std::array suffixes = { ".png", ".jpg", ".jpeg", ".pgm", ".ppm" };
	std::string suffix = path.extension().string();

	std::ranges::transform(suffix, suffix.begin(),
			       [](unsigned char letter) { return std::tolower(letter); });
	return std::ranges::find(suffixes, suffix) != suffixes.end();
}

} /* namespace nvdla::tools */
