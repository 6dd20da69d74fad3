/* SPDX-License-Identifier: MIT */
/*
 * User space interface of the NVDLA accel driver.
 *
 * Every structure may grow at its end: user space passes the size it knows,
 * the kernel treats missing members as zero. Members named reserved, and flag
 * bits that are not defined here, must be zero (-EINVAL otherwise).
 */
#ifndef _UAPI_DRM_NVDLA_ACCEL_H_
#define _UAPI_DRM_NVDLA_ACCEL_H_

#include "drm.h"
#include "nvdla_descriptors.h"
#include "nvdla_query.h"

/**
 * enum drm_nvdla_ioctl_id - ioctl numbers, relative to DRM_COMMAND_BASE
 *
 * Add new ones at the end, the order is ABI.
 */
enum drm_nvdla_ioctl_id {
	/** @DRM_NVDLA_DEV_QUERY: ask what the device is and can do */
	DRM_NVDLA_DEV_QUERY = 0,
	/** @DRM_NVDLA_BO_CREATE: create a buffer object */
	DRM_NVDLA_BO_CREATE,
	/** @DRM_NVDLA_BO_MMAP_OFFSET: get the offset to mmap() a buffer object with */
	DRM_NVDLA_BO_MMAP_OFFSET,
	/** @DRM_NVDLA_BO_PREP: wait until the CPU may access a buffer object */
	DRM_NVDLA_BO_PREP,
	/** @DRM_NVDLA_BO_FINI: end of the CPU's access */
	DRM_NVDLA_BO_FINI,
	/** @DRM_NVDLA_SUBMIT: run task graphs */
	DRM_NVDLA_SUBMIT,
	/** @DRM_NVDLA_CONTEXT_CREATE: create a queue of jobs with a priority */
	DRM_NVDLA_CONTEXT_CREATE,
	/** @DRM_NVDLA_CONTEXT_DESTROY: destroy a queue of jobs */
	DRM_NVDLA_CONTEXT_DESTROY,
	/** @DRM_NVDLA_TASK_CREATE: prepare a task graph that is going to be run often */
	DRM_NVDLA_TASK_CREATE,
	/** @DRM_NVDLA_TASK_DESTROY: give up a prepared task */
	DRM_NVDLA_TASK_DESTROY,
};

/**
 * enum drm_nvdla_priority - priority of a context
 *
 * Ready jobs of higher priority run first, or more often if drm_sched's module parameter selects
 * its fair policy. A job on the hardware is never interrupted.
 */
enum drm_nvdla_priority {
	/** @DRM_NVDLA_PRIORITY_LOW: for work that may wait for all other jobs */
	DRM_NVDLA_PRIORITY_LOW = 0,
	/** @DRM_NVDLA_PRIORITY_NORMAL: priority of submits without a context */
	DRM_NVDLA_PRIORITY_NORMAL,
	/** @DRM_NVDLA_PRIORITY_HIGH: needs CAP_SYS_NICE */
	DRM_NVDLA_PRIORITY_HIGH,
};

/**
 * DRM_NVDLA_BO_SRAM: place the buffer in on-chip memory
 *
 * Engines reach this memory, the CPU does not: the buffer cannot be mapped, prepared for the CPU,
 * exported (-EOPNOTSUPP), or hold results. It begins zeroed; its content survives until the next
 * reset of the core or sleep of the system. -ENOSPC if the memory has no free range of that size,
 * or if the user's buffers in all open files would exceed &drm_nvdla_device_info.max_sram_bytes; a
 * closed buffer's range is freed with its last job, shortly after that job's fence. A job of the
 * file clears the buffer: -EBUSY if the file has &drm_nvdla_device_info.max_jobs already.
 */
