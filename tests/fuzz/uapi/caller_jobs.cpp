/* SPDX-License-Identifier: MIT */
/*
 * Tasks, jobs and their fences; buffers that go from one file to another.
 */
#include <random>
#include <string>

#include <drm.h>
#include <drm/nvdla_accel.h>
#include <unistd.h>

#include "arguments.h"
#include "caller.h"
#include "device.h"
#include "driver_files.h"
#include "task_builder.h"
#include "task_dice.h"

namespace nvdla::fuzz
{

namespace
{

constexpr uint32_t timeoutsMs[] = { 200, 20, 1, 1000 };

/** \brief A task of the engines' in memory of this process */
class UserTask
{
public:
	explicit UserTask(uint32_t seed) : random_(seed)
	{
		test::TaskDice(random_).addTask(builder_);
		arrays_.graph = builder_.graph;
		arrays_.operations = builder_.operations;
		arrays_.surfaces = builder_.surfaces;
		task_ = arrays_.task();
		task_.luts = pointer(builder_.luts.data());
		task_.num_luts = static_cast<uint32_t>(builder_.luts.size());
		task_.num_addresses = static_cast<uint32_t>(builder_.extents.size());
	}

	drm_nvdla_task &task() { return task_; }

private:
	std::mt19937 random_;
	test::TaskBuilder builder_;
	test::CopyTask arrays_;
	drm_nvdla_task task_ = {};
};

} /* namespace */

void Caller::contextCreate(const Call &call)
{
	drm_nvdla_context_create create = {};
	const int file = this->file(call);

	create.priority = call.numbers[1] % 4;
	if (control(call, file, DRM_IOCTL_NVDLA_CONTEXT_CREATE, create) == 0)
		add(contexts_, { file, create.context });
}

void Caller::contextDestroy(const Call &call)
{
	destroy(call, contexts_, DRM_IOCTL_NVDLA_CONTEXT_DESTROY);
}

void Caller::taskCreate(const Call &call)
{
	UserTask task(call.numbers[1]);
	drm_nvdla_error error;
	drm_nvdla_task_create create = {};
	const int file = this->file(call);

	mangle(call, Target::Task, &task.task(), sizeof(task.task()));
	create.task = pointer(&task.task());
	create.task_size = sizeof(task.task());
	create.error = pointer(&error);
	create.error_size = sizeof(error);
	if (control(call, file, DRM_IOCTL_NVDLA_TASK_CREATE, create) == 0)
		add(tasks_, { file, create.handle });
}

void Caller::taskDestroy(const Call &call)
{
	destroy(call, tasks_, DRM_IOCTL_NVDLA_TASK_DESTROY);
}

void Caller::submit(const Call &call, bool prepared)
{
	static constexpr uint64_t offsets[] = { 0, 0, 0, 32, 4096, 64, UINT64_MAX - 31 };
	const auto &numbers = call.numbers;
	const int file = this->file(call);
	UserTask task(numbers[1]);
	drm_nvdla_address addresses[5] = {};
	drm_nvdla_sync syncs[4] = {};
	drm_nvdla_error error;
	drm_nvdla_submit submit = {};

	for (uint32_t i = 0; i < std::size(addresses); i++) {
		addresses[i].handle = choose(buffers_, file, numbers[2] + i * (numbers[2] % 3));
		addresses[i].offset = of(offsets, numbers[3] >> i);
	}
	for (uint32_t i = 0; i < std::size(syncs); i++) {
		syncs[i].handle = choose(syncobjs_, file, numbers[4] + i);
		syncs[i].point = numbers[4] / 4 % 3;
	}
	if (prepared) {
		task.task() = {};
		task.task().handle = choose(tasks_, file, numbers[1]);
		task.task().num_addresses = std::size(addresses);
	}
	task.task().addresses = pointer(addresses);
	task.task().address_size = sizeof(addresses[0]);
	mangle(call, Target::Task, &task.task(), sizeof(task.task()));
	mangle(call, Target::Addresses, addresses, sizeof(addresses));
	mangle(call, Target::Syncs, syncs, sizeof(syncs));
	submit.tasks = pointer(&task.task());
	submit.num_tasks = 1;
	submit.task_size = sizeof(task.task());
	submit.in_syncs = pointer(&syncs[2]);
	submit.num_in_syncs = numbers[5] % 4 == 3;
	submit.out_syncs = pointer(syncs);
	submit.num_out_syncs = 1 + numbers[5] / 4 % 2;
	submit.sync_size = sizeof(syncs[0]);
	submit.error = pointer(&error);
	submit.error_size = sizeof(error);
	submit.timeout_ms = of(timeoutsMs, numbers[5] / 8);
	submit.flags = numbers[5] / 32 % 4;
	submit.context = choose(contexts_, file, numbers[3]);
	submit.result_handle = submit.flags ? choose(buffers_, file, numbers[4]) : 0;
	control(call, file, DRM_IOCTL_NVDLA_SUBMIT, submit);
}

void Caller::syncobjCreate(const Call &call)
{
	drm_syncobj_create create = {};
	const int file = this->file(call);

	create.flags = call.numbers[1] % 2;
	if (ioctl(file, DRM_IOCTL_SYNCOBJ_CREATE, &create) == 0)
		add(syncobjs_, { file, create.handle });
}

void Caller::syncobjDestroy(const Call &call)
{
	destroy(call, syncobjs_, DRM_IOCTL_SYNCOBJ_DESTROY);
}

void Caller::syncobjSignal(const Call &call)
{
	const int file = this->file(call);
	uint32_t handle = choose(syncobjs_, file, call.numbers[1]);
	uint64_t point = call.numbers[2] % 4;
	drm_syncobj_timeline_array array = {};

	array.handles = pointer(&handle);
	array.points = pointer(&point);
	array.count_handles = 1;
	ioctl(file, DRM_IOCTL_SYNCOBJ_TIMELINE_SIGNAL, &array);
}

void Caller::syncobjWait(const Call &call)
{
	const int file = this->file(call);
	uint32_t handle = choose(syncobjs_, file, call.numbers[1]);
	drm_syncobj_wait wait = {};

	wait.handles = pointer(&handle);
	wait.count_handles = 1;
	wait.flags = call.numbers[2] % 4;
	wait.timeout_nsec = deadline(call.numbers[3]);
	ioctl(file, DRM_IOCTL_SYNCOBJ_WAIT, &wait);
}

/* A fence leaves the driver as a sync file and comes back in a syncobj of any file. */
void Caller::fenceExport(const Call &call)
{
	const int file = this->file(call);
	drm_syncobj_handle fence = {};

	fence.handle = choose(syncobjs_, file, call.numbers[1]);
	fence.flags = DRM_SYNCOBJ_HANDLE_TO_FD_FLAGS_EXPORT_SYNC_FILE;
	if (ioctl(file, DRM_IOCTL_SYNCOBJ_HANDLE_TO_FD, &fence) != 0)
		return;
	test::syncFileNames(fence.fd);
	fence.handle = choose(syncobjs_, file, call.numbers[2]);
	fence.flags = DRM_SYNCOBJ_FD_TO_HANDLE_FLAGS_IMPORT_SYNC_FILE;
	ioctl(file, DRM_IOCTL_SYNCOBJ_FD_TO_HANDLE, &fence);
	::close(fence.fd);
}

void Caller::bufferExport(const Call &call)
{
	const int file = this->file(call);
	drm_prime_handle prime = {};

	prime.handle = choose(buffers_, file, call.numbers[1]);
	prime.flags = call.numbers[2] % 4 == 3 ? DRM_CLOEXEC : DRM_CLOEXEC | DRM_RDWR;
	if (ioctl(file, DRM_IOCTL_PRIME_HANDLE_TO_FD, &prime) == 0)
		add(dmaBufs_, prime.fd);
}

void Caller::bufferImport(const Call &call)
{
	const int file = this->file(call);
	drm_prime_handle prime = {};

	if (!take(dmaBufs_, call.numbers[1], prime.fd))
		return;
	const int dmaBuf = prime.fd;
	if (ioctl(file, DRM_IOCTL_PRIME_FD_TO_HANDLE, &prime) == 0)
		add(buffers_, { file, prime.handle });
	if (call.numbers[2] % 2)
		::close(dmaBuf);
	else
		add(dmaBufs_, dmaBuf);
}

/* Any of the driver's numbers with an argument of any size and content: no pointer is valid. */
void Caller::anything(const Call &call)
{
	uint32_t argument[64] = {};
	const uint32_t size = call.numbers[2] % (sizeof(argument) + 1);
	const unsigned long request = _IOC(call.numbers[1] / 16 % 4, DRM_IOCTL_BASE,
					   DRM_COMMAND_BASE + call.numbers[1] % 12, size);

	for (uint32_t i = 0; i < std::size(argument); i++)
		argument[i] = of(oddWords, call.numbers[3] * i + call.numbers[4]);
	ioctl(file(call), request, argument);
}

void Caller::deviceFiles(const Call &call)
{
	static constexpr const char *debugFiles[] = { "registers", "queue", "last_job" };

	if (call.numbers[1] % 4 == 3)
		test::writeFile(test::debugFolder() / "reset", "1");
	else if (call.numbers[1] % 4 == 2)
		test::readFile(test::debugFolder() / of(debugFiles, call.numbers[2]));
	else
		test::readFile("/proc/self/fdinfo/" + std::to_string(file(call)));
}

} /* namespace nvdla::fuzz */
