/* SPDX-License-Identifier: MIT */
/*
 * Files that come and go stand for devices; what the kernel's do is seen in the guest.
 */
#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <filesystem>
#include <fstream>
#include <future>
#include <mutex>

#include <gtest/gtest.h>
#include <nvdla/device.h>
#include <nvdla/device_watch.h>
#include <unistd.h>
#include <uv.h>

#include "runtime/async/folder_watch.h"

namespace nvdla
{

namespace
{

namespace fs = std::filesystem;

/* What was told, one "+path" or "-path" after the other. */
class Told
{
public:
	void operator()(const std::string &path, bool present)
	{
		const std::lock_guard guard(lock_);
		events_.push_back((present ? "+" : "-") + fs::path(path).filename().string());
		changed_.notify_all();
	}

	/* Waits as long as it takes; the test's own timeout ends what never comes. */
	std::vector<std::string> first(size_t count)
	{
		std::unique_lock guard(lock_);
		changed_.wait(guard, [&] { return events_.size() >= count; });
		return events_;
	}

	std::vector<std::string> all() { return first(0); }

private:
	std::mutex lock_;
	std::condition_variable changed_;
	std::vector<std::string> events_;
};

using Events = std::vector<std::string>;

class FolderWatchTest : public testing::Test
{
protected:
	FolderWatchTest()
		: parent_(fs::temp_directory_path() / ("watch-" + std::to_string(getpid()))),
		  folder_(parent_ / "accel"), loop_(*Loop::create())
	{
		fs::remove_all(parent_);
		fs::create_directories(folder_);
	}
	~FolderWatchTest() override { fs::remove_all(parent_); }

	void make(const char *name) { std::ofstream(folder_ / name) << name; }

	std::vector<std::string> list() const
	{
		std::vector<std::string> paths;
		std::error_code error;
		for (const auto &entry : fs::directory_iterator(folder_, error))
			paths.push_back(entry.path());
		std::sort(paths.begin(), paths.end());
		return paths;
	}

	std::unique_ptr<FolderWatch> watch(FolderWatch::Callback callback)
	{
		auto watch = FolderWatch::create(
			loop_, folder_, [this] { return list(); }, std::move(callback));
		EXPECT_TRUE(watch) << watch.error().message();
		return std::move(*watch);
	}

	const fs::path parent_, folder_;
	std::shared_ptr<Loop> loop_;
	Told told_;
};

} /* namespace */

TEST_F(FolderWatchTest, TellsOfWhatIsThereAndWhatComesAndGoes)
{
	make("accel0");
	const auto watching = watch(std::ref(told_));
	EXPECT_EQ(told_.first(1), Events{ "+accel0" });
	make("accel1");
	EXPECT_EQ(told_.first(2), (Events{ "+accel0", "+accel1" }));
	fs::remove(folder_ / "accel0");
	EXPECT_EQ(told_.first(3), (Events{ "+accel0", "+accel1", "-accel0" }));
}

/* As when the driver is loaded, unloaded and loaded again. */
TEST_F(FolderWatchTest, TheFolderMayComeAndGoToo)
{
	fs::remove(folder_);
	const auto watching = watch(std::ref(told_));
	for (size_t round = 0; round < 3; round++) {
		fs::create_directory(folder_);
		make("accel0");
		ASSERT_EQ(told_.first(2 * round + 1).back(), "+accel0");
		fs::remove_all(folder_);
		ASSERT_EQ(told_.first(2 * round + 2).back(), "-accel0");
	}
	EXPECT_EQ(told_.all().size(), 6u);
}

/* As with a device file, which is there before it can be opened. */
TEST_F(FolderWatchTest, LooksAgainForWhatIsNotReady)
{
	std::atomic<unsigned> looks = 0;
	const auto ready = [&] { return looks++ < 4 ? std::vector<std::string>() : list(); };
	const auto watching = FolderWatch::create(loop_, folder_, ready, std::ref(told_));
	ASSERT_TRUE(watching) << watching.error().message();
	make("accel0");
	EXPECT_EQ(told_.first(1), Events{ "+accel0" });
}

TEST_F(FolderWatchTest, TellsNothingAfterItsEnd)
{
	Told ended;
	auto first = watch(std::ref(ended));
	const auto second = watch(std::ref(told_));
	first.reset();
	make("accel0");
	told_.first(1);
	EXPECT_EQ(ended.all(), Events{});
}

TEST_F(FolderWatchTest, MayEndInItsCallback)
{
	std::unique_ptr<FolderWatch> watching;
	std::promise<void> made;
	make("accel0");
	make("accel1");
	watching = watch(
		[&, ready = made.get_future().share()](const std::string &path, bool present) {
			ready.wait();
			watching.reset();
			told_(path, present);
		});
	made.set_value();
	told_.first(1);
	loop_.reset();
	EXPECT_EQ(told_.all(), Events{ "+accel0" });
}

/* It does not keep the caller's loop running. */
TEST_F(FolderWatchTest, CallsBackInTheCallersLoop)
{
	uv_loop_t uv;
	ASSERT_EQ(uv_loop_init(&uv), 0);
	loop_ = *Loop::attach(&uv);
	{
		make("accel0");
		const auto watching = watch([&](const std::string &path, bool present) {
			EXPECT_TRUE(loop_->inThread());
			told_(path, present);
		});
		EXPECT_EQ(told_.all(), Events{});
		uv_run(&uv, UV_RUN_DEFAULT);
		EXPECT_EQ(told_.all(), Events{ "+accel0" });
	}
	loop_.reset();
	uv_run(&uv, UV_RUN_DEFAULT);
	EXPECT_EQ(uv_loop_close(&uv), 0);
}

TEST_F(FolderWatchTest, NamesTheFolderThatCannotBeWatched)
{
	const auto watch =
		FolderWatch::create(loop_, parent_ / "no/such", [] { return Events{}; }, {});
	ASSERT_FALSE(watch);
	EXPECT_EQ(watch.error().code, ErrorCode::Io);
	EXPECT_NE(watch.error().message().find("no/such"), std::string::npos);
}

TEST(DeviceWatch, TellsOfTheDevicesThereAreFirst)
{
	const std::vector<std::string> devices = Device::enumerate();
	Told told;
	auto watch = DeviceWatch::create(std::ref(told));
	ASSERT_TRUE(watch) << watch.error().message();
	EXPECT_EQ(told.first(devices.size()).size(), devices.size());
}

} /* namespace nvdla */