#define DRM_NVDLA_BO_SRAM		(1u << 0)
/**
 * DRM_NVDLA_BO_WRITE_COMBINE: map the buffer write-combined
 *
 * For buffers that the CPU writes in order and hardly reads. Without the flag mappings are cached,
 * except those of a no-map pool. With the flag they may still be cached, on machines whose devices
 * snoop the CPU's caches. In both cases, the CPU's access needs PREP and FINI.
 */
#define DRM_NVDLA_BO_WRITE_COMBINE	(1u << 1)

/**
 * struct drm_nvdla_bo_create - argument of DRM_IOCTL_NVDLA_BO_CREATE
 * @size: Input: bytes, not zero. Output: bytes after rounding up to pages
 * @flags: Input: DRM_NVDLA_BO_SRAM, DRM_NVDLA_BO_WRITE_COMBINE or neither
 * @handle: Output: GEM handle. The memory is zeroed.
 */
struct drm_nvdla_bo_create {
	__u64 size;
	__u32 flags;
	__u32 handle;
};

/**
 * struct drm_nvdla_bo_mmap_offset - argument of DRM_IOCTL_NVDLA_BO_MMAP_OFFSET
 * @handle: Input: GEM handle
 * @flags: Input: zero
 * @offset: Output: offset for mmap() on the device file, with MAP_SHARED to write
 */
struct drm_nvdla_bo_mmap_offset {
	__u32 handle;
	__u32 flags;
	__u64 offset;
};

/** DRM_NVDLA_BO_READ: the CPU is going to read */
#define DRM_NVDLA_BO_READ	(1u << 0)
/** DRM_NVDLA_BO_WRITE: the CPU is going to write */
#define DRM_NVDLA_BO_WRITE	(1u << 1)

/**
 * struct drm_nvdla_bo_prep - argument of DRM_IOCTL_NVDLA_BO_PREP
 * @handle: Input: GEM handle
 * @flags: Input: DRM_NVDLA_BO_READ, DRM_NVDLA_BO_WRITE or both
 * @timeout_ns: Input: absolute CLOCK_MONOTONIC time; 0 polls without waiting
 *
 * Waits until the device is done with the buffer (for a CPU write, also until the device no longer
 * reads it) and makes the device's writes visible to the CPU. -ETIMEDOUT if the device is still
 * busy at @timeout_ns.
 */
struct drm_nvdla_bo_prep {
	__u32 handle;
	__u32 flags;
	__s64 timeout_ns;
};

/**
 * struct drm_nvdla_bo_fini - argument of DRM_IOCTL_NVDLA_BO_FINI
 * @handle: Input: GEM handle
 * @flags: Input: zero
 *
 * Makes the CPU's writes since DRM_IOCTL_NVDLA_BO_PREP visible to the device.
 */
struct drm_nvdla_bo_fini {
	__u32 handle;
	__u32 flags;
};

/**
 * struct drm_nvdla_context_create - argument of DRM_IOCTL_NVDLA_CONTEXT_CREATE
 * @priority: Input: enum drm_nvdla_priority
 * @flags: Input: zero
 * @context: Output: identifies the context in this file, never 0
 * @reserved: zero
 *
 * A context is a queue: its jobs run in the order of their submission. Jobs of different contexts
 * run in any order that fences allow. -EACCES if the caller may not use the priority, -ENOSPC if
 * the file already has &drm_nvdla_device_info.max_contexts.
 */
struct drm_nvdla_context_create {
	__u32 priority;
	__u32 flags;
	__u32 context;
	__u32 reserved;
};

/**
 * struct drm_nvdla_context_destroy - argument of DRM_IOCTL_NVDLA_CONTEXT_DESTROY
 * @context: Input: the context
 * @reserved: zero
 *
 * Jobs already submitted to the context run to their end. -ENOENT if there is no such context.
 */
struct drm_nvdla_context_destroy {
	__u32 context;
	__u32 reserved;
};

