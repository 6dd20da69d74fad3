/* SPDX-License-Identifier: MIT */
#include <utility>

#include "arith/float_environment.h"
#include "core/core.h"
#include "core/stack_room.h"

namespace nvdla::sim
{

bool Core::LentThread::canWork()
{
	/* Exact FP16 takes most, 170 KiB. */
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

/* \return false if nothing can begin */
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
