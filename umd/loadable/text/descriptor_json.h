/* SPDX-License-Identifier: MIT */
/* Descriptor lists as JSON and back, by their tables of fields. */
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <nvdla/error.h>

#include "json_value.h"
#include "layouts.h"

namespace nvdla::text
{

/**
 * \brief Decode a descriptor list
 *
 * \param[in] types for each entry the index of its layout in kind.entries; unused for kinds with
 * one layout
 * \return an array with an entry each; nothing if the text would lose information: an entry without
 * a type, an incomplete one at the end, or nonzero bytes that are no field
 */
std::optional<Json> describeList(const ListKind &kind, std::span<const std::byte> bytes,
				 std::span<const uint8_t> types);

/** \brief Encode a descriptor list; errors name the place, which begins with \a path */
Result<std::vector<std::byte>> encodeList(const ListKind &kind, const Json &json,
					  const std::string &path);

} /* namespace nvdla::text */
