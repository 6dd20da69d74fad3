/* SPDX-License-Identifier: MIT */
#pragma once

#include <cstddef>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace nvdla::test
{

/**
 * \return the contents of a file; throws, so that the test fails, if the file is missing
 *
 * Reads the whole file in one call. Reading each byte by a call of its own would take minutes in
 * unoptimised code on an emulated processor.
 */
inline std::string readText(const std::filesystem::path &path)
{
	std::ifstream file(path, std::ios::binary);
	if (!file)
		throw std::runtime_error(path.string() + " cannot be read");
	std::ostringstream text;
	text << file.rdbuf();
	return std::move(text).str();
}

/** \copydoc readText */
inline std::vector<std::byte> readBytes(const std::filesystem::path &path)
{
	const std::string text = readText(path);
	const auto *bytes = reinterpret_cast<const std::byte *>(text.data());

	return { bytes, bytes + text.size() };
}

} /* namespace nvdla::test */
