/* SPDX-License-Identifier: MIT */
/*
 * What the host lacks, for a while or for good: descriptors, memory, ranges of the table, room in a
 * counter. The server says so and goes on.
 */
#include <atomic>
#include <cerrno>
#include <functional>
#include <future>
#include <new>
#include <thread>

#include <gtest/gtest.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/resource.h>
#include <sys/socket.h>

#include "client.h"

using namespace nvdla::sim::vfiouser;
using namespace nvdla::sim::vfiouser::test;

namespace
{

/* What the next calls of the process answer instead of being carried out; errno value, how often.
 */
struct Refusals {
	std::atomic<int> error = 0;
	std::atomic<int> left = 0;

	bool strikes()
	{
		if (left.load() <= 0)
			return false;
		left--;
		errno = error;
		return true;
	}
};

Refusals refusedAccepts;
Refusals refusedPolls;
/* Called where somebody has just looked at a descriptor. */
std::function<void()> afterPoll;

} /* namespace */

extern "C" {

int __real_accept4(int fd, sockaddr *address, socklen_t *length, int flags);
int __wrap_accept4(int fd, sockaddr *address, socklen_t *length, int flags);
int __real_poll(pollfd *entries, nfds_t count, int timeout);
int __wrap_poll(pollfd *entries, nfds_t count, int timeout);

int __wrap_accept4(int fd, sockaddr *address, socklen_t *length, int flags)
{
	return refusedAccepts.strikes() ? -1 : __real_accept4(fd, address, length, flags);
}

int __wrap_poll(pollfd *entries, nfds_t count, int timeout)
{
	if (refusedPolls.strikes())
		return -1;
	const int result = __real_poll(entries, count, timeout);
	if (afterPoll)
		afterPoll();
	return result;
}
}

