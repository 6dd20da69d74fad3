/* SPDX-License-Identifier: MIT */
/*
 * The driver's knowledge of the hardware as C++ objects.
 */
#pragma once

#include <memory>

#include "user/nvdla_engine.h"

namespace nvdla
{

struct EngineTaskFree {
	void operator()(nvdla_task *task) const { nvdla_task_destroy(task); }
};
using EngineTask = std::unique_ptr<nvdla_task, EngineTaskFree>;

/** \brief A checked task graph; tasks made from it hold references */
using EnginePrepared = std::shared_ptr<const nvdla_prepared>;

struct EngineSequencerFree {
	void operator()(nvdla_sequencer *sequencer) const { nvdla_sequencer_destroy(sequencer); }
};
using EngineSequencer = std::unique_ptr<nvdla_sequencer, EngineSequencerFree>;

} /* namespace nvdla */
