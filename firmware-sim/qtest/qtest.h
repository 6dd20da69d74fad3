/* SPDX-License-Identifier: MIT */
/*
 * The stock QEMU without a guest: this program takes the processor's place.
 */
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "qtest/process.h"

namespace nvdla::sim::qtest
{

/**
 * \brief A QEMU with accel=qtest: no guest, no firmware running
 *
 * The protocol is text over stdin and stdout: one request, one reply. A request
 * that gets none within a minute has failed; what is read by one that failed is 0.
 */
class Qtest
{
public:
	/** \brief Told of every request that fails */
	using Failed = std::function<void(const std::string &message)>;

	/**
	 * \param qemu program and first arguments, as in QemuBinary
	 * \param arguments machine, devices
	 * \param errors file for what QEMU says on stderr
	 */
	Qtest(const std::vector<std::string> &qemu, const std::vector<std::string> &arguments,
	      const std::string &errors, Failed failed);

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
	/** \brief write32() that does not wait until it is done; a later request does */
	void post32(uint64_t address, uint32_t value);
	uint8_t read8(uint64_t address);
	uint16_t read16(uint64_t address);
	uint32_t read32(uint64_t address);

	/** \brief Copy to and from the machine's memory */
	void writeMemory(uint64_t address, std::span<const std::byte> data);
	std::vector<std::byte> readMemory(uint64_t address, size_t size);
	/** \brief Fill the machine's memory with zeroes */
	void zeroMemory(uint64_t address, uint64_t size);

private:
	/** \return what follows OK in the reply; nothing if the request failed */
	std::optional<std::string> request(const std::string &line);
	/** \brief request() that must not fail \return what follows OK, empty if it failed */
	std::string demand(const std::string &line);
	uint64_t number(const std::string &line);
	bool send();
	std::optional<std::string> readLine();
	bool collectPosted();

	Failed failed_;

	UniqueFd in_;
	UniqueFd out_;
	std::string toSend_;
	std::string received_;
	unsigned int posted_ = 0; /* requests whose replies are still to come */
	std::unique_ptr<Process> process_;
};

} /* namespace nvdla::sim::qtest */
