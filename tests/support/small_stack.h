/* SPDX-License-Identifier: MIT */
/*
 * Threads as applications make them where memory is little, or as some C libraries do.
 */
#pragma once

#include <cstddef>
#include <functional>

#include <gtest/gtest.h>
#include <pthread.h>
#include <sys/mman.h>

namespace nvdla::test
{

/** \brief Call in a thread of 128 KiB of stack, below which nothing can be written */
inline void callOnSmallStack(std::function<void()> call)
{
	constexpr size_t kStack = 128 << 10;
	constexpr size_t kAll = 4 << 20;
	pthread_attr_t attributes;
	pthread_t thread;

	/* The library's own may be the large stack of a thread that has ended. */
	void *const all = mmap(nullptr, kAll, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	ASSERT_NE(all, MAP_FAILED);
	std::byte *const stack = static_cast<std::byte *>(all) + kAll - kStack;
	ASSERT_EQ(mprotect(stack, kStack, PROT_READ | PROT_WRITE), 0);
	ASSERT_EQ(pthread_attr_init(&attributes), 0);
	ASSERT_EQ(pthread_attr_setstack(&attributes, stack, kStack), 0);
	ASSERT_EQ(pthread_create(
			  &thread, &attributes,
			  [](void *call) -> void * {
				  (*static_cast<std::function<void()> *>(call))();
				  return nullptr;
			  },
			  &call),
		  0);
	pthread_join(thread, nullptr);
	pthread_attr_destroy(&attributes);
	munmap(all, kAll);
}

} /* namespace nvdla::test */
