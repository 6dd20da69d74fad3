/* SPDX-License-Identifier: MIT */
/* Detects files of a wrong kind by their first bytes. */
#pragma once

#include <cstddef>
#include <span>
#include <string>

#include <nvdla/error.h>

namespace nvdla
{

/** \return true if the name of a file is that of a Caffe net (its layers as text) */
inline bool isCaffeNet(const std::string &path)
{
	return path.ends_with(".prototxt");
}

/** \return InvalidFile naming the kind of the file, and the remedy, if it cannot be a loadable */
Result<void> checkIsLoadable(const std::string &path, std::span<const std::byte> bytes);

/** \return InvalidFile naming the kind of the file, and the remedy, if it cannot be a model */
Result<void> checkIsModel(const std::string &path, std::span<const std::byte> bytes);

} /* namespace nvdla */
