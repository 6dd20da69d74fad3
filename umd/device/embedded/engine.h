/* SPDX-License-Identifier: MIT */
/* Owners, with C++ destructors, for the C objects of kmd/engine. */
#pragma once

#include <memory>

#include "user/nvdla_engine.h"

namespace nvdla
{

struct EngineTaskFree {
	void operator()(nvdla_task *task) const { nvdla_task_destroy(task); }
};
using EngineTask = std::unique_ptr<nvdla_task, EngineTaskFree>;

/** \brief A checked task graph; jobs hold references to the graphs of their tasks */
using EnginePrepared = std::shared_ptr<const nvdla_prepared>;

struct EngineSequencerFree {
	void operator()(nvdla_sequencer *sequencer) const { nvdla_sequencer_destroy(sequencer); }
};
using EngineSequencer = std::unique_ptr<nvdla_sequencer, EngineSequencerFree>;

} /* namespace nvdla */
