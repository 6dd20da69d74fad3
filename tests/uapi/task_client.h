/* SPDX-License-Identifier: MIT */
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <vector>

#include <task_builder.h>

#include "device.h"

namespace nvdla::test
{

/** \brief An open file that runs tasks of a TaskBuilder, with a buffer for each address */
class TaskClient
{
public:
	/** \brief Size of each buffer */
	static constexpr uint32_t bufferBytes = 2 << 20;
	/** \brief Addresses that have a buffer; the next entry of the table has none */
	static constexpr int16_t bufferCount = 4;

	TaskClient();

	bool valid() const;
	const Device &device() const { return device_; }
	const Buffer &buffer(int16_t address) const
	{
		return *buffers_[static_cast<size_t>(address)];
	}

	/** \return a task without operations that knows how large the buffers are */
	static TaskBuilder sized();

	/** \return 0 or -errno of the submit, or of the job */
	int run(const TaskBuilder &builder, uint32_t timeoutMs = 0);
	int run(const CopyTask &task, const std::vector<nvdla_lut_desc> &luts = {},
		uint32_t timeoutMs = 0);

	/** \return why the last submit was refused, if it was */
	const drm_nvdla_error &error() const { return error_; }

private:
	Device device_;
	std::array<std::unique_ptr<Buffer>, bufferCount> buffers_;
	drm_nvdla_error error_ = {};
};

} /* namespace nvdla::test */
