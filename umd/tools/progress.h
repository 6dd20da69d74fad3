/* SPDX-License-Identifier: MIT */
#pragma once

#include <chrono>
#include <cstdint>
#include <string>

namespace nvdla::tools
{

/** \brief Shows the current action on a line of the terminal; the next action replaces it */
class Progress
{
public:
	/** \param[in] wanted if false, or if stderr is not a terminal, nothing is shown */
	explicit Progress(bool wanted);
	~Progress();
	Progress(const Progress &) = delete;
	Progress &operator=(const Progress &) = delete;

	void show(const std::string &text);

	/**
	 * \brief Show the progress and the remaining time of long work. May be called any number of
	 * times; the terminal is updated at most ten times a second
	 */
	void count(const char *what, uint64_t done, uint64_t all);

private:
	using Clock = std::chrono::steady_clock;

	bool active_;
	Clock::time_point start_;
	Clock::time_point shown_;
};

} /* namespace nvdla::tools */
