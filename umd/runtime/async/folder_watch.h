/* SPDX-License-Identifier: MIT */
/*
 * A folder that a loop watches.
 */
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "runtime/async/loop.h"

namespace nvdla
{

/** \brief Tells which of a folder's files come and go; the folder itself may, too */
class FolderWatch
{
public:
	/** \brief Lists the paths of existing files that matter */
	using List = std::function<std::vector<std::string>()>;
	/** \brief Receives a path of the list that has come or gone, in the loop's thread */
	using Callback = std::function<void(const std::string &path, bool present)>;

	/**
	 * \brief Begin to report, with present files first
	 * \param[in] loop the watch does not keep the loop running. If the loop has no thread of
	 * its own, call this in the thread that runs it
	 * \param[in] folder absolute path, whose parent exists
	 */
	static Result<std::unique_ptr<FolderWatch>>
	create(std::shared_ptr<Loop> loop, std::string folder, List list, Callback callback);
	/** \brief Waits for a callback that runs, unless that is the caller */
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
