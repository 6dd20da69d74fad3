/* SPDX-License-Identifier: MIT */
/*
 * Threads that help.
 */
#include "core/workers.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <new>
#include <thread>

#include <gtest/gtest.h>
#include <sched.h>

namespace nvdla::sim::test
{

namespace
{

/** \return whether it came to be, within a time that no host needs */
template<typename Condition>
bool waitFor(const Condition &condition)
{
	const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(60);

	while (!condition()) {
		if (std::chrono::steady_clock::now() >= end)
			return false;
		std::this_thread::yield();
	}
	return true;
}

} /* namespace */

TEST(Workers, AllComeWhetherTheySleepOrLookForWork)
{
	constexpr unsigned int kThreads = 3;
	Workers workers(kThreads);

	for (const auto pause : { 0, 5000, 50, 100, 5000 }) {
		std::atomic<unsigned int> came = 0;

		std::this_thread::sleep_for(std::chrono::microseconds(pause));
		workers.run(kThreads, [&](unsigned int) {
			came++;
			EXPECT_TRUE(waitFor([&] { return came == kThreads; }));
		});
		EXPECT_EQ(came, kThreads) << "after " << pause << " us";
	}
}

TEST(Workers, EachHasANumberThatStays)
{
	constexpr unsigned int kThreads = 3;
	Workers workers(kThreads);
	std::thread::id who[kThreads];

	for (int round = 0; round < 3; round++) {
		std::atomic<unsigned int> came = 0;
		workers.run(kThreads, [&](unsigned int thread) {
			ASSERT_LT(thread, kThreads);
			if (round == 0)
				who[thread] = std::this_thread::get_id();
			EXPECT_EQ(who[thread], std::this_thread::get_id());
			came++;
			EXPECT_TRUE(waitFor([&] { return came == kThreads; }));
		});
	}
	EXPECT_EQ(who[0], std::this_thread::get_id());
}

TEST(Workers, WhatOneThrowsReachesTheCallerWhenAllHaveReturned)
{
	constexpr unsigned int kThreads = 3;
	Workers workers(kThreads);

	for (unsigned int thrower = 0; thrower < kThreads; thrower++) {
		std::atomic<unsigned int> began = 0;
		std::atomic<unsigned int> returned = 0;
		const auto work = [&](unsigned int thread) {
			began++;
			waitFor([&] { return began == kThreads; });
			if (thread == thrower)
				throw std::bad_alloc();
			returned++;
		};
		EXPECT_THROW(workers.run(kThreads, work), std::bad_alloc);
		EXPECT_EQ(returned, kThreads - 1);
	}
	/* And they go on. */
	std::atomic<unsigned int> calls = 0;
	workers.run(kThreads, [&](unsigned int) {
		calls++;
		waitFor([&] { return calls == kThreads; });
	});
	EXPECT_EQ(calls, kThreads);
}

TEST(Workers, WhoIsRousedLooksForWorkThatComes)
{
	constexpr unsigned int kThreads = 3;
	Workers workers(kThreads);

	for (int round = 0; round < 20; round++) {
		std::atomic<unsigned int> came = 0;

		EXPECT_TRUE(waitFor([&] { return workers.anyAsleep(); }));
		/* They sleep again if nothing comes. */
		EXPECT_TRUE(waitFor([&] {
			workers.rouse();
			return !workers.anyAsleep();
		}));
		workers.run(kThreads, [&](unsigned int) {
			came++;
			EXPECT_TRUE(waitFor([&] { return came == kThreads; }));
		});
		EXPECT_EQ(came, kThreads) << "round " << round;
	}
}

TEST(Workers, WhoIsWokenLeavesACoreToTheCaller)
{
	Workers workers(2);
	const auto caller = std::this_thread::get_id();
	std::atomic<bool> came = false;
	cpu_set_t all;
	cpu_set_t helpers;

	ASSERT_EQ(sched_getaffinity(0, sizeof(all), &all), 0);
	/* Until it sleeps. */
	std::this_thread::sleep_for(std::chrono::milliseconds(100));
	workers.run(2, [&](unsigned int) {
		if (std::this_thread::get_id() == caller) {
			EXPECT_TRUE(waitFor([&] { return came.load(); }));
			return;
		}
		EXPECT_EQ(sched_getaffinity(0, sizeof(helpers), &helpers), 0);
		came = true;
	});
	EXPECT_EQ(CPU_COUNT(&helpers), std::max(1, CPU_COUNT(&all) - 1));
}

/* Who comes back from work or has just been started looks; what nobody takes is the caller's. */
TEST(Workers, ErrandsAreDoneByThoseThatLookForWork)
{
	constexpr unsigned int kThreads = 3;
	Workers workers(kThreads);
	unsigned int posted = 0;
	std::atomic<unsigned int> done = 0;

	for (int round = 0; round < 20000 && posted < 100; round++) {
		std::atomic<unsigned int> came = 0;
		workers.run(kThreads, [&](unsigned int) {
			came++;
			EXPECT_TRUE(waitFor([&] { return came == kThreads; }));
		});
		const auto here = std::this_thread::get_id();
		const auto errand = [&done, here] {
			EXPECT_NE(std::this_thread::get_id(), here);
			done++;
		};
		posted += workers.post(errand);
		posted += workers.post(errand);
		if (round % 100 == 0) /* all asleep, by and by */
			std::this_thread::sleep_for(std::chrono::milliseconds(1));
	}
	EXPECT_GE(posted, 100u);
	EXPECT_TRUE(waitFor([&] { return done == posted; }));
}

TEST(Workers, NobodyDoesErrandsForWhoIsAlone)
{
	Workers workers(1);

	EXPECT_FALSE(workers.post([] { ADD_FAILURE(); }));
}

TEST(Workers, ErrandsAreDoneBeforeTheThreadsGo)
{
	for (int round = 0; round < 200; round++) {
		std::atomic<unsigned int> done = 0;
		unsigned int posted = 0;
		{
			Workers workers(2);
			workers.run(2, [](unsigned int) {});
			posted += workers.post([&done] { done++; });
		}
		EXPECT_EQ(done, posted);
	}
}

} /* namespace nvdla::sim::test */
