/* SPDX-License-Identifier: MIT */
/*
 * Every way onto the core, by everything that keeps a job from it.
 */
#include <cerrno>
#include <memory>
#include <string>
#include <tuple>
#include <vector>

#include <gtest/gtest.h>
#include <nvdla/hw/registers.h>
#include <recording_core.h>
#include <task_builder.h>

#include "driver.h"

namespace nvdla::test
{

namespace
{

enum class Door {
	FirstJob,
	FollowingTask,
	FollowingJob,
	AfterReset,
	ArrivedDuringReset,
	AfterResume,
	Prepared,
};

enum class Check { Nothing, UndefinedMemory, Dead, Unplugged, Stopped, Scrub };

const char *const doorNames[] = { "FirstJob",		"FollowingTask", "FollowingJob", "AfterReset",
				  "ArrivedDuringReset", "AfterResume",	 "Prepared" };
const char *const checkNames[] = { "Nothing",   "UndefinedMemory", "Dead",
				   "Unplugged", "Stopped",	   "Scrub" };

constexpr unsigned int client = 0, otherClient = 1;
constexpr int waits = -EINPROGRESS;

struct DriverDeleter {
	void operator()(driver *core) const { driver_destroy(core); }
};

struct JobOptions {
	unsigned int tasks = 1;
	bool restartable = false;
	bool prepared = false;
	uint32_t timeoutMs = 3'600'000;
};

struct PreparedDeleter {
	void operator()(nvdla_prepared *prepared) const { nvdla_prepared_destroy(prepared); }
};

/** \brief A job whose tasks are a convolution each */
class Job
{
public:
	Job(driver *core, unsigned int of, JobOptions options = {})
	{
		TaskBuilder builder;
		builder.addConv();
		if (options.prepared)
			prepare(builder.source());
		for (unsigned int i = 0; i < options.tasks; i++) {
			owned_.push_back(options.prepared ? bind(builder.source())
							  : builder.create().task);
			tasks_.push_back(owned_.back().get());
		}
		job_ = driver_job(core, of, tasks_.data(), options.tasks, options.restartable,
				  options.timeoutMs);
	}
	~Job() { driver_job_free(job_); }
	Job(const Job &) = delete;
	Job &operator=(const Job &) = delete;

	nvdla_job *get() const { return job_; }
	int status() const { return driver_status(job_); }

private:
	void prepare(const nvdla_task_source &source)
	{
		nvdla_prepared *prepared = nullptr;
		EXPECT_EQ(nvdla_prepared_create(nvdla_variant_nv_full(), &source, nullptr,
						&prepared),
			  0);
		prepared_.reset(prepared);
	}
	TaskPtr bind(const nvdla_task_source &source)
	{
		nvdla_task *task = nullptr;
		EXPECT_EQ(nvdla_task_bind(prepared_.get(), source.extents, 0, nullptr, &task), 0);
		return TaskPtr(task);
	}

	std::unique_ptr<nvdla_prepared, PreparedDeleter> prepared_;
	std::vector<TaskPtr> owned_;
	std::vector<nvdla_task *> tasks_;
	nvdla_job *job_;
};

/** \brief A driver with a core that does what a test tells it to */
class DriverTest : public testing::Test
{
protected:
	size_t enabled() const { return core_.writes(NVDLA_CACC_D_OP_ENABLE).size(); }
	void putOn(const Job &job) { driver_put_on(driver_.get(), job.get()); }
	void complete() { driver_complete(driver_.get()); }

	/* One convolution of a client, from its beginning to its end. */
	void runOne(unsigned int of)
	{
		const Job job(driver_.get(), of);
		putOn(job);
		ASSERT_EQ(job.status(), waits);
		complete();
		while (driver_scrubs(job.get()) || job.status() == waits)
			complete();
		ASSERT_EQ(job.status(), 0);
	}

