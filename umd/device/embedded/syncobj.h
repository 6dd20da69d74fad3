/* SPDX-License-Identifier: MIT */
/*
 * A syncobj: a fence, or a timeline of them.
 */
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "device/embedded/fence.h"
#include "base/io/unique_fd.h"

namespace nvdla
{

/**
 * \brief The fences of a syncobj, by the rules of the kernel. The device's lock guards all members
 *
 * A timeline is a chain of points. A point is reached when its fence and those of all previous
 * points are signalled. If a point is added to a syncobj with a binary fence, this fence becomes
 * the beginning of the chain. A point that is not larger than the last one begins another timeline
 * at the end of the chain.
 */
class Syncobj
{
public:
	/** \brief Replace all fences by \a fence, or remove them if it is null */
	void replace(std::shared_ptr<EmbeddedFence> fence);
	/** \brief Add a point to the timeline */
	void addPoint(uint64_t point, std::shared_ptr<EmbeddedFence> fence);

	/**
	 * \brief Find the fences that have to be done for a point to be reached
	 * \param[in] point 0: find all fences of the syncobj
	 * \return nothing if the point has not been submitted; no fences if it is reached
	 */
	std::optional<EmbeddedFences> find(uint64_t point) const;

	/** \return the last point that is reached, 0 without a timeline */
	uint64_t reached() const;
	/** \return the last point that was submitted, 0 without a timeline */
	uint64_t submitted() const;
	/** \return 1: signalled, 0: not yet, or the fence's negative errno; timelines have no
	 * errors */
	int status() const;

	/**
	 * \brief Write 1 to an eventfd once a point is reached
	 * \param[in] available true to write as soon as the point is submitted, even if it is not
	 * reached
	 */
	void notify(uint64_t point, bool available, UniqueFd eventfd);

private:
	/* A link of the chain; the oldest link is the first. */
	struct Link {
		std::shared_ptr<EmbeddedFence> fence;
		uint64_t point = 0; /* point of the timeline; 0 for a binary fence */
		uint64_t before = 0;   /* previous point of the timeline */
		/* Number of the timeline; a point not larger than the last one begins a new one. */
		uint64_t timeline = 0;
	};
	struct Waiter {
		uint64_t point;
		bool available;
		UniqueFd eventfd;
	};

	void changed();
	bool tell(Waiter &waiter);
	EmbeddedFences unfinished(size_t links) const;

	std::vector<Link> links_;
	std::vector<Waiter> waiters_; /* waiters for points not yet submitted */
	uint64_t timelines_ = 0;
};

} /* namespace nvdla */
