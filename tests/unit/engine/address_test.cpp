/* SPDX-License-Identifier: MIT */
/*
 * A register group keeps what the last operation in it has left, whoever's that was. Therefore
 * every operation writes all addresses of each unit that it uses, those too that it has no use for.
 */
#include <cstdint>
#include <functional>
#include <map>
#include <random>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

#include <nvdla/hw/register_table.h>

#include "task_builder.h"
#include "task_dice.h"

namespace nvdla::test
{

namespace
{

constexpr uint32_t unitBytes = 4096;
constexpr unsigned int randomTasks = 3000, seed = 20261127;

/* One that operations write, and a group has: not the address of a table's entry. */
std::map<uint32_t, std::string> addressRegisters()
{
	std::map<uint32_t, std::string> found;
	for (const nvdla_unit_info &unit : nvdla_units) {
		for (unsigned int i = 0; i < unit.count; i++) {
			const std::string_view name = unit.registers[i].name;
			if (name.find("ADDR") != name.npos && name.starts_with("D_"))
				found[unit.registers[i].address] =
					std::string(unit.name) + " " + std::string(name);
		}
	}
	return found;
}

/** \brief What an operation writes, by register */
using Program = std::map<uint32_t, uint32_t>;

class Programs
{
public:
	/** \return whether the task is legal; the programs of its operations are kept then */
	bool add(const TaskBuilder &builder)
	{
		const Created created = builder.create();
		if (created.result != 0)
			return false;
		for (uint32_t op = 0; op < nvdla_task_num_operations(created.task.get()); op++) {
			Program program;
			for (uint32_t i = 0; i < nvdla_task_num_writes(created.task.get(), op); i++) {
				const nvdla_reg_write write =
					nvdla_task_write(created.task.get(), op, i);
				program[write.reg] = write.value;
			}
			all_.push_back(std::move(program));
		}
		return true;
	}

	/** \return address registers, per unit, that any operation writes */
	std::map<uint32_t, std::set<uint32_t>> written() const
	{
		std::map<uint32_t, std::set<uint32_t>> found;
		for (const Program &program : all_)
			for (const auto &[reg, value] : program)
				if (registers_.contains(reg))
					found[reg / unitBytes].insert(reg);
		return found;
	}

	/** \return address registers that an operation leaves as they are in a unit that it uses */
	std::set<std::string> left() const
	{
		const auto written = this->written();
		std::set<std::string> found;
		for (const Program &program : all_) {
			std::set<uint32_t> units;
			for (const auto &[reg, value] : program)
				units.insert(reg / unitBytes);
			for (const uint32_t unit : units) {
				if (!written.contains(unit))
					continue;
				for (const uint32_t reg : written.at(unit))
					if (!program.contains(reg))
						found.insert(registers_.at(reg));
			}
		}
		return found;
	}

private:
	std::map<uint32_t, std::string> registers_ = addressRegisters();
	std::vector<Program> all_;
};

const std::vector<std::function<void(TaskBuilder &)>> kinds = {
	[](TaskBuilder &b) { b.addBdma(); },
	[](TaskBuilder &b) { b.addConv(); },
	[](TaskBuilder &b) { b.addWinograd(); },
	[](TaskBuilder &b) { b.addCompressed(); },
	[](TaskBuilder &b) { b.addImage(12); },
	[](TaskBuilder &b) { b.addImage(28); },
	[](TaskBuilder &b) { b.addSdp(); },
	[](TaskBuilder &b) { b.addComparison(); },
	[](TaskBuilder &b) { b.addPdp(); },
	[](TaskBuilder &b) { b.addSplitPdp(); },
	[](TaskBuilder &b) { b.addSdpPdp(); },
	[](TaskBuilder &b) { b.addCdp(); },
	[](TaskBuilder &b) { b.addRubik(NVDLA_RUBIK_CONTRACT); },
	[](TaskBuilder &b) { b.addRubik(NVDLA_RUBIK_SPLIT); },
	[](TaskBuilder &b) { b.addRubik(NVDLA_RUBIK_MERGE); },
};

} /* namespace */

TEST(Address, NoneIsLeftFromAnEarlierOperation)
{
	Programs programs;

	for (const auto &add : kinds) {
		TaskBuilder builder;
		add(builder);
		ASSERT_TRUE(programs.add(builder));
	}
	/* The second and third operands of SDP, each with and without the others. */
	for (unsigned int units = 0; units < 8; units++) {
		TaskBuilder builder;
		const size_t i = builder.addSdp();
		const nvdla_sdp_op operand = builder.sdp(i).x1_op;
		const nvdla_data_cube cube = builder.sdpCubes(i).x1_data;
		builder.sdp(i).x1_op = units & 1 ? operand : nvdla_sdp_op{};
		builder.sdp(i).x2_op = units & 2 ? operand : nvdla_sdp_op{};
		builder.sdp(i).y_op = units & 4 ? operand : nvdla_sdp_op{};
		builder.sdp(i).y_op.act = NVDLA_ACT_NONE;
		builder.sdpCubes(i).x2_data = builder.sdpCubes(i).y_data = cube;
		ASSERT_TRUE(programs.add(builder)) << units;
	}
	std::mt19937 random(seed);
	TaskDice dice(random);
	unsigned int legal = 0;
	for (unsigned int i = 0; i < randomTasks; i++) {
		TaskBuilder builder;
		dice.addTask(builder);
		legal += programs.add(builder);
	}
	EXPECT_GT(legal, randomTasks / 5);

	/* CDMA, SDP and PDP with their RDMAs, CDP with its, BDMA is not shadowed, RUBIK. */
	EXPECT_EQ(programs.written().size(), 8U);
	EXPECT_EQ(programs.left(), std::set<std::string>());
}

} /* namespace nvdla::test */
