/* SPDX-License-Identifier: MIT */
/*
 * The stock QEMU without a guest: a test takes the processor's place.
 */
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "process.h"

namespace nvdla::test
{

/**
 * \brief QEMU's command line as far as the binary, found once
 *
 * $NVDLA_QEMU (words separated by spaces: program, loader, -L options), else
 * qemu-system-x86_64 from PATH. What $NVDLA_QEMU names must work; what PATH has
 * may be too old for vfio-user, and then the tests are skipped.
 */
struct QemuBinary {
	std::vector<std::string> words;
	std::string skipReason; /**< why there is none to test with; empty if there is */
	std::string error;	/**< what is wrong with $NVDLA_QEMU; empty if nothing */

	static const QemuBinary &find();
};

/**
 * \brief A QEMU with accel=qtest: x86 q35 machine, no guest, no firmware running
 *
 * The protocol is text over stdin and stdout: one request, one reply. A request
 * that gets no reply within a minute fails the test.
 */
class Qtest
{
public:
	/** \param errors file for what QEMU says on stderr */
	Qtest(const std::vector<std::string> &arguments, const std::string &errors);

	/** \return whether QEMU is up and answers */
	bool ready();
	/** \brief Wait until QEMU has ended by itself \return its exit status */
	int wait() { return process_->wait(); }

	void out32(uint16_t port, uint32_t value);
	void out16(uint16_t port, uint16_t value);
	void out8(uint16_t port, uint8_t value);
	uint32_t in32(uint16_t port);
	uint16_t in16(uint16_t port);
	uint8_t in8(uint16_t port);

	void write8(uint64_t address, uint8_t value);
	void write16(uint64_t address, uint16_t value);
	void write32(uint64_t address, uint32_t value);
	void write64(uint64_t address, uint64_t value);
	uint8_t read8(uint64_t address);
	uint16_t read16(uint64_t address);
	uint32_t read32(uint64_t address);
	uint64_t read64(uint64_t address);

	/** \brief Copy to and from the machine's memory */
	void writeMemory(uint64_t address, std::span<const std::byte> data);
	std::vector<std::byte> readMemory(uint64_t address, size_t size);

private:
	/** \return what follows OK in the reply; nothing if the request failed */
	std::optional<std::string> request(const std::string &line);
	uint64_t number(const std::string &line);
	std::optional<std::string> readLine();

	UniqueFd in_;
	UniqueFd out_;
	std::string buffer_;
	std::unique_ptr<Process> process_;
};

/** \brief A PCI function of a Qtest machine, by configuration mechanism 1 */
class PciDevice
{
public:
	/** \param slot device number on bus 0; function 0 is meant */
	PciDevice(Qtest &qtest, unsigned int slot) : qtest_(qtest), slot_(slot) {}

	uint8_t config8(uint8_t offset);
	uint16_t config16(uint8_t offset);
	uint32_t config32(uint8_t offset);
	void setConfig8(uint8_t offset, uint8_t value);
	void setConfig16(uint8_t offset, uint16_t value);
	void setConfig32(uint8_t offset, uint32_t value);

	/** \return place of a capability in configuration space, 0 if there is none */
	uint8_t findCapability(uint8_t id);
	/** \return bytes a memory BAR asks for; its address is lost */
	uint32_t barSize(unsigned int bar);
	/** \brief Give a BAR an address */
	void mapBar(unsigned int bar, uint32_t address);
	/** \brief Let the function answer to its BARs and be a bus master, or not */
	void enable(bool memory, bool master);

private:
	void select(uint8_t offset);

	Qtest &qtest_;
	unsigned int slot_;
};

} /* namespace nvdla::test */
