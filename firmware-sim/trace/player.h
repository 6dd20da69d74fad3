/* SPDX-License-Identifier: MIT */
/*
 * Playing a trace on a device.
 */
#pragma once

#include <functional>
#include <span>
#include <string>
#include <vector>

#include "core/core.h"
#include "core/ram_memory.h"
#include "trace/trace.h"

namespace nvdla::sim
{

/** \brief A device that a trace is played on */
class TraceTarget
{
public:
	virtual ~TraceTarget() = default;

	virtual uint32_t read(uint32_t offset) = 0;
	virtual void write(uint32_t offset, uint32_t value) = 0;

	/**
	 * \brief Wait until a register has a wanted value
	 * \return the wanted value, or the register's last value if it cannot change any more
	 */
	virtual uint32_t poll(uint32_t offset, const std::function<bool(uint32_t)> &wanted) = 0;

	/** \return false if there is no such memory */
	virtual bool load(RamType ram, uint64_t address, std::span<const std::byte> data) = 0;
	virtual bool fetch(RamType ram, uint64_t address, std::span<std::byte> out) = 0;

	/** \return why the trace cannot be played here (no fault of the device); else empty */
	virtual std::string obstacle() const { return {}; }
};

/** \brief Result of playing a trace: failures, and how expectations with a tolerance fared */
struct PlayResult {
	std::vector<std::string> failures; /**< one line each, with the line of the trace */
	unsigned int toleranced = 0;	   /**< expectations with a tolerance */
	unsigned int exact = 0;		   /**< toleranced ones that are met byte for byte */
	unsigned int outside = 0;	   /**< toleranced ones that exceed their tolerance */
	std::string skipped; /**< why the trace was not played; other members are unused then */

	bool passed() const { return failures.empty() && skipped.empty(); }
};

/**
 * \brief Play a trace from beginning to end
 *
 * Playing ends at a poll whose value never comes. After other failures it continues, so that the
 * result has all of them.
 */
PlayResult play(const Trace &trace, TraceTarget &target);

/**
 * \brief A core of the model with a DRAM of its own
 *
 * The CVSRAM is at the base address that the traces of nvdlav1 use. A poll fails
 * when the core is idle, so that no result depends on the host's speed.
 */
class CoreTarget : public TraceTarget
{
public:
	static constexpr uint64_t cvsramBase = 0x50000000;

	/** \param config of the core; its CVSRAM is put at cvsramBase */
	explicit CoreTarget(CoreConfig config = {});

	uint32_t read(uint32_t offset) override;
	void write(uint32_t offset, uint32_t value) override;
	uint32_t poll(uint32_t offset, const std::function<bool(uint32_t)> &wanted) override;
	bool load(RamType ram, uint64_t address, std::span<const std::byte> data) override;
	bool fetch(RamType ram, uint64_t address, std::span<std::byte> out) override;

	Core &core() { return core_; }

private:
	Memory &memory(RamType ram);

	SparseMemory dram_;
	Core core_;
};

} /* namespace nvdla::sim */
