/* SPDX-License-Identifier: MIT */
/* A folder that a loop watches. */
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "runtime/async/loop.h"

namespace nvdla
{

/** \brief Reports files that appear in a folder or disappear from it. The folder itself may appear
 * and disappear, too */
class FolderWatch
{
public:
	/** \brief Returns the paths of the present files that the watch reports */
	using List = std::function<std::vector<std::string>()>;
	/** \brief Receives a path that appeared in or disappeared from the list, in the loop's
	 * thread */
	using Callback = std::function<void(const std::string &path, bool present)>;

	/**
	 * \brief Begin to report, with present files first
	 * \param[in] loop the watch does not keep the loop running. If the loop has no thread of
	 * its own, call this in the thread that runs it
	 * \param[in] folder absolute path, whose parent exists
	 */
	static Result<std::unique_ptr<FolderWatch>>
	create(std::shared_ptr<Loop> loop, std::string folder, List list, Callback callback);
	/** \brief Waits for a running callback, unless the callback itself destroys the watch */
	~FolderWatch();

	FolderWatch(const FolderWatch &) = delete;
	FolderWatch &operator=(const FolderWatch &) = delete;

private:
	struct State;
	FolderWatch(std::shared_ptr<Loop> loop, std::shared_ptr<State> state)
		: loop_(std::move(loop)), state_(std::move(state))
	{
	}

	std::shared_ptr<Loop> loop_;
	std::shared_ptr<State> state_;
};

} /* namespace nvdla */
