/* SPDX-License-Identifier: MIT */
#include "fence.h"

#include <sys/eventfd.h>

namespace nvdla
{

void FenceEvent::fenceDone()
{
	if (!--left_)
		eventfd_write(eventfd_.get(), 1);
}

std::shared_ptr<EmbeddedFence> EmbeddedFence::signalled()
{
	auto fence = std::make_shared<EmbeddedFence>();

	fence->signal(0);
	return fence;
}

void EmbeddedFence::signal(int error)
{
	done_ = true;
	error_ = error;
	for (const auto &event : events_)
		event->fenceDone();
	events_.clear();
}

void EmbeddedFence::notify(std::shared_ptr<FenceEvent> event)
{
	event->addFence();
	events_.push_back(std::move(event));
}

} /* namespace nvdla */
