/* SPDX-License-Identifier: MIT */
#pragma once

#include <cstdint>
#include <memory>

#include "device.h"

namespace nvdla::test
{

/** \brief On-chip memory, which has a handle and nothing else */
class SramBuffer
{
public:
	static constexpr uint32_t page = 4096;

	SramBuffer(const Device &device, uint64_t size);
	~SramBuffer();
	SramBuffer(const SramBuffer &) = delete;
	SramBuffer &operator=(const SramBuffer &) = delete;

	/** \return 0 or -errno of its creation */
	int result() const { return result_; }
	uint32_t handle() const { return handle_; }

	/**
	 * \brief A closed buffer's place is free when its last job is gone: that takes a moment
	 * \return a buffer whose result() is -ENOSPC if there is no room for half a minute
	 */
	static std::unique_ptr<SramBuffer> createWhenThereIsRoom(const Device &device,
								 uint64_t size);
	/** \return a copy of pages from one buffer to another, by the kinds of memory they are in
	 */
	static CopyTask copy(uint32_t source, nvdla_mem_type sourceType, uint32_t destination,
			     nvdla_mem_type destinationType, uint32_t bytes);

private:
	const Device &device_;
	uint32_t handle_;
	int result_;
};

} /* namespace nvdla::test */
