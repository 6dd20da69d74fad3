/* SPDX-License-Identifier: MIT */
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include <nvdla/request.h>

#include "base/host/host_model.h"

namespace nvdla
{

class Pipeline;

/**
 * \brief State of a Request
 *
 * Inputs, outputs and bindings belong to the application's thread; while the request is in flight,
 * they belong to the thread that runs it.
 */
struct RequestState {
	using Clock = std::chrono::steady_clock;

	explicit RequestState(std::shared_ptr<Pipeline> of) : pipeline(std::move(of)) {}

	const std::shared_ptr<Pipeline> pipeline;
	std::vector<std::vector<std::byte>> inputs;
	std::vector<std::vector<std::byte>> outputs;
	/* Id of a memory -> output there that has an open axis (a length known only after the
	 * run). */
	std::map<uint16_t, HostResult> results;
	std::map<uint16_t, TensorPlace> bound; /* id of a memory -> place in the application's
						  buffer of the only tensor there */

	mutable std::mutex lock; /* guards the following members */
	std::condition_variable changed;
	bool inFlight = false;
	uint64_t run = 0; /* number of submissions; cancel() compares it, so that it does not affect
			     a later run */
	std::optional<Result<RunReport>> result;
	Request::Callback callback;

	/* submit() waits for room in the queue; cancel() then sets givenUp to end this wait. Both
	 * are guarded by the pipeline's lock. */
	bool waitsForRoom = false;
	bool givenUp = false;

	/*
	 * submit() writes these members with the lock held. Afterwards only the thread of the loop
	 * or slot that got the request uses them.
	 */
	RunOptions options;
	Clock::time_point submitted;
	std::atomic<bool> cancelled = false; /* any thread may set it at any time */
	RunReport report;
};

} /* namespace nvdla */
