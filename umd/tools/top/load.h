/* SPDX-License-Identifier: MIT */
/*
 * The load of devices and processes between two snapshots.
 */
#pragma once

#include "snapshot.h"

namespace nvdla::top
{

struct EngineLoad {
	std::string name;
	Counters total;	   /**< counters since the driver was bound, or since they were reset */
	Counters interval; /**< increase of the counters between the two snapshots */

	/** \return true if the core counted stalls, NaNs and so on for at least one operation of
	 * the interval. Otherwise only busy time and number of operations are known */
	bool counted() const;
};

/** \brief All open files of one process on one device */
struct ProcessLoad {
	uint64_t pid = 0;
	std::string command;
	uint64_t files = 0;
	uint64_t totalBytes = 0;
	uint64_t residentBytes = 0;
	Counters totalBusyNs;	 /**< busy time of each engine since the files were opened */
	Counters intervalBusyNs; /**< busy time of each engine in the interval */
};

struct DeviceLoad {
	Device device;
	std::vector<EngineLoad> engines;
	std::vector<ProcessLoad> processes; /**< sorted by pid */
};

struct Load {
	double seconds = 0; /**< length of the interval */
	std::vector<DeviceLoad> devices;
	bool allProcesses = true;
};

/**
 * \brief Compare two snapshots, the first of which was taken before the second
 *
 * A counter that is smaller in the second snapshot was reset in between, so its increase is its
 * whole value. The same holds for processes and devices that only the second snapshot has.
 */
Load loadBetween(const Snapshot &before, const Snapshot &now);

/** \return a counter's value; 0 if the engine does not have it */
uint64_t valueOf(const Counters &counters, std::string_view name);

/** \return the share of the interval in which an engine was busy, 0..1 */
double busyShare(uint64_t busyNs, double seconds);
double busyShare(const EngineLoad &engine, double seconds);

} /* namespace nvdla::top */
