/* SPDX-License-Identifier: MIT */
/*
 * A client that speaks the raw protocol, right or wrong as a test wants it, and
 * a server for it to speak to.
 */
#pragma once

#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "vfio-user/guest_memory.h"
#include "vfio-user/interrupts.h"
#include "vfio-user/log.h"
#include "vfio-user/message.h"
#include "vfio-user/pci/pci_function.h"
#include "vfio-user/server.h"

namespace nvdla::sim::vfiouser::test
{

/** \brief A PCI function with 4 KiB of plain registers in BAR 0 */
class TestFunction : public pci::PciFunction
{
public:
	static constexpr uint32_t kBarSize = 4096;
	static constexpr unsigned int kMsixBar = 2;

	TestFunction(GuestMemory &memory, Interrupts &interrupts);

	using PciFunction::busMaster;
	using PciFunction::config;
	using PciFunction::raiseInterrupt;

	int resets() const { return resets_.load(); }
	/** \brief Called in the middle of a reset */
	std::function<void()> onReset;
	/** \brief Called after a write to BAR 0 */
	std::function<void()> onWrite;

protected:
	void barRead(unsigned int bar, uint64_t offset, std::span<std::byte> data) override;
	void barWrite(unsigned int bar, uint64_t offset, std::span<const std::byte> data) override;
	void deviceReset() override;

private:
	std::array<std::byte, kBarSize> registers_ = {};
	std::atomic<int> resets_ = 0;
};

/**
 * \return a log that shows nothing unless NVDLA_TEST_LOG is set
 * \param listener is told of warnings and errors; may be empty
 */
Log quietLog(std::function<void(std::string_view)> listener = {});

/** \brief A folder that is removed at the end */
class TemporaryFolder
{
public:
	TemporaryFolder();
	TemporaryFolder(const TemporaryFolder &) = delete;
	TemporaryFolder &operator=(const TemporaryFolder &) = delete;
	~TemporaryFolder();

	std::string file(const std::string &name) const { return path_ + "/" + name; }

private:
	std::string path_;
};

/** \brief A server in a thread of its own */
class ServerThread
{
public:
	explicit ServerThread(const Offer &offer = {},
			      std::chrono::milliseconds dmaTimeout = std::chrono::seconds(20));
	~ServerThread();

	/** \brief Make run() return; done by the destructor as well */
	void stop();

	const std::string &path() const { return path_; }

	/** \return how many warnings and errors had \a text in them */
	size_t said(std::string_view text);

private:
	TemporaryFolder folder_;
	std::string path_;
	std::mutex mutex_;
	std::vector<std::string> said_;

public:
	Log log;
	GuestMemory memory;
	Interrupts interrupts;
	TestFunction function;

private:
	Server server_;
	std::optional<Listener> listener_;
	UniqueFd stop_;
	std::thread thread_;
};

/** \brief The client's end of a connection */
class Client
{
public:
	/** \brief Connect to a server's socket; check connected() */
	explicit Client(const std::string &path);

	bool connected() const { return socket_.valid(); }
	void disconnect() { socket_.reset(); }

	/** \brief Send any bytes, with any descriptors */
	bool sendRaw(std::span<const std::byte> bytes, const std::vector<int> &fds = {});
	/** \brief Send a well-formed message \return its id */
	uint16_t send(wire::Command command, std::span<const std::byte> payload,
		      const std::vector<int> &fds = {}, uint32_t flags = 0);
	/** \brief Receive a message; nothing at the end of the connection */
	std::optional<Message> receive();
	/** \return whether the server has closed the connection (waits for that) */
	bool closedByServer();

	/** \brief Send a command and receive its reply, which must be for it */
	Message call(wire::Command command, std::span<const std::byte> payload,
		     const std::vector<int> &fds = {});
	/** \return errno value in the reply to a command, 0 if it was carried out */
	int status(wire::Command command, std::span<const std::byte> payload,
		   const std::vector<int> &fds = {});

	/* Shorthands for well-formed commands; each returns 0 or the errno value. */
	int version();
	int map(uint64_t address, uint64_t size, uint32_t flags, int fd = -1, uint64_t offset = 0);
	int unmap(uint64_t address, uint64_t size, uint32_t flags = 0);
	int setIrqs(uint32_t flags, uint32_t index, uint32_t start, uint32_t count,
		    const std::vector<int> &fds = {}, const Bytes &data = {});
	int write(uint32_t region, uint64_t offset, const Bytes &data);
	/** \brief Read from a region; empty if refused */
	Bytes read(uint32_t region, uint64_t offset, uint32_t count);
	uint32_t read32(uint32_t region, uint64_t offset);
	int write32(uint32_t region, uint64_t offset, uint32_t value);

private:
	UniqueFd socket_;
	uint16_t nextId_ = 1;
};

/**
 * \brief Connect and exchange versions as soon as the server is free
 *
 * A client that comes before the server has noticed that the last one is gone
 * is turned away; there is nothing to wait for, so it tries again.
 */
Client connectWhenFree(const std::string &path);

/** \return the bytes of \a value, then \a more */
template<typename T>
Bytes toBytes(const T &value, const Bytes &more = {})
{
	Bytes bytes;
	append(bytes, value);
	bytes.insert(bytes.end(), more.begin(), more.end());
	return bytes;
}

/** \return a new memfd \param sealed whether it can no longer shrink */
UniqueFd makeMemfd(uint64_t size, bool sealed);
/** \return a new non-blocking eventfd */
UniqueFd makeEventfd();
/** \return the eventfd's count, which becomes 0 */
uint64_t drain(const UniqueFd &fd);
/** \return number of open descriptors of this process */
size_t openDescriptors();

} /* namespace nvdla::sim::vfiouser::test */
