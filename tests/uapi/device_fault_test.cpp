/* SPDX-License-Identifier: MIT */
/*
 * A device that does what it should not, to order: every fault is recovered from, and only the
 * job that it hits fails.
 */
#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <memory>
#include <numeric>

#include <gtest/gtest.h>

#include <nvdla/hw/pci.h>

#include "device.h"
#include "device/refusal.h"
#include "driver_files.h"
#include "eventually.h"
#include "pci_function.h"
#include "task_client.h"

namespace nvdla::test
{

namespace
{

constexpr uint32_t faultyBytes = 64 * 1024;
constexpr uint32_t faultTimeoutMs = 500;

/* A client with a job that copies a buffer. */
class Copier
{
public:
	Copier() : source_(device, faultyBytes), destination_(device, faultyBytes)
	{
		task_.addAddress(source_.handle());
		task_.addAddress(destination_.handle());
		task_.addCopy(0, 1, 1024, faultyBytes / 1024);
	}

	bool valid() const { return device.valid() && source_.valid() && destination_.valid(); }

	/* Queues the job. \return 0 or -errno */
	int submit(uint32_t timeoutMs = 0)
	{
		std::iota(source_.bytes().begin(), source_.bytes().end(), ++seed_);
		std::ranges::fill(destination_.bytes(), uint8_t{ 0 });
		syncobj_ = device.createSyncobj();
		Submit submit(task_);
		submit.timeoutMs = timeoutMs;
		submit.outSyncs.push_back({ .handle = syncobj_, .reserved = 0, .point = 0 });
		return submit.run(device);
	}

	/* Waits for it. \return 0 or what its fence says */
	int wait()
	{
		const int ret = device.waitSyncobj(syncobj_);
		const int status = ret ? ret : device.fenceStatus(syncobj_);
		device.destroySyncobj(syncobj_);
		return status == 1 ? 0 : status;
	}

	int run(uint32_t timeoutMs = 0)
	{
		const int ret = submit(timeoutMs);
		return ret ? ret : wait();
	}

	bool right() const { return std::ranges::equal(source_.bytes(), destination_.bytes()); }

	Device device;

private:
	Buffer source_;
	Buffer destination_;
	CopyTask task_;
	uint32_t syncobj_ = 0;
	uint8_t seed_ = 0;
};

} /* namespace */

class DeviceFaultTest : public testing::Test
{
protected:
	void SetUp() override
	{
		if (!function_.valid())
			GTEST_SKIP() << "the driver is not bound to a PCI function";
		guilty_ = std::make_unique<Copier>();
		innocent_ = std::make_unique<Copier>();
		ASSERT_TRUE(guilty_->valid() && innocent_->valid());
		/* Sleep resets the function, which would end some faults before anybody met them.
		 */
		ASSERT_TRUE(function_.stayAwake(true));
		ASSERT_EQ(guilty_->run(), 0);
		ASSERT_TRUE(function_.order(NVDLA_PCI_FAULT_NONE))
			<< "nvdla-sim was started without --faults";
	}

	void TearDown() override
	{
		if (!function_.valid())
			return;
		function_.order(NVDLA_PCI_FAULT_NONE);
		function_.stayAwake(false);
		guilty_.reset();
		innocent_.reset();
		EXPECT_TRUE(restoreNode(Device::path()));
	}

	/* One job meets a fault and fails; another client's behind it does not notice. */
	void expectFailure(uint32_t fault, uint32_t count, int status)
	{
		ASSERT_TRUE(function_.order(fault, count));
		ASSERT_EQ(guilty_->submit(faultTimeoutMs), 0);
		ASSERT_EQ(innocent_->submit(), 0);
		EXPECT_EQ(guilty_->wait(), status);
		EXPECT_EQ(innocent_->wait(), 0);
		EXPECT_TRUE(innocent_->right());
		expectAllIsWell();
	}

	void expectAllIsWell()
	{
		for (Copier *copier : { guilty_.get(), innocent_.get() }) {
			EXPECT_EQ(copier->run(), 0);
			EXPECT_TRUE(copier->right());
		}
	}

	/* The function was gone, and comes back. */
	void expectAllIsWellPluggedInAgain()
	{
		guilty_.reset();
		innocent_.reset();
		ASSERT_TRUE(function_.unbind());
		ASSERT_TRUE(function_.order(NVDLA_PCI_FAULT_NONE));
		ASSERT_TRUE(function_.bind());
		guilty_ = std::make_unique<Copier>();
		innocent_ = std::make_unique<Copier>();
		ASSERT_TRUE(guilty_->valid() && innocent_->valid());
		expectAllIsWell();
	}

