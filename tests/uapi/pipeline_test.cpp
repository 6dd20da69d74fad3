/* SPDX-License-Identifier: MIT */
/*
 * A job's tasks are made ready while the one before them runs, and nothing of a job while another
 * one does, as the driver's tracepoints tell.
 */
#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "copies.h"
#include "device.h"
#include "trace.h"

namespace nvdla::test
{

namespace
{

using Events = std::vector<std::pair<std::string, std::string>>;

/* \return place of the first event of a name that says all of that, or the number of events */
size_t find(const Events &events, const std::string &name, const std::vector<std::string> &words)
{
	const auto found = std::ranges::find_if(events, [&](const auto &event) {
		return event.first == name &&
		       std::ranges::all_of(words, [&](const std::string &word) {
			       return event.second.find(word + ' ') != std::string::npos ||
				      event.second.ends_with(word);
		       });
	});
	return static_cast<size_t>(found - events.begin());
}

/* \return "job=CONTEXT:NUMBER" of the n-th job that was queued */
std::string queued(const Events &events, size_t n)
{
	for (const auto &[name, text] : events) {
		if (name != "nvdla_job_queue" || n-- > 0)
			continue;
		const size_t at = text.find("job=");
		return text.substr(at, text.find(' ', at) - at);
	}
	return "no job";
}

/* A job whose interrupt gets lost: it is on the hardware until its time is over. */
class StuckJob
{
public:
	StuckJob() : buffer_(device_, 4096), syncobj_(device_.createSyncobj())
	{
		task_.addAddress(buffer_.handle());
		task_.addCopy(0, 0, 1024, 4);
	}
	~StuckJob() { device_.destroySyncobj(syncobj_); }

	int submit()
	{
		Submit submit(task_);
		submit.timeoutMs = 2000;
		submit.outSyncs.push_back({ .handle = syncobj_, .reserved = 0, .point = 0 });
		const int ret = writeFile(debugFolder() / "inject/lose_interrupt", "1");
		return ret ? ret : submit.run(device_);
	}
	int wait() const
	{
		const int ret = device_.waitSyncobj(syncobj_);
		return ret ? ret : device_.fenceStatus(syncobj_);
	}

private:
	Device device_;
	Buffer buffer_;
	uint32_t syncobj_;
	CopyTask task_;
};

} /* namespace */

class PipelineTest : public testing::Test
{
protected:
	void SetUp() override
	{
		if (!std::filesystem::exists(Trace::tracing / "events"))
			GTEST_SKIP() << "the kernel has no tracing";
		if (!std::filesystem::exists(debugFolder() / "inject"))
			GTEST_SKIP() << "the driver was built without faults to order";
		ASSERT_TRUE(trace_.valid());
	}

	void TearDown() override { writeFile(debugFolder() / "inject/lose_interrupt", "0"); }

	/* Is the one that comes next enabled behind the other's end, and written before, or not? */
	void expectAhead(bool ahead, const std::vector<std::string> &next, const std::string &end,
			 const std::vector<std::string> &before) const
	{
		const Events events = trace_.events();
		const size_t programmed = find(events, "nvdla_op_program", next);
		const size_t enabled = find(events, "nvdla_op_enable", next);
		const size_t ended = find(events, end, before);
		ASSERT_LT(std::max({ programmed, enabled, ended }), events.size());
		EXPECT_EQ(programmed < ended, ahead);
		EXPECT_LT(ended, enabled);
	}

	Trace trace_;
};

TEST_F(PipelineTest, TasksOfAJobAreProgrammedAhead)
{
	Device device;
	Buffer from(device, 4096), to(device, 4096);
	CopyTask task;
	task.addAddress(from.handle());
	task.addAddress(to.handle());
	task.addCopy(0, 1, 1024, 4);
	Submit submit;
	submit.tasks.assign(2, task.task());
	ASSERT_EQ(submit.runToTheEnd(device), 0);
	expectAhead(true, { "task=1" }, "nvdla_task_done", { "task=0" });
}

/* It goes onto the core when all that may keep it from there is known. */
TEST_F(PipelineTest, NothingOfAJobIsWrittenBeforeItsTurn)
{
	StuckJob first;
	Copies second;
	second.clear();
	ASSERT_EQ(first.submit(), 0);
	ASSERT_EQ(second.run(1), 0);
	EXPECT_TRUE(second.right());
	ASSERT_EQ(first.wait(), -ETIMEDOUT);
	const Events events = trace_.events();
	expectAhead(false, { queued(events, 1) }, "nvdla_job_done", { queued(events, 0) });
}

} /* namespace nvdla::test */
