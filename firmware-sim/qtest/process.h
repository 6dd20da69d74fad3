/* SPDX-License-Identifier: MIT */
/*
 * Child processes.
 */
#pragma once

#include <memory>
#include <string>
#include <vector>

#include <sys/types.h>

#include "vfio-user/unique_fd.h"

namespace nvdla::sim::qtest
{

using vfiouser::UniqueFd;

/** \brief Both ends of a pipe; make() returns invalid descriptors on failure */
struct Pipe {
	UniqueFd read;
	UniqueFd write;

	static Pipe make();
};

/**
 * \brief A child process in its own process group, killed by the destructor
 *
 * The child also dies when the thread that started it ends.
 */
class Process
{
public:
	/**
	 * \param arguments program and its arguments
	 * \param input, output stdin and stdout of the child; invalid: /dev/null
	 * \param errors path of a file for stderr
	 */
	Process(const std::vector<std::string> &arguments, UniqueFd input, UniqueFd output,
		const std::string &errors);
	Process(const Process &) = delete;
	Process &operator=(const Process &) = delete;
	~Process();

	bool started() const { return pid_ > 0; }
	/** \return true if the child was started and has not ended yet */
	bool running();

	void signal(int number);
	/**
	 * \brief Wait until the child ends
	 * \return exit status, or 128 + the signal that ended it
	 */
	int wait();

private:
	bool collect(int options);

	pid_t pid_ = -1;
	int status_ = -1;
};

/** \brief An nvdla-sim process with a socket for one QEMU, killed by the destructor */
class SimProcess
{
public:
	/**
	 * \param program path of nvdla-sim
	 * \param socket path to listen on
	 * \param errors file for its stderr
	 * \param options further command-line options
	 *
	 * Returns when the program listens, or has failed and ended.
	 */
	SimProcess(const std::string &program, const std::string &socket, const std::string &errors,
		   const std::vector<std::string> &options = {});

	/** \return true if nvdla-sim listens on the socket */
	bool listening() const { return listening_; }
	Process &process() { return *process_; }

private:
	std::unique_ptr<Process> process_;
	bool listening_ = false;
};

} /* namespace nvdla::sim::qtest */
