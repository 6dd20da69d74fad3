/* SPDX-License-Identifier: MIT */
/*
 * Phrases that are the same in all formats of a report.
 */
#pragma once

#include <string>
#include <vector>

#include "tools/report/model_report.h"

namespace nvdla::report
{

/** \return where a layer is computed: "core, 2 operations"; or "CPU" (this project's library) or
 * "host" (another library) with the reason. The name of the layer's node follows if the model's
 * file has one */
std::string whereOf(const ModelReport &report, const LayerReport &layer);

/** \return a line: number of layers that another library computes on the host, and the core's share
 * of the multiplications; empty if the library computes no layer */
std::string hostText(const CompileReport &report);

/** \return a signal-to-noise ratio of LayerError as "44.5 dB"; "exact" if it is infinite */
std::string decibels(double ratio);

/** \return utilisation of the multipliers as "45.3%", or "-" if there are no multiplications */
std::string useText(const Cost &cost);

/** \return the calibrated layers that add the largest errors (LayerError::ownRatio), worst first;
 * at most three */
std::vector<const LayerReport *> losers(const CompileReport &report);

/** \return true if the model was calibrated, so that the errors of layers are known */
bool isCalibrated(const CompileReport &report);

/** \brief A block of the network's memory, and its contents */
struct MemoryUse {
	const Memory *memory = nullptr;
	std::string what; /**< kind: "constants", "surfaces", "input", "output", "descriptors" */
	std::vector<const AssembledRange *> ranges;
	uint64_t inUse = 0; /**< surfaces: largest number of bytes in use at the same time; others:
			       size of the memory */
};

/** \return all blocks of memory, in the order of their ids */
std::vector<MemoryUse> memoryUses(const CompiledModel &model);

/* The report as text, JSON, SVG and HTML. formatted() calls these functions and returns their
 * errors. */
std::string reportText(const ModelReport &report);
std::string reportJson(const ModelReport &report);
Result<std::string> reportSvg(const ModelReport &report);
Result<std::string> reportHtml(const ModelReport &report);

/** \return "DRAM" or "SRAM" */
const char *domainName(MemoryDomain domain);

} /* namespace nvdla::report */
