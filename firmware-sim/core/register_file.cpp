/* SPDX-License-Identifier: MIT */
#include "core/register_file.h"

#include <cstring>

#include <nvdla/hw/field.h>
#include <nvdla/hw/registers.h>

#include "core/register_table.h"

namespace nvdla::sim
{

/* All units with groups begin with the same registers. This file uses the names of RUBIK's. */
namespace
{

constexpr uint32_t statusWord = (NVDLA_RBK_S_STATUS - NVDLA_RBK_BASE) / 4;
constexpr uint32_t pointerWord = (NVDLA_RBK_S_POINTER - NVDLA_RBK_BASE) / 4;

} /* namespace */

RegisterFile::RegisterFile(Unit unit, const Geometry &geometry) : base_(unitBase(unit))
{
	const auto known = unitRegisters(unit);

	registers_.assign(known.begin(), known.end());
	for (uint32_t word = 0; word < registers_.size(); word++) {
		RegisterInfo &info = registers_[word];
		if (!info.name)
			continue;
		info = geometry.adapt(base_ + 4 * word, info);
		if (std::strcmp(info.name, "D_OP_ENABLE") == 0)
			opEnable_ = word;
		if (!info.shadowed)
			single_.push_back(word);
		else if (info.counter || info.status)
			counters_.push_back(word);
	}
	grouped_ = opEnable_ != absent;
	reset();
}

void RegisterFile::reset()
{
	for (auto &words : words_) {
		words.resize(registers_.size());
		for (uint32_t word = 0; word < words.size(); word++)
			words[word] = registers_[word].reset;
	}
	producer_ = 0;
	consumer_ = 0;
	enabled_ = {};
	running_ = false;
}

uint32_t RegisterFile::status() const
{
	uint32_t value = 0;
	for (unsigned int group = 0; group < 2; group++) {
		const uint32_t state = !enabled_[group]	    ? NVDLA_RBK_S_STATUS__STATUS_0__IDLE
				       : group == consumer_ ? NVDLA_RBK_S_STATUS__STATUS_0__RUNNING
							    : NVDLA_RBK_S_STATUS__STATUS_0__PENDING;
		value |= group ? NVDLA_FIELD_PREP(NVDLA_RBK_S_STATUS__STATUS_1, state)
			       : NVDLA_FIELD_PREP(NVDLA_RBK_S_STATUS__STATUS_0, state);
	}
	return value;
}

uint32_t RegisterFile::pointer() const
{
	return NVDLA_FIELD_PREP(NVDLA_RBK_S_POINTER__PRODUCER, producer_) |
	       NVDLA_FIELD_PREP(NVDLA_RBK_S_POINTER__CONSUMER, consumer_);
}

uint32_t RegisterFile::read(uint32_t address) const
{
	const uint32_t word = find(address);
	if (word == absent)
		return 0;
	if (grouped_ && word == statusWord)
		return status();
	if (grouped_ && word == pointerWord)
		return pointer();
	if (word == opEnable_)
		return enabled_[producer_];
	const RegisterInfo &info = registers_[word];
	return words_[info.shadowed ? producer_ : 0][word] & info.readMask;
}

RegisterFile::Write RegisterFile::write(uint32_t address, uint32_t value)
{
	const uint32_t word = find(address);
	if (word == absent)
		return Write::Reserved;
	if (grouped_ && word == pointerWord) {
		producer_ = NVDLA_FIELD_GET(NVDLA_RBK_S_POINTER__PRODUCER, value);
		return Write::Done;
	}
	const RegisterInfo &info = registers_[word];
	if (info.shadowed && enabled_[producer_])
		return Write::Locked;
	if (word == opEnable_) {
		if (!(value & info.writeMask))
			return Write::Done;
		enabled_[producer_] = true;
		clearCounters();
		return Write::Enabled;
	}
	uint32_t &stored = this->word(word, producer_);
	stored = (stored & ~info.writeMask) | (value & info.writeMask);
	return Write::Done;
}

RegisterView RegisterFile::view(unsigned int group) const
{
	RegisterView view(base_, words_[group]);

	for (const uint32_t word : single_)
		view.set(word, words_[0][word]);
	return view;
}

/* Resets the counters of the producer's group, which was just enabled. */
void RegisterFile::clearCounters()
{
	for (const uint32_t word : counters_)
		words_[producer_][word] = registers_[word].reset;
}

void RegisterFile::finish()
{
	running_ = false;
	enabled_[consumer_] = false;
	consumer_ ^= 1;
}

void RegisterFile::latch(unsigned int group, uint32_t address, uint32_t value)
{
	const uint32_t word = find(address);

	if (word != absent)
		this->word(word, group) = value;
}

} /* namespace nvdla::sim */
