/* SPDX-License-Identifier: MIT */
/*
 * Memory contents in the lines of QEMU's qtest protocol (RFC 4648, section 4).
 */
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace nvdla::sim::qtest
{

std::string encodeBase64(std::span<const std::byte> bytes);

/** \return the bytes; nothing if \a text is not padded base64 without line breaks */
std::optional<std::vector<std::byte>> decodeBase64(std::string_view text);

} /* namespace nvdla::sim::qtest */