namespace
{

/* Everything that accept(2) may say of a listener that is one. */
TEST(ShortageTest, NoErrorOfAcceptEndsTheServer)
{
	for (const int error : { EAGAIN, ECONNABORTED, EINTR, EMFILE, ENFILE, ENOBUFS, ENOMEM,
				 EPERM, EPROTO, ENETDOWN, ETIMEDOUT, ECONNRESET }) {
		ServerThread server;
		refusedAccepts.error = error;
		refusedAccepts.left = 3;
		Client client(server.path());
		ASSERT_TRUE(client.connected());
		ASSERT_EQ(client.version(), 0) << std::strerror(error);
		EXPECT_EQ(refusedAccepts.left, 0);
		const bool isNoClient = error == EAGAIN || error == ECONNABORTED || error == EINTR;
		EXPECT_EQ(server.said("accepting a client failed"), isNoClient ? 0u : 1u)
			<< std::strerror(error);
	}
}

TEST(ShortageTest, NoErrorOfPollThatPassesEndsTheServer)
{
	for (const int error : { EINTR, EAGAIN, ENOMEM }) {
		ServerThread server;
		Client client(server.path());
		ASSERT_EQ(client.version(), 0);
		refusedPolls.error = error;
		refusedPolls.left = 3;
		for (uint32_t i = 0; i < 8; i++)
			ASSERT_EQ(client.write32(0, 0, i), 0) << std::strerror(error);
		refusedPolls.left = 0;
		EXPECT_EQ(server.said("waiting for clients failed"), error == EINTR ? 0u : 1u);
	}
}

/* The process can have \a more descriptors than it has. */
class FewDescriptors
{
public:
	explicit FewDescriptors(rlim_t more = 0)
	{
		getrlimit(RLIMIT_NOFILE, &usual_);
		const UniqueFd free(dup(STDERR_FILENO));
		rlimit few = usual_;
		few.rlim_cur = static_cast<rlim_t>(free.get()) + more;
		setrlimit(RLIMIT_NOFILE, &few);
	}
	FewDescriptors(const FewDescriptors &) = delete;
	FewDescriptors &operator=(const FewDescriptors &) = delete;
	~FewDescriptors() { setrlimit(RLIMIT_NOFILE, &usual_); }

private:
	rlimit usual_;
};

TEST(ShortageTest, ClientThatWaitsForADescriptorIsServed)
{
	ServerThread server;
	std::optional<Client> client;
	{
		/* One for the client's end of the connection, and none for the server's. */
		const FewDescriptors few(1);
		client.emplace(server.path());
		ASSERT_TRUE(client->connected());
		while (server.said("accepting a client failed") == 0)
			std::this_thread::yield();
	}
	EXPECT_EQ(client->version(), 0);
}

TEST(ShortageTest, LostDescriptorsOfAMessageAreCalledThat)
{
	ServerThread server;
	const UniqueFd memfd = makeMemfd(4096, true);
	Client client(server.path());
	ASSERT_EQ(client.version(), 0);
	{
		const FewDescriptors few;
		client.send(wire::Command::DmaMap, toBytes(wire::DmaMap{ 32, 3, 0, 0, 4096 }),
			    { memfd.get() });
		EXPECT_TRUE(client.closedByServer());
	}
	EXPECT_EQ(server.said("ulimit -n"), 1u);
	EXPECT_TRUE(connectWhenFree(server.path()).connected());
}

TEST(ShortageTest, ServerWithoutItsEventfdSaysSo)
{
	Log log = quietLog();
	std::optional<GuestMemory> memory;
	TemporaryFolder folder;
	auto listener = Listener::open(folder.file("socket"));
	ASSERT_TRUE(listener);
	{
		const FewDescriptors few;
		memory.emplace(log);
	}
	Interrupts interrupts(log, 1);
	TestFunction function(*memory, interrupts);
	Server server(function, *memory, interrupts, log);
	EXPECT_FALSE(server.run(*listener, -1));
}

TEST(ShortageTest, MemoryThatIsNotThereEndsTheSessionOnly)
{
	ServerThread server;
	{
		Client client(server.path());
		ASSERT_EQ(client.version(), 0);
		server.function.onWrite = [] { throw std::bad_alloc(); };
		client.send(wire::Command::RegionWrite,
			    toBytes(wire::RegionAccess{ 0, 0, 4 }, Bytes(4)));
		EXPECT_TRUE(client.closedByServer());
	}
	server.function.onWrite = {};
	Client client = connectWhenFree(server.path());
	ASSERT_TRUE(client.connected());
	EXPECT_EQ(client.write32(0, 0, 1), 0);
}

/* Whoever looks first and writes then finds that somebody has filled the counter in between. */
TEST(ShortageTest, FullCounterOfABlockingEventfdStopsNobody)
{
	Log log = quietLog();
	Interrupts interrupts(log, 1);
	const UniqueFd event(eventfd(0, EFD_CLOEXEC));
	std::vector<UniqueFd> fds;
	fds.emplace_back(dup(event.get()));
	ASSERT_EQ(interrupts.configure({ 20, wire::kIrqDataEventfd | wire::kIrqActionTrigger,
					 wire::kIrqMsi, 0, 1 },
				       {}, std::move(fds)),
		  0);
	const auto fill = [&](uint64_t count) {
		const uint64_t left = 0xfffffffffffffffe - count;
		ASSERT_EQ(::write(event.get(), &left, sizeof(left)), 8);
	};
	bool filled = false;
	afterPoll = [&] {
		if (!std::exchange(filled, true))
			fill(0);
	};
	std::promise<void> raised;
	std::thread device([&] {
		interrupts.raise(0);
		if (!std::exchange(filled, true))
			fill(1);
		interrupts.raise(0);
		raised.set_value();
	});
	const bool stopped =
		raised.get_future().wait_for(std::chrono::seconds(1)) != std::future_status::ready;
	uint64_t count = 0;
	EXPECT_EQ(::read(event.get(), &count, sizeof(count)), 8);
	device.join();
	afterPoll = {};
	EXPECT_FALSE(stopped) << "the device waits for the client to read";
}

constexpr uint64_t kPageBytes = 4096;

/* Requests to a client that does not fetch them are not kept for ever. */
TEST(ShortageTest, RequestsThatTimedOutAreForgotten)
{
	Log log = quietLog();
	DmaChannel channel(log, std::chrono::milliseconds(1));
	std::thread([&] { channel.open(1 << 20); }).join();
	std::array<std::byte, 64> bytes = {};
	for (int i = 0; i < 8; i++)
		EXPECT_FALSE(channel.read(0, bytes));
	EXPECT_TRUE(channel.takeRequests().empty());
}

/* As many ranges as the client was told, however they come about. */
TEST(ShortageTest, UnmappingMakesNoMoreRangesThanThereMayBe)
{
	Log log = quietLog();
	GuestMemory memory(log);
	DmaMap &map = memory.map();
	const auto add = [&](uint64_t page, uint64_t pages) {
		return map.map({ page * kPageBytes, pages * kPageBytes, 0, true, true },
			       UniqueFd());
	};
	const auto covers = [&](uint64_t page, uint64_t pages) {
		return !map.acquire(page * kPageBytes, pages * kPageBytes, Access::Read).empty();
	};
	ASSERT_EQ(add(0, 5), 0);
	for (uint64_t i = 1; i < wire::kMaxDmaMaps; i++)
		ASSERT_EQ(add(10 * i, 1), 0);
	ASSERT_EQ(map.size(), wire::kMaxDmaMaps);
	EXPECT_EQ(add(5, 1), ENOSPC);

	EXPECT_EQ(map.unmap(2 * kPageBytes, kPageBytes), ENOSPC);
	EXPECT_TRUE(covers(0, 5)) << "nothing was removed";
	/* None of these has a hole afterwards. */
	EXPECT_EQ(map.unmap(0, kPageBytes), 0);
	EXPECT_EQ(map.unmap(4 * kPageBytes, kPageBytes), 0);
	EXPECT_EQ(map.size(), wire::kMaxDmaMaps);
	EXPECT_EQ(map.unmap(3 * kPageBytes, 8 * kPageBytes), 0);
	EXPECT_EQ(map.size(), wire::kMaxDmaMaps - 1);
	EXPECT_TRUE(covers(1, 2));
	EXPECT_FALSE(covers(10, 1));
	/* One is free again, so that a range may be cut. */
	ASSERT_EQ(add(3, 1), 0);
	EXPECT_EQ(map.unmap(20 * kPageBytes, kPageBytes), 0);
	ASSERT_EQ(add(100 * kPageBytes * 10, 3), 0) << "far behind all others";
	EXPECT_EQ(map.unmap((100 * kPageBytes * 10 + 1) * kPageBytes, kPageBytes), ENOSPC);
	EXPECT_EQ(map.unmap(kPageBytes, 2 * kPageBytes), 0);
	EXPECT_EQ(map.unmap((100 * kPageBytes * 10 + 1) * kPageBytes, kPageBytes), 0);
	EXPECT_EQ(map.size(), wire::kMaxDmaMaps);
}

/* The client is told, too. */
TEST(ShortageTest, UnmappingThatIsRefusedIsAnswered)
{
	ServerThread server;
	Client client(server.path());
	ASSERT_EQ(client.version(), 0);
	ASSERT_EQ(client.map(0, 3 * kPageBytes, 3), 0);
	for (uint64_t i = 1; i < wire::kMaxDmaMaps; i++)
		ASSERT_EQ(server.memory.map().map(
				  { 10 * i * kPageBytes, kPageBytes, 0, true, true }, UniqueFd()),
			  0);
	EXPECT_EQ(client.unmap(kPageBytes, kPageBytes), ENOSPC);
	EXPECT_EQ(client.unmap(0, 3 * kPageBytes), 0);
}

} /* namespace */
