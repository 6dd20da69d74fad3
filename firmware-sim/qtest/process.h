/* SPDX-License-Identifier: MIT */
/*
 * A program that this one starts.
 */
#pragma once

#include <string>
#include <vector>

#include <sys/types.h>

#include "vfio-user/unique_fd.h"

namespace nvdla::sim::qtest
{

using vfiouser::UniqueFd;

/** \brief Both ends of a pipe; invalid ones if there can be no more */
struct Pipe {
	UniqueFd read;
	UniqueFd write;

	static Pipe make();
};

/**
 * \brief A child process with its own process group, ended with its owner
 *
 * It also dies with the thread that started it, however that ends.
 */
class Process
{
public:
	/**
	 * \param arguments program and its arguments
	 * \param input, output descriptors for stdin and stdout; invalid: /dev/null
	 * \param errors path of a file for stderr
	 */
	Process(const std::vector<std::string> &arguments, UniqueFd input, UniqueFd output,
		const std::string &errors);
	Process(const Process &) = delete;
	Process &operator=(const Process &) = delete;
	~Process();

	bool started() const { return pid_ > 0; }
	/** \return whether it was started and has not ended yet */
	bool running();

	void signal(int number);
	/** \brief Wait for its end \return exit status, or 128 + the signal that ended it */
	int wait();

private:
	bool collect(int options);

	pid_t pid_ = -1;
	int status_ = -1;
};

} /* namespace nvdla::sim::qtest */
