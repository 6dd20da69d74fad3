/* SPDX-License-Identifier: MIT */
/* The driver's tracepoints. */
#include <filesystem>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "copies.h"
#include "trace.h"

namespace nvdla::test
{

TEST(TraceTest, TellsTheLifeOfAJob)
{
	if (!std::filesystem::exists(Trace::tracing / "events"))
		GTEST_SKIP() << "the kernel has no tracing";
	Trace trace;
	ASSERT_TRUE(trace.valid());
	Copies copies;
	ASSERT_EQ(copies.run(2), 0);

	std::vector<std::string> names;
	std::string job;
	for (const auto &[name, text] : trace.events()) {
		SCOPED_TRACE(name + ": " + text);
		/* How many messages the device sends is its own affair. */
		if (name == "nvdla_irq")
			continue;
		names.push_back(name);
		const size_t at = text.find("job=");
		ASSERT_NE(at, std::string::npos);
		const std::string id = text.substr(at, text.find(' ', at) - at);
		if (job.empty())
			job = id;
		EXPECT_EQ(id, job);
		if (name.starts_with("nvdla_op_")) {
			EXPECT_NE(text.find("engine=bdma"), std::string::npos);
		}
		if (name == "nvdla_job_done") {
			EXPECT_NE(text.find("error=0"), std::string::npos);
		}
	}
	/* The second copy waits for the first, but its registers are written meanwhile. */
	const std::vector<std::string> expected = {
		"nvdla_job_queue",   "nvdla_job_run",	 "nvdla_task_start",  "nvdla_op_program",
		"nvdla_op_enable",   "nvdla_op_program", "nvdla_op_complete", "nvdla_op_enable",
		"nvdla_op_complete", "nvdla_task_done",	 "nvdla_job_done",
	};
	EXPECT_EQ(names, expected);
}

} /* namespace nvdla::test */
