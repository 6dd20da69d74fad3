/* SPDX-License-Identifier: MIT */
#pragma once

#include "device.h"
#include "dma_buf.h"

namespace nvdla::test
{

/** \brief A handle that was imported; closed with the object */
class ImportedBuffer
{
public:
	ImportedBuffer(const Device &device, const DmaBuf &dmaBuf);
	~ImportedBuffer();
	ImportedBuffer(const ImportedBuffer &) = delete;
	ImportedBuffer &operator=(const ImportedBuffer &) = delete;

	/** \return 0, or -errno of the import */
	int result() const { return result_; }
	uint32_t handle() const { return handle_; }
	/** \brief Waits for the device. \return 0 or -errno */
	int prepare(uint32_t flags, int64_t timeoutNs = INT64_MAX) const;
	int finish() const;
	/** \return offset for mmap() on the device's file, or -errno */
	int64_t mmapOffset() const;

private:
	const Device &device_;
	uint32_t handle_ = 0;
	int result_;
};

} /* namespace nvdla::test */
