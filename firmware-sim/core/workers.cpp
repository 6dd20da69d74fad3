/* SPDX-License-Identifier: MIT */
#include "core/workers.h"

#include <algorithm>

namespace nvdla::sim
{

Workers::Workers(unsigned int threads)
{
	if (threads == 0)
		threads = std::max(1U, std::thread::hardware_concurrency());
	for (unsigned int i = 1; i < threads; i++)
		threads_.emplace_back(&Workers::help, this);
}

Workers::~Workers()
{
	{
		const std::lock_guard lock(mutex_);
		stopping_ = true;
	}
	wake_.notify_all();
	for (std::thread &thread : threads_)
		thread.join();
}

void Workers::run(unsigned int most, const std::function<void()> &work)
{
	const std::unique_lock use(inUse_, std::try_to_lock);
	const unsigned int helpers = std::min(most, threads()) - 1;

	if (!use || most <= 1 || helpers == 0) {
		work();
		return;
	}
	{
		const std::lock_guard lock(mutex_);
		work_ = &work;
		wanted_ = helpers;
	}
	for (unsigned int i = 0; i < helpers; i++)
		wake_.notify_one();
	work();
	std::unique_lock lock(mutex_);
	wanted_ = 0;
	done_.wait(lock, [this] { return working_ == 0; });
}

void Workers::help()
{
	std::unique_lock lock(mutex_);

	for (;;) {
		wake_.wait(lock, [this] { return wanted_ > 0 || stopping_; });
		if (stopping_)
			return;
		wanted_--;
		working_++;
		lock.unlock();
		(*work_)();
		lock.lock();
		if (--working_ == 0)
			done_.notify_one();
	}
}

} /* namespace nvdla::sim */
