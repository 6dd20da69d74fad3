/* SPDX-License-Identifier: MIT */
#pragma once

#include <cstdint>
#include <string>

#include <sys/types.h>

namespace nvdla::test
{

/**
 * \brief Another process that has buffers of the device and looks after them
 *
 * It holds more of them with each hold(), so that they lie before and behind what is allocated
 * in between.
 */
class CanaryProcess
{
public:
	CanaryProcess();
	~CanaryProcess();
	CanaryProcess(const CanaryProcess &) = delete;
	CanaryProcess &operator=(const CanaryProcess &) = delete;

	/** \brief Has it fill more buffers. \return whether it did */
	bool hold();
	/** \return whether all of its buffers are as it filled them */
	bool intact();
	/** \return handle of one of its buffers, of which this process has none */
	uint32_t handle() const { return handle_; }
	/** \return what the kernel logged about DMA that an IOMMU stopped, since this object exists
	 */
	std::string faults() const;

private:
	uint32_t ask(char question);

	int socket_ = -1;
	int kernelLog_ = -1;
	pid_t child_ = -1;
	uint32_t handle_ = 0;
};

} /* namespace nvdla::test */
