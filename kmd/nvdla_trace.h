/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
#undef TRACE_SYSTEM
#define TRACE_SYSTEM nvdla

#if !defined(__NVDLA_TRACE_H__) || defined(TRACE_HEADER_MULTI_READ)
#define __NVDLA_TRACE_H__

#include <linux/tracepoint.h>

#include <drm/nvdla_descriptors.h>

#include "nvdla_context.h"
#include "nvdla_file.h"
#include "nvdla_hw.h"
#include "nvdla_job.h"

/*
 * Events in the life of a job, its tasks and their operations. A job is identified by context and
 * number of the fence that its submit returned, as in the events of gpu_scheduler and dma_fence.
 */

#define nvdla_show_engine(op_type)							\
	__print_symbolic(op_type,							\
			 { NVDLA_OP_BDMA, "bdma" }, { NVDLA_OP_CONV, "conv" },		\
			 { NVDLA_OP_SDP, "sdp" }, { NVDLA_OP_PDP, "pdp" },		\
			 { NVDLA_OP_CDP, "cdp" }, { NVDLA_OP_RUBIK, "rubik" })

DECLARE_EVENT_CLASS(nvdla_job_class,
		    TP_PROTO(const struct nvdla_job *job),
		    TP_ARGS(job),
		    TP_STRUCT__entry(__string(device, dev_name(job->hw->drm->dev))
				     __field(u64, client)
				     __field(u64, context)
				     __field(u64, seqno)
				     __field(u32, tasks)
		    ),
		    TP_fast_assign(__assign_str(device);
				   __entry->client = job->context->file->usage.client_id;
				   __entry->context = job->base.s_fence->finished.context;
				   __entry->seqno = job->base.s_fence->finished.seqno;
				   __entry->tasks = job->num_tasks;
		    ),
		    TP_printk("device=%s client=%llu job=%llu:%llu tasks=%u", __get_str(device),
			      __entry->client, __entry->context, __entry->seqno, __entry->tasks));

/* The job was submitted; it may have to wait for fences and other jobs. */
DEFINE_EVENT(nvdla_job_class, nvdla_job_queue,
	     TP_PROTO(const struct nvdla_job *job),
	     TP_ARGS(job));

/* The job's first task starts. */
DEFINE_EVENT(nvdla_job_class, nvdla_job_run,
	     TP_PROTO(const struct nvdla_job *job),
	     TP_ARGS(job));

/* The hardware is done with the job, or the job was taken off or refused with an error. */
TRACE_EVENT(nvdla_job_done,
	    TP_PROTO(const struct nvdla_job *job, int error),
	    TP_ARGS(job, error),
	    TP_STRUCT__entry(__string(device, dev_name(job->hw->drm->dev))
			     __field(u64, context)
			     __field(u64, seqno)
			     __field(int, error)
	    ),
	    TP_fast_assign(__assign_str(device);
			   __entry->context = job->base.s_fence->finished.context;
			   __entry->seqno = job->base.s_fence->finished.seqno;
			   __entry->error = error;
	    ),
	    TP_printk("device=%s job=%llu:%llu error=%d", __get_str(device), __entry->context,
		      __entry->seqno, __entry->error));

TRACE_EVENT(nvdla_task_start,
	    TP_PROTO(const struct nvdla_job *job, u32 task, u32 operations),
	    TP_ARGS(job, task, operations),
	    TP_STRUCT__entry(__string(device, dev_name(job->hw->drm->dev))
			     __field(u64, context)
			     __field(u64, seqno)
			     __field(u32, task)
			     __field(u32, operations)
	    ),
	    TP_fast_assign(__assign_str(device);
			   __entry->context = job->base.s_fence->finished.context;
			   __entry->seqno = job->base.s_fence->finished.seqno;
			   __entry->task = task;
			   __entry->operations = operations;
	    ),
	    TP_printk("device=%s job=%llu:%llu task=%u operations=%u", __get_str(device),
		      __entry->context, __entry->seqno, __entry->task, __entry->operations));

