/* SPDX-License-Identifier: MIT */
/*
 * A core that two clients take turns on, as the driver has them do.
 */
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <random>

#include <user/nvdla_engine.h>

#include "core/ram_memory.h"
#include "modelled_core.h"
#include "task_builder.h"

namespace nvdla::test
{

/** \brief Memory of all clients: knows whose turn it is, and remembers what was written */
class ClientMemory : public sim::Memory
{
public:
	/** \brief Accesses from now on are those of a task with these extents */
	void setExtents(std::vector<nvdla_task_extent> extents) { extents_ = std::move(extents); }

	bool read(uint64_t address, std::span<std::byte> out) override;
	bool write(uint64_t address, std::span<const std::byte> data) override;

	/** \brief Fill with what nobody put there on purpose; not an access of the core */
	void fill(uint64_t address, std::span<const std::byte> data)
	{
		memory_.write(address, data);
	}

	/** \return a sum of all bytes written since the last call, and of where */
	uint64_t takeWritten() { return written_.exchange(0); }
	/** \return accesses outside the extents */
	unsigned int strayAccesses() const { return stray_; }

private:
	void check(uint64_t address, size_t size);

	sim::SparseMemory memory_;
	std::vector<nvdla_task_extent> extents_;
	std::atomic<uint64_t> written_ = 0;
	std::atomic<unsigned int> stray_ = 0;
};

/** \brief The driver's part: one task at a time, scrubs between clients, resets */
class SharedCore
{
public:
	/** \brief Bytes of each extent of a client in system memory; of CVSRAM each has a half */
	static constexpr uint64_t extentBytes = 1 << 21;

	/** \param scrubs whether the convolution buffer is scrubbed where the client changes */
	explicit SharedCore(bool scrubs = true);
	~SharedCore() { nvdla_scrub_destroy(scrub_); }

	/** \brief Have \a builder's task use the memory of client \a client, 0 or 1 */
	static void giveMemory(TaskBuilder &builder, unsigned int client);

	/** \return whether the task came to its end; otherwise the core was reset */
	bool run(unsigned int client, const TaskBuilder &builder, nvdla_task *task);

	/** \brief Random bytes for a client's memory, small ones more often; not an access of the
	 * core */
	void fillMemory(unsigned int client, std::mt19937 &random);
	/** \brief Fill a client's half of the on-chip memory; not an access of the core */
	void fillOnChip(unsigned int client, std::byte value);
	/** \return whether all bytes of it are \a value */
	bool onChipIs(unsigned int client, std::byte value);

	/** \brief Nobody has been here */
	void reset();

	ClientMemory memory;
	unsigned int scrubsRun = 0;
	unsigned int timesCleared = 0; /**< by scrubs and resets */

private:
	static constexpr unsigned int nobody = ~0U;

	void scrub();

	ModelledCore core_;
	nvdla_scrub *scrub_ = nullptr;
	nvdla_task_extent zeroes_;
	bool scrubs_;
	unsigned int owner_ = nobody;
};

} /* namespace nvdla::test */
