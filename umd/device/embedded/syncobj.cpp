/* SPDX-License-Identifier: MIT */
#include "syncobj.h"

#include <algorithm>
#include <cerrno>

#include <sys/eventfd.h>

namespace nvdla
{

void Syncobj::replace(std::shared_ptr<EmbeddedFence> fence)
{
	links_.clear();
	if (!fence)
		return;
	links_.push_back({ .fence = std::move(fence) });
	changed();
}

void Syncobj::addPoint(uint64_t point, std::shared_ptr<EmbeddedFence> fence)
{
	Link link{ .fence = std::move(fence), .point = point };

	if (!links_.empty() && links_.back().point && point > links_.back().point) {
		link.before = links_.back().point;
		link.timeline = links_.back().timeline;
	} else {
		link.timeline = ++timelines_;
		link.point = std::max(point, submitted());
	}
	/* Drop links whose fences are signalled, because no waiter needs them. */
	std::erase_if(links_, [](const Link &old) { return old.fence->done(); });
	links_.push_back(std::move(link));
	changed();
}

std::optional<EmbeddedFences> Syncobj::find(uint64_t point) const
{
	size_t links = links_.size();

	if (links_.empty() || submitted() < point)
		return {};
	/* Go back to this timeline's oldest link whose point is not before the wanted one. */
	while (point && links && links_[links - 1].timeline == links_.back().timeline &&
	       links_[links - 1].before >= point)
		links--;
	return unfinished(links);
}

EmbeddedFences Syncobj::unfinished(size_t links) const
{
	EmbeddedFences fences;

	for (size_t i = 0; i < links; i++) {
		if (!links_[i].fence->done())
			fences.push_back(links_[i].fence);
	}
	return fences;
}

uint64_t Syncobj::submitted() const
{
	return links_.empty() ? 0 : links_.back().point;
}

uint64_t Syncobj::reached() const
{
	if (unfinished(links_.size()).empty())
		return submitted();

	/* The timeline's oldest unsignalled link is not reached yet, but the point before that link
	 * is. */
	const uint64_t timeline = links_.back().timeline;
	const auto oldest = std::ranges::find_if(links_, [&](const Link &link) {
		return link.timeline == timeline && !link.fence->done();
	});
	return oldest == links_.end() ? links_.back().before : oldest->before;
}

int Syncobj::status() const
{
	if (links_.empty())
		return -EINVAL;
	if (!find(0)->empty())
		return 0;
	const int error = links_.back().fence->error();
	return error && !submitted() ? error : 1;
}

void Syncobj::notify(uint64_t point, bool available, UniqueFd eventfd)
{
	Waiter waiter{ point, available, std::move(eventfd) };

	if (!tell(waiter))
		waiters_.push_back(std::move(waiter));
}

void Syncobj::changed()
{
	std::erase_if(waiters_, [&](Waiter &waiter) { return tell(waiter); });
}

/* If the waiter's point was submitted, writes the waiter's eventfd or gives it to the point's
 * fences. \return true in this case */
bool Syncobj::tell(Waiter &waiter)
{
	const auto fences = find(waiter.point);

	if (!fences)
		return false;
	if (waiter.available || fences->empty()) {
		eventfd_write(waiter.eventfd.get(), 1);
		return true;
	}
	const auto event = std::make_shared<FenceEvent>(std::move(waiter.eventfd));
	for (const auto &fence : *fences)
		fence->notify(event);
	return true;
}

} /* namespace nvdla */