/**
 * struct drm_nvdla_address - one entry of a task's address table
 * @handle: GEM handle; 0 marks an entry that no operation uses
 * @reserved: zero
 * @offset: bytes from the start of the buffer object
 * @size: bytes that may be accessed; 0: up to the end of the buffer object
 *
 * Data cubes name memory by an index into this table. All bytes of a cube have to lie inside
 * [offset, offset + size) of the buffer object.
 */
struct drm_nvdla_address {
	__u32 handle;
	__u32 reserved;
	__u64 offset, size;
};

/**
 * struct drm_nvdla_task - one task graph
 * @graph: Input: array of @num_operations struct nvdla_graph_node
 * @operations: Input: array of @num_operations union nvdla_operation_desc
 * @surfaces: Input: array of @num_operations union nvdla_surface_desc
 * @luts: Input: array of @num_luts struct nvdla_lut_desc
 * @addresses: Input: array of @num_addresses struct drm_nvdla_address
 * @num_operations: Input: 1 or more
 * @num_luts: Input: may be zero
 * @num_addresses: Input: entries at @addresses
 * @address_size: Input: sizeof(struct drm_nvdla_address) as user space knows it
 * @node_size: Input: bytes of an element of @graph
 * @operation_size: Input: bytes of an element of @operations
 * @surface_size: Input: bytes of an element of @surfaces
 * @lut_size: Input: bytes of an element of @luts, ignored if @num_luts is 0
 * @handle: Input: handle of a prepared task, 0 for a task with descriptors
 * @reserved: zero
 *
 * The descriptors are those of nvdla_descriptors.h. They are copied once, before
 * they are checked; writing to them later has no effect on the task.
 *
 * An element size is the distance between elements of an array and the size that user space knows:
 * a multiple of 4, at least 4 bytes. If the kernel's element is longer, its other members count as
 * zero; if it is shorter, user space's additional bytes have to be zero (-E2BIG otherwise).
 *
 * A task that DRM_IOCTL_NVDLA_TASK_CREATE has prepared is submitted with its @handle and an address
 * table; all members about descriptors have to be zero then.
 */
struct drm_nvdla_task {
	__u64 graph, operations, surfaces, luts, addresses;
	__u32 num_operations, num_luts, num_addresses;
	__u32 address_size;
	__u32 node_size, operation_size, surface_size, lut_size;
	__u32 handle;
	__u32 reserved;
};

/**
 * struct drm_nvdla_task_create - argument of DRM_IOCTL_NVDLA_TASK_CREATE
 * @task: Input: a struct drm_nvdla_task without an address table: num_addresses says how many
 *        entries each submit is going to have, addresses, address_size and handle are zero
 * @error: Input: zero or user memory for a struct drm_nvdla_error
 * @task_size: Input: sizeof(struct drm_nvdla_task) as user space knows it
 * @error_size: Input: bytes at @error; those that the kernel does not know are zeroed
 * @flags: Input: zero
 * @handle: Output: identifies the prepared task in this file, never 0
 *
 * Checks a task graph, except its memory accesses, and keeps the register programs. Each submit
 * then checks the address table only. -ENOSPC if the prepared tasks of the file would take more
 * than &drm_nvdla_device_info.max_task_bytes. Closing the file destroys its prepared tasks.
 */
struct drm_nvdla_task_create {
	__u64 task;
	__u64 error;
	__u32 task_size, error_size;
	__u32 flags;
	__u32 handle;
};

/**
 * struct drm_nvdla_task_destroy - argument of DRM_IOCTL_NVDLA_TASK_DESTROY
 * @handle: Input: the prepared task
 * @reserved: zero
 *
 * Jobs already submitted with the task run to their end. -ENOENT if there is no such task.
 */
struct drm_nvdla_task_destroy {
	__u32 handle;
	__u32 reserved;
};

/**
 * struct drm_nvdla_sync - fence to wait for or to signal
 * @handle: syncobj
 * @reserved: zero
 * @point: point of a timeline syncobj, 0 for a binary one
 */
