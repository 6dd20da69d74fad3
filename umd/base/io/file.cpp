/* SPDX-License-Identifier: MIT */
#include "file.h"

#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fmt/core.h>

#include "unique_fd.h"

namespace nvdla
{

namespace
{

tl::unexpected<Error> systemError(const char *what, const std::string &path)
{
	const int error = errno;
	return fail(error == ENOENT ? ErrorCode::NotFound : ErrorCode::Io, what, path,
		    std::strerror(error));
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
	if (!S_ISREG(status.st_mode))
		return fail(ErrorCode::InvalidArgument, what, path, "is not a regular file");
	if (static_cast<uint64_t>(status.st_size) >= limit)
		return fail(ErrorCode::InvalidFile, what, path,
			    fmt::format("has {} bytes, must be below {}", status.st_size, limit));

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

Result<void> writeWholeFile(const std::string &path, std::span<const std::byte> bytes)
{
	constexpr const char *what = "write file";
	UniqueFd fd(open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666));
	if (!fd)
		return systemError(what, path);

	size_t done = 0;
	while (done < bytes.size()) {
		const ssize_t put = write(fd.get(), bytes.data() + done, bytes.size() - done);
		if (put < 0 && errno == EINTR)
			continue;
		if (put < 0)
			return systemError(what, path);
		done += static_cast<size_t>(put);
	}
	if (close(fd.release()))
		return systemError(what, path);
	return {};
}

} /* namespace nvdla */
