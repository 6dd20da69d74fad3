/* SPDX-License-Identifier: MIT */
/* Fences, which are signalled when jobs end. */
#pragma once

#include <cstddef>
#include <memory>
#include <vector>

#include "base/io/unique_fd.h"

namespace nvdla
{

/** \brief An eventfd that is written once: when all fences to which it was added are signalled */
class FenceEvent
{
public:
	explicit FenceEvent(UniqueFd eventfd) : eventfd_(std::move(eventfd)) {}

	void addFence() { left_++; }
	/** \return true if this was the last pending fence; the caller must then call write() */
	bool fenceDone() { return --left_ == 0; }
	/** \brief Write to the eventfd, which wakes waiting threads; needs no lock */
	void write() const;

private:
	UniqueFd eventfd_;
	size_t left_ = 0;
};

using FenceEvents = std::vector<std::shared_ptr<FenceEvent>>;

/** \brief Completion of a job; guarded by the device's lock */
class EmbeddedFence
{
public:
	/** \return a fence that is done, without an error */
	static std::shared_ptr<EmbeddedFence> signalled();

	bool done() const { return done_; }
	/** \return 0 or a negative errno; valid once the fence is done */
	int error() const { return error_; }

	/** \return the events to write; write them after releasing the lock, which the woken
	 * threads take */
	FenceEvents signal(int error);
	/** \brief Add \a event, whose fenceDone() is called when this fence is signalled. The fence
	 * must not be signalled yet */
	void notify(std::shared_ptr<FenceEvent> event);

private:
	bool done_ = false;
	int error_ = 0;
	FenceEvents events_;
};

using EmbeddedFences = std::vector<std::shared_ptr<EmbeddedFence>>;

} /* namespace nvdla */
