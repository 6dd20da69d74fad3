/* SPDX-License-Identifier: MIT */
/* Look-up tables of jobs that take turns: each finds its own, whatever was there before. */
#include <algorithm>
#include <array>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "device/refusal.h"
#include "driver_files.h"
#include "eventually.h"
#include "task_client.h"

namespace nvdla::test
{

namespace
{

constexpr size_t cubeBytes = 8 * 8 * 32;

/** \brief An engine with a table of its own, and how an operation with it is made */
struct Engine {
	std::string name;
	std::function<void(TaskBuilder &)> add;
};

const Engine tableEngines[] = {
	{ "CDP", [](TaskBuilder &builder) { builder.addCdp(); } },
	{ "SDP", [](TaskBuilder &builder) { builder.useLut(builder.addSdp()); } },
};

/* A table of which the last one differs in a few entries, the next one in all. */
constexpr int tableCount = 3;

void change(nvdla_lut_desc &table, int number)
{
	for (size_t i = 0; i < std::size(table.lo_table); i++)
		table.lo_table[i] = static_cast<int16_t>(number == 2 ? 100 - i % 64 : i);
	for (size_t i = 0; i < std::size(table.le_table); i++)
		table.le_table[i] = static_cast<int16_t>(number == 2 ? i % 50 : 3 * i);
	if (number == 1)
		for (const size_t i : { 0, 5, 6, 64 })
			table.le_table[i] = table.lo_table[i] = static_cast<int16_t>(200 + i);
	table.underflow_priority = table.overflow_priority = static_cast<uint8_t>(number % 2);
}

class TableTest : public testing::TestWithParam<Engine>
{
protected:
	TableTest() : awake_(deviceFolder() / "power/control", "on") {}

	void SetUp() override
	{
		ASSERT_TRUE(awake_.done() && first_.valid() && second_.valid());
		for (int number = 0; number < tableCount; number++) {
			ASSERT_EQ(writeFile(debugFolder() / "reset", "1"), 0);
			expected_[static_cast<size_t>(number)] = answer(first_, number);
		}
		ASSERT_NE(expected_[0], expected_[1]);
		ASSERT_NE(expected_[1], expected_[2]);
	}

	/** \return what the operation writes with that table */
	static std::vector<uint8_t> answer(TaskClient &client, int number)
	{
		TaskBuilder builder = TaskClient::sized();
		const Engine &engine = GetParam();

		engine.add(builder);
		change(builder.luts[0], number);
		for (int16_t i = 0; i < TaskClient::bufferCount; i++) {
			const std::span<uint8_t> bytes =
				client.buffer(i).bytes().first(4 * cubeBytes);
			for (size_t at = 0; at < bytes.size(); at++)
				bytes[at] = static_cast<uint8_t>(at % 13);
		}
		EXPECT_EQ(client.run(builder), 0) << refusedField(client.error(), NVDLA_OP_SDP);
		std::vector<uint8_t> all;
		for (int16_t i = 0; i < TaskClient::bufferCount; i++) {
			EXPECT_EQ(client.buffer(i).prepare(DRM_NVDLA_BO_READ), 0);
			const auto bytes = client.buffer(i).bytes().first(4 * cubeBytes);
			all.insert(all.end(), bytes.begin(), bytes.end());
		}
		return all;
	}

	void expectOwn(TaskClient &client, int number)
	{
		EXPECT_EQ(answer(client, number), expected_[static_cast<size_t>(number)])
			<< "table " << number;
	}

	/** Waking up from sleep forgets what was there as well */
	Setting awake_;
	TaskClient first_;
	TaskClient second_;
	std::array<std::vector<uint8_t>, tableCount> expected_;
};

} /* namespace */

TEST_P(TableTest, TakesTurnsWithOthersOfItsClient)
{
	for (const int number : { 0, 1, 0, 2, 1, 2, 2, 0 })
		expectOwn(first_, number);
}

TEST_P(TableTest, TakesTurnsWithAnotherClients)
{
	for (const int number : { 0, 1, 0, 2, 1, 2 }) {
		expectOwn(first_, number);
		expectOwn(second_, 2 - number);
	}
}

TEST_P(TableTest, IsThereAfterReset)
{
	expectOwn(first_, 0);
	ASSERT_EQ(writeFile(debugFolder() / "reset", "1"), 0);
	expectOwn(first_, 1);
	ASSERT_EQ(writeFile(debugFolder() / "reset", "1"), 0);
	expectOwn(first_, 1);
}

TEST_P(TableTest, IsThereAfterSleep)
{
	const std::string control = (deviceFolder() / "power/control").string();

	for (const int number : { 0, 1, 1 }) {
		expectOwn(first_, number);
		ASSERT_EQ(writeFile(control, "auto"), 0);
		ASSERT_TRUE(eventually(isAsleep));
		ASSERT_EQ(writeFile(control, "on"), 0);
	}
	expectOwn(first_, 2);
}

INSTANTIATE_TEST_SUITE_P(Engines, TableTest, testing::ValuesIn(tableEngines),
			 [](const auto &info) { return info.param.name; });

} /* namespace nvdla::test */
