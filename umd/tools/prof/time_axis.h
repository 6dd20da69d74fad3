/* SPDX-License-Identifier: MIT */
/*
 * The time axis of a timeline: positions of points in time.
 */
#pragma once

#include <cstdint>
#include <vector>

#include "profile.h"

namespace nvdla::prof
{

/**
 * \brief The time of a run from left to right
 *
 * With the kernel driver, the device may be idle for most of a run: a job waits for its turn, and
 * the interrupt at its end takes time. The axis has one scale, but long times without an operation
 * are cut out if they are a large part of the run: each cut has a fixed width, whatever its length.
 */
class TimeAxis
{
public:
	/** \brief A part of the run and where it is drawn, in pixels */
	struct Part {
		uint64_t startNs = 0;
		uint64_t endNs = 0;
		bool isCut = false; /**< nothing ran, and the part is not to scale */
		double left = 0;
		double width = 0;
	};

	/** \param[in] left,width position and width of the axis, in pixels */
	TimeAxis(const Profile &profile, double left, double width);

	/** \return one or more parts, sorted by start, without gaps from 0 to the run's end */
	const std::vector<Part> &parts() const { return parts_; }

	double at(uint64_t ns) const;
	/** \return the time from one tick to the next, ns: the shortest of 1, 2 or 5 times a power
	 * of ten with which ticks are at least \a pixels apart */
	uint64_t tickNs(double pixels) const;

private:
	std::vector<Part> parts_;
	double nsPerPixel_ = 1;
};

} /* namespace nvdla::prof */
