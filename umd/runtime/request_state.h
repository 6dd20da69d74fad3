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
 * Inputs, outputs and bindings belong to the application's thread, and to the thread of the run
 * while the request is in flight.
 */
struct RequestState {
	using Clock = std::chrono::steady_clock;

	explicit RequestState(std::shared_ptr<Pipeline> of) : pipeline(std::move(of)) {}

	const std::shared_ptr<Pipeline> pipeline;
	std::vector<std::vector<std::byte>> inputs;
	std::vector<std::vector<std::byte>> outputs;
	/* Outputs with open axes (lengths known only after the run), by the id of their memory. */
	std::map<uint16_t, HostResult> results;
	std::map<uint16_t, TensorPlace> bound; /* places by memory; each memory has only one
						* tensor */

	mutable std::mutex lock; /* guards the following members */
	std::condition_variable changed;
	bool inFlight = false;
	uint64_t run = 0; /* number of submissions, so that a late cancel() affects no later run */
	std::optional<Result<RunReport>> result;
	Request::Callback callback;

	/* submit() waits for room in the queue; cancel() then sets givenUp to end this wait. Both
	 * are guarded by the pipeline's lock. */
	bool waitsForRoom = false;
	bool givenUp = false;

	/*
	 * Written with the lock held; then the request is handed to the loop or to a slot, and only
	 * its thread uses these members.
	 */
	RunOptions options;
	Clock::time_point submitted;
	std::atomic<bool> cancelled = false; /* may be set at any time */
	RunReport report;
};

} /* namespace nvdla */
