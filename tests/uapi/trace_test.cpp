/* SPDX-License-Identifier: MIT */
/* The driver's tracepoints. */
#include <filesystem>
#include <fstream>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>
#include <unistd.h>

#include "copies.h"
#include "driver_files.h"

namespace nvdla::test
{

namespace
{

/** \brief Records the driver's events in a buffer of its own */
class Trace
{
public:
	Trace()
	{
		std::error_code error;
		if (!std::filesystem::exists(tracing / "events/nvdla"))
			return;
		std::filesystem::create_directory(instance_, error);
		valid_ = !error && writeFile(instance_ / "events/nvdla/enable", "1") == 0;
	}
	~Trace()
	{
		std::error_code error;
		writeFile(instance_ / "events/nvdla/enable", "0");
		rmdir(instance_.c_str());
	}
	Trace(const Trace &) = delete;
	Trace &operator=(const Trace &) = delete;

	bool valid() const { return valid_; }

	/** \return the events so far: name, and what it says behind the name */
	std::vector<std::pair<std::string, std::string>> events() const
	{
		std::vector<std::pair<std::string, std::string>> found;
		std::ifstream file(instance_ / "trace");
		for (std::string line; std::getline(file, line);) {
			const size_t name = line.find(": nvdla_");
			if (line.starts_with('#') || name == std::string::npos)
				continue;
			const size_t end = line.find(": ", name + 2);
			found.emplace_back(line.substr(name + 2, end - name - 2),
					   line.substr(end + 2));
		}
		return found;
	}

	static inline const std::filesystem::path tracing = "/sys/kernel/tracing";

private:
	std::filesystem::path instance_ = tracing / "instances/nvdla-test";
	bool valid_ = false;
};

} /* namespace */

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
