/* SPDX-License-Identifier: MIT */
/* Parameters of a chip in common units and as text. */
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "timing/parameters.h"

namespace nvdla::sim
{

/** \brief Clock and memories of a chip, in Hz, bytes a second and seconds */
struct Chip {
	double clock = 1e9;
	double dram = 10e9; /**< bytes a second, reads and writes together */
	double dramLatency = 100e-9;
	double sram = 25e9; /**< bytes a second in each direction */
	double sramLatency = 20e-9;
	double interruptGap =
		0; /**< seconds from an operation's end to the start of another that waits for it */

	/** \return the parameters in core cycles; TimingParameters::seenBy() limits bandwidths to
	 * a core's ports */
	TimingParameters parameters() const;
	/** \return a text like "1 GHz, DRAM 10 GB/s after 100 ns, SRAM 25 GB/s after 20 ns" */
	std::string text() const;
};

/** \brief One member of a Chip, as an option of programs and of device names */
struct ChipOption {
	const char *name; /**< name, such as "dram-latency" */
	const char *form; /**< form of the value, such as "TIME" */
	const char *help; /**< help text with the default */
	bool ofCore;	  /**< true: also for a running core; false: only for predictions */
	/**
	 * \brief Set the value, such as "100ns"
	 * \return the error, empty if there is none
	 */
	std::string (*set)(Chip &chip, const std::string &value);
};

/** \return all options, in the order of the help text */
std::span<const ChipOption> chipOptions();
/** \return the option called \a name, null if there is none */
const ChipOption *findChipOption(std::string_view name);

} /* namespace nvdla::sim */
