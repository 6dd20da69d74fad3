/* SPDX-License-Identifier: MIT */
/* A pool of two devices, of which one goes under load and comes back. */
#include <algorithm>
#include <condition_variable>
#include <map>
#include <mutex>
#include <optional>
#include <set>

#include <gtest/gtest.h>

#include <nvdla/hw/pci.h>
#include <nvdla/pool.h>

#include "pci_function.h"
#include "test_support.h"

namespace nvdla::test
{

namespace
{

constexpr uint32_t poolChannels = 32;
constexpr uint32_t poolWidth = 64;
constexpr unsigned poolStreams = 4;
/* Of the pool, on each device. */
constexpr unsigned poolSlots = 2;

class PoolOfTwo : public testing::Test
{
protected:
	void SetUp() override
	{
		nodes_ = nvdla::Device::enumerate();
		ASSERT_EQ(nodes_.size(), 2U) << "a test for a guest with two devices";
		function_.emplace(nodes_[1]);
		/* Sleep resets the function, which would end a fault before anybody met it. */
		ASSERT_TRUE(function_->valid() && function_->stayAwake(true));
		auto pool =
			Pool::create({ open(nodes_[0]), open(nodes_[1]) }, { .slots = poolSlots });
		ASSERT_TRUE(pool) << pool.error().message();
		pool_.emplace(std::move(*pool));
		ASSERT_TRUE(pool_->addNetwork(passLoadable(poolChannels, poolWidth)));
	}

	/* Without files of it that are open, the device gets its node back. */
	void TearDown() override
	{
		pool_.reset();
		function_->order(NVDLA_PCI_FAULT_NONE);
		function_->stayAwake(false);
		EXPECT_TRUE(function_->unbind() && function_->bind());
		EXPECT_EQ(nvdla::Device::enumerate(), nodes_);
	}

	static nvdla::Device open(const std::string &node)
	{
		auto device = nvdla::Device::open(node);
		EXPECT_TRUE(device) << device.error().message();
		return *device;
	}

	/* The numbers \a first and up, each in the next stream. */
	void submit(unsigned first, unsigned count)
	{
		for (unsigned number = first; number < first + count; number++) {
			PoolRequest request;
			request.inputs = { pattern(poolChannels * poolWidth, number) };
			request.stream = number % streams_;
			/* Who waits on a busy machine is not lost. */
			request.options.timeout = std::chrono::minutes(30);
			ASSERT_TRUE(pool_->submit(std::move(request), [this, number](auto answer) {
				answered(number, std::move(answer));
			}));
		}
	}

	void answered(unsigned number, Result<PoolAnswer> answer)
	{
		const std::lock_guard guard(lock_);
		const auto last = lastOf_.find(number % streams_);

		ASSERT_TRUE(answer) << number << ": " << answer.error().message();
		EXPECT_EQ(answer->outputs.at(0), pattern(poolChannels * poolWidth, number));
		EXPECT_TRUE(answers_.insert(number).second) << number << " is answered again";
		EXPECT_TRUE(last == lastOf_.end() || last->second < number) << "order of a stream";
		lastOf_[number % streams_] = number;
		changed_.notify_all();
	}

	void waitFor(size_t answers)
	{
		std::unique_lock guard(lock_);
		changed_.wait(guard, [&] { return answers_.size() >= answers; });
	}

	/* The device that went has a driver again; to the pool it is another one. */
	void bringBack()
	{
		const std::vector<std::string> now = nvdla::Device::enumerate();
		const auto other = std::find_if(now.begin(), now.end(), [this](const auto &node) {
			return node != nodes_[0];
		});
		ASSERT_NE(other, now.end());
		ASSERT_TRUE(pool_->addDevice(open(*other)));
	}

	std::vector<std::string> nodes_;
	std::optional<PciFunction> function_;
	std::optional<Pool> pool_;
	unsigned streams_ = poolStreams; /* requests take turns in */

	std::mutex lock_;
	std::condition_variable changed_;
	std::set<unsigned> answers_;
	std::map<unsigned, unsigned> lastOf_; /* the last answer of each stream */
};

} /* namespace */

TEST_F(PoolOfTwo, OneIsUnboundUnderLoad)
{
	constexpr unsigned many = 400;

	submit(0, many);
	waitFor(many / 4);
	Unbound unbound(*function_);
	ASSERT_TRUE(unbound.done());
	waitFor(many);
	EXPECT_EQ(answers_.size(), many);
	std::vector<DeviceUse> use = pool_->use();
	EXPECT_TRUE(use[1].lost && !use[0].lost);
	EXPECT_GT(use[1].completed, 0U);
	EXPECT_EQ(use[0].completed + use[1].completed, many);

	/* Back, it does its part again. */
	ASSERT_TRUE(unbound.bind());
	bringBack();
	submit(many, many);
	waitFor(2 * many);
	EXPECT_EQ(answers_.size(), 2 * many);
	use = pool_->use();
	EXPECT_FALSE(use[2].lost);
	EXPECT_GT(use[2].completed, 0U);
}

/* What hangs on it for sure runs elsewhere. */
TEST_F(PoolOfTwo, OneIsRemovedWithJobsOnIt)
{
	/* Each in a stream of its own: none waits for one that hangs. */
	constexpr unsigned tooMany = 10000;
	unsigned many = 0;

	streams_ = tooMany;
	ASSERT_TRUE(function_->order(NVDLA_PCI_FAULT_HANG, 1));
	/* It gets one whenever the other device has more to do, which may be done with each before
	 * the next one is there. */
	while (pool_->use()[1].running < poolSlots) {
		ASSERT_LT(many, tooMany) << "the device that hangs gets no requests";
		submit(many++, 1);
	}
	waitFor(many - poolSlots);
	ASSERT_TRUE(function_->remove());
	waitFor(many);
	EXPECT_EQ(answers_.size(), many);
	const std::vector<DeviceUse> use = pool_->use();
	EXPECT_TRUE(use[1].lost && !use[0].lost);
	EXPECT_EQ(use[1].completed, 0U);
	EXPECT_EQ(use[1].moved, poolSlots);
	EXPECT_EQ(use[0].completed, many);

	ASSERT_TRUE(PciFunction::rescan());
	bringBack();
}

} /* namespace nvdla::test */
