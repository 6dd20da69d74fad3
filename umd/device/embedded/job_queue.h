/* SPDX-License-Identifier: MIT */
/* Jobs of the embedded device that wait for their turn. */
#pragma once

#include <chrono>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <vector>

#include <drm/nvdla_accel.h>

#include "device/embedded/buffer_table.h"
#include "device/embedded/engine.h"
#include "device/embedded/fence.h"
#include "user/nvdla_engine.h"

namespace nvdla
{

/** \brief A job, from the checked submission to its end */
struct EmbeddedJob {
	struct Use {
		std::shared_ptr<EmbeddedBuffer> buffer;
		bool write;
	};

	/* The prepared form of each task, or null. Declared before tasks, so that it is destroyed
	 * after them. */
	std::vector<EnginePrepared> prepared;
	std::vector<EngineTask> tasks;
	std::vector<Use> buffers;
	std::shared_ptr<EmbeddedFence> fence = std::make_shared<EmbeddedFence>();
	std::vector<std::shared_ptr<EmbeddedFence>> dependencies;
	std::chrono::milliseconds timeout{ 0 };
	uint64_t sequence = 0; /**< place in the order of submission; set by JobQueue::push() */

	/* Buffer and byte offset for the job's result, or null; then the members of the result that
	 * are known before the job runs. */
	std::shared_ptr<EmbeddedBuffer> resultBuffer;
	uint64_t resultOffset = 0;
	nvdla_result_source result = {};
	std::vector<nvdla_task *> resultTasks;
	bool statistics = false;

	/** \return pointers to the tasks, for functions of kmd/engine */
	std::vector<nvdla_task *> taskPointers() const;
};

/**
 * \brief Contexts and their jobs. Callers of all functions hold the device's lock
 *
 * The next job is chosen as by the kernel's scheduler. Only contexts whose first job need not wait
 * for a fence are considered. Among those of the highest priority, the context whose first job was
 * submitted first is taken.
 */
class JobQueue
{
public:
	static constexpr uint32_t maxContexts = 64;
	/** \brief The context of normal priority that every open file has */
	static constexpr uint32_t ownContext = 0;

	JobQueue() { contexts_[ownContext]; }

	/** \return number of the new context, or a negative errno */
	tl::expected<uint32_t, int> createContext(uint32_t priority);
	/** \return 0 or -ENOENT; jobs of the context still run */
	int destroyContext(uint32_t context);
	bool contains(uint32_t context) const;

	/** \param context number of an existing context */
	void push(uint32_t context, std::unique_ptr<EmbeddedJob> job);
	/** \return the job whose turn it is, or nullptr */
	std::unique_ptr<EmbeddedJob> pop();
	bool empty() const { return size() == 0; }
	size_t size() const;

private:
	struct Context {
		uint32_t priority = DRM_NVDLA_PRIORITY_NORMAL;
		/* True: the context was destroyed, and is freed with its last job. */
		bool destroyed = false;
		std::deque<std::unique_ptr<EmbeddedJob>> jobs;
	};

	std::map<uint32_t, Context> contexts_;
	uint32_t nextContext_ = 1;
	uint64_t nextSequence_ = 0;
};

} /* namespace nvdla */
