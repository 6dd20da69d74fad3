/* SPDX-License-Identifier: MIT */
/*
 * Options in the path of an embedded device.
 */
#pragma once

#include <memory>
#include <optional>
#include <string>

#include <nvdla/error.h>

#include "core/conv_options.h"
#include "core/geometry.h"
#include "timing/chip.h"

namespace nvdla
{

class Recorder;

/** \brief Configuration of an embedded device */
struct EmbeddedOptions {
	const sim::Geometry *core = &sim::nvFull;
	sim::Fp16Arithmetic fp16 = sim::Fp16Arithmetic::Exact;
	unsigned int threads = 0; /**< threads that compute; 0: one for each host processor */
	/**
	 * \brief Chip for which durations, stalls and latencies are counted and reported
	 *
	 * Without it, memories have the timing of the reference vectors, which are recordings of
	 * the hardware's simulation.
	 */
	std::optional<sim::Chip> chip;
	bool realtime = false;		    /**< true: operations take as long as on the chip */
	std::shared_ptr<Recorder> recorder; /**< records all jobs; null: nothing is recorded. A path
					       cannot set it */
};

/**
 * \return true if \a path names an embedded device: "embedded", alone or followed by ':' and
 * options
 */
bool isEmbeddedPath(const std::string &path);

/**
 * \brief Read the options in a path for which isEmbeddedPath() is true
 *
 * Options are written as "embedded:nv_small,threads=2,dram=10GB/s,realtime". sim::chipOptions() has
 * the options of the chip.
 *
 * \return InvalidArgument naming the wrong option and the valid ones
 */
Result<EmbeddedOptions> parseEmbeddedPath(const std::string &path);

} /* namespace nvdla */
