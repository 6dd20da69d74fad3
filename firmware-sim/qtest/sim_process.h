/* SPDX-License-Identifier: MIT */
/*
 * nvdla-sim, started by this program.
 */
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "qtest/process.h"

namespace nvdla::sim::qtest
{

/** \brief An nvdla-sim with a socket for one QEMU, ended with its owner */
class SimProcess
{
public:
	/**
	 * \param program nvdla-sim itself
	 * \param socket path to listen on
	 * \param errors file for its messages on stderr
	 * \param options further options of its command line
	 *
	 * Waits until nvdla-sim listens, or has ended with an error.
	 */
	SimProcess(const std::string &program, const std::string &socket, const std::string &errors,
		   const std::vector<std::string> &options = {});

	/** \return whether it listens */
	bool listening() const { return listening_; }
	Process &process() { return *process_; }

private:
	std::unique_ptr<Process> process_;
	bool listening_ = false;
};

} /* namespace nvdla::sim::qtest */
