/* SPDX-License-Identifier: MIT */
/*
 * Records the jobs of an embedded device, with inputs and results, as a trace.
 */
#pragma once

#include <array>
#include <map>
#include <memory>
#include <mutex>
#include <span>
#include <vector>

#include "device/embedded/job_queue.h"
#include "trace/trace.h"

namespace nvdla
{

/**
 * \brief Records the jobs of an embedded device
 *
 * A trace begins after a reset of the core, with memory that is zero. Before each job, the trace
 * has the bytes that the CPU has written since the previous job; after each job, the bytes that the
 * core has written.
 */
class Recorder
{
public:
	/** \brief First address of on-chip memory in traces */
	static constexpr uint64_t onChipBase = 0x50000000;
	/** \brief First address of buffers if the user chooses none */
	static constexpr uint64_t usualMemory = 0x80000000;

	/** \param[in] memory first address of buffers, a multiple of pages */
	explicit Recorder(uint64_t memory = usualMemory) : memory_(memory) {}

	uint64_t memory() const { return memory_; }

	/** \brief Record a register write; \a offset is the register's offset in bytes */
	void write(uint32_t offset, uint32_t value);
	/** \brief Record that the core raises the interrupts \a status; \a offset is the offset in
	 * bytes of GLB's register S_INTR_STATUS */
	void interrupts(uint32_t offset, uint32_t status);
	/** \brief Record the beginning of a job that uses the buffers \a uses */
	void begin(std::span<const EmbeddedJob::Use> uses);
	/** \brief Record the end of the job that begin() recorded */
	void end(std::span<const EmbeddedJob::Use> uses);
	/** \brief Record that the device, not an operation, clears on-chip memory */
	void clearOnChip(uint64_t address, size_t size);

	/** \return the recorded trace, marked as one for \a core */
	sim::Trace trace(const sim::Geometry &core);

private:
	static constexpr size_t pageSize = EmbeddedBuffer::pageSize;
	using Page = std::array<std::byte, pageSize>;

	void compare(std::span<const EmbeddedJob::Use> uses, sim::TraceCommand::Kind kind);
	/**
	 * \brief Store a page's bytes in pages_
	 * \return true if they differ from those that were stored
	 */
	bool changes(uint64_t address, std::span<const std::byte> bytes);

	const uint64_t memory_;
	std::mutex mutex_;
	std::vector<sim::TraceCommand> commands_;
	std::map<uint64_t, Page> pages_; /* contents of memory at this point of the trace, by
					    address; other pages are zero */
};

} /* namespace nvdla */
