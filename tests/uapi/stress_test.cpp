/* SPDX-License-Identifier: MIT */
/*
 * Everything at once: processes that submit, are killed in the middle of it, and come again,
 * while the core is reset and the driver unbound and bound behind their backs.
 *
 *   stress-test [--submits=N] [--seed=N]
 */
#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <fstream>
#include <limits>
#include <new>
#include <random>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "device.h"
#include "pci_function.h"

namespace nvdla::test
{

namespace
{

using Random = std::mt19937;
using namespace std::chrono_literals;

constexpr size_t numProcesses = 8;
constexpr uint32_t copyBytes = 4096;
/* Large enough that it is noticed if they are not given back. */
constexpr uint64_t ballastBytes = 256 * 1024;
/* What a system's free memory wavers by, in KiB. */
constexpr int64_t toleranceKib = 16 * 1024;

uint64_t totalSubmits = 500;
uint32_t seed = 0;

/* What all processes write to. */
struct Shared {
	std::atomic<uint64_t> submits;
	std::atomic<uint64_t> right;
	std::atomic<uint64_t> failed; /* as they may, because of a reset or an unbind */
	std::atomic<uint64_t> wrong;
	std::atomic<uint64_t> resets;
	std::atomic<bool> stop;
};
static_assert(std::atomic<uint64_t>::is_always_lock_free);

uint32_t upTo(Random &random, uint32_t most)
{
	return std::uniform_int_distribution<uint32_t>(0, most)(random);
}

void pause(Random &random, uint32_t mostMs)
{
	std::this_thread::sleep_for(std::chrono::milliseconds(upTo(random, mostMs)));
}

/* The process ends when the device does. */
[[noreturn]] void leave()
{
	_exit(0);
}

/* One process' device, buffers and contexts; ends the process if it cannot have them. */
class Worker
{
public:
	Worker(Shared &shared, uint32_t workerSeed)
		: shared_(shared), random_(workerSeed), device_(presentNode()),
		  source_(device_, copyBytes), destination_(device_, copyBytes),
		  ballast_(device_, ballastBytes), result_(device_),
		  syncobj_(device_.createSyncobj())
	{
		if (!source_.valid() || !destination_.valid() || !ballast_.valid() ||
		    !result_.valid() || !syncobj_)
			leave();
		task_.addAddress(source_.handle());
		task_.addAddress(destination_.handle());
		task_.addCopy(0, 1, copyBytes / 4, 4);
		for (const drm_nvdla_priority priority :
		     { DRM_NVDLA_PRIORITY_LOW, DRM_NVDLA_PRIORITY_HIGH }) {
			const int context = device_.createContext(priority);
			if (context < 0)
				leave();
			contexts_.push_back(static_cast<uint32_t>(context));
		}
	}

	void run()
	{
		while (!shared_.stop)
			round();
	}

private:
	/* Some jobs that nobody waits for, and one that has to be right. */
	void round()
	{
		for (uint32_t i = upTo(random_, 3); i > 0; i--) {
			Submit submit(task_);
			submit.context = contexts_[upTo(random_, 2)];
			push(submit);
		}
		if (upTo(random_, 50) == 0)
			replaceContext();

		const auto pattern = static_cast<uint8_t>(random_());
		for (size_t i = 0; i < copyBytes; i++)
			source_.bytes()[i] = static_cast<uint8_t>(pattern + i);
		Submit submit(task_);
		submit.context = contexts_[upTo(random_, 2)];
		submit.flags = upTo(random_, 3);
		submit.resultHandle = result_.buffer().handle();
		submit.outSyncs.push_back({ .handle = syncobj_, .reserved = 0, .point = 0 });
		push(submit);
		check(submit);
	}

	void push(Submit &submit)
	{
		const int ret = submit.run(device_);
		if (ret == -ENODEV)
			leave();
		if (ret)
			complain("submit", ret);
		shared_.submits++;
	}

	void replaceContext()
	{
		const int ret = device_.destroyContext(contexts_.back());
		const int context = device_.createContext(DRM_NVDLA_PRIORITY_NORMAL);
		if (ret == -ENODEV || context == -ENODEV)
			leave();
		if (ret || context < 0)
			complain("replace a context", ret ? ret : context);
		contexts_.back() = static_cast<uint32_t>(context);
	}

	void check(const Submit &submit)
	{
		const int ret = device_.waitSyncobj(syncobj_);
		const int status = ret ? ret : device_.fenceStatus(syncobj_);
		if (status == -ENODEV) {
			shared_.failed++;
			leave();
		}
		const int told = result_.job().status;
		if (status == -EIO && !(submit.flags & DRM_NVDLA_SUBMIT_RESTARTABLE) &&
		    told == -EIO) {
			shared_.failed++;
			return;
		}
		if (status != 1 || told != 0)
			complain("job", status == 1 ? told : status);
		if (!std::equal(source_.bytes().begin(), source_.bytes().end(),
				destination_.bytes().begin()))
			complain("copy", 0);
		shared_.right++;
	}

	[[noreturn]] void complain(const char *what, int error)
	{
		shared_.wrong++;
		fprintf(stderr, "process %d: %s: %d\n", getpid(), what, error);
		_exit(1);
	}

