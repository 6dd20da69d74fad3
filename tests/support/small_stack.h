/* SPDX-License-Identifier: MIT */
/*
 * Threads as applications make them where memory is little, or as some C libraries do.
 */
#pragma once

#include <cerrno>
#include <cstddef>
#include <functional>

#include <gtest/gtest.h>
#include <pthread.h>
#include <sys/mman.h>

namespace nvdla::test
{

/**
 * \brief Call in a thread of 128 KiB of stack, below which nothing can be written
 * \return false if threads need more here, as with the thread sanitizer
 */
inline bool callOnSmallStack(std::function<void()> call)
{
	constexpr size_t kStack = 128 << 10;
	constexpr size_t kAll = 4 << 20;
	pthread_attr_t attributes;
	pthread_t thread;
	const auto run = [](void *function) -> void * {
		(*static_cast<std::function<void()> *>(function))();
		return nullptr;
	};

	/* The library's own may be the large stack of a thread that has ended. */
	void *const all = mmap(nullptr, kAll, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (all == MAP_FAILED) {
		ADD_FAILURE() << "no room for a stack";
		return false;
	}
	std::byte *const stack = static_cast<std::byte *>(all) + kAll - kStack;
	EXPECT_EQ(mprotect(stack, kStack, PROT_READ | PROT_WRITE), 0);
	EXPECT_EQ(pthread_attr_init(&attributes), 0);
	EXPECT_EQ(pthread_attr_setstack(&attributes, stack, kStack), 0);
	const int error = pthread_create(&thread, &attributes, run, &call);
	if (error == 0)
		pthread_join(thread, nullptr);
	pthread_attr_destroy(&attributes);
	munmap(all, kAll);
	EXPECT_TRUE(error == 0 || error == EINVAL) << error;
	return error == 0;
}

} /* namespace nvdla::test */
