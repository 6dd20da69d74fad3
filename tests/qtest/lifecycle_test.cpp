/* SPDX-License-Identifier: MIT */
/*
 * The two programs coming, going, and getting in each other's way.
 */
#include <csignal>
#include <filesystem>

#include <nvdla/hw/registers.h>

#include "nvdla_sim_test.h"
#include "places.h"

using namespace nvdla::test;

namespace
{

using LifecycleTest = NvdlaSimTest;

TEST_F(LifecycleTest, SecondQemuIsRefused)
{
	ASSERT_NO_FATAL_FAILURE(startSim());
	ASSERT_NO_FATAL_FAILURE(startQemu());
	const auto second = makeQemu(Ram::Shared, file("second.log"));
	EXPECT_FALSE(second->ready());
	EXPECT_NE(second->wait(), 0);
	EXPECT_NE(said("sim.log").find("turned away"), std::string::npos);
	EXPECT_EQ(csb(NVDLA_GLB_S_NVDLA_HW_VERSION), 0x00303031u) << "the first one goes on";
}

TEST_F(LifecycleTest, NextQemuFindsFreshDevice)
{
	ASSERT_NO_FATAL_FAILURE(startSim());
	ASSERT_NO_FATAL_FAILURE(startQemu());
	setCsb(NVDLA_GLB_S_INTR_MASK, 0x3f);
	ASSERT_EQ(csb(NVDLA_GLB_S_INTR_MASK), 0x3fu);
	device_.reset();
	qemu_.reset();
	/* The server learns of the first one's end when its socket closes. */
	waitFor("the client has left",
		[&] { return said("sim.log").find("the client has left") != std::string::npos; });
	ASSERT_NO_FATAL_FAILURE(startQemu());
	EXPECT_EQ(csb(NVDLA_GLB_S_INTR_MASK), 0u);
}

TEST_F(LifecycleTest, ServerKilled)
{
	ASSERT_NO_FATAL_FAILURE(startSim());
	ASSERT_NO_FATAL_FAILURE(startQemu());
	ASSERT_EQ(csb(NVDLA_GLB_S_NVDLA_HW_VERSION), 0x00303031u);
	sim_->process().signal(SIGKILL);
	EXPECT_EQ(sim_->process().wait(), 128 + SIGKILL);

	/* The guest sees a card that was pulled out, and goes on. */
	EXPECT_EQ(csb(NVDLA_GLB_S_NVDLA_HW_VERSION), 0xffffffffu);
	setCsb(NVDLA_GLB_S_INTR_MASK, 1);
	qemu_->write<uint32_t>(kRam, 5);
	EXPECT_EQ(qemu_->read<uint32_t>(kRam), 5u);

	/* Its socket is still there, and does not keep the next server from starting. */
	EXPECT_TRUE(std::filesystem::exists(socket()));
	device_.reset();
	qemu_.reset();
	ASSERT_NO_FATAL_FAILURE(startSim());
	ASSERT_NO_FATAL_FAILURE(startQemu());
	EXPECT_EQ(csb(NVDLA_GLB_S_NVDLA_HW_VERSION), 0x00303031u);
}

TEST_F(LifecycleTest, ServerTerminated)
{
	for (const int signal : { SIGTERM, SIGINT, SIGHUP }) {
		ASSERT_NO_FATAL_FAILURE(startSim());
		ASSERT_NO_FATAL_FAILURE(startQemu());
		sim_->process().signal(signal);
		EXPECT_EQ(sim_->process().wait(), 0);
		EXPECT_FALSE(std::filesystem::exists(socket()));
		EXPECT_EQ(csb(NVDLA_GLB_S_NVDLA_HW_VERSION), 0xffffffffu);
	}
}

TEST_F(LifecycleTest, TakenSocketIsRefused)
{
	ASSERT_NO_FATAL_FAILURE(startSim());
	SimProcess second(built(NVDLA_SIM_PROGRAM), socket(), file("second.log"));
	EXPECT_FALSE(second.listening());
	EXPECT_EQ(second.process().wait(), 2);
	EXPECT_NE(said("second.log").find("another server is listening"), std::string::npos)
		<< said("second.log");
	ASSERT_NO_FATAL_FAILURE(startQemu());
	EXPECT_EQ(csb(NVDLA_GLB_S_NVDLA_HW_VERSION), 0x00303031u);
}

} /* namespace */