	PciFunction function_;
	std::unique_ptr<Copier> guilty_, innocent_;
};

/* Before a job fails for its time, the core is asked. */
TEST_F(DeviceFaultTest, ALostInterruptIsFoundInTheEnd)
{
	ASSERT_TRUE(function_.order(NVDLA_PCI_FAULT_LOST, 1));
	ASSERT_EQ(guilty_->submit(faultTimeoutMs), 0);
	ASSERT_EQ(innocent_->submit(), 0);
	EXPECT_EQ(guilty_->wait(), 0);
	EXPECT_TRUE(guilty_->right());
	EXPECT_EQ(innocent_->wait(), 0);
	EXPECT_TRUE(innocent_->right());
	expectAllIsWell();
}

/* It comes while the job still has time: the status has been there all along. */
TEST_F(DeviceFaultTest, ALateInterruptEndsItsJob)
{
	ASSERT_TRUE(function_.order(NVDLA_PCI_FAULT_LOST, 1));
	ASSERT_EQ(guilty_->submit(), 0);
	const uint64_t begin = now();
	while (now() - begin < 200'000'000)
		;
	ASSERT_TRUE(function_.order(NVDLA_PCI_FAULT_SPURIOUS));
	EXPECT_EQ(guilty_->wait(), 0);
	EXPECT_TRUE(guilty_->right());
	expectAllIsWell();
}

/* It comes when its job is gone: the next one is not taken for it. */
TEST_F(DeviceFaultTest, AnInterruptThatIsTooLateHarmsNobody)
{
	ASSERT_TRUE(function_.order(NVDLA_PCI_FAULT_LOST, 1));
	EXPECT_EQ(guilty_->run(faultTimeoutMs), 0);
	ASSERT_EQ(innocent_->submit(), 0);
	ASSERT_TRUE(function_.order(NVDLA_PCI_FAULT_SPURIOUS));
	EXPECT_EQ(innocent_->wait(), 0);
	EXPECT_TRUE(innocent_->right());
	expectAllIsWell();
}

TEST_F(DeviceFaultTest, InterruptsForNothingHarmNobody)
{
	for (int round = 0; round < 20; round++) {
		ASSERT_EQ(guilty_->submit(), 0);
		ASSERT_TRUE(function_.order(NVDLA_PCI_FAULT_SPURIOUS));
		EXPECT_EQ(guilty_->wait(), 0);
		ASSERT_TRUE(function_.order(NVDLA_PCI_FAULT_SPURIOUS));
		EXPECT_TRUE(guilty_->right());
	}
	expectAllIsWell();
}

TEST_F(DeviceFaultTest, AnEngineThatNeverEndsIsATimeout)
{
	expectFailure(NVDLA_PCI_FAULT_HANG, 1, -ETIMEDOUT);
}

/* The sums are out, and would be taken for the end. */
TEST_F(DeviceFaultTest, CdmaThatNeverEndsIsATimeout)
{
	TaskClient client;
	ASSERT_TRUE(client.valid());
	TaskBuilder convolution = TaskClient::sized();
	convolution.addConv();
	ASSERT_EQ(client.run(convolution), 0) << refusedField(client.error(), NVDLA_OP_SDP);

	ASSERT_TRUE(function_.order(NVDLA_PCI_FAULT_CDMA, 1));
	EXPECT_EQ(client.run(convolution, faultTimeoutMs), -ETIMEDOUT);
	EXPECT_EQ(client.run(convolution), 0);
	expectAllIsWell();
}

/* The reset brings the registers back. */
TEST_F(DeviceFaultTest, RegistersThatReadAsOnesEndTheJob)
{
	expectFailure(NVDLA_PCI_FAULT_ONES, 1, -ETIMEDOUT);
}

/* Nobody tells the driver; the job's data are lost, and nobody else's. */
TEST_F(DeviceFaultTest, RefusedAccessesLoseTheirOwnDataOnly)
{
	ASSERT_TRUE(function_.order(NVDLA_PCI_FAULT_DMA, 1u << 20));
	EXPECT_EQ(guilty_->run(), 0);
	EXPECT_FALSE(guilty_->right());
	ASSERT_TRUE(function_.order(NVDLA_PCI_FAULT_NONE));
	expectAllIsWell();
}

TEST_F(DeviceFaultTest, AFunctionThatDisappearsFailsItsJobs)
{
	ASSERT_TRUE(function_.order(NVDLA_PCI_FAULT_GONE));
	const int first = guilty_->run(faultTimeoutMs);
	EXPECT_TRUE(first == -ENODEV || first == -ETIMEDOUT) << first;
	EXPECT_EQ(innocent_->run(), -ENODEV);

	expectAllIsWellPluggedInAgain();
}

/* It does not wake for the next job. */
TEST_F(DeviceFaultTest, AFunctionMayDisappearAsleep)
{
	ASSERT_TRUE(function_.stayAwake(false));
	ASSERT_TRUE(eventually(isAsleep));
	ASSERT_TRUE(function_.order(NVDLA_PCI_FAULT_GONE));
	EXPECT_NE(guilty_->run(faultTimeoutMs), 0);
	EXPECT_NE(innocent_->run(faultTimeoutMs), 0);
	expectAllIsWellPluggedInAgain();
}

} /* namespace nvdla::test */
