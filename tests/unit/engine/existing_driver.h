/* SPDX-License-Identifier: MIT */
/*
 * What the NVDLA project's own driver leaves in registers.
 */
#pragma once

#include <cstdint>
#include <map>
#include <random>

#include "modelled_core.h"

namespace nvdla::test
{

/**
 * \brief Writes registers where, and only where, the existing driver does
 *
 * Our driver writes every register of an operation, the existing one only what it takes for
 * needed. Some registers it never writes: they keep their reset value. Others it writes for some
 * operations: for the rest they hold what an operation before has left, here something random.
 * It also writes the modes of SDP_RDMA for operations that read nothing, and enables it for some
 * of those.
 *
 * The registers of a group are written when the group is enabled.
 */
class ExistingDriver : public ModelledCore::Writer
{
public:
	explicit ExistingDriver(uint32_t seed) : random_(seed) {}

	void write(sim::Core &core, uint32_t reg, uint32_t value) override;
	void cleared() override;

	/** \return registers that were left alone or filled with something so far */
	unsigned int left() const { return left_; }

private:
	/** \brief Registers of one group of one unit as our driver has them */
	using Group = std::map<uint32_t, uint32_t>;

	void enable(sim::Core &core, uint32_t unit);
	bool isLeft(const Group &group, uint32_t reg) const;
	void writeModesOfIdleReader(sim::Core &core);

	std::mt19937 random_;
	unsigned int left_ = 0;
	std::map<uint32_t, uint32_t> producer_;			/* by unit */
	std::map<std::pair<uint32_t, uint32_t>, Group> groups_; /* by unit and group */
	/* Groups of SDP_RDMA that were programmed and not enabled yet. */
	bool programmed_[2] = {};
};

} /* namespace nvdla::test */
