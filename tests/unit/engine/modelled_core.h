/* SPDX-License-Identifier: MIT */
/*
 * The modelled core under a sequencer.
 */
#pragma once

#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include <user/nvdla_engine.h>

#include "core/core.h"
#include "core/memory.h"
#include "recording_core.h"

namespace nvdla::test
{

class ModelledCore
{
public:
	/** \param dram system memory, which must outlive the core */
	explicit ModelledCore(sim::Memory &dram, const sim::Geometry &geometry = sim::nvFull);

	/** \brief Run a task to its end; \return false if it fails or the core stops before */
	bool run(nvdla_task *task);
	/** \brief The same with another task that is programmed meanwhile, and has to be the next
	 */
	bool run(nvdla_task *task, nvdla_task *next);

	/** \brief Reset the core, as a driver does when a task has failed */
	void reset();

	/** \brief Carries out the writes of the driver in another way; cleared() is a reset of the
	 * core */
	class Writer
	{
	public:
		virtual ~Writer() = default;
		virtual void write(sim::Core &core, uint32_t reg, uint32_t value) = 0;
		virtual void cleared() = 0;
	};

	/** \brief What the driver writes goes through \a writer, which outlives the core */
	void writeThrough(Writer &writer) { writer_ = &writer; }

	/** \return what the core has reported as errors of its guest since the last call */
	std::vector<std::string> takeErrors();

	sim::Memory &cvsram() { return core_.cvsram(); }

	const nvdla_sequencer *sequencer() const { return sequencer_.get(); }

	/** \brief Registers that were written and read so far, those of the interrupts included */
	unsigned int writes() const { return writes_; }
	unsigned int reads() const { return reads_; }

private:
	sim::CoreConfig config(const sim::Geometry &geometry);
	uint32_t place(uint32_t reg) const { return nvdla_variant_register(&variant_, reg); }

	std::mutex mutex_; /* of errors_, which come from the core's threads */
	std::vector<std::string> errors_;
	Writer *writer_ = nullptr;
	const nvdla_variant &variant_;
	sim::Core core_;
	unsigned int writes_ = 0;
	unsigned int reads_ = 0;
	std::unique_ptr<nvdla_sequencer, SequencerDeleter> sequencer_;
	bool done_ = false;
	int result_ = 0;
};

} /* namespace nvdla::test */
