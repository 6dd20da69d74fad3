/* SPDX-License-Identifier: MIT */
/* What one client's convolutions leave in the core, and another's could find there. */
#include <algorithm>
#include <vector>

#include <gtest/gtest.h>

#include "device/refusal.h"
#include "driver_files.h"
#include "task_client.h"

namespace nvdla::test
{

namespace
{

/** A convolution of 36 KiB of weights, all \a secret */
void runVictim(TaskClient &client, uint8_t secret)
{
	TaskBuilder builder = TaskClient::sized();

	std::ranges::fill(client.buffer(1).bytes(), secret);
	builder.addConv();
	builder.setChannels(0, 128);
	builder.conv(0).weight_bank = 8;
	ASSERT_EQ(client.run(builder), 0) << refusedField(client.error(), NVDLA_OP_SDP);
}

/** \return what a convolution writes whose mask has ones for 9 KiB of weights, but which
 *	fetches 128 bytes of them */
std::vector<uint8_t> runThief(TaskClient &client)
{
	TaskBuilder builder = TaskClient::sized();

	std::ranges::fill(client.buffer(0).bytes(), uint8_t{ 1 });
	std::ranges::fill(client.buffer(1).bytes(), uint8_t{ 0xff });
	builder.addCompressed();
	/* Fewer banks than the victim has for its weights: CSC begins where those are. */
	builder.conv(0).weight_bank = 7;
	EXPECT_EQ(client.run(builder), 0) << refusedField(client.error(), NVDLA_OP_SDP);
	EXPECT_EQ(client.buffer(2).prepare(DRM_NVDLA_BO_READ), 0);
	const std::span<uint8_t> out = client.buffer(2).bytes().first(8 * 8 * 32);
	return { out.begin(), out.end() };
}

} /* namespace */

TEST(Leak, AMaskFindsNoWeightsOfAnotherClient)
{
	TaskClient victim, thief;
	ASSERT_TRUE(victim.valid() && thief.valid());
	/* Waking up from sleep clears the core as well. */
	const Setting awake(deviceFolder() / "power/control", "on");
	ASSERT_TRUE(awake.done());

	/* Whatever the secret is, the thief sees the same. */
	runVictim(victim, 0x11);
	const std::vector<uint8_t> first = runThief(thief);
	runVictim(victim, 0x5a);
	EXPECT_EQ(runThief(thief), first);

	/* It sees what there is behind a reset. */
	ASSERT_EQ(writeFile(debugFolder() / "reset", "1"), 0);
	EXPECT_EQ(runThief(thief), first);

	/* And it could have seen something: of its own. */
	runVictim(thief, 0x5a);
	EXPECT_NE(runThief(thief), first);
}

} /* namespace nvdla::test */
