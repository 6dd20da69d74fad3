/* SPDX-License-Identifier: MIT */
#include <cstdint>
#include <utility>

#include <pthread.h>

#include "arith/float_environment.h"
#include "core/core.h"

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

/**
 * \return free bytes of this thread's stack; 0 if the thread runs on another stack, as coroutines
 *	   do, or if its stack is unknown
 */
size_t stackRoom()
{
	/* Cached, because the query is slow in the process's first thread. */
	static thread_local const Stack stack = ownStack();
	const auto here = reinterpret_cast<uintptr_t>(__builtin_frame_address(0));

	return here > stack.begin && here < stack.end ? here - stack.begin : 0;
}

} /* namespace */

bool Core::LentThread::canWork()
{
	/* Enough for any operation: exact FP16 convolutions need most, 170 KiB. */
	constexpr size_t kStack = 512 << 10;

	return stackRoom() >= kStack;
}

Core::LentThread::LentThread(Core &core) : core_(core)
{
	const std::lock_guard lock(core_.mutex_);

	core_.coming_++;
}

Core::LentThread::~LentThread()
{
	std::unique_lock lock(core_.mutex_);

	core_.coming_--;
	core_.callThreads();
	const uint32_t calls = std::exchange(core_.toWake_, 0);
	lock.unlock();
	core_.wakeThreads(calls);
}

void Core::LentThread::work(const std::function<bool()> &enough)
{
	if (!canWork())
		return;
	const FloatEnvironment floats;

	while (workOnce() && !enough())
		;
}

/* \return false if no operation can begin */
bool Core::LentThread::workOnce()
{
	std::unique_lock lock(core_.mutex_);
	Slot *const slot = core_.next(lock);

	if (!slot)
		return false;
	core_.coming_--;
	core_.carryOut(lock, *slot);
	return true;
}

} /* namespace nvdla::sim */
