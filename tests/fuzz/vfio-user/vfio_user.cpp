/* SPDX-License-Identifier: MIT */
#include "vfio_user.h"

#include <algorithm>
#include <array>
#include <cstdlib>

#include <fcntl.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/socket.h>

#include "vfio-user/dispatcher.h"
#include "vfio-user/pci/pci_function.h"
#include "vfio-user/stream.h"

using namespace nvdla::sim::vfiouser;

namespace nvdla::fuzz
{

namespace
{

constexpr uint64_t kMemory = 1 << 20;

void require(bool condition)
{
	if (!condition)
		std::abort();
}

/* A function with 64 bytes of registers. */
class SmallFunction : public pci::PciFunction
{
public:
	SmallFunction(GuestMemory &memory, Interrupts &interrupts)
		: PciFunction({ 0x1234, 1, 0x1234, 1, 0, 0x120000 }, memory, interrupts)
	{
		addBar(0, kSize);
		addStandardCapabilities(1);
		finish();
	}

	using PciFunction::raiseInterrupt;

protected:
	void barRead(unsigned int bar, uint64_t offset, std::span<std::byte> data) override
	{
		require(bar == 0 && !data.empty() && offset + data.size() <= kSize);
		std::copy_n(registers_.begin() + static_cast<ptrdiff_t>(offset), data.size(),
			    data.begin());
	}

	void barWrite(unsigned int bar, uint64_t offset, std::span<const std::byte> data) override
	{
		require(bar == 0 && !data.empty() && offset + data.size() <= kSize);
		std::copy(data.begin(), data.end(),
			  registers_.begin() + static_cast<ptrdiff_t>(offset));
	}

	void deviceReset() override { registers_.fill(std::byte{ 0 }); }

private:
	static constexpr uint32_t kSize = 64;
	std::array<std::byte, kSize> registers_ = {};
};

/* The server but for its poll loop. */
struct Bench {
	Log log{ LogLevel::Trace, [](LogLevel, std::string_view) {} };
	GuestMemory memory{ log, std::chrono::milliseconds(0) };
	Interrupts interrupts{ log, 2 };
	SmallFunction function{ memory, interrupts };
	Dispatcher dispatcher{ function, memory, interrupts, log, {} };

	/* What Server::endSession() does, in its order. */
	~Bench()
	{
		memory.channel().close();
		function.reset();
		memory.map().clear();
		interrupts.disconnect();
		require(memory.map().size() == 0);
	}

	/* A message and what must hold of its reply. */
	void handle(Message message)
	{
		const wire::Header header = message.header;
		touch(message);
		const auto reply = dispatcher.handle(std::move(message));
		const bool silent = (header.flags & wire::kNoReply) ||
				    (header.flags & wire::kTypeMask) == wire::kTypeReply;
		require(reply.has_value() != silent);
		if (!reply)
			return;
		const auto answer = parse<wire::Header>(*reply);
		require(answer && answer->id == header.id && answer->command == header.command &&
			answer->size == reply->size() && headerValid(*answer) &&
			(answer->flags & wire::kTypeMask) == wire::kTypeReply);
		const bool failed = (answer->flags & wire::kError) != 0;
		require(failed == (answer->error != 0));
		require(!failed || reply->size() == sizeof(wire::Header));
	}

	/* The device at work, around the addresses that the message is about. */
	void touch(const Message &message)
	{
		std::array<std::byte, 200> bytes = {};
		const auto map = parse<wire::DmaMap>(message.payload);
		const uint64_t address = map ? map->address : 0;
		for (const uint64_t at : { address, address - 100, address + 4096 - 100 }) {
			if (memory.read(at, bytes))
				memory.write(at, bytes);
		}
		function.raiseInterrupt();
		interrupts.raise(1);
	}
};

/* Descriptors of every kind a client may send; made once, duplicated for each use. */
class Descriptors
{
public:
	static const Descriptors &get()
	{
		static const Descriptors descriptors;
		return descriptors;
	}

	std::vector<UniqueFd> choose(uint8_t selector) const
	{
		std::vector<UniqueFd> chosen;
		const unsigned int count = selector & 3;
		for (unsigned int i = 0; i < count; i++) {
			const int fd = fds_[(selector >> 2) % fds_.size()].get();
			chosen.emplace_back(fcntl(fd, F_DUPFD_CLOEXEC, 0));
			require(chosen.back().valid());
		}
		return chosen;
	}

private:
	Descriptors()
	{
		fds_[0].reset(memfd_create("sealed", MFD_CLOEXEC | MFD_ALLOW_SEALING));
		fds_[1].reset(memfd_create("plain", MFD_CLOEXEC));
		fds_[2].reset(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
		fds_[3].reset(open("/dev/null", O_RDWR | O_CLOEXEC));
		for (const UniqueFd &fd : fds_)
			require(fd.valid());
		for (int i = 0; i < 2; i++)
			require(ftruncate(fds_[static_cast<size_t>(i)].get(), kMemory) == 0);
		require(fcntl(fds_[0].get(), F_ADD_SEALS, F_SEAL_SHRINK) == 0);
	}

	std::array<UniqueFd, 4> fds_;
};

void playRecords(std::span<const uint8_t> input)
{
	Bench bench;
	Message version;
	version.header = { 0, static_cast<uint16_t>(wire::Command::Version), 20, 0, 0 };
	append(version.payload, wire::Version{ 0, 0 });
	bench.handle(std::move(version));

	uint16_t id = 1;
	while (input.size() >= 4) {
		const size_t size = std::min<size_t>(input[2] | input[3] << 8, input.size() - 4);
		Message message;
		message.header = { id++, static_cast<uint16_t>(input[0] & 0x1f),
				   static_cast<uint32_t>(sizeof(wire::Header) + size),
				   input[0] & 0x80 ? wire::kNoReply : 0, 0 };
		message.fds = Descriptors::get().choose(input[1]);
		const auto payload = std::as_bytes(input.subspan(4, size));
		message.payload.assign(payload.begin(), payload.end());
		bench.handle(std::move(message));
		input = input.subspan(4 + size);
	}
}

void playStream(std::span<const uint8_t> input)
{
	int fds[2];
	require(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds) == 0);
	const UniqueFd client(fds[0]);
	Stream stream{ UniqueFd(fds[1]) };
	Bench bench;

	/* In pieces, so that messages are cut anywhere; then the end of the connection. */
	while (!input.empty()) {
		const size_t piece = std::min<size_t>(input.size(), 1 + input[0] % 64);
		const ssize_t sent =
			send(client.get(), input.data(), piece, MSG_DONTWAIT | MSG_NOSIGNAL);
		require(sent == static_cast<ssize_t>(piece));
		input = input.subspan(piece);
		if (input.empty())
			shutdown(client.get(), SHUT_WR);
		for (;;) {
			Message message;
			const Stream::Result result = stream.receive(message);
			if (result == Stream::Result::Again)
				break;
			if (result != Stream::Result::Message)
				return;
			bench.handle(std::move(message));
			if (bench.dispatcher.hangUp())
				return;
		}
	}
}

} /* namespace */

void playVfioUser(std::span<const uint8_t> input)
{
	if (input.empty())
		return;
	if (input[0] & 1)
		playRecords(input.subspan(1));
	else
		playStream(input.subspan(1));
}

} /* namespace nvdla::fuzz */
