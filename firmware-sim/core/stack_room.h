/* SPDX-License-Identifier: MIT */
/*
 * How much stack a thread has left that somebody else has made.
 */
#pragma once

#include <cstddef>

namespace nvdla::sim
{

/**
 * \return bytes of this thread's stack below the caller's frame; 0 if it runs on another stack, as
 *	   coroutines do, or the system does not tell
 */
size_t stackRoom();

} /* namespace nvdla::sim */