struct drm_nvdla_sync {
	__u32 handle;
	__u32 reserved;
	__u64 point;
};

/**
 * enum drm_nvdla_struct - structures whose members an error can be about
 */
enum drm_nvdla_struct {
	/** @DRM_NVDLA_STRUCT_NONE: there is no error */
	DRM_NVDLA_STRUCT_NONE = 0,
	/** @DRM_NVDLA_STRUCT_SUBMIT: struct drm_nvdla_submit */
	DRM_NVDLA_STRUCT_SUBMIT,
	/** @DRM_NVDLA_STRUCT_TASK: struct drm_nvdla_task */
	DRM_NVDLA_STRUCT_TASK,
	/** @DRM_NVDLA_STRUCT_ADDRESS: struct drm_nvdla_address */
	DRM_NVDLA_STRUCT_ADDRESS,
	/** @DRM_NVDLA_STRUCT_NODE: struct nvdla_graph_node */
	DRM_NVDLA_STRUCT_NODE,
	/** @DRM_NVDLA_STRUCT_OPERATION: union nvdla_operation_desc, as the engine uses it */
	DRM_NVDLA_STRUCT_OPERATION,
	/** @DRM_NVDLA_STRUCT_SURFACE: union nvdla_surface_desc, as the engine uses it */
	DRM_NVDLA_STRUCT_SURFACE,
	/** @DRM_NVDLA_STRUCT_LUT: struct nvdla_lut_desc */
	DRM_NVDLA_STRUCT_LUT,
};

/**
 * struct drm_nvdla_error - the member for which a submit or a preparation was refused
 * @task: index of the task in the submit, 0 for DRM_IOCTL_NVDLA_TASK_CREATE
 * @operation: index of the operation, ~0 if the error concerns the whole task
 * @member_of: enum drm_nvdla_struct: the structure that contains the member, never NONE
 * @index: index of that structure in its array
 * @offset: bytes from the start of that structure to the member
 * @size: bytes of the member, which may be a structure itself
 *
 * Written if the call fails with -EINVAL because a descriptor is invalid, or a count or size is out
 * of range. If a call fails for another reason, the structure is not written. The driver's checks
 * can also be run in user space, where they give the violated rule in words.
 */
struct drm_nvdla_error {
	__u32 task, operation;
	__u32 member_of, index, offset, size;
};

/**
 * struct drm_nvdla_lut_result - counts of values that were looked up in the tables LE and LO
 * @underflow: CDP: below both tables; SDP: below the table that gave the result
 * @overflow: CDP: above both tables; SDP: above the table that gave the result
 * @le_hit: CDP: inside table LE alone; SDP: inside LE
 * @lo_hit: CDP: inside table LO alone; SDP: inside LO
 * @hybrid: CDP: inside both tables, or below one and above the other; SDP: inside the table that
 *	gave the result
 *
 * CDP counts each value in one member. SDP counts each value in one of @underflow, @overflow and
 * @hybrid, by the table that gave the result, and in addition counts the hits of each table.
 */
struct drm_nvdla_lut_result {
	__u32 underflow, overflow, le_hit, lo_hit, hybrid;
};

/** DRM_NVDLA_OPERATION_STARTED: @start_ns is set */
#define DRM_NVDLA_OPERATION_STARTED	(1u << 0)
/** DRM_NVDLA_OPERATION_COMPLETED: @end_ns is set */
#define DRM_NVDLA_OPERATION_COMPLETED	(1u << 1)
/** DRM_NVDLA_OPERATION_COUNTED: the members from @read_stall on are set */
#define DRM_NVDLA_OPERATION_COUNTED	(1u << 2)

