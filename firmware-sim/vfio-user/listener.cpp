/* SPDX-License-Identifier: MIT */
#include "listener.h"

#include <cerrno>
#include <cstdio>
#include <cstring>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>

namespace nvdla::sim::vfiouser
{

namespace
{

/* One client is served; a second one need not wait to be told so. */
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

/* Make way at the path, or say why it cannot be had. */
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

/* Rename without replacing what someone else put there in between. */
int renameFresh(const std::string &from, const std::string &to)
{
	if (renameat2(AT_FDCWD, from.c_str(), AT_FDCWD, to.c_str(), RENAME_NOREPLACE) == 0)
		return 0;
	/* Not every file system can; those rename plainly. */
	if (errno == EINVAL || errno == ENOSYS)
		return rename(from.c_str(), to.c_str()) == 0 ? 0 : errno;
	return errno;
}

} /* namespace */

tl::expected<Listener, std::string> Listener::open(const std::string &path)
{
	const std::string temporary = fmt::format("{}.{}", path, getpid());
	if (path.empty())
		return tl::unexpected(std::string("the socket's path is empty"));
	if (temporary.size() >= sizeof(sockaddr_un::sun_path))
		return tl::unexpected(
			describe(path, fmt::format("the path is longer than {} characters",
						   sizeof(sockaddr_un::sun_path) - 1 -
							   (temporary.size() - path.size()))));
	const auto clear = clearPath(path);
	if (!clear)
		return tl::unexpected(clear.error());

	UniqueFd socket = newSocket();
	if (!socket.valid())
		return tl::unexpected(describe(path, std::strerror(errno)));
	unlink(temporary.c_str());
	const sockaddr_un address = addressOf(temporary);
	if (bind(socket.get(), reinterpret_cast<const sockaddr *>(&address), sizeof(address)) < 0)
		return tl::unexpected(describe(path, std::strerror(errno)));

	struct stat info = {};
	int error = 0;
	if (listen(socket.get(), kBacklog) < 0 || lstat(temporary.c_str(), &info) < 0)
		error = errno;
	else
		error = renameFresh(temporary, path);
	if (error) {
		unlink(temporary.c_str());
		return tl::unexpected(describe(path, std::strerror(error)));
	}
	return Listener(std::move(socket), path, info.st_dev, info.st_ino);
}

Listener::~Listener()
{
	if (!socket_.valid())
		return;
	/* Not what another server may have put in its place. */
	struct stat info;
	if (lstat(path_.c_str(), &info) == 0 && info.st_dev == device_ && info.st_ino == inode_)
		unlink(path_.c_str());
}

UniqueFd Listener::accept()
{
	return UniqueFd(accept4(socket_.get(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
}

} /* namespace nvdla::sim::vfiouser */
