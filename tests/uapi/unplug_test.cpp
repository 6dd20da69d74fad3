/* SPDX-License-Identifier: MIT */
/* The device goes while files, buffers and mappings of it are in use, and comes back. */
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <string>

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "device.h"

namespace nvdla::test
{

namespace
{

const std::filesystem::path driverFolder = "/sys/bus/pci/drivers/nvdla";

/** \return the PCI address of the function the driver is bound to, empty if there is none */
std::string boundFunction()
{
	std::error_code error;
	for (const auto &entry : std::filesystem::directory_iterator(driverFolder, error)) {
		const std::string name = entry.path().filename();
		if (name.starts_with("0000:"))
			return name;
	}
	return {};
}

bool tell(const char *what, const std::string &address)
{
	std::ofstream file(driverFolder / what);
	file << address << std::flush;
	return file.good();
}

/** \return the signal that ends a process which writes to \a byte, or 0 */
int signalOfWrite(volatile uint8_t *byte)
{
	const pid_t child = fork();
	if (child == 0) {
		*byte = 1;
		_exit(0);
	}
	int status = 0;
	waitpid(child, &status, 0);
	return WIFSIGNALED(status) ? WTERMSIG(status) : 0;
}

/** \brief Unbinds the driver; binds it again at the end of the test, however that ends */
class Unbound
{
public:
	Unbound() : address_(boundFunction())
	{
		done_ = !address_.empty() && tell("unbind", address_);
	}
	~Unbound() { bind(); }
	Unbound(const Unbound &) = delete;
	Unbound &operator=(const Unbound &) = delete;

	bool done() const { return done_; }
	bool bind()
	{
		const bool bound = done_ && tell("bind", address_);
		done_ = false;
		return bound;
	}

private:
	std::string address_;
	bool done_;
};

/** \return the only node there is: while an old file is open, the device comes back as the next */
std::string presentNode()
{
	std::error_code error;
	std::filesystem::directory_iterator nodes("/dev/accel", error);
	return error || nodes == end(nodes) ? std::string() : nodes->path().string();
}

class UnplugTest : public testing::Test
{
protected:
	void SetUp() override
	{
		if (boundFunction().empty())
			GTEST_SKIP() << "the driver is not bound to a PCI function";
	}

	void TearDown() override
	{
		/* No file of the test is open now: the device gets its first node back. */
		if (!boundFunction().empty() && presentNode() != Device::path()) {
			EXPECT_TRUE(Unbound().bind());
		}
	}
};

} /* namespace */

TEST_F(UnplugTest, BuffersLoseTheirMemoryAndNothingElse)
{
	Device device;
	ASSERT_TRUE(device.valid());
	Buffer touched(device, 65536), untouched(device, 65536);
	ASSERT_TRUE(touched.valid() && untouched.valid());
	std::memset(touched.bytes().data(), 0x5a, touched.bytes().size());

	Unbound unbound;
	ASSERT_TRUE(unbound.done());
	EXPECT_EQ(signalOfWrite(touched.bytes().data()), SIGBUS);
	EXPECT_EQ(signalOfWrite(untouched.bytes().data()), SIGBUS);
	EXPECT_EQ(touched.prepare(DRM_NVDLA_BO_READ), -ENODEV);
	drm_nvdla_bo_create create = { .size = 4096, .flags = 0, .handle = 0 };
	EXPECT_EQ(device.ioctl(DRM_IOCTL_NVDLA_BO_CREATE, &create), -ENODEV);

	ASSERT_TRUE(unbound.bind());
	Device again(presentNode());
	ASSERT_TRUE(again.valid());
	Buffer buffer(again, 65536);
	ASSERT_TRUE(buffer.valid());
	std::memset(buffer.bytes().data(), 0x5a, buffer.bytes().size());
	/* The old file still means the device that is gone. */
	EXPECT_EQ(touched.prepare(DRM_NVDLA_BO_READ), -ENODEV);
}

TEST_F(UnplugTest, JobsInFlightEnd)
{
	Device device;
	ASSERT_TRUE(device.valid());
	Buffer source(device, 1 << 20), destination(device, 1 << 20);
	ASSERT_TRUE(source.valid() && destination.valid());
	CopyTask task;
	task.addAddress(source.handle());
	task.addAddress(destination.handle());
	task.addCopy(0, 1, 1024, 1024);
	const uint32_t syncobj = device.createSyncobj();
	ASSERT_NE(syncobj, 0u);
	for (int i = 0; i < 20; i++) {
		Submit submit(task);
		submit.outSyncs.push_back({ .handle = syncobj, .reserved = 0, .point = 0 });
		ASSERT_EQ(submit.run(device), 0);
	}

	Unbound unbound;
	ASSERT_TRUE(unbound.done());
	Submit late(task);
	EXPECT_EQ(late.run(device), -ENODEV);
	ASSERT_TRUE(unbound.bind());
}

} /* namespace nvdla::test */
