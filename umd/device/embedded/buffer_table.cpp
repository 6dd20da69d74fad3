/* SPDX-License-Identifier: MIT */
#include "buffer_table.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <mutex>

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

namespace nvdla
{

namespace
{

/*
 * Unmapped bytes between buffers, so that an access with a wrong stride fails instead of reaching
 * the next buffer. Addresses of buffers are multiples of this number, too.
 */
constexpr uint64_t gap = uint64_t{ 1 } << 16;

uint64_t hostBytes()
{
	return static_cast<uint64_t>(sysconf(_SC_PHYS_PAGES)) *
	       static_cast<uint64_t>(sysconf(_SC_PAGESIZE));
}

} /* namespace */

tl::expected<std::shared_ptr<EmbeddedBuffer>, int> EmbeddedBuffer::allocate(size_t size)
{
	UniqueFd memfd(memfd_create("nvdla-buffer", MFD_CLOEXEC | MFD_ALLOW_SEALING));

	if (!memfd || ftruncate(memfd.get(), static_cast<off_t>(size)) ||
	    fcntl(memfd.get(), F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW))
		return tl::unexpected(-errno);
	return import(std::move(memfd));
}

tl::expected<std::shared_ptr<EmbeddedBuffer>, int> EmbeddedBuffer::import(UniqueFd memfd)
{
	const int seals = fcntl(memfd.get(), F_GET_SEALS);
	struct stat file;

	/* Refuse a file that could shrink, because that would take away memory that the device
	 * uses. */
	if (seals < 0 || !(seals & F_SEAL_SHRINK))
		return tl::unexpected(-EINVAL);
	if (fstat(memfd.get(), &file))
		return tl::unexpected(-errno);
	const auto size = static_cast<uint64_t>(file.st_size);
	if (!size || size % pageSize || size > maxBytes)
		return tl::unexpected(-EINVAL);
	void *address = mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE,
			     memfd.get(), 0);
	if (address == MAP_FAILED)
		return tl::unexpected(-errno);
	return std::shared_ptr<EmbeddedBuffer>(
		new EmbeddedBuffer(std::move(memfd), static_cast<std::byte *>(address), size));
}

std::shared_ptr<EmbeddedBuffer> EmbeddedBuffer::onChip(uint64_t address, size_t size)
{
	std::shared_ptr<EmbeddedBuffer> buffer(new EmbeddedBuffer({}, nullptr, size));

	buffer->dmaAddress = address;
	return buffer;
}

EmbeddedBuffer::~EmbeddedBuffer()
{
	if (address_)
		munmap(address_, size_);
}

/*
 * Adds dependencies by the kernel's rules for the fences in a buffer's dma_resv: a job that writes
 * waits for the last writer and all readers since then, a job that reads for the last writer.
 */
void EmbeddedBuffer::use(const std::shared_ptr<EmbeddedFence> &fence, bool write,
			 std::vector<std::shared_ptr<EmbeddedFence>> &dependencies)
{
	if (writer_ && writer_->done())
		writer_.reset();
	std::erase_if(readers_, [](const auto &reader) { return reader->done(); });

	if (writer_)
		dependencies.push_back(writer_);
	if (!write) {
		readers_.push_back(fence);
		return;
	}
	dependencies.insert(dependencies.end(), readers_.begin(), readers_.end());
	readers_.clear();
	writer_ = fence;
}

bool EmbeddedBuffer::idle(bool write) const
{
	if (writer_ && !writer_->done())
		return false;
	return !write || std::all_of(readers_.begin(), readers_.end(),
				     [](const auto &reader) { return reader->done(); });
}

bool EmbeddedMemory::insert(EmbeddedBuffer &buffer)
{
	const std::unique_lock lock(mutex_);
	uint64_t address = start_;

	if (buffer.bytes().size() > hostBytes() / 2 - bytes_)
		return false;
	for (const auto &[start, bytes] : ranges_) {
		if (start - address >= buffer.bytes().size() + gap)
			break;
		address = (start + bytes.size() + 2 * gap - 1) / gap * gap;
	}
	if (address > end_ || buffer.bytes().size() > end_ - address)
		return false;
	ranges_.emplace(address, buffer.bytes());
	bytes_ += buffer.bytes().size();
	buffer.dmaAddress = address;
	return true;
}

void EmbeddedMemory::remove(const EmbeddedBuffer &buffer)
{
	const std::unique_lock lock(mutex_);
	bytes_ -= buffer.bytes().size();
	ranges_.erase(buffer.dmaAddress);
}

std::byte *EmbeddedMemory::find(uint64_t address, size_t size)
{
	auto range = ranges_.upper_bound(address);
	if (range == ranges_.begin())
		return nullptr;
	--range;

	const uint64_t offset = address - range->first;
	const auto bytes = range->second;
	if (offset > bytes.size() || size > bytes.size() - offset)
		return nullptr;
	return bytes.data() + offset;
}

