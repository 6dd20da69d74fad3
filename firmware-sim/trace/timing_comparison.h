/* SPDX-License-Identifier: MIT */
/*
 * The timing model beside the hardware.
 */
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "trace/suite.h"

namespace nvdla::sim
{

/** \brief Cycles of a trace, from its last enable to its last interrupt */
struct TimingComparison {
	uint64_t model = 0;
	uint64_t hardware = 0;

	double ratio() const { return static_cast<double>(model) / static_cast<double>(hardware); }
};

/** \brief Many of them */
struct TimingSummary {
	unsigned int traces = 0;
	double geometricMean = 1; /**< of the ratios */
	double worst = 1;	  /**< factor by which the furthest one is off, 1 or more */
};

/**
 * \return the cycles of a played trace, if operations run in it and the meta.json beside it has
 * those of the hardware (rtl_cycles); nothing if interrupts are masked, because they then come only
 * when the mask is removed
 */
std::optional<TimingComparison> compareTiming(const SuiteRun &run);

/** \return the comparisons by the name of the folder that the traces are in */
std::map<std::string, TimingSummary> summarizeTiming(const std::vector<SuiteRun> &runs);

} /* namespace nvdla::sim */
