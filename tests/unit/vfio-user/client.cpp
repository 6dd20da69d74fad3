/* SPDX-License-Identifier: MIT */
#include "client.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <filesystem>

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/un.h>

namespace nvdla::sim::vfiouser::test
{

namespace
{

constexpr pci::Identity kIdentity = {
	.vendorId = 0x1234,
	.deviceId = 0x5678,
	.subsystemVendorId = 0x1234,
	.subsystemId = 0x0001,
	.revision = 3,
	.classCode = 0x120000,
};

/* Longer than anything here takes, so that a test fails rather than hangs. */
constexpr timeval kPatience = { 30, 0 };

} /* namespace */

TestFunction::TestFunction(GuestMemory &memory, Interrupts &interrupts)
	: PciFunction(kIdentity, memory, interrupts)
{
	addBar(0, kBarSize);
	addStandardCapabilities(kMsixBar);
	finish();
}

void TestFunction::barRead(unsigned int, uint64_t offset, std::span<std::byte> data)
{
	std::copy_n(registers_.begin() + static_cast<ptrdiff_t>(offset), data.size(), data.begin());
}

void TestFunction::barWrite(unsigned int, uint64_t offset, std::span<const std::byte> data)
{
	std::copy(data.begin(), data.end(), registers_.begin() + static_cast<ptrdiff_t>(offset));
	if (onWrite)
		onWrite();
}

void TestFunction::deviceReset()
{
	resets_++;
	registers_.fill(std::byte{ 0 });
	if (onReset)
		onReset();
}

Log quietLog(std::function<void(std::string_view)> listener)
{
	const bool shown = std::getenv("NVDLA_TEST_LOG") != nullptr;
	const LogLevel needed = listener ? LogLevel::Warning : LogLevel::Error;
	return Log(shown ? LogLevel::Trace : needed,
		   [shown, listener = std::move(listener)](LogLevel level, std::string_view text) {
			   if (shown)
				   std::fprintf(stderr, "%.*s\n", static_cast<int>(text.size()),
						text.data());
			   if (listener && level <= LogLevel::Warning)
				   listener(text);
		   });
}

TemporaryFolder::TemporaryFolder()
{
	path_ = testing::TempDir() + "vfio-user-XXXXXX";
	if (!mkdtemp(path_.data()))
		ADD_FAILURE() << "no temporary folder";
}

TemporaryFolder::~TemporaryFolder()
{
	std::error_code error;
	std::filesystem::remove_all(path_, error);
}

ServerThread::ServerThread(const Offer &offer, std::chrono::milliseconds dmaTimeout)
	: path_(folder_.file("socket")), log(quietLog([this](std::string_view text) {
		  const std::lock_guard lock(mutex_);
		  said_.emplace_back(text);
	  })),
	  memory(log, dmaTimeout), interrupts(log, 1), function(memory, interrupts),
	  server_(function, memory, interrupts, log, offer), stop_(eventfd(0, EFD_CLOEXEC))
{
	auto listener = Listener::open(path_);
	if (!listener) {
		ADD_FAILURE() << listener.error();
		return;
	}
	listener_.emplace(std::move(*listener));
	thread_ = std::thread([this] { EXPECT_TRUE(server_.run(*listener_, stop_.get())); });
}

ServerThread::~ServerThread()
{
	stop();
}

size_t ServerThread::said(std::string_view text)
{
	const std::lock_guard lock(mutex_);
	return static_cast<size_t>(std::ranges::count_if(
		said_, [text](const std::string &line) { return line.find(text) != line.npos; }));
}

void ServerThread::stop()
{
	if (!thread_.joinable())
		return;
	eventfd_write(stop_.get(), 1);
	thread_.join();
}

Client::Client(const std::string &path) : socket_(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0))
{
	sockaddr_un address = {};
	address.sun_family = AF_UNIX;
	path.copy(address.sun_path, sizeof(address.sun_path) - 1);
	if (connect(socket_.get(), reinterpret_cast<sockaddr *>(&address), sizeof(address)) < 0) {
		socket_.reset();
		return;
	}
	setsockopt(socket_.get(), SOL_SOCKET, SO_RCVTIMEO, &kPatience, sizeof(kPatience));
	setsockopt(socket_.get(), SOL_SOCKET, SO_SNDTIMEO, &kPatience, sizeof(kPatience));
}

bool Client::sendRaw(std::span<const std::byte> bytes, const std::vector<int> &fds)
{
	alignas(cmsghdr) std::array<char, CMSG_SPACE(sizeof(int) * 64)> control = {};
	bool first = true;
	while (!bytes.empty()) {
		iovec vector = { const_cast<std::byte *>(bytes.data()), bytes.size() };
		msghdr header = {};
		header.msg_iov = &vector;
		header.msg_iovlen = 1;
		if (first && !fds.empty()) {
			header.msg_control = control.data();
			header.msg_controllen = CMSG_SPACE(sizeof(int) * fds.size());
			cmsghdr *c = CMSG_FIRSTHDR(&header);
			c->cmsg_level = SOL_SOCKET;
			c->cmsg_type = SCM_RIGHTS;
			c->cmsg_len = CMSG_LEN(sizeof(int) * fds.size());
			std::memcpy(CMSG_DATA(c), fds.data(), sizeof(int) * fds.size());
		}
		const ssize_t count = sendmsg(socket_.get(), &header, MSG_NOSIGNAL);
		if (count <= 0)
			return false;
		bytes = bytes.subspan(static_cast<size_t>(count));
		first = false;
	}
	return true;
}

