/* SPDX-License-Identifier: MIT */
/*
 * Access to a machine of an unmodified QEMU, without a guest: this program acts as its processor.
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
 * \brief A QEMU process with accel=qtest, which runs neither a guest nor firmware
 *
 * The protocol is text over stdin and stdout: one reply for each request. A request fails if
 * there is no reply within a minute. A failed read returns 0.
 */
class Qtest
{
public:
	/** \brief Called for every request that fails */
	using Failed = std::function<void(const std::string &message)>;

	/**
	 * \param qemu program and first arguments, as in QemuBinary
	 * \param arguments QEMU's options for the machine and its devices
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

	/** \brief Access an I/O port with the width of \a T */
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
	/** \brief Access memory with the width of \a T */
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
	/** \brief write() of 32 bits without waiting; a later request waits for the reply */
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
