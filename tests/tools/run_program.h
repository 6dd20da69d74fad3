/* SPDX-License-Identifier: MIT */
/*
 * nvdla-run as a program, from outside.
 */
#pragma once

#include <filesystem>
#include <span>
#include <string>
#include <vector>

namespace nvdla::test
{

/** \brief How a program ended */
struct ProgramResult {
	int status = 0;	     /**< exit status, or 128 + the signal that ended it */
	std::string printed; /**< to standard output */
	std::string errors;  /**< to standard error */
};

/** \brief A folder to run nvdla-run in, on the device under test; removed with the object */
class WorkFolder
{
public:
	WorkFolder();
	~WorkFolder();
	WorkFolder(const WorkFolder &) = delete;
	WorkFolder &operator=(const WorkFolder &) = delete;

	std::filesystem::path operator/(const std::string &name) const { return path_ / name; }

	/** \return the path of a new file */
	std::filesystem::path write(const std::string &name,
				    std::span<const std::byte> bytes) const;

	/**
	 * \brief Run nvdla-run, which is NVDLA_RUN or found in the PATH
	 *
	 * It is ended after some minutes: a test shall not hang because the program does.
	 */
	ProgramResult run(std::vector<std::string> arguments) const;

private:
	std::filesystem::path path_;
};

} /* namespace nvdla::test */
