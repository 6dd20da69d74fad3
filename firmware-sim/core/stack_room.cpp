/* SPDX-License-Identifier: MIT */
#include "core/stack_room.h"

#include <cstdint>

#include <pthread.h>

namespace nvdla::sim
{

namespace
{

struct Stack {
	uintptr_t begin = 0;
	uintptr_t end = 0;
};

Stack ownStack()
{
	pthread_attr_t attributes;
	void *begin = nullptr;
	size_t size = 0;

	if (pthread_getattr_np(pthread_self(), &attributes) != 0)
		return {};
	const bool isKnown = pthread_attr_getstack(&attributes, &begin, &size) == 0;
	pthread_attr_destroy(&attributes);
	if (!isKnown)
		return {};
	return { reinterpret_cast<uintptr_t>(begin), reinterpret_cast<uintptr_t>(begin) + size };
}

} /* namespace */

size_t stackRoom()
{
	/* Asking takes long for a process's first thread. */
	static thread_local const Stack stack = ownStack();
	const auto here = reinterpret_cast<uintptr_t>(__builtin_frame_address(0));

	return here > stack.begin && here < stack.end ? here - stack.begin : 0;
}

} /* namespace nvdla::sim */
