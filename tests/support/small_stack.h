/* SPDX-License-Identifier: MIT */
/* Threads with small stacks, as some C libraries and applications with little memory make them. */
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
 * \brief Run \a call in a thread with a stack of 128 KiB; an overflow reaches inaccessible memory
 * below the stack, and crashes
 *
 * The stack is larger if no thread starts with 128 KiB: the thread sanitizer, for instance, keeps
 * its own data for each thread there.
 */
inline void callOnSmallStack(std::function<void()> call)
{
	constexpr size_t kStack = 128 << 10;
	constexpr size_t kAll = 4 << 20;
	pthread_attr_t attributes;
	pthread_t thread;
	const auto run = [](void *function) -> void * {
		(*static_cast<std::function<void()> *>(function))();
		return nullptr;
	};

	/*
	 * Provide the stack here, because pthread_create() could reuse the larger stack of an ended
	 * thread.
	 */
	void *const all = mmap(nullptr, kAll, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	ASSERT_NE(all, MAP_FAILED);
	ASSERT_EQ(pthread_attr_init(&attributes), 0);
	int error = EINVAL;
	for (size_t size = kStack; error == EINVAL && size < kAll; size *= 2) {
		std::byte *const stack = static_cast<std::byte *>(all) + kAll - size;
		EXPECT_EQ(mprotect(stack, size, PROT_READ | PROT_WRITE), 0);
		EXPECT_EQ(pthread_attr_setstack(&attributes, stack, size), 0);
		error = pthread_create(&thread, &attributes, run, &call);
	}
	EXPECT_EQ(error, 0);
	if (error == 0)
		pthread_join(thread, nullptr);
	pthread_attr_destroy(&attributes);
	munmap(all, kAll);
}

} /* namespace nvdla::test */
