/* SPDX-License-Identifier: MIT */
/*
 * An id that tells different builds of a plug-in apart.
 */
#pragma once

#include <cstddef>
#include <span>

namespace nvdla::plugin
{

/**
 * \return the build ID of the library with this code, which the linker computes from the library's
 * contents (note NT_GNU_BUILD_ID); empty if the library was linked without --build-id
 */
std::span<const std::byte> buildId();

} /* namespace nvdla::plugin */
