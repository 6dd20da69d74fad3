/* SPDX-License-Identifier: MIT */
/*
 * A core that records what is written to it and completes what a test tells it to.
 */
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include <user/nvdla_engine.h>

namespace nvdla::test
{

/** \brief One access to a register */
struct Access {
	bool write;
	uint32_t reg;
	uint32_t value;
};

class RecordingCore
{
public:
	/** \brief Accesses since the last clear() */
	std::vector<Access> log;
	/** \brief What registers read; those that are missing read as zero */
	std::map<uint32_t, uint32_t> readable;
	/** \brief Number of pauses between polls */
	unsigned int delays = 0;
	/** \brief The clock; it ticks when it is read */
	uint64_t nowNs = 0;

	RecordingCore();

	nvdla_io io();
	void clear() { log.clear(); }

	/** \brief Values written to \a reg, in order */
	std::vector<uint32_t> writes(uint32_t reg) const;
	/** \brief Position of the first write to \a reg in the log, or the log's size */
	size_t position(uint32_t reg) const;
};

struct SequencerDeleter {
	void operator()(nvdla_sequencer *sequencer) const { nvdla_sequencer_destroy(sequencer); }
};

/** \brief A sequencer, its core, and what its owner is told */
class SequencerFixture
{
public:
	RecordingCore core;
	std::vector<int> done;		  /**< errors of task_done */
	std::vector<uint32_t> programmed; /**< operations, in order */
	std::vector<uint32_t> enabled;	  /**< operations, in order */
	std::vector<uint32_t> completed;  /**< operations, in order */
	std::unique_ptr<nvdla_sequencer, SequencerDeleter> sequencer;

	SequencerFixture();

	int start(nvdla_task *task) { return nvdla_sequencer_start(sequencer.get(), task); }
	void irq(uint32_t status) { nvdla_sequencer_irq(sequencer.get(), status); }
	struct nvdla_sequencer_snapshot snapshot() const;
};

} /* namespace nvdla::test */
