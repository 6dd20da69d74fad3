/* SPDX-License-Identifier: MIT */
/* Detects files of a wrong kind by their first bytes. */
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

#include <nvdla/error.h>

namespace nvdla
{

/** \return true if the name of a file is that of a Caffe net (its layers as text) */
inline bool isCaffeNet(const std::string &path)
{
	return path.ends_with(".prototxt");
}

/** \brief Remedy at the end of checkIsModel()'s message for a loadable */
inline constexpr std::string_view runLoadable =
	"; run it with nvdla-run, nvdla.load() or nvdla_network_load()";

/** \return InvalidFile naming the kind of the file, and the remedy, if it cannot be a loadable.
 * \a path is the file's name, or just "file" for bytes in memory */
Result<void> checkIsLoadable(const std::string &path, std::span<const std::byte> bytes);

/** \return for an error, what \a bytes are whose first table cannot be read as that of a loadable
 */
const char *unreadableKind(std::span<const std::byte> bytes);

/** \return InvalidFile naming the kind of the file, and the remedy, if it cannot be a model; \a
 * path as of checkIsLoadable() */
Result<void> checkIsModel(const std::string &path, std::span<const std::byte> bytes);

} /* namespace nvdla */
