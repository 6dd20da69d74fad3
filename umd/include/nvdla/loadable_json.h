/* SPDX-License-Identifier: MIT */
/*
 * Loadables as text: to read, to compare, to change by hand.
 */
#pragma once

#include <string>
#include <string_view>

#include <nvdla/error.h>
#include <nvdla/loadable.h>

#pragma GCC visibility push(default)

namespace nvdla
{

/**
 * \brief Write a loadable as JSON
 *
 * The text has all lists of the file, in the file's order and with its names. Lists of descriptors
 * are decoded into the fields of include/uapi/drm/nvdla_descriptors.h, in the layout that the file
 * has (cubes of 28 or 32 bytes); named constants are written by name. Other blobs, and descriptor
 * lists with bytes that are no field, are base64. The form is described in
 * Documentation/loadables.md, "As text".
 *
 * \param[in] loadable as read() or check() leave it
 * \param[in] blobFolder an existing folder: each base64 blob becomes a file in it, which the text
 * names; files of these names are replaced. If empty, all blobs are in the text.
 * \return the text, from which loadableFromJson() makes an equal loadable, except that names with
 * bytes that are not UTF-8 have the text \xNN in place of each such byte; the error of check(); Io
 * for the files
 */
Result<std::string> loadableToJson(const Loadable &loadable, const std::string &blobFolder = {});

/**
 * \brief Read a loadable from JSON
 *
 * \param[in] json text in the form that loadableToJson() writes; it is not trusted
 * \param[in] blobFolder folder of the files that the text names; empty if the text must not name
 * files
 * \return a loadable with the guarantees of read(), or InvalidFile with the path
 * of the field ("blobs[4].entries[0].conv.pad_val"), its value and the allowed values
 */
Result<Loadable> loadableFromJson(std::string_view json, const std::string &blobFolder = {});

/**
 * \brief Read a loadable from a file in binary form or as text
 *
 * The contents of the file show which of the two it is. Files that a text names are searched in the
 * text's folder.
 */
Result<Loadable> readLoadable(const std::string &path);

} /* namespace nvdla */

#pragma GCC visibility pop
