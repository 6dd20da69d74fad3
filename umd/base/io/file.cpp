/* SPDX-License-Identifier: MIT */
#include "file.h"

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <linux/magic.h>
#include <memory>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <fmt/core.h>

#include "error_code.h"
#include "unique_fd.h"

namespace nvdla
{

namespace
{

constexpr const char *writingFile = "write file";

tl::unexpected<Error> systemError(const char *what, const std::string &path)
{
	const int error = errno;
	return fail(codeOfName(error), what, path, std::strerror(error));
}

tl::unexpected<Error> tooLarge(const char *what, const std::string &path, uint64_t bytes,
			       uint64_t limit)
{
	return fail(ErrorCode::InvalidFile, what, path,
		    fmt::format("has {} bytes, must be below {}", bytes, limit));
}

/* Reads a pipe to its end, because its size is not known before. */
Result<std::vector<std::byte>> readPipe(int fd, const char *what, const std::string &path,
					uint64_t limit)
{
	constexpr size_t piece = 1 << 16;
	std::vector<std::byte> bytes;

	while (bytes.size() < limit) {
		const size_t done = bytes.size();
		bytes.resize(done + piece);
		const ssize_t got = read(fd, bytes.data() + done, piece);
		if (got < 0 && errno != EINTR)
			return systemError(what, path);
		bytes.resize(done + static_cast<size_t>(std::max<ssize_t>(got, 0)));
		if (got == 0)
			return bytes;
	}
	return tooLarge(what, path, bytes.size(), limit);
}

Result<void> writeAll(UniqueFd fd, const std::string &path, std::span<const std::byte> bytes)
{
	size_t done = 0;

	while (done < bytes.size()) {
		const ssize_t put = write(fd.get(), bytes.data() + done, bytes.size() - done);
		if (put < 0 && errno == EINTR)
			continue;
		if (put < 0)
			return systemError(writingFile, path);
		done += static_cast<size_t>(put);
	}
	/* 9p (the shared folder of a guest) writes later, and tells a full disk to nobody else. */
	struct statfs system;
	if (!fstatfs(fd.get(), &system) && system.f_type == V9FS_MAGIC && fsync(fd.get()))
		return systemError(writingFile, path);
	if (close(fd.release()))
		return systemError(writingFile, path);
	return {};
}

/* Returns the path without symbolic links; empty if the file does not exist. */
std::string fileAt(const std::string &path)
{
	const std::unique_ptr<char, decltype(&std::free)> resolved(realpath(path.c_str(), nullptr),
								   &std::free);

	return resolved ? resolved.get() : "";
}

/* Returns whether a file may be replaced by a new one: a regular file of this user and group with a
 * single link. All other files are overwritten in place, because a new file would lose the other
 * owner or group, or the further links. */
bool canBeReplaced(const struct stat &there)
{
	return S_ISREG(there.st_mode) && there.st_uid == geteuid() && there.st_gid == getegid() &&
	       there.st_nlink == 1;
}

} /* namespace */

Result<std::vector<std::byte>> readWholeFile(const std::string &path, uint64_t limit)
{
	constexpr const char *what = "read file";
	UniqueFd fd(open(path.c_str(), O_RDONLY | O_CLOEXEC));
	if (!fd)
		return systemError(what, path);

	struct stat status;
	if (fstat(fd.get(), &status))
		return systemError(what, path);
	if (S_ISFIFO(status.st_mode))
		return readPipe(fd.get(), what, path, limit);
	if (!S_ISREG(status.st_mode))
		return fail(ErrorCode::InvalidArgument, what, path,
			    "is neither a regular file nor a pipe");
	if (static_cast<uint64_t>(status.st_size) >= limit)
		return tooLarge(what, path, static_cast<uint64_t>(status.st_size), limit);

	std::vector<std::byte> bytes(static_cast<size_t>(status.st_size));
	size_t done = 0;
	while (done < bytes.size()) {
		const ssize_t got = read(fd.get(), bytes.data() + done, bytes.size() - done);
		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0)
			return systemError(what, path);
		if (got == 0)
			return fail(ErrorCode::Io, what, path, "became shorter while being read");
		done += static_cast<size_t>(got);
	}
	return bytes;
}

/*
 * Writes a new file in the same folder and renames it, so that the old contents stay if the disk is
 * full or the program is killed. In folders where no file can be created (as in sysfs), the old
 * file is overwritten.
 */
Result<void> writeWholeFile(const std::string &path, std::span<const std::byte> bytes)
{
	const std::string known = fileAt(path);
	const std::string &target = known.empty() ? path : known;
	const std::string beside = fmt::format("{}.{}.partial", target, gettid());
	struct stat there = {};
	const bool isThere = !stat(target.c_str(), &there);
	constexpr int creating = O_WRONLY | O_CREAT | O_CLOEXEC;

	UniqueFd fd;
	if (!isThere || canBeReplaced(there)) {
		fd = UniqueFd(open(beside.c_str(), creating | O_TRUNC | O_NOFOLLOW, 0666));
		if (!fd && errno != EACCES && errno != EPERM && errno != ENAMETOOLONG)
			return systemError(writingFile, path);
	}
	if (!fd) {
		fd = UniqueFd(open(path.c_str(), creating | O_TRUNC, 0666));
		return fd ? writeAll(std::move(fd), path, bytes) : systemError(writingFile, path);
	}
	Result<void> written;
	if (isThere && fchmod(fd.get(), there.st_mode & 07777))
		written = systemError(writingFile, path);
	if (written)
		written = writeAll(std::move(fd), path, bytes);
	if (written && rename(beside.c_str(), target.c_str()))
		written = systemError(writingFile, path);
	if (!written)
		unlink(beside.c_str());
	return written;
}

} /* namespace nvdla */
