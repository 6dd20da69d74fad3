/* SPDX-License-Identifier: MIT */
/*
 * Reports of runs for C and for bindings of other languages, for use with nvdla.h.
 */
#ifndef NVDLA_NVDLA_REPORT_H
#define NVDLA_NVDLA_REPORT_H

#include <nvdla/nvdla.h>

#pragma GCC visibility push(default)

#ifdef __cplusplus
extern "C" {
#endif

/** Get the report of the last run; may be called in its callback. Does not wait. Return: as
 * nvdla_request_wait(); NVDLA_STATUS_BUSY in flight */
enum nvdla_status nvdla_request_get_report(struct nvdla_request *request,
					   struct nvdla_report **report);
void nvdla_report_free(struct nvdla_report *report);

/** Times of a run; size is the caller's sizeof, and no more than that is written, as in the next
 * two structs */
struct nvdla_report_info {
	size_t size;
	uint64_t queued_ns;   /**< time from the submit to the first step */
	uint64_t duration_ns; /**< time from the first step to the end of the last step */
	size_t num_steps;
};

/** A job of the device or a task of the CPU. All times except the duration are CLOCK_MONOTONIC */
struct nvdla_step_info {
	size_t size;
	uint32_t cpu;		    /**< not 0: a CPU task, without times of a job */
	uint32_t num_tasks;	    /**< number of the loadable's tasks in this step */
	uint64_t duration_ns;	    /**< time from submission to completion */
	size_t num_operations;	    /**< number of operations in these tasks */
	size_t num_operation_infos; /**< operations that can be read; 0 for the CPU, or if the
				       driver reports none */
	uint32_t num_runs;	    /**< number of times that the job was put on the hardware */
	uint64_t submit_ns;
	uint64_t start_ns; /**< when the job was last put on the hardware */
	uint64_t end_ns;
};

/** An operation; times are CLOCK_MONOTONIC. Counters are in cycles of the core or in elements, and
 * 0 if the engine does not have the counter; nvdla::OperationReport describes each. */
struct nvdla_operation_info {
	size_t size;
	uint32_t engine;    /**< 0 BDMA, 1 convolution, 2 SDP, 3 PDP, 4 CDP, 5 Rubik */
	uint32_t started;   /**< not 0: start_ns is set */
	uint32_t completed; /**< not 0: end_ns is set */
	uint32_t counted;   /**< not 0: the members after the times are set */
	uint64_t start_ns;
	uint64_t end_ns;
	uint64_t read_stall;
	uint64_t write_stall;
	uint64_t weight_read_stall;
	uint64_t read_latency;		/**< convolution: cycles with data reads in flight */
	uint64_t weight_read_latency;	/**< convolution: cycles with weight reads in flight */
	uint64_t operand_read_stall[3]; /**< SDP: stalls of X1, X2 and Y */
	uint32_t saturation;		/**< number of elements of the output that were saturated */
	uint32_t nan_input;
	uint32_t inf_input;
	uint32_t nan_output;
	uint32_t nan_weight;
	uint32_t inf_weight;
	uint32_t unequal; /**< SDP: 1 if a comparison found a difference */
	uint32_t lut_underflow;
	uint32_t lut_overflow;
	uint32_t lut_le_hit;
	uint32_t lut_lo_hit;
	uint32_t lut_hybrid;
};

enum nvdla_status nvdla_report_get_info(const struct nvdla_report *report,
					struct nvdla_report_info *info);
enum nvdla_status nvdla_report_get_step(const struct nvdla_report *report, size_t step,
					struct nvdla_step_info *info);
enum nvdla_status nvdla_report_get_operation(const struct nvdla_report *report, size_t step,
					     size_t operation, struct nvdla_operation_info *info);

#ifdef __cplusplus
}
#endif

#pragma GCC visibility pop

#endif /* NVDLA_NVDLA_REPORT_H */
