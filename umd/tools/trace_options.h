/* SPDX-License-Identifier: MIT */
/*
 * The option --trace, which records the register writes of a run, and further options for it.
 */
#pragma once

#include <memory>
#include <string>
#include <vector>

#include <nvdla/device.h>

#include "command-line/command_line.h"
#include "device/embedded/embedded_options.h"
#include "device/embedded/recorder.h"
#include "trace/write_trace.h"

namespace nvdla::tools
{

/** \brief --trace, --trace-format and --trace-memory. The object must exist until the trace is
 * written, because the command line is parsed into it */
class TraceOptions
{
public:
	TraceOptions() = default;
	TraceOptions(const TraceOptions &) = delete;
	TraceOptions &operator=(const TraceOptions &) = delete;

	void addTo(CommandLine &app);

	/** \return true if --trace was given */
	bool isOn() const { return !folder_.empty(); }
	/** \return InvalidArgument, naming the option, if one has a wrong value, or was given
	 * without --trace */
	Result<void> check() const;
	/** \return the device at \a path; with --trace it is recorded. Errors of Device::open(), or
	 * InvalidArgument if this device cannot be recorded */
	Result<Device> open(const std::string &path);
	/** \brief Write the trace recorded so far; nothing without --trace */
	Result<void> write() const;

private:
	std::string folder_;
	sim::TraceFormat format_ = sim::TraceFormat::Trace;
	std::string memory_;
	std::vector<CommandLineOption> others_; /* options that need --trace */
	EmbeddedOptions device_;		/* options of the recorded device, set by open() */
};

} /* namespace nvdla::tools */
