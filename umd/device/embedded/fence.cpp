/* SPDX-License-Identifier: MIT */
#include "fence.h"

#include <utility>

#include <sys/eventfd.h>

namespace nvdla
{

void FenceEvent::write() const
{
	eventfd_write(eventfd_.get(), 1);
}

std::shared_ptr<EmbeddedFence> EmbeddedFence::signalled()
{
	auto fence = std::make_shared<EmbeddedFence>();

	fence->signal(0);
	return fence;
}

FenceEvents EmbeddedFence::signal(int error)
{
	done_ = true;
	error_ = error;
	std::erase_if(events_, [](const auto &event) { return !event->fenceDone(); });
	return std::exchange(events_, {});
}

void EmbeddedFence::notify(std::shared_ptr<FenceEvent> event)
{
	event->addFence();
	events_.push_back(std::move(event));
}

} /* namespace nvdla */
