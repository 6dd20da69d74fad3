/* SPDX-License-Identifier: MIT */
/*
 * Playing a trace on a device that is accessed only from outside, as by a processor.
 */
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <set>
#include <vector>

#include "trace/player.h"

namespace nvdla::sim
{

/** \brief A device as a processor accesses it */
class ExternalDevice
{
public:
	virtual ~ExternalDevice() = default;

	/** \param offset in the CSB space */
	virtual uint32_t readRegister(uint32_t offset) = 0;
	/** \brief Posted: done before any later call reads a register or memory */
	virtual void writeRegister(uint32_t offset, uint32_t value) = 0;
	/** \brief Function level reset; afterwards registers and memory can be reached again */
	virtual void reset() = 0;

	/** \return false if there is no such system memory */
	virtual bool readMemory(uint64_t address, std::span<std::byte> out) = 0;
	virtual bool writeMemory(uint64_t address, std::span<const std::byte> data) = 0;
	virtual bool zeroMemory(uint64_t address, uint64_t size) = 0;

	/** \return why the device cannot be used any more; empty while it can */
	virtual std::string broken() const { return {}; }
};

/**
 * \brief A trace's view of an ExternalDevice
 *
 * A processor cannot reach the CVSRAM. When the trace fills or reads it, BDMA copies between CVSRAM
 * and a scratch area in system memory. The trace must not notice this. Loads before the first
 * register access are followed by a function level reset, which keeps the CVSRAM. Later, BDMA is
 * used only while it is idle with nothing queued; its configuration is restored, and its done
 * status cleared if it was clear before. A trace that might still notice has an obstacle().
 */
class ExternalTarget : public TraceTarget
{
public:
	struct Config {
		uint64_t cvsramBase = CoreTarget::cvsramBase;
		uint64_t cvsramSize = nvFull.cvsramSize;
		/** scratch area of twice the CVSRAM's size; its first half is kept zero */
		uint64_t scratch = 0x40000000;
		/** how long a poll waits; longer than any operation takes */
		std::chrono::milliseconds patience = std::chrono::seconds(60);
	};

	/**
	 * \param device must outlive the target
	 * \param stop   set from anywhere when playing is to end; must outlive the target
	 */
	ExternalTarget(const Config &config, ExternalDevice &device, const std::atomic<bool> &stop);

	/**
	 * \brief Prepare for a trace: all memory zero, all registers at reset
	 *
	 * System memory is cleared in and around the places that this trace and the
	 * one before it name.
	 */
	void begin(const Trace &trace);

	uint32_t read(uint32_t offset) override;
	void write(uint32_t offset, uint32_t value) override;
	uint32_t poll(uint32_t offset, const std::function<bool(uint32_t)> &wanted) override;
	bool load(RamType ram, uint64_t address, std::span<const std::byte> data) override;
	bool fetch(RamType ram, uint64_t address, std::span<std::byte> out) override;
	std::string obstacle() const override { return obstacle_; }

private:
	struct Copy {
		uint64_t from;
		uint64_t to;
		uint64_t size; /* in bytes, a multiple of an atom */
		bool toCvsram;
	};

	uint64_t staging() const { return config_.scratch + config_.cvsramSize; }
	bool insideCvsram(uint64_t address, uint64_t size) const;
	bool overlapsScratch(uint64_t address, uint64_t size) const;
	void enterRegisters();
	uint32_t pollUntil(uint32_t offset, const std::function<bool(uint32_t)> &wanted);
	bool copy(const Copy &copy);
	bool copyLines(unsigned int group, const Copy &copy, uint32_t lineSize, uint32_t lines);
	void zeroCvsram();

	const Config config_;
	ExternalDevice &device_;
	const std::atomic<bool> &stop_;
	std::string obstacle_;
	bool needsReset_ = false;   /* registers differ from their reset values */
	bool entered_ = false;	    /* the trace has accessed a register */
	unsigned int copied_ = 0;   /* bit n: BDMA group n was used while the trace ran */
	std::set<uint64_t> blocks_; /* blocks of system memory that may not be zero */
};

} /* namespace nvdla::sim */
