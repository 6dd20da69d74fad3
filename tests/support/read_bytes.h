/* SPDX-License-Identifier: MIT */
#pragma once

#include <cstddef>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <stdexcept>
#include <string>
#include <vector>

namespace nvdla::test
{

/** \return what is in a file, which is there; an exception fails the test that has none */
inline std::vector<std::byte> readBytes(const std::filesystem::path &path)
{
	std::ifstream file(path, std::ios::binary);
	if (!file)
		throw std::runtime_error(path.string() + " cannot be read");
	const std::string text((std::istreambuf_iterator<char>(file)),
			       std::istreambuf_iterator<char>());
	const auto *bytes = reinterpret_cast<const std::byte *>(text.data());

	return { bytes, bytes + text.size() };
}

} /* namespace nvdla::test */