bool EmbeddedMemory::read(uint64_t address, std::span<std::byte> out)
{
	const std::shared_lock lock(mutex_);
	const std::byte *from = find(address, out.size());

	if (!from)
		return false;
	std::memcpy(out.data(), from, out.size());
	return true;
}

sim::Memory::Region EmbeddedMemory::region(uint64_t address)
{
	const std::shared_lock lock(mutex_);
	auto range = ranges_.upper_bound(address);

	if (range == ranges_.begin())
		return {};
	--range;
	return { range->first, range->second };
}

bool EmbeddedMemory::write(uint64_t address, std::span<const std::byte> data)
{
	const std::shared_lock lock(mutex_);
	std::byte *to = find(address, data.size());

	if (!to)
		return false;
	std::memcpy(to, data.data(), data.size());
	return true;
}

tl::expected<uint32_t, int> BufferTable::create(size_t size)
{
	auto plain = EmbeddedBuffer::allocate(size);
	if (!plain)
		return tl::unexpected(plain.error());
	return attach(std::move(*plain));
}

tl::expected<uint32_t, int> BufferTable::import(int memfd)
{
	struct stat wanted;

	if (fstat(memfd, &wanted))
		return tl::unexpected(-errno);
	for (const auto &[handle, buffer] : buffers_) {
		struct stat known;
		if (!buffer->isOnChip() && !fstat(buffer->memfd(), &known) &&
		    known.st_dev == wanted.st_dev && known.st_ino == wanted.st_ino)
			return handle;
	}
	UniqueFd own(fcntl(memfd, F_DUPFD_CLOEXEC, 0));
	if (!own)
		return tl::unexpected(-errno);
	auto plain = EmbeddedBuffer::import(std::move(own));
	if (!plain)
		return tl::unexpected(plain.error());
	return attach(std::move(*plain));
}

tl::expected<int, int> BufferTable::exportMemfd(uint32_t handle) const
{
	const auto buffer = find(handle);

	if (!buffer)
		return tl::unexpected(-ENOENT);
	if (buffer->isOnChip())
		return tl::unexpected(-EOPNOTSUPP);
	const int fd = fcntl(buffer->memfd(), F_DUPFD_CLOEXEC, 0);
	if (fd < 0)
		return tl::unexpected(-errno);
	return fd;
}

tl::expected<uint32_t, int> BufferTable::attach(std::shared_ptr<EmbeddedBuffer> plain)
{
	if (!memory_.insert(*plain))
		return tl::unexpected(-ENOMEM);

	/* The deleter removes the memory from the device model when its last owner drops it; only
	 * then \a keep frees it. */
	EmbeddedBuffer *raw = plain.get();
	return insert(std::shared_ptr<EmbeddedBuffer>(
		raw, [keep = std::move(plain), memory = &memory_](EmbeddedBuffer *gone) {
			memory->remove(*gone);
		}));
}

tl::expected<uint32_t, int> BufferTable::createOnChip(size_t size)
{
	const auto address = onChip_.allocate(size);
	if (!address)
		return tl::unexpected(-ENOSPC);

	auto plain = EmbeddedBuffer::onChip(*address, size);
	EmbeddedBuffer *raw = plain.get();
	return insert(std::shared_ptr<EmbeddedBuffer>(
		raw, [keep = std::move(plain), memory = &onChip_](EmbeddedBuffer *gone) {
			memory->free(gone->dmaAddress);
		}));
}

uint32_t BufferTable::insert(std::shared_ptr<EmbeddedBuffer> buffer)
{
	while (buffers_.contains(nextHandle_) || !nextHandle_)
		nextHandle_++;
	buffers_.emplace(nextHandle_, std::move(buffer));
	return nextHandle_++;
}

int BufferTable::close(uint32_t handle)
{
	return buffers_.erase(handle) ? 0 : -EINVAL;
}

std::shared_ptr<EmbeddedBuffer> BufferTable::find(uint32_t handle) const
{
	const auto entry = buffers_.find(handle);
	return entry == buffers_.end() ? nullptr : entry->second;
}

tl::expected<std::byte *, int> BufferTable::map(uint64_t offset, size_t size)
{
	const auto buffer = find(static_cast<uint32_t>(offset >> 32));

	if (!buffer || buffer->isOnChip() || offset & 0xffffffff || size > buffer->size())
		return tl::unexpected(-EINVAL);
	mappings_.emplace(buffer->bytes().data(), buffer);
	return buffer->bytes().data();
}

void BufferTable::unmap(std::byte *address)
{
	const auto mapping = mappings_.find(address);
	if (mapping != mappings_.end())
		mappings_.erase(mapping);
}

} /* namespace nvdla */
