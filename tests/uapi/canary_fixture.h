/* SPDX-License-Identifier: MIT */
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include <gtest/gtest.h>

#include "canary_process.h"
#include "task_client.h"

namespace nvdla::test
{

/** \brief Size of each buffer of a CanaryFixture */
inline constexpr uint32_t bufferBytes = TaskClient::bufferBytes;
/** \brief Addresses that have a buffer; the next entry of the table has none */
inline constexpr int16_t bufferCount = TaskClient::bufferCount;
inline constexpr uint32_t atom = 32;

/** \brief Some buffers, with those of another process around them */
class CanaryFixture : public testing::Test
{
protected:
	void SetUp() override;
	void TearDown() override;

	static TaskBuilder sized() { return TaskClient::sized(); }

	/** \return 0 or -errno of the submit, or of the job */
	int run(const TaskBuilder &builder) { return client_->run(builder); }
	int run(const CopyTask &task) { return client_->run(task); }

	/** \brief Expects a refusal of \a operation for a field that begins with \a name */
	void expectRefused(const TaskBuilder &builder, size_t operation, const std::string &name,
			   const std::string &what);

	CanaryProcess owner_;
	std::unique_ptr<TaskClient> client_;
};

} /* namespace nvdla::test */
