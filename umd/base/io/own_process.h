/* SPDX-License-Identifier: MIT */
/* Distinguishes a process from its children after fork(). */
#pragma once

#include <string>

#include <nvdla/error.h>
#include <unistd.h>

namespace nvdla
{

/**
 * \brief The process that created an object
 *
 * A child of fork() must not use its copies of the parent's objects. The parent's threads do not
 * exist in the child, so waiting for one would never end. The device's open file is shared with the
 * parent, so requests to the driver would change the parent's buffers and jobs.
 */
class OwnProcess
{
public:
	bool isHere() const { return getpid() == id_; }

	/** \return InvalidArgument in a child, with advice on what the child has to do */
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
