/* SPDX-License-Identifier: MIT */
#include "listener.h"

#include <cerrno>
#include <cstring>

#include <fmt/core.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>

namespace nvdla::sim::vfiouser
{

namespace
{

/* Most clients that wait: few, because the server soon accepts and disconnects a further one. */
constexpr int kBacklog = 4;

sockaddr_un addressOf(const std::string &path)
{
	sockaddr_un address = {};
	address.sun_family = AF_UNIX;
	path.copy(address.sun_path, sizeof(address.sun_path) - 1);
	return address;
}

UniqueFd newSocket()
{
	return UniqueFd(socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
}

std::string describe(const std::string &path, const std::string &what)
{
	return fmt::format("socket {}: {}", path, what);
}

/* Remove a dead socket at the path; otherwise return why the path cannot be used. */
tl::expected<void, std::string> clearPath(const std::string &path)
{
	struct stat info;
	if (lstat(path.c_str(), &info) < 0) {
		if (errno == ENOENT)
			return {};
		return tl::unexpected(describe(path, std::strerror(errno)));
	}
	if (!S_ISSOCK(info.st_mode))
		return tl::unexpected(describe(
			path, "exists and is not a socket; remove it or choose another path"));

	const UniqueFd probe = newSocket();
	if (!probe.valid())
		return tl::unexpected(describe(path, std::strerror(errno)));
	const sockaddr_un address = addressOf(path);
	if (connect(probe.get(), reinterpret_cast<const sockaddr *>(&address), sizeof(address)) ==
		    0 ||
	    errno == EAGAIN)
		return tl::unexpected(describe(
			path, "another server is listening there; stop it or choose another path"));
	if (errno != ECONNREFUSED && errno != ENOENT)
		return tl::unexpected(describe(path, std::strerror(errno)));
	if (unlink(path.c_str()) < 0 && errno != ENOENT)
		return tl::unexpected(
			describe(path, fmt::format("a stale socket cannot be removed: {}",
						   std::strerror(errno))));
	return {};
}

/* \return 0 or errno */
int bindTo(const UniqueFd &socket, const std::string &path)
{
	const sockaddr_un address = addressOf(path);
	if (bind(socket.get(), reinterpret_cast<const sockaddr *>(&address), sizeof(address)) < 0)
		return errno;
	return 0;
}

} /* namespace */

tl::expected<Listener, std::string> Listener::open(const std::string &path)
{
	constexpr size_t kMaxPath = sizeof(sockaddr_un::sun_path) - 1;
	if (path.empty())
		return tl::unexpected(std::string("the socket's path is empty"));
	if (path.size() > kMaxPath)
		return tl::unexpected(describe(
			path, fmt::format("the path is longer than {} characters", kMaxPath)));

	UniqueFd socket = newSocket();
	if (!socket.valid())
		return tl::unexpected(describe(path, std::strerror(errno)));
	int error = bindTo(socket, path);
	if (error == EADDRINUSE) {
		const auto clear = clearPath(path);
		if (!clear)
			return tl::unexpected(clear.error());
		error = bindTo(socket, path);
	}
	if (error)
		return tl::unexpected(describe(path, std::strerror(error)));

	struct stat info = {};
	if (listen(socket.get(), kBacklog) < 0 || lstat(path.c_str(), &info) < 0) {
		error = errno;
		unlink(path.c_str());
		return tl::unexpected(describe(path, std::strerror(error)));
	}
	return Listener(std::move(socket), path, info.st_dev, info.st_ino);
}

Listener::~Listener()
{
	if (!socket_.valid())
		return;
	/* Remove the socket only if it is this server's: another server may have replaced it. */
	struct stat info;
	if (lstat(path_.c_str(), &info) == 0 && info.st_dev == device_ && info.st_ino == inode_)
		unlink(path_.c_str());
}

UniqueFd Listener::accept()
{
	return UniqueFd(accept4(socket_.get(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
}

} /* namespace nvdla::sim::vfiouser */
