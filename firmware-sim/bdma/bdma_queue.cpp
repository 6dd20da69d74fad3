/* SPDX-License-Identifier: MIT */
#include "bdma/bdma_queue.h"

#include <nvdla/hw/field.h>
#include <nvdla/hw/registers.h>

namespace nvdla::sim
{

void BdmaQueue::reset()
{
	operations_.clear();
	launches_.clear();
	launched_ = 0;
	busy_ = {};
	running_ = false;
}

const char *BdmaQueue::push(const BdmaOp &op)
{
	if (operations_.size() > slots_)
		return "operation without a free slot";
	operations_.push_back(op);
	return nullptr;
}

const char *BdmaQueue::launch(unsigned int group)
{
	if (launches_.size() == maximumLaunches)
		return "launch while both groups are busy";
	busy_[group] = true;
	const size_t operations = operations_.size() - launched_;
	if (!operations)
		return "launch of a group without operations";
	launches_.push_back({ group, operations });
	for (size_t i = launched_ + 1; i < operations_.size(); i++)
		operations_[i].follow(operations_[i - 1]);
	launched_ += operations;
	return nullptr;
}

const BdmaOp *BdmaQueue::next() const
{
	return launches_.empty() || running_ ? nullptr : &operations_.front();
}

std::optional<unsigned int> BdmaQueue::finish()
{
	running_ = false;
	operations_.pop_front();
	launched_--;
	Launch &launch = launches_.front();
	if (--launch.operations)
		return std::nullopt;
	const unsigned int group = launch.group;
	launches_.pop_front();
	busy_[group] = false;
	return group;
}

uint32_t BdmaQueue::status() const
{
	const size_t taken = operations_.empty() ? 0 : operations_.size() - 1;
	return NVDLA_FIELD_PREP(NVDLA_BDMA_STATUS__FREE_SLOT, slots_ - taken) |
	       NVDLA_FIELD_PREP(NVDLA_BDMA_STATUS__IDLE, operations_.empty()) |
	       NVDLA_FIELD_PREP(NVDLA_BDMA_STATUS__GRP0_BUSY, busy_[0]) |
	       NVDLA_FIELD_PREP(NVDLA_BDMA_STATUS__GRP1_BUSY, busy_[1]);
}

} /* namespace nvdla::sim */