TRACE_EVENT(nvdla_task_done,
	    TP_PROTO(const struct nvdla_job *job, u32 task, int error),
	    TP_ARGS(job, task, error),
	    TP_STRUCT__entry(__string(device, dev_name(job->hw->drm->dev))
			     __field(u64, context)
			     __field(u64, seqno)
			     __field(u32, task)
			     __field(int, error)
	    ),
	    TP_fast_assign(__assign_str(device);
			   __entry->context = job->base.s_fence->finished.context;
			   __entry->seqno = job->base.s_fence->finished.seqno;
			   __entry->task = task;
			   __entry->error = error;
	    ),
	    TP_printk("device=%s job=%llu:%llu task=%u error=%d", __get_str(device),
		      __entry->context, __entry->seqno, __entry->task, __entry->error));

DECLARE_EVENT_CLASS(nvdla_operation_class,
		    TP_PROTO(const struct nvdla_job *job, u32 task, u32 operation, u32 engine),
		    TP_ARGS(job, task, operation, engine),
		    TP_STRUCT__entry(__string(device, dev_name(job->hw->drm->dev))
				     __field(u64, context)
				     __field(u64, seqno)
				     __field(u32, task)
				     __field(u32, operation)
				     __field(u32, engine)
		    ),
		    TP_fast_assign(__assign_str(device);
				   __entry->context = job->base.s_fence->finished.context;
				   __entry->seqno = job->base.s_fence->finished.seqno;
				   __entry->task = task;
				   __entry->operation = operation;
				   __entry->engine = engine;
		    ),
		    TP_printk("device=%s job=%llu:%llu task=%u operation=%u engine=%s",
			      __get_str(device), __entry->context, __entry->seqno,
			      __entry->task, __entry->operation,
			      nvdla_show_engine(__entry->engine)));

/* The operation's registers are written to a register group. */
DEFINE_EVENT(nvdla_operation_class, nvdla_op_program,
	     TP_PROTO(const struct nvdla_job *job, u32 task, u32 operation, u32 engine),
	     TP_ARGS(job, task, operation, engine));

/* The operation runs, or is queued behind the other operation of its engine. */
DEFINE_EVENT(nvdla_operation_class, nvdla_op_enable,
	     TP_PROTO(const struct nvdla_job *job, u32 task, u32 operation, u32 engine),
	     TP_ARGS(job, task, operation, engine));

/* The driver saw the operation's interrupt. */
DEFINE_EVENT(nvdla_operation_class, nvdla_op_complete,
	     TP_PROTO(const struct nvdla_job *job, u32 task, u32 operation, u32 engine),
	     TP_ARGS(job, task, operation, engine));

TRACE_EVENT(nvdla_irq,
	    TP_PROTO(const struct nvdla_hw *hw, u32 status),
	    TP_ARGS(hw, status),
	    TP_STRUCT__entry(__string(device, dev_name(hw->drm->dev))
			     __field(u32, status)
	    ),
	    TP_fast_assign(__assign_str(device);
			   __entry->status = status;
	    ),
	    TP_printk("device=%s status=0x%06x", __get_str(device), __entry->status));

TRACE_EVENT(nvdla_reset,
	    TP_PROTO(const struct nvdla_hw *hw, int error),
	    TP_ARGS(hw, error),
	    TP_STRUCT__entry(__string(device, dev_name(hw->drm->dev))
			     __field(int, error)
	    ),
	    TP_fast_assign(__assign_str(device);
			   __entry->error = error;
	    ),
	    TP_printk("device=%s error=%d", __get_str(device), __entry->error));

#endif /* __NVDLA_TRACE_H__ */

#undef TRACE_INCLUDE_PATH
#define TRACE_INCLUDE_PATH .
#undef TRACE_INCLUDE_FILE
#define TRACE_INCLUDE_FILE nvdla_trace
#include <trace/define_trace.h>
