/* SPDX-License-Identifier: MIT */
/*
 * The socket's path: taken, stale, too long, not a socket.
 */
#include <filesystem>
#include <fstream>

#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/un.h>

#include "client.h"

using namespace nvdla::sim::vfiouser;
using namespace nvdla::sim::vfiouser::test;

namespace
{

class ListenerTest : public testing::Test
{
protected:
	/* A path with a socket that nobody listens on, as a killed server leaves it. */
	void leaveStaleSocket()
	{
		const UniqueFd fd(socket(AF_UNIX, SOCK_STREAM, 0));
		sockaddr_un address = {};
		address.sun_family = AF_UNIX;
		path.copy(address.sun_path, sizeof(address.sun_path) - 1);
		ASSERT_EQ(bind(fd.get(), reinterpret_cast<sockaddr *>(&address), sizeof(address)),
			  0);
	}

	TemporaryFolder folder;
	std::string path = folder.file("socket");
};

TEST_F(ListenerTest, PathIsThereAsLongAsTheListener)
{
	{
		auto listener = Listener::open(path);
		ASSERT_TRUE(listener) << listener.error();
		EXPECT_TRUE(Client(path).connected());
		EXPECT_TRUE(listener->accept().valid());
		EXPECT_FALSE(listener->accept().valid());
	}
	EXPECT_FALSE(std::filesystem::exists(path));
	EXPECT_TRUE(std::filesystem::is_empty(std::filesystem::path(path).parent_path()));
}

TEST_F(ListenerTest, StaleSocketIsReplaced)
{
	leaveStaleSocket();
	auto listener = Listener::open(path);
	ASSERT_TRUE(listener) << listener.error();
	EXPECT_TRUE(Client(path).connected());
}

TEST_F(ListenerTest, TakenPathIsRefused)
{
	auto first = Listener::open(path);
	ASSERT_TRUE(first);
	auto second = Listener::open(path);
	ASSERT_FALSE(second);
	EXPECT_NE(second.error().find("another server"), std::string::npos) << second.error();
	EXPECT_NE(second.error().find(path), std::string::npos) << second.error();
	EXPECT_TRUE(Client(path).connected());
}

/* A server whose queue of connections is full is there all the same. */
TEST_F(ListenerTest, BusyServersPathIsRefused)
{
	auto first = Listener::open(path);
	ASSERT_TRUE(first);
	std::vector<Client> waiting;
	for (int i = 0; i < 3; i++)
		waiting.emplace_back(path);
	for (int i = 0; i < 10; i++)
		ASSERT_FALSE(Listener::open(path));
}

TEST_F(ListenerTest, OtherFilesAreLeftAlone)
{
	std::ofstream(path) << "precious";
	auto listener = Listener::open(path);
	ASSERT_FALSE(listener);
	EXPECT_NE(listener.error().find("not a socket"), std::string::npos) << listener.error();
	EXPECT_EQ(std::filesystem::file_size(path), 8u);
}

TEST_F(ListenerTest, PathsThatCannotBe)
{
	EXPECT_FALSE(Listener::open(""));
	EXPECT_FALSE(Listener::open(folder.file("missing/socket")));
	const auto listener = Listener::open("/tmp/" + std::string(200, 'x'));
	ASSERT_FALSE(listener);
	EXPECT_NE(listener.error().find("longer than"), std::string::npos) << listener.error();
}

TEST_F(ListenerTest, AnotherServersPathIsNotRemoved)
{
	auto second = [&] {
		auto first = Listener::open(path);
		EXPECT_TRUE(first);
		std::filesystem::remove(path);
		return Listener::open(path);
	}();
	ASSERT_TRUE(second) << second.error();
	EXPECT_TRUE(Client(path).connected());
}

} /* namespace */
