/* SPDX-License-Identifier: MIT */
/*
 * Random tasks for clients that share a core.
 */
#pragma once

#include <cstdint>
#include <random>

#include "task_builder.h"

namespace nvdla::test
{

/**
 * \brief Random tasks, legal and illegal ones
 *
 * Three in four convolve; sparse weights are more or fewer than the mask in memory says, and
 * convolutions reuse what they may and what they may not. Each task has one engine at work at
 * a time, so that it does the same whenever it runs. Now and then a cube is in CVSRAM.
 */
class TaskDice
{
public:
	explicit TaskDice(std::mt19937 &random) : random_(random) {}

	/** \param builder empty, with the extents that the task is to have */
	void addTask(TaskBuilder &builder);

	/** \brief Extents that end somewhere near what the tasks need, half of them */
	void cutExtents(TaskBuilder &builder);

private:
	unsigned int below(unsigned int end) { return static_cast<unsigned int>(random_() % end); }
	uint8_t flag() { return static_cast<uint8_t>(below(2)); }

	void addOther(TaskBuilder &builder);
	void addConvolution(TaskBuilder &builder);
	void addSparse(TaskBuilder &builder);
	void addReuse(TaskBuilder &builder);
	void vary(TaskBuilder &builder, size_t i);
	void setBanks(TaskBuilder &builder);
	void moveOnChip(TaskBuilder &builder);
	void patch(TaskBuilder &builder);

	std::mt19937 &random_;
};

} /* namespace nvdla::test */
