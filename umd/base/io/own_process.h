/* SPDX-License-Identifier: MIT */
/*
 * Whether this is still the process that something was made in.
 */
#pragma once

#include <string>

#include <nvdla/error.h>
#include <unistd.h>

namespace nvdla
{

/**
 * \brief The process that made an object
 *
 * A child of fork() has copies of its parent's objects, but none of the threads that serve them,
 * and shares the open file. What it asks of them would wait for ever, or concern the parent.
 */
class OwnProcess
{
public:
	bool isHere() const { return getpid() == id_; }

	/** \return InvalidArgument in a child, with the remedy */
	Result<void> check(const char *what, const std::string &where) const
	{
		if (isHere())
			return {};
		return fail(ErrorCode::InvalidArgument, what, where,
			    "was opened by process " + std::to_string(id_) +
				    "; after fork() a child opens devices and loads networks of "
				    "its own");
	}

private:
	pid_t id_ = getpid();
};

} /* namespace nvdla */
