/* SPDX-License-Identifier: MIT */
/*
 * The options that describe a chip, the same for all programs.
 */
#pragma once

#include <deque>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "command-line/command_line.h"
#include "timing/chip.h"

namespace nvdla
{

/** \brief A chip described by options; must exist until the command line is parsed */
class ChipOptions
{
public:
	ChipOptions() = default;
	ChipOptions(const ChipOptions &) = delete;
	ChipOptions &operator=(const ChipOptions &) = delete;

	/** \brief Purpose: predictions take all options, a running core only some of them */
	enum class For {
		Predictions,
		Core,
	};

	/**
	 * \brief Add --clock, --dram and the other options
	 * \param[in] each called for each option, to set further properties; may be empty
	 */
	void addTo(CommandLine &app, const std::function<void(CommandLineOption)> &each = {},
		   For whom = For::Predictions);

	const sim::Chip &chip() const { return chip_; }
	/** \return names and values of the given options, in the order of chipOptions() */
	std::vector<std::pair<std::string, std::string>> values() const;
	/** \return true if one of the options was given */
	bool given() const;

private:
	sim::Chip chip_;
	std::deque<std::string> values_;
};

} /* namespace nvdla */
