/* SPDX-License-Identifier: MIT */
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <task_builder.h>

#include "canary_process.h"
#include "device.h"

namespace nvdla::test
{

/** \brief Size of each buffer of a CanaryFixture */
inline constexpr uint32_t bufferBytes = 2 << 20;
/** \brief Addresses that have a buffer; the next entry of the table has none */
inline constexpr int16_t bufferCount = 4;
inline constexpr uint32_t atom = 32;

/** \brief Some buffers, with those of another process around them */
class CanaryFixture : public testing::Test
{
protected:
	void SetUp() override;
	void TearDown() override;

	/** \return a task without operations that knows how large the buffers are */
	static TaskBuilder sized();

	/** \return 0 or -errno of the submit, or of the job */
	int run(const TaskBuilder &builder);
	int run(const CopyTask &task, const std::vector<nvdla_lut_desc> &luts = {});

	/** \brief Expects a refusal of \a operation for a field that begins with \a name */
	void expectRefused(const TaskBuilder &builder, size_t operation, const std::string &name,
			   const std::string &what);

	CanaryProcess owner_;
	Device device_;
	std::array<std::unique_ptr<Buffer>, bufferCount> buffers_;
	drm_nvdla_error error_ = {};
};

} /* namespace nvdla::test */
