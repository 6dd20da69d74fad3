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
 * without a reply within a minute has failed; a failed read returns 0.
 */
class Qtest
{
public:
	/** \brief Called for every request that fails */
	using Failed = std::function<void(const std::string &message)>;

	/**
	 * \param qemu program and first arguments, as in QemuBinary
	 * \param arguments machine, devices
	 * \param errors file for QEMU's stderr
	 */
	Qtest(const std::vector<std::string> &qemu, const std::vector<std::string> &arguments,
	      const std::string &errors, Failed failed);

	/** \return true if QEMU is running and answers */
	bool ready();
	/**
	 * \brief Wait until QEMU ends
	 * \return its exit status
	 */
	int wait() { return process_->wait(); }

	/** \brief A port, of as many bits as \a T has */
	template<typename T>
	void out(uint16_t port, T value)
	{
		put("out", port, sizeof(T), value);
	}
	template<typename T>
	T in(uint16_t port)
	{
		return static_cast<T>(get("in", port, sizeof(T)));
	}
	/** \brief Memory, of as many bits as \a T has */
	template<typename T>
	void write(uint64_t address, T value)
	{
		put("write", address, sizeof(T), value);
	}
	template<typename T>
	T read(uint64_t address)
	{
		return static_cast<T>(get("read", address, sizeof(T)));
	}
	/** \brief write() of 32 bits without waiting for the reply; a later request waits for it */
	void post32(uint64_t address, uint32_t value);

	/** \brief Copy to and from the machine's memory */
	void writeMemory(uint64_t address, std::span<const std::byte> data);
	std::vector<std::byte> readMemory(uint64_t address, size_t size);
	/** \brief Fill the machine's memory with zeroes */
	void zeroMemory(uint64_t address, uint64_t size);

private:
	/** \return text after OK in the reply; nothing if the request failed */
	std::optional<std::string> request(const std::string &line);
	/**
	 * \brief request() that must not fail
	 * \return text after OK, empty if it failed
	 */
	std::string demand(const std::string &line);
	void put(const char *what, uint64_t at, size_t bytes, uint64_t value);
	uint64_t get(const char *what, uint64_t at, size_t bytes);
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
