/* SPDX-License-Identifier: MIT */
/*
 * Counters of all devices and of the processes that use them, at one moment.
 */
#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include <nvdla/error.h>

namespace nvdla::top
{

/** \brief Values by name; for engines, the names of Documentation/ABI/testing/sysfs-driver-nvdla */
using Counters = std::map<std::string, uint64_t, std::less<>>;

/** \brief One open file of a device, as in the kernel's drm-usage-stats */
struct Client {
	uint64_t id = 0;     /**< drm-client-id; a file opened later gets another one */
	std::string device;  /**< Device::name of its device */
	uint64_t pid = 0;    /**< process that has the file open; the lowest pid if several have */
	std::string command; /**< command of that process; printable ASCII */
	Counters busyNs;     /**< time for which each engine worked for this client */
	uint64_t totalBytes = 0;    /**< bytes of the client's buffers */
	uint64_t residentBytes = 0; /**< bytes of totalBytes in memory now */
};

struct Device {
	std::string name;		/**< name of its node in /dev/accel or /dev/dri */
	std::string address;		/**< address on its bus: "0000:00:04.0" */
	std::filesystem::path counters; /**< folder in sysfs with the files enable and reset */
	bool counting = false; /**< true: stalls and so on are counted for all jobs; false: only for
				  jobs that ask for it */
	std::map<std::string, Counters, std::less<>> engines; /**< counters by engine */
};

struct Snapshot {
	std::chrono::nanoseconds time{ 0 }; /**< time of the snapshot, CLOCK_MONOTONIC */
	std::vector<Device> devices;	    /**< sorted by the number in their name */
	std::vector<Client> clients;	    /**< sorted by process, then by id */
	bool allProcesses = true;	    /**< false: the user may not see some processes */
};

/** \brief Selection of devices */
struct Selection {
	/** \brief Name, node (/dev/accel/accel0) or bus address; empty: all devices */
	std::string device;
	/** \brief The folder with sys and proc; tests replace it */
	std::filesystem::path root = "/";
};

/**
 * \brief Read the current counters
 * \return a snapshot with at least one device; NoDevice if there is none
 */
Result<Snapshot> takeSnapshot(const Selection &selection);

/** \brief Find the clients of the snapshot's devices in \a proc, and add them to \a snapshot */
void readClients(const std::filesystem::path &proc, Snapshot &snapshot);

/** \brief Have the cores count stalls, NaNs and so on for every operation from now on */
Result<void> enableCounters(const std::vector<Device> &devices);

} /* namespace nvdla::top */
