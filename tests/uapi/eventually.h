/* SPDX-License-Identifier: MIT */
/*
 * What the kernel does soon, but not at once.
 */
#pragma once

#include <chrono>
#include <thread>

namespace nvdla::test
{

/** \return whether \a condition() becomes true, asked again and again for half a minute */
template<typename Condition>
bool eventually(Condition condition)
{
	using namespace std::chrono_literals;

	for (const auto end = std::chrono::steady_clock::now() + 30s; !condition();) {
		if (std::chrono::steady_clock::now() > end)
			return false;
		std::this_thread::sleep_for(10ms);
	}
	return true;
}

} /* namespace nvdla::test */
