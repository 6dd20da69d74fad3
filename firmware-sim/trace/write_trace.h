/* SPDX-License-Identifier: MIT */
/* Writing traces, to be played on a simulation of the hardware, or without an operating system. */
#pragma once

#include <filesystem>
#include <string>

#include <tl/expected.hpp>

#include "trace/trace.h"

namespace nvdla::sim
{

enum class TraceFormat {
	Trace, /**< file trace, with the bytes of memory in .bin files */
	Txn,   /**< file input.txn, with the bytes of memory in .dat files */
	Cfg,   /**< file NAME.cfg in a folder NAME, with the bytes of memory in .dat files */
	C,     /**< trace.c: an array for umd/examples/bare-metal/nvdla_player.c */
};

/**
 * \brief Write a trace
 *
 * \param trace has commands of the kinds Load, Write, Poll (of GLB's S_INTR_STATUS) and Expect,
 *	  with their data
 * \param directory is made if it does not exist; files with names of the trace's files are replaced
 * \return the file that could not be written, and why
 */
tl::expected<void, std::string> writeTrace(const Trace &trace, TraceFormat format,
					   const std::filesystem::path &directory);

} /* namespace nvdla::sim */