/**
 * struct drm_nvdla_operation_result - result of one operation
 * @start_ns: CLOCK_MONOTONIC when the operation was enabled (BDMA: launched)
 * @end_ns: CLOCK_MONOTONIC when the driver saw the operation's interrupt
 * @op_type: enum nvdla_op_type
 * @flags: DRM_NVDLA_OPERATION_*
 * @read_stall: cycles in which the source's read DMA waited for the memory interface
 * @write_stall: cycles in which the write DMA waited for the memory interface
 * @weight_read_stall: convolution: cycles the weight read DMA stalled
 * @read_latency: convolution: cycles in which data reads were in flight
 * @weight_read_latency: convolution: cycles in which weight reads were in flight
 * @operand_read_stall: SDP: cycles the read DMAs of X1, X2 and Y stalled
 * @saturation: output elements that were saturated
 * @nan_input: NaNs in the source, FP16; SDP: only of a source in memory
 * @inf_input: infinities in the source, FP16; SDP: only of a source in memory
 * @nan_output: NaNs in the output, FP16
 * @nan_weight: NaNs in the weights, FP16
 * @inf_weight: infinities in the weights, FP16
 * @unequal: SDP: 1 if an EQL comparison found a difference
 * @lut: SDP and CDP: use of the look-up table
 *
 * Counters that an engine does not have are zero. Cycles are those of the core's clock.
 */
struct drm_nvdla_operation_result {
	__u64 start_ns, end_ns;
	__u32 op_type;
	__u32 flags;
	__u64 read_stall, write_stall;
	__u64 weight_read_stall, read_latency, weight_read_latency;
	__u64 operand_read_stall[3];
	__u32 saturation;
	__u32 nan_input, inf_input, nan_output, nan_weight, inf_weight;
	__u32 unequal;
	struct drm_nvdla_lut_result lut;
};

/**
 * struct drm_nvdla_job_result - result of a job
 * @header_size: sizeof(struct drm_nvdla_job_result) as the kernel knows it
 * @operation_size: sizeof(struct drm_nvdla_operation_result) as the kernel knows it
 * @status: 0 or the negative errno that the fence carries
 * @num_operations: operations of all tasks
 * @num_completed: operations that completed
 * @failed_task: if @status is not 0: index of the task on the hardware, ~0 if none was there
 * @failed_operation: index in that task of the operation that was enabled
 *        first among those that did not complete, ~0 if there is none
 * @num_runs: times the job was put on the hardware; see DRM_NVDLA_SUBMIT_RESTARTABLE
 * @submit_ns: CLOCK_MONOTONIC at the submit
 * @start_ns: CLOCK_MONOTONIC when the job was last put on the hardware, or 0
 * @end_ns: CLOCK_MONOTONIC when the job ended
 *
 * Written to &drm_nvdla_submit.result_handle before the job's fence signals, with or without an
 * error; not written if the file is closed before the job starts. An array of @num_operations
 * struct drm_nvdla_operation_result follows, which begins @header_size bytes from the start of this
 * structure and has an element every @operation_size bytes: the operations of the first task, then
 * those of the second, and so on.
 */
struct drm_nvdla_job_result {
	__u32 header_size, operation_size;
	__s32 status;
	__u32 num_operations, num_completed;
	__u32 failed_task, failed_operation;
	__u32 num_runs;
	__u64 submit_ns, start_ns, end_ns;
};

/** DRM_NVDLA_SUBMIT_STATISTICS: enable the core's counters; needs @result_handle */
#define DRM_NVDLA_SUBMIT_STATISTICS	(1u << 0)
/**
 * DRM_NVDLA_SUBMIT_RESTARTABLE: the job may be run again from its start
 *
 * The job must not overwrite memory that it reads, except memory that it wrote itself before. If a
 * reset that the job did not cause takes it off the hardware, the job is run again; without the
 * flag the job fails with -EIO.
 */
#define DRM_NVDLA_SUBMIT_RESTARTABLE	(1u << 1)

