/* SPDX-License-Identifier: MIT */
/*
 * A heap that runs out when a test says so; it is that of the whole program.
 */
#pragma once

#include <cstddef>
#include <cstdint>

namespace nvdla::fuzz
{

/** \brief Which allocations fail, of all threads, once it is asked for */
enum class Fails : uint8_t {
	Once,	/**< one of them */
	ForEver /**< that one and all behind it */
};

/** \brief The \a count-th allocation from now on fails, from 0 on */
void failAllocation(uint64_t count, Fails fails);
/** \brief None fails from now on \return how many have failed */
uint64_t stopFailing();

/** \brief Begin to look for the largest number of bytes that are allocated at once */
void watchPeak();
/** \return what is allocated at most, more than when it was begun */
size_t peakBytes();

} /* namespace nvdla::fuzz */
