/* SPDX-License-Identifier: MIT */
/*
 * Arguments of calls: what the numbers of a call choose, right or wrong.
 */
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <iterator>

#include <sys/ioctl.h>

#include "device.h"
#include "program.h"

namespace nvdla::fuzz
{

/* What is put in the place of a word of an argument. Not what makes another pointer of one. */
inline constexpr uint32_t oddWords[] = {
	0,  0xffffffff, 1,    2,    3,	   4,	       8,	   16,	   32,
	33, 255,	4095, 4096, 65536, 0x7fffffff, 0x80000000, 600000, 1 << 20
};

template<typename T, size_t N>
T of(const T (&list)[N], uint32_t number)
{
	return list[number % N];
}

inline uint64_t pointer(const void *memory)
{
	return reinterpret_cast<uintptr_t>(memory);
}

/** \brief When to wait for something no longer, CLOCK_MONOTONIC: at once, or long enough for a job
 */
inline int64_t deadline(uint32_t number)
{
	constexpr int64_t waitNs[] = { 20'000'000, 0, 1'000'000, 100'000'000 };
	return static_cast<int64_t>(test::now()) + of(waitNs, number);
}

/** \brief What mangle() changes; the other half of the numbers changes nothing */
enum class Target : uint8_t { Argument = 7, Task = 6, Addresses = 5, Syncs = 4 };

/** \brief Once in a while, change a word of an argument: the call's last number says which, if at
 * all */
inline void mangle(const Call &call, Target target, void *argument, size_t size)
{
	const uint32_t number = call.numbers[7];

	if (number % 8 != static_cast<uint32_t>(target))
		return;
	const uint32_t word = of(oddWords, number / 8);
	const size_t place = number / 8 / std::size(oddWords) % (size / sizeof(word));
	std::memcpy(static_cast<uint8_t *>(argument) + place * sizeof(word), &word, sizeof(word));
}

/** \brief An ioctl, with its argument mangled at times; \return as ioctl() */
template<typename T>
int control(const Call &call, int file, unsigned long request, T &argument)
{
	mangle(call, Target::Argument, &argument, sizeof(argument));
	return ioctl(file, request, &argument);
}

} /* namespace nvdla::fuzz */