uint16_t Client::send(wire::Command command, std::span<const std::byte> payload,
		      const std::vector<int> &fds, uint32_t flags)
{
	const uint16_t id = nextId_++;
	EXPECT_TRUE(sendRaw(encode(id, static_cast<uint16_t>(command), flags, 0, payload), fds));
	return id;
}

std::optional<Message> Client::receive()
{
	Message message;
	if (recv(socket_.get(), &message.header, sizeof(wire::Header), MSG_WAITALL) !=
	    sizeof(wire::Header))
		return std::nullopt;
	EXPECT_TRUE(headerValid(message.header));
	message.payload.resize(message.header.size - sizeof(wire::Header));
	const auto size = static_cast<ssize_t>(message.payload.size());
	if (size && recv(socket_.get(), message.payload.data(), message.payload.size(),
			 MSG_WAITALL) != size)
		return std::nullopt;
	return message;
}

bool Client::closedByServer()
{
	std::byte byte;
	const ssize_t count = recv(socket_.get(), &byte, 1, 0);
	return count == 0 || (count < 0 && errno == ECONNRESET);
}

Message Client::call(wire::Command command, std::span<const std::byte> payload,
		     const std::vector<int> &fds)
{
	const uint16_t id = send(command, payload, fds);
	std::optional<Message> reply = receive();
	if (!reply) {
		ADD_FAILURE() << "no reply to command " << static_cast<int>(command);
		return {};
	}
	EXPECT_EQ(+reply->header.id, id);
	EXPECT_EQ(+reply->header.command, static_cast<int>(command));
	EXPECT_EQ(reply->header.flags & wire::kTypeMask, wire::kTypeReply);
	if (reply->header.flags & wire::kError) {
		EXPECT_NE(+reply->header.error, 0u);
		EXPECT_TRUE(reply->payload.empty());
	}
	return std::move(*reply);
}

int Client::status(wire::Command command, std::span<const std::byte> payload,
		   const std::vector<int> &fds)
{
	const Message reply = call(command, payload, fds);
	return reply.header.flags & wire::kError ? static_cast<int>(reply.header.error) : 0;
}

int Client::version()
{
	Bytes payload = toBytes(wire::Version{ 0, 0 });
	const std::string text =
		R"({"capabilities": {"max_msg_fds": 16, "max_data_xfer_size": 1048576}})";
	const auto *bytes = reinterpret_cast<const std::byte *>(text.c_str());
	payload.insert(payload.end(), bytes, bytes + text.size() + 1);
	return status(wire::Command::Version, payload);
}

int Client::map(uint64_t address, uint64_t size, uint32_t flags, int fd, uint64_t offset)
{
	const wire::DmaMap request = { sizeof(request), flags, offset, address, size };
	return status(wire::Command::DmaMap, toBytes(request),
		      fd < 0 ? std::vector<int>() : std::vector<int>{ fd });
}

int Client::unmap(uint64_t address, uint64_t size, uint32_t flags)
{
	const wire::DmaUnmap request = { sizeof(request), flags, address, size };
	return status(wire::Command::DmaUnmap, toBytes(request));
}

int Client::setIrqs(uint32_t flags, uint32_t index, uint32_t start, uint32_t count,
		    const std::vector<int> &fds, const Bytes &data)
{
	const auto size = static_cast<uint32_t>(sizeof(wire::SetIrqs) + data.size());
	return status(wire::Command::DeviceSetIrqs,
		      toBytes(wire::SetIrqs{ size, flags, index, start, count }, data), fds);
}

int Client::write(uint32_t region, uint64_t offset, const Bytes &data)
{
	const auto size = static_cast<uint32_t>(data.size());
	return status(wire::Command::RegionWrite,
		      toBytes(wire::RegionAccess{ offset, region, size }, data));
}

Bytes Client::read(uint32_t region, uint64_t offset, uint32_t count)
{
	Message reply = call(wire::Command::RegionRead,
			     toBytes(wire::RegionAccess{ offset, region, count }));
	if (reply.payload.size() < sizeof(wire::RegionAccess))
		return {};
	reply.payload.erase(reply.payload.begin(),
			    reply.payload.begin() + sizeof(wire::RegionAccess));
	return reply.payload;
}

uint32_t Client::read32(uint32_t region, uint64_t offset)
{
	const auto value = parse<uint32_t>(read(region, offset, 4));
	EXPECT_TRUE(value.has_value());
	return value.value_or(0);
}

int Client::write32(uint32_t region, uint64_t offset, uint32_t value)
{
	return write(region, offset, toBytes(value));
}

Client connectWhenFree(const std::string &path)
{
	const Bytes version = encode(0, static_cast<uint16_t>(wire::Command::Version), 0, 0,
				     toBytes(wire::Version{ 0, 0 }));
	for (;;) {
		Client client(path);
		if (!client.connected() || (client.sendRaw(version) && client.receive()))
			return client;
	}
}

UniqueFd makeMemfd(uint64_t size, bool sealed)
{
	UniqueFd fd(memfd_create("guest", MFD_CLOEXEC | MFD_ALLOW_SEALING));
	EXPECT_EQ(ftruncate(fd.get(), static_cast<off_t>(size)), 0);
	if (sealed) {
		EXPECT_EQ(fcntl(fd.get(), F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW), 0);
	}
	return fd;
}

UniqueFd makeEventfd()
{
	return UniqueFd(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
}

uint64_t drain(const UniqueFd &fd)
{
	eventfd_t count = 0;
	return eventfd_read(fd.get(), &count) == 0 ? count : 0;
}

size_t openDescriptors()
{
	const auto list = std::filesystem::directory_iterator("/proc/self/fd");
	return static_cast<size_t>(std::distance(begin(list), end(list)));
}

} /* namespace nvdla::sim::vfiouser::test */
