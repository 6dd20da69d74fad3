/* SPDX-License-Identifier: MIT */
/*
 * Base64 (RFC 4648, section 4): bytes as text, for the blobs of loadables that are written as JSON.
 */
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace nvdla
{

std::string encodeBase64(std::span<const std::byte> bytes);

/** \return the bytes; std::nullopt if \a text is invalid, lacks padding or has line breaks */
std::optional<std::vector<std::byte>> decodeBase64(std::string_view text);

} /* namespace nvdla */