/**
 * struct drm_nvdla_submit - argument of DRM_IOCTL_NVDLA_SUBMIT
 * @tasks: Input: array of struct drm_nvdla_task
 * @in_syncs: Input: array of struct drm_nvdla_sync to wait for
 * @out_syncs: Input: array of struct drm_nvdla_sync to signal
 * @error: Input: zero or user memory for a struct drm_nvdla_error
 * @num_tasks: Input: 1 or more
 * @task_size: Input: sizeof(struct drm_nvdla_task) as user space knows it
 * @num_in_syncs: Input: entries at @in_syncs
 * @num_out_syncs: Input: entries at @out_syncs
 * @sync_size: Input: sizeof(struct drm_nvdla_sync) as user space knows it
 * @error_size: Input: bytes at @error; those that the kernel does not know are zeroed
 * @timeout_ms: Input: longest time on the hardware in which no operation begins or ends, 0 for the
 *        default. The whole job may take ten times as long. -EACCES if @timeout_ms exceeds
 *        &drm_nvdla_device_info.max_timeout_ms, which CAP_SYS_NICE raises.
 * @flags: Input: DRM_NVDLA_SUBMIT_*
 * @context: Input: context in which the job is queued; each file has context 0
 * @result_handle: Input: buffer for a struct drm_nvdla_job_result, 0 for none. It counts as written
 *        by the job, and must be neither in SRAM nor imported.
 * @result_offset: Input: bytes from the start of that buffer, a multiple of 8
 *
 * Queues one job that runs the tasks one after the other. The job waits for the syncobjs at
 * @in_syncs and for the implicit fences of all buffers, and signals those at @out_syncs when its
 * last task is done; if the job fails, their fence carries the error (-ETIMEDOUT, -EIO, -ENODEV).
 *
 * -EBUSY if &drm_nvdla_device_info.max_jobs jobs of the file have not ended. The ioctl does not
 * wait for them: they may depend on fences that only a later submit signals.
 */
struct drm_nvdla_submit {
	__u64 tasks, in_syncs, out_syncs, error;
	__u32 num_tasks, task_size;
	__u32 num_in_syncs, num_out_syncs, sync_size, error_size;
	__u32 timeout_ms, flags, context, result_handle;
	__u64 result_offset;
};

#define DRM_IOCTL_NVDLA(access, id, type) \
	DRM_##access(DRM_COMMAND_BASE + DRM_NVDLA_##id, struct drm_nvdla_##type)
#define DRM_IOCTL_NVDLA_DEV_QUERY DRM_IOCTL_NVDLA(IOWR, DEV_QUERY, dev_query)
#define DRM_IOCTL_NVDLA_BO_CREATE DRM_IOCTL_NVDLA(IOWR, BO_CREATE, bo_create)
#define DRM_IOCTL_NVDLA_BO_MMAP_OFFSET DRM_IOCTL_NVDLA(IOWR, BO_MMAP_OFFSET, bo_mmap_offset)
#define DRM_IOCTL_NVDLA_BO_PREP DRM_IOCTL_NVDLA(IOW, BO_PREP, bo_prep)
#define DRM_IOCTL_NVDLA_BO_FINI DRM_IOCTL_NVDLA(IOW, BO_FINI, bo_fini)
#define DRM_IOCTL_NVDLA_SUBMIT DRM_IOCTL_NVDLA(IOWR, SUBMIT, submit)
#define DRM_IOCTL_NVDLA_CONTEXT_CREATE DRM_IOCTL_NVDLA(IOWR, CONTEXT_CREATE, context_create)
#define DRM_IOCTL_NVDLA_CONTEXT_DESTROY DRM_IOCTL_NVDLA(IOW, CONTEXT_DESTROY, context_destroy)
#define DRM_IOCTL_NVDLA_TASK_CREATE DRM_IOCTL_NVDLA(IOWR, TASK_CREATE, task_create)
#define DRM_IOCTL_NVDLA_TASK_DESTROY DRM_IOCTL_NVDLA(IOW, TASK_DESTROY, task_destroy)

#endif /* _UAPI_DRM_NVDLA_ACCEL_H_ */
