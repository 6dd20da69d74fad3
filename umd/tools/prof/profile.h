/* SPDX-License-Identifier: MIT */
/*
 * Start, duration and counters of the operations of a run.
 */
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <nvdla/run_report.h>

#include "loadable/inspect/operation_text.h"

namespace nvdla::prof
{

/** \brief One operation of a run, on the device or on the CPU */
struct OperationProfile {
	uint16_t task = 0; /**< id of the task in the loadable */
	size_t index = 0;  /**< index of the operation in its task */
	inspect::OperationText text;
	uint64_t startNs = 0; /**< time since the run began */
	uint64_t endNs = 0;
	bool timed = false; /**< the operation started and completed; otherwise it has no times */
	/** \brief Index in Profile::operations of the operation that passes data directly to this
	 * one, not through memory; nothing if this one reads memory */
	std::optional<size_t> takesFrom;
	/** \brief The driver's report. Its times are of CLOCK_MONOTONIC, so they do not begin with
	 * the run */
	OperationReport counters = {};

	uint64_t durationNs() const { return timed ? endNs - startNs : 0; }
	bool counted() const { return counters.counted; }
};

/** \brief Utilisation over time, for example of a memory's bandwidth */
struct Gauge {
	/** \brief Utilisation from a time until the start of the next step */
	struct Step {
		uint64_t startNs = 0;
		double share = 0; /**< utilisation in this step, 0 to 1 */
	};

	std::string name;
	std::vector<Step> steps; /**< sorted by start */

	/** \return the mean share from the start of the run to \a endNs, 0 to 1 */
	double mean(uint64_t endNs) const;
};

/** \brief A run of a network, or the prediction of one */
struct Profile {
	std::string name;
	uint64_t durationNs = 0; /**< time from the run's start to its end */
	/** \brief Operations in the order of their submission */
	std::vector<OperationProfile> operations;
	std::vector<Gauge> gauges; /**< only predictions have gauges */
};

/**
 * \return the name of \a device, for a heading of times. A device model gets a note that the times
 * are not those of a chip; one in this process ("embedded") with the option realtime, that they are
 * those of the chip that is described
 */
std::string deviceText(const std::string &device);

/** \return true if times of \a device are those of a device model as it runs on the host */
bool hasTimesOfHost(const std::string &device);

/** \brief A row of a timeline: operations of one engine that do not overlap */
struct Lane {
	std::string engine;
	size_t row = 0;			/**< index among the rows of the engine */
	std::vector<size_t> operations; /**< indices of operations, sorted by start */
};

/**
 * \brief Distribute the timed operations over the rows of a timeline
 *
 * An engine has two register groups, so the next operation may start before the current one has
 * ended. The engine then has a second row.
 */
std::vector<Lane> lanes(const Profile &profile);

/** \return time for which at least one of \a operations ran, ns */
uint64_t busyNs(const Profile &profile, std::vector<size_t> operations);
/** \return time for which at least one operation of \a engine ran, ns */
uint64_t busyNs(const Profile &profile, const std::string &engine);

} /* namespace nvdla::prof */