	Shared &shared_;
	Random random_;
	Device device_;
	Buffer source_;
	Buffer destination_;
	Buffer ballast_;
	JobResult result_;
	uint32_t syncobj_;
	CopyTask task_;
	std::vector<uint32_t> contexts_ = { 0 };
};

template<typename Function>
pid_t spawn(Function &&function)
{
	const pid_t pid = fork();
	if (pid == 0) {
		function();
		_exit(0);
	}
	return pid;
}

void work(Shared &shared, uint32_t workerSeed)
{
	Worker(shared, workerSeed).run();
}

/**
 * \return pages that processors keep for themselves. They are free, but not among those that
 *	   count as available, and may be tens of MiB.
 */
int64_t pagesOfProcessors()
{
	std::ifstream zones("/proc/zoneinfo");
	std::string word;
	int64_t all = 0;
	int64_t pages = 0;

	while (zones >> word)
		if (word == "count:" && zones >> pages)
			all += pages;
	return all;
}

int64_t availableKib()
{
	const int64_t pageKib = sysconf(_SC_PAGESIZE) / 1024;

	std::ofstream("/proc/sys/vm/drop_caches") << "3" << std::flush;
	std::ifstream meminfo("/proc/meminfo");
	std::string name;
	int64_t kib;
	while (meminfo >> name >> kib) {
		if (name == "MemAvailable:")
			return kib + pagesOfProcessors() * pageKib;
		meminfo.ignore(std::numeric_limits<std::streamsize>::max(), '\n');
	}
	return 0;
}

class Stress : public ::testing::Test
{
protected:
	Stress()
	{
		void *memory = mmap(nullptr, sizeof(Shared), PROT_READ | PROT_WRITE,
				    MAP_SHARED | MAP_ANONYMOUS, -1, 0);
		shared_ = memory == MAP_FAILED ? nullptr : new (memory) Shared{};
	}
	~Stress() override { munmap(shared_, sizeof(Shared)); }

	void SetUp() override
	{
		ASSERT_NE(shared_, nullptr);
		ASSERT_TRUE(function_.valid()) << "the driver is not bound to a PCI function";
	}

	/* Runs until so many jobs were submitted. */
	void run(uint64_t submits)
	{
		shared_->stop = false;
		const uint64_t end = shared_->submits + submits;
		const pid_t resetter = spawn([&, own = random_()] { keepResetting(own); });
		while (shared_->submits < end && !shared_->wrong) {
			revive();
			pause(random_, 60);
			disturb();
		}
		shared_->stop = true;
		for (const pid_t process : processes_) {
			if (process > 0)
				waitpid(process, nullptr, 0);
		}
		processes_ = {};
		waitpid(resetter, nullptr, 0);
	}

	uint64_t kills_ = 0;
	uint64_t unbinds_ = 0;
	Random random_{ seed };
	PciFunction function_;
	Shared *shared_;

private:
	void keepResetting(uint32_t own)
	{
		Random random(own);
		while (!shared_->stop) {
			pause(random, 400);
			shared_->resets += function_.reset();
		}
	}

	/* Processes that have ended begin anew. */
	void revive()
	{
		for (pid_t &process : processes_) {
			if (process > 0 && waitpid(process, nullptr, WNOHANG) == 0)
				continue;
			process = spawn([this, own = random_()] { work(*shared_, own); });
		}
	}

	void disturb()
	{
		switch (upTo(random_, 7)) {
		case 0:
			ASSERT_TRUE(function_.unbind());
			ASSERT_TRUE(function_.bind());
			unbinds_++;
			break;
		case 1:
		case 2:
		case 3:
			kill(processes_[upTo(random_, numProcesses - 1)], SIGKILL);
			kills_++;
			break;
		default:
			break;
		}
	}

	std::array<pid_t, numProcesses> processes_ = {};
};

} /* namespace */

TEST_F(Stress, LeavesNothingBehindAndNobodyWrong)
{
	/* What is allocated once and kept is there before anything is measured. */
	ASSERT_NO_FATAL_FAILURE(run(std::max<uint64_t>(totalSubmits / 10, 100)));
	const int64_t before = availableKib();
	ASSERT_NO_FATAL_FAILURE(run(totalSubmits));
	printf("%ju submits: %ju answers right, %ju failed as they may; %ju kills, %ju resets, "
	       "%ju unbinds\n",
	       static_cast<uintmax_t>(shared_->submits), static_cast<uintmax_t>(shared_->right),
	       static_cast<uintmax_t>(shared_->failed), static_cast<uintmax_t>(kills_),
	       static_cast<uintmax_t>(shared_->resets), static_cast<uintmax_t>(unbinds_));
	EXPECT_EQ(shared_->wrong, 0u);
	EXPECT_GT(shared_->right, 0u);

	/* All jobs have ended when this returns, and nobody holds an old device. */
	ASSERT_TRUE(function_.unbind());
	ASSERT_TRUE(function_.bind());
	EXPECT_EQ(presentNode(), Device::path());

	/* The kernel may take a while to give back what it has freed. */
	int64_t lost = before - availableKib();
	for (int i = 0; lost > toleranceKib && i < 100; i++) {
		std::this_thread::sleep_for(100ms);
		lost = before - availableKib();
	}
	printf("%jd KiB less memory than before\n", static_cast<intmax_t>(lost));
	EXPECT_LE(lost, toleranceKib);
}

} /* namespace nvdla::test */

int main(int argc, char *argv[])
{
	constexpr std::string_view submits = "--submits=", given = "--seed=";

	testing::InitGoogleTest(&argc, argv);
	nvdla::test::seed = std::random_device()();
	for (const std::string_view argument :
	     std::vector<std::string_view>(argv + 1, argv + argc)) {
		if (argument.starts_with(submits))
			nvdla::test::totalSubmits =
				std::stoull(std::string(argument.substr(submits.size())));
		else if (argument.starts_with(given))
			nvdla::test::seed = static_cast<uint32_t>(
				std::stoul(std::string(argument.substr(given.size()))));
	}
	printf("seed %u\n", nvdla::test::seed);
	fflush(stdout);
	return RUN_ALL_TESTS();
}
