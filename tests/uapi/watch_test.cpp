/* SPDX-License-Identifier: MIT */
/* A device goes and comes back, in the eyes of an application of the runtime. */
#include <array>
#include <cerrno>
#include <future>
#include <iostream>
#include <string>

#include <gtest/gtest.h>
#include <nvdla/nvdla.h>
#include <sys/inotify.h>
#include <unistd.h>

#include "pci_function.h"

namespace nvdla::test
{

namespace
{

/* Becomes ready when a device has come, has gone and has come again. */
class Awaited
{
public:
	explicit Awaited(std::string path) : path_(std::move(path)) {}

	static void event(const char *path, int present, void *context)
	{
		static_cast<Awaited *>(context)->take(path, present != 0);
	}

	std::future<void> future(size_t index) { return turns_.at(index).get_future(); }

private:
	/* It may come back as another node, if something still has the old one. */
	void take(const std::string &path, bool present)
	{
		const bool mine = path == path_ || next_ == 2;

		std::cout << (present ? "come: " : "gone: ") << path << std::endl;
		if (mine && next_ < turns_.size() && present == (next_ % 2 == 0))
			turns_.at(next_++).set_value();
	}

	std::string path_;
	size_t next_ = 0;
	std::array<std::promise<void>, 3> turns_;
};

} /* namespace */

TEST(WatchTest, TellsOfADeviceThatGoesAndComesBack)
{
	const std::string node = "/dev/accel/accel0";
	Awaited awaited(node);
	auto there = awaited.future(0), gone = awaited.future(1), back = awaited.future(2);
	nvdla_watch *watch = nullptr;
	nvdla_device *device = nullptr;
	nvdla_buffer *buffer = nullptr;

	const int inotify = inotify_init1(IN_CLOEXEC);
	if (inotify < 0 && errno == ENOSYS)
		GTEST_SKIP() << "the kernel has no inotify";
	close(inotify);
	ASSERT_EQ(nvdla_watch_create(nullptr, Awaited::event, &awaited, &watch), NVDLA_STATUS_OK)
		<< nvdla_last_error();
	there.wait();
	ASSERT_EQ(nvdla_device_open(node.c_str(), &device), NVDLA_STATUS_OK) << nvdla_last_error();
	{
		Unbound unbound{ PciFunction(node) };
		ASSERT_TRUE(unbound.done());
		gone.wait();
		/* It is lost, not broken: a retry is of no use. */
		EXPECT_EQ(nvdla_buffer_create(device, 4096, &buffer), NVDLA_STATUS_DEVICE_LOST)
			<< nvdla_last_error();
		nvdla_device_free(device);
		EXPECT_TRUE(unbound.bind());
		back.wait();
	}
	nvdla_watch_free(watch);
}

} /* namespace nvdla::test */
