/* SPDX-License-Identifier: MIT */
#include "backing.h"

#include <cerrno>
#include <cstring>

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>

namespace nvdla::sim::vfiouser
{

namespace
{

/* \param call pread() or pwrite() */
template<typename Call, typename Bytes>
bool moveAll(Call call, const UniqueFd &fd, Bytes bytes, uint64_t offset)
{
	while (!bytes.empty()) {
		const ssize_t count =
			call(fd.get(), bytes.data(), bytes.size(), static_cast<off_t>(offset));
		if (count < 0 && errno == EINTR)
			continue;
		if (count <= 0)
			return false;
		bytes = bytes.subspan(static_cast<size_t>(count));
		offset += static_cast<uint64_t>(count);
	}
	return true;
}

} /* namespace */

tl::expected<Backing::Identity, int> Backing::identify(int fd)
{
	struct stat info;
	if (fstat(fd, &info) < 0)
		return tl::unexpected(errno);
	if (!S_ISREG(info.st_mode))
		return tl::unexpected(EINVAL);
	const int flags = fcntl(fd, F_GETFL);
	if (flags < 0)
		return tl::unexpected(errno);
	const int mode = flags & O_ACCMODE;
	if ((flags & O_PATH) || (mode != O_RDONLY && mode != O_RDWR))
		return tl::unexpected(EACCES);
	return Identity{ { info.st_dev, info.st_ino, mode == O_RDWR },
			 static_cast<uint64_t>(info.st_size) };
}

tl::expected<std::shared_ptr<Backing>, int> Backing::open(UniqueFd fd, const Identity &identity)
{
	const uint64_t size = identity.size;
	const bool writable = identity.key.writable;

	/* Ordinary files do not support seals: fcntl() returns an error. */
	const int seals = fcntl(fd.get(), F_GET_SEALS);
	if (seals < 0 || !(seals & F_SEAL_SHRINK) || size == 0)
		return std::shared_ptr<Backing>(
			new Backing(std::move(fd), nullptr, size, writable));

	const int protection = writable ? PROT_READ | PROT_WRITE : PROT_READ;
	void *mapping = mmap(nullptr, size, protection, MAP_SHARED | MAP_NORESERVE, fd.get(), 0);
	if (mapping == MAP_FAILED)
		return tl::unexpected(errno);
	/* The mapping keeps the file open, so the descriptor can be closed. */
	return std::shared_ptr<Backing>(
		new Backing(UniqueFd(), static_cast<std::byte *>(mapping), size, writable));
}

Backing::~Backing()
{
	if (mapping_)
		munmap(mapping_, size_);
}

bool Backing::read(uint64_t offset, std::span<std::byte> out) const
{
	if (!inside(offset, out.size()))
		return false;
	if (mapping_) {
		std::memcpy(out.data(), mapping_ + offset, out.size());
		return true;
	}
	return moveAll(pread, fd_, out, offset);
}

bool Backing::write(uint64_t offset, std::span<const std::byte> data)
{
	if (!writable_ || !inside(offset, data.size()))
		return false;
	if (mapping_) {
		std::memcpy(mapping_ + offset, data.data(), data.size());
		return true;
	}

	/*
	 * The client may have truncated the file, and that part of the guest's memory is gone. A
	 * write beyond the end would extend the file again.
	 */
	struct stat info;
	if (fstat(fd_.get(), &info) < 0 ||
	    offset + data.size() > static_cast<uint64_t>(info.st_size))
		return false;
	return moveAll(pwrite, fd_, data, offset);
}

} /* namespace nvdla::sim::vfiouser */
