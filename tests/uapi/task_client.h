/* SPDX-License-Identifier: MIT */
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <vector>

#include <task_builder.h>

#include "device.h"
#include "sram_buffer.h"

namespace nvdla::test
{

/** \brief An open file that runs tasks of a TaskBuilder, with a buffer for each address */
class TaskClient
{
public:
	/** \brief Size of each buffer */
	static constexpr uint32_t bufferBytes = 2 << 20;
	/** \brief Addresses that have a buffer; the next one has on-chip memory, or nothing */
	static constexpr int16_t bufferCount = 4;
	static constexpr uint32_t onChipBytes = 64 << 10;

	TaskClient();

	bool valid() const;
	const Device &device() const { return device_; }
	const Buffer &buffer(int16_t address) const
	{
		return *buffers_[static_cast<size_t>(address)];
	}

	/** \brief Take on-chip memory for the address behind the buffers'. \return 0 or -errno */
	int takeOnChip();
	/** \brief Copy on-chip memory from or to the beginning of a buffer. \return 0 or -errno */
	int fillOnChip(int16_t from);
	int readOnChip(int16_t to);

	/** \return a task without operations that knows how large the buffers are */
	static TaskBuilder sized();

	/**
	 * \brief Run a task, in as much of each buffer as its extent is long
	 * \return 0 or -errno of the submit, or of the job
	 */
	int run(const TaskBuilder &builder, uint32_t timeoutMs = 0);
	int run(const CopyTask &task, const std::vector<nvdla_lut_desc> &luts = {},
		uint32_t timeoutMs = 0);

	/** \return why the last submit was refused, if it was */
	const drm_nvdla_error &error() const { return error_; }

private:
	Device device_;
	std::array<std::unique_ptr<Buffer>, bufferCount> buffers_;
	std::unique_ptr<SramBuffer> onChip_;
	drm_nvdla_error error_ = {};
};

} /* namespace nvdla::test */
