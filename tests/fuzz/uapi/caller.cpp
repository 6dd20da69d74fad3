/* SPDX-License-Identifier: MIT */
/*
 * Open files and buffers.
 */
#include "caller.h"

#include <drm.h>
#include <drm/nvdla_accel.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "arguments.h"
#include "device.h"

namespace nvdla::fuzz
{

namespace
{

constexpr size_t mostFiles = 4;

} /* namespace */

void Caller::make(const Call &call, const test::FailNth &failNth)
{
	static constexpr Function functions[] = {
		&Caller::open,		 &Caller::close,	 &Caller::query,
		&Caller::bufferCreate,	 &Caller::bufferClose,	 &Caller::bufferMap,
		&Caller::bufferTouch,	 &Caller::bufferUnmap,	 &Caller::bufferPrep,
		&Caller::bufferFini,	 &Caller::contextCreate, &Caller::contextDestroy,
		&Caller::taskCreate,	 &Caller::taskDestroy,	 &Caller::submitTask,
		&Caller::submitPrepared, &Caller::syncobjCreate, &Caller::syncobjDestroy,
		&Caller::syncobjSignal,	 &Caller::syncobjWait,	 &Caller::fenceExport,
		&Caller::bufferExport,	 &Caller::bufferImport,	 &Caller::anything,
		&Caller::deviceFiles,
	};
	static_assert(std::size(functions) == static_cast<size_t>(CallKind::Count));
	const uint32_t fault = call.numbers[6];
	const bool fails = fault % 8 == 7;

	if (fails)
		failNth.arm(1 + fault / 8 % 64);
	(this->*functions[static_cast<size_t>(call.kind)])(call);
	if (fails)
		failNth.disarm();
}

Caller::~Caller()
{
	for (const Mapping &mapping : mappings_)
		munmap(mapping.address, mapping.size);
	for (const int dmaBuf : dmaBufs_)
		::close(dmaBuf);
	for (const int file : files_)
		::close(file);
}

template<typename T>
void Caller::add(Pool<T> &pool, const T &entry)
{
	const std::lock_guard lock(mutex_);
	pool.push_back(entry);
}

template<typename T>
bool Caller::take(Pool<T> &pool, uint32_t number, T &entry)
{
	const std::lock_guard lock(mutex_);
	if (pool.empty())
		return false;
	const size_t index = pool.size() - 1 - number % pool.size();
	entry = pool[index];
	pool.erase(pool.begin() + static_cast<ptrdiff_t>(index));
	return true;
}

int Caller::file(const Call &call)
{
	const std::lock_guard lock(mutex_);
	return files_.empty() ? -1 : files_[call.numbers[0] % files_.size()];
}

uint32_t Caller::choose(const Pool<Handle> &pool, int file, uint32_t number)
{
	const std::lock_guard lock(mutex_);
	std::vector<uint32_t> own;

	if (number % 16 == 15)
		return pool.empty() || number & 16 ? number / 32 : pool[number % pool.size()].value;
	for (const Handle &handle : pool)
		if (handle.file == file)
			own.push_back(handle.value);
	return own.empty() ? 0 : own[number % own.size()];
}

void Caller::open(const Call &call)
{
	{
		const std::lock_guard lock(mutex_);
		if (files_.size() >= mostFiles)
			return;
	}
	const int flags = call.numbers[1] % 8 == 7 ? O_RDONLY : O_RDWR;
	const int file = ::open(test::Device::path().c_str(), flags | O_CLOEXEC);
	if (file >= 0)
		add(files_, file);
}

/* With whatever was made with it, and jobs on the way; never the last one. */
void Caller::close(const Call &call)
{
	int file;
	{
		const std::lock_guard lock(mutex_);
		if (files_.size() < 2)
			return;
	}
	if (take(files_, call.numbers[0], file))
		::close(file);
}

void Caller::query(const Call &call)
{
	union {
		drm_nvdla_device_info device;
		drm_nvdla_client_info client;
	} answer;
	drm_nvdla_dev_query query = {};

	query.type = call.numbers[1] % 3;
	query.size = call.numbers[2] % (sizeof(answer) + 1);
	query.pointer = call.numbers[3] % 4 == 3 ? 0 : pointer(&answer);
	ioctl(file(call), DRM_IOCTL_NVDLA_DEV_QUERY, &query);
}

void Caller::bufferCreate(const Call &call)
{
	static constexpr uint64_t sizes[] = { 4096,  2 << 20,	 1,	     65536,   0,
					      12345, UINT64_MAX, 1ULL << 40, 1 << 18, 256 << 20 };
	static constexpr uint32_t flags[] = {
		0, 0, 0, DRM_NVDLA_BO_SRAM, DRM_NVDLA_BO_WRITE_COMBINE, ~0U
	};
	drm_nvdla_bo_create create = {};
	const int file = this->file(call);

	create.size = of(sizes, call.numbers[0]);
	create.flags = of(flags, call.numbers[1]);
	if (control(call, file, DRM_IOCTL_NVDLA_BO_CREATE, create) == 0)
		add(buffers_, { file, create.handle });
}

void Caller::destroy(const Call &call, Pool<Handle> &pool, unsigned long request)
{
	struct {
		uint32_t handle;
		uint32_t pad;
	} argument = {};
	Handle handle;

	if (!take(pool, call.numbers[1], handle))
		return;
	argument.handle = handle.value;
	control(call, call.numbers[2] % 8 == 7 ? file(call) : handle.file, request, argument);
}

void Caller::bufferClose(const Call &call)
{
	destroy(call, buffers_, DRM_IOCTL_GEM_CLOSE);
}

void Caller::bufferMap(const Call &call)
{
	static constexpr size_t sizes[] = { 4096, 2 << 20, 65536, 8192 };
	drm_nvdla_bo_mmap_offset offset = {};
	const int file = this->file(call);
	const size_t size = of(sizes, call.numbers[2]);

	offset.handle = choose(buffers_, file, call.numbers[1]);
	if (control(call, file, DRM_IOCTL_NVDLA_BO_MMAP_OFFSET, offset) != 0)
		return;
	const uint64_t at = offset.offset + call.numbers[3] % 4 / 3 * 4096;
	const int kind = call.numbers[4] % 4 == 3 ? MAP_PRIVATE : MAP_SHARED;
	void *map = mmap(nullptr, size, PROT_READ | PROT_WRITE, kind, file, static_cast<off_t>(at));
	if (map != MAP_FAILED)
		add(mappings_, { static_cast<uint8_t *>(map), size });
}

/* By the kernel, which says so where there is no page; this process would get a signal. */
void Caller::bufferTouch(const Call &call)
{
	Mapping mapping;
	int pipe[2];

	if (!take(mappings_, call.numbers[1], mapping))
		return;
	if (pipe2(pipe, O_CLOEXEC | O_NONBLOCK) == 0) {
		const uint8_t *place = mapping.address + call.numbers[2] % mapping.size;
		if (write(pipe[1], place, 1) == 1) {
			[[maybe_unused]] const ssize_t size =
				read(pipe[0], const_cast<uint8_t *>(place), 1);
		}
		::close(pipe[0]);
		::close(pipe[1]);
	}
	if (call.numbers[3] % 8 == 7)
		mremap(mapping.address, mapping.size, mapping.size, MREMAP_MAYMOVE);
	add(mappings_, mapping);
}

void Caller::bufferUnmap(const Call &call)
{
	Mapping mapping;

	if (!take(mappings_, call.numbers[1], mapping))
		return;
	/* Half of it first, at times: the rest is a mapping that was split. */
	if (call.numbers[2] % 2 && mapping.size > 4096)
		munmap(mapping.address, mapping.size / 2);
	munmap(mapping.address, mapping.size);
}

void Caller::bufferPrep(const Call &call)
{
	drm_nvdla_bo_prep prep = {};
	const int file = this->file(call);

	prep.handle = choose(buffers_, file, call.numbers[1]);
	prep.flags = (call.numbers[2] + 1) % 5;
	prep.timeout_ns = deadline(call.numbers[3]);
	ioctl(file, DRM_IOCTL_NVDLA_BO_PREP, &prep);
}

void Caller::bufferFini(const Call &call)
{
	drm_nvdla_bo_fini fini = {};
	const int file = this->file(call);

	fini.handle = choose(buffers_, file, call.numbers[1]);
	control(call, file, DRM_IOCTL_NVDLA_BO_FINI, fini);
}

} /* namespace nvdla::fuzz */