	RecordingCore core_;
	const nvdla_io io_ = core_.io();
	std::unique_ptr<driver, DriverDeleter> driver_{ driver_create(&io_) };
};

class DoorsTest : public DriverTest,
		  public testing::WithParamInterface<std::tuple<Door, Check>>
{
protected:
	static Door door() { return std::get<Door>(GetParam()); }
	static Check check() { return std::get<Check>(GetParam()); }
	static bool ofARestart() { return door() == Door::AfterReset || door() == Door::AfterResume; }

	/* What is so from now on, by the time the job is to go on. */
	void apply(const Job &job)
	{
		switch (check()) {
		case Check::Nothing:
		case Check::Scrub:
			return;
		case Check::UndefinedMemory:
			return driver_undefine(job.get());
		case Check::Dead:
			return driver_kill(driver_.get());
		case Check::Unplugged:
			return driver_unplug(driver_.get());
		case Check::Stopped:
			return driver_sleep(driver_.get());
		}
	}

	void open(const Job &job)
	{
		switch (door()) {
		case Door::FirstJob:
		case Door::Prepared:
			apply(job);
			return putOn(job);
		case Door::FollowingJob: {
			const Job ahead(driver_.get(),
					check() == Check::Scrub ? otherClient : client);
			putOn(ahead);
			while (driver_scrubs(ahead.get()))
				complete();
			before_ = enabled();
			/* Nothing is heard of a core that is stopped or dead. */
			const bool silent = check() == Check::Stopped || check() == Check::Dead;
			if (!silent)
				apply(job);
			complete();
			ASSERT_EQ(ahead.status(), 0);
			ASSERT_EQ(enabled(), before_) << "it went on before it was given out";
			if (silent)
				apply(job);
			return putOn(job);
		}
		case Door::ArrivedDuringReset:
			driver_stop(driver_.get());
			putOn(job);
			ASSERT_EQ(enabled(), before_);
			apply(job);
			return driver_start(driver_.get());
		case Door::AfterReset:
			putOn(job);
			driver_stop(driver_.get());
			before_ = enabled();
			apply(job);
			return driver_start(driver_.get());
		case Door::AfterResume:
			putOn(job);
			driver_sleep(driver_.get());
			before_ = enabled();
			apply(job);
			if (check() != Check::Stopped)
				driver_wake(driver_.get());
			return;
		case Door::FollowingTask:
			putOn(job);
			while (driver_scrubs(job.get()))
				complete();
			before_ = enabled();
			apply(job);
			/* Neither is there without a reset, which comes in between. */
			if (check() == Check::Dead || check() == Check::Unplugged) {
				driver_stop(driver_.get());
				driver_start(driver_.get());
			}
			return complete();
		}
	}

	/* What becomes of the job: an error, or \a waits. */
	static int expected()
	{
		switch (check()) {
		case Check::UndefinedMemory:
			/* It cannot change while the job has the core. */
			return door() == Door::FollowingTask ? waits : -EIO;
		case Check::Dead:
		case Check::Unplugged:
			return -ENODEV;
		default:
			return waits;
		}
	}

	size_t before_ = 0;
};

TEST_P(DoorsTest, IsGuarded)
{
	if (check() == Check::Scrub)
		runOne(otherClient);
	const Job job(driver_.get(), client,
		      { .tasks = door() == Door::FollowingTask ? 2u : 1u,
			.restartable = ofARestart(),
			.prepared = door() == Door::Prepared });
	before_ = enabled();
	ASSERT_NO_FATAL_FAILURE(open(job));

	ASSERT_EQ(job.status(), expected());
	if (expected() != waits) {
		EXPECT_EQ(enabled(), before_) << "something of it was enabled";
		EXPECT_EQ(driver_guilty(driver_.get(), client), 0u);
		return;
	}
	if (check() == Check::Stopped) {
		EXPECT_EQ(enabled(), before_) << "something of it was enabled";
		complete();
		EXPECT_EQ(enabled(), before_) << "something of it was enabled";
		driver_wake(driver_.get());
		if (door() == Door::FollowingTask) {
			EXPECT_EQ(job.status(), -EIO) << "it may not run again";
			return;
		}
	}
	EXPECT_EQ(enabled(), before_ + 1);
	/* A reset clears the convolution buffer, too, and the job's first task has had it cleared. */
	const bool scrubs = check() == Check::Scrub && !ofARestart() &&
			    door() != Door::ArrivedDuringReset && door() != Door::FollowingTask;
	EXPECT_EQ(driver_scrubs(job.get()), scrubs);
	if (scrubs) {
		complete();
		EXPECT_EQ(job.status(), waits);
		EXPECT_EQ(enabled(), before_ + 2);
		EXPECT_FALSE(driver_scrubs(job.get()));
	}
	complete();
	EXPECT_EQ(job.status(), 0);
}

INSTANTIATE_TEST_SUITE_P(
	All, DoorsTest,
	testing::Combine(testing::Values(Door::FirstJob, Door::FollowingTask, Door::FollowingJob,
					 Door::AfterReset, Door::ArrivedDuringReset,
					 Door::AfterResume, Door::Prepared),
			 testing::Values(Check::Nothing, Check::UndefinedMemory, Check::Dead,
					 Check::Unplugged, Check::Stopped, Check::Scrub)),
	[](const auto &info) {
		return std::string(doorNames[static_cast<int>(std::get<Door>(info.param))]) +
		       checkNames[static_cast<int>(std::get<Check>(info.param))];
	});

} /* namespace */

TEST_F(DriverTest, AJobThatHangsIsItsClientsGuilt)
{
	for (unsigned int i = 1; i <= 9; i++) {
		const Job job(driver_.get(), client);
		putOn(job);
		ASSERT_TRUE(driver_time_out(driver_.get()));
		EXPECT_EQ(job.status(), -ETIMEDOUT);
		EXPECT_EQ(driver_dumps(job.get()), 1u);
		EXPECT_EQ(driver_guilty(driver_.get(), client), i);
	}
	runOne(client);
	runOne(otherClient);
}

/* The reset clears the buffer, and the job goes on as if nothing had been. */
TEST_F(DriverTest, AScrubThatHangsIsNobodysGuilt)
{
	runOne(otherClient);
	const Job job(driver_.get(), client);
	putOn(job);
	ASSERT_TRUE(driver_scrubs(job.get()));
	ASSERT_TRUE(driver_time_out(driver_.get()));
	EXPECT_EQ(driver_resets(driver_.get()), 1u);
	EXPECT_EQ(driver_dumps(job.get()), 0u) << "a dump of a job that has not failed";
	EXPECT_EQ(driver_guilty(driver_.get(), client), 0u);
	EXPECT_FALSE(driver_scrubs(job.get()));
	EXPECT_EQ(driver_num_runs(job.get()), 1u);
	complete();
	EXPECT_EQ(job.status(), 0);
}

TEST_F(DriverTest, WhatTheDriverDoesForAClientIsNotItsGuilt)
{
	const Job job(driver_.get(), client);
	driver_own(job.get());
	putOn(job);
	ASSERT_TRUE(driver_time_out(driver_.get()));
	EXPECT_EQ(job.status(), -ETIMEDOUT);
	EXPECT_EQ(driver_guilty(driver_.get(), client), 0u);
}

/* The system sleeps, however long a job goes on, and says what became of it when it wakes. */
TEST_F(DriverTest, ALongJobDoesNotKeepTheSystemAwake)
{
	for (const bool restartable : { false, true }) {
		const Job job(driver_.get(), client, { .restartable = restartable });
		putOn(job);
		driver_sleep(driver_.get());
		EXPECT_EQ(job.status(), waits);
		/* No timeout reaches for a core that sleeps. */
		EXPECT_FALSE(driver_time_out(driver_.get()));
		driver_wake(driver_.get());
		EXPECT_EQ(job.status(), restartable ? waits : -EIO);
		if (restartable) {
			EXPECT_EQ(driver_num_runs(job.get()), 2u);
			complete();
			EXPECT_EQ(job.status(), 0);
		}
	}
	EXPECT_EQ(driver_guilty(driver_.get(), client), 0u);
}

/* It is taken off the core before that sleeps, once, and its fence tells afterwards. */
TEST_F(DriverTest, AJobWhoseTimeIsOverDoesNotKeepTheSystemAwake)
{
	const Job job(driver_.get(), client, { .restartable = true, .timeoutMs = 1 });
	putOn(job);
	driver_sleep(driver_.get());
	EXPECT_EQ(driver_resets(driver_.get()), 1u);
	EXPECT_FALSE(driver_time_out(driver_.get()));
	EXPECT_EQ(driver_resets(driver_.get()), 1u);
	EXPECT_EQ(job.status(), waits);
	driver_wake(driver_.get());
	EXPECT_EQ(job.status(), -ETIMEDOUT);
	EXPECT_EQ(driver_guilty(driver_.get(), client), 1u);
	EXPECT_EQ(driver_dumps(job.get()), 1u);
}

} /* namespace nvdla::test */
