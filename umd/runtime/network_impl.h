/* SPDX-License-Identifier: MIT */
#pragma once

#include <memory>
#include <optional>

#include <nvdla/network.h>

#include "runtime/pipeline.h"

namespace nvdla
{

class Network::Impl
{
public:
	Impl(std::shared_ptr<Loop> eventLoop, std::shared_ptr<Pipeline> runs)
		: loop(std::move(eventLoop)), pipeline(std::move(runs))
	{
	}
	~Impl() { pipeline->shutDown(std::move(loop)); }

	std::shared_ptr<Loop> loop;
	const std::shared_ptr<Pipeline> pipeline;
	std::optional<Request> own; /* the request of Network::run() */
};

} /* namespace nvdla */
