/* SPDX-License-Identifier: MIT */
/*
 * Identity of this build of the code.
 */
#pragma once

#include <cstddef>
#include <span>

namespace nvdla::plugin
{

/**
 * \return the linker's id of this library (the note NT_GNU_BUILD_ID), which is the same only for
 * the same contents; empty if the library was linked without one
 */
std::span<const std::byte> buildId();

} /* namespace nvdla::plugin */
