/* SPDX-License-Identifier: MIT */
/* Waiting without sleep for events that other threads are about to cause. */
#pragma once

#include <chrono>
#include <thread>

#include <hwy/cache_control.h>

namespace nvdla::sim
{

/** \brief Time to poll before sleeping: about the time of waking a thread in a virtual machine */
inline constexpr auto kPatience = std::chrono::microseconds(100);
/**
 * \brief Time to poll without yield(): after a yield, getting the processor back can take as
 * long as several operations
 */
inline constexpr auto kHaste = std::chrono::microseconds(10);

/** \return true if \a condition becomes true within kPatience; polls it */
template<typename Condition>
bool lookFor(const Condition &condition)
{
	const auto begin = std::chrono::steady_clock::now();

	while (!condition()) {
		const auto passed = std::chrono::steady_clock::now() - begin;
		if (passed >= kPatience)
			return false;
		if (passed < kHaste)
			hwy::Pause();
		else
			std::this_thread::yield();
	}
	return true;
}

} /* namespace nvdla::sim */
