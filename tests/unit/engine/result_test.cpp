/* SPDX-License-Identifier: MIT */
/*
 * What user space is told about a job that ended.
 */
#include <cerrno>
#include <cstring>

#include <drm/nvdla_accel.h>
#include <gtest/gtest.h>
#include <nvdla/hw/registers.h>

#include <user/nvdla_engine.h>

#include "device/refusal.h"
#include "recording_core.h"
#include "task_builder.h"

namespace nvdla::test
{

namespace
{

constexpr uint32_t sdpDone = 1 << 0;
constexpr uint32_t cdpDone = 1 << 2;
constexpr uint32_t pdpDone = 1 << 4;
constexpr uint32_t bdmaDone = 1 << 6;
constexpr uint32_t rubikDone = 1 << 8;
/* CACC, and CDMA's data and weights. */
constexpr uint32_t convDone = 1 << 20 | 1 << 16 | 1 << 18;
constexpr uint32_t none = ~0u;

constexpr uint32_t ended = DRM_NVDLA_OPERATION_STARTED | DRM_NVDLA_OPERATION_COMPLETED;

} /* namespace */

class Result : public testing::Test, public SequencerFixture
{
protected:
	TaskBuilder builder;
	std::vector<TaskPtr> tasks;
	drm_nvdla_job_result job = {};
	std::vector<drm_nvdla_operation_result> operations;

	/* The built task becomes the job's next one. */
	void addTask()
	{
		Created created = builder.create();
		ASSERT_EQ(created.result, 0) << describeRefusal(created.error);
		tasks.push_back(std::move(created.task));
	}

	/* A convolution and SDP of FP16, with everything that can be counted. */
	void addFp16Conv()
	{
		const int16_t lut = builder.addLut();
		const size_t last = builder.addConv();
		nvdla_conv_op_desc &conv = builder.conv(last - 1);
		nvdla_sdp_op_desc &sdp = builder.sdp(last);
		nvdla_conv_surface_desc &convCubes = builder.surfaces[last - 1].conv;
		nvdla_sdp_surface_desc &sdpCubes = builder.surfaces[last].sdp;

		conv.in_precision = conv.out_precision = NVDLA_PRECISION_FP16;
		conv.input_channel_csc = conv.kernel_channel_csc = 16;
		convCubes.src_data = nvdla_test_feature(0, 0, 8, 8, 16, 2);
		convCubes.dst_data = sdpCubes.src_data = nvdla_test_stream(8, 8, 32, 2);
		sdp.src_precision = sdp.dst_precision = NVDLA_PRECISION_FP16;
		sdp.x1_op.precision = NVDLA_PRECISION_FP16;
		sdpCubes.x1_data = nvdla_test_feature(1, 0x100000, 1, 1, 32, 2);
		sdpCubes.dst_data = nvdla_test_feature(2, 0, 8, 8, 32, 2);
		sdp.x2_op = sdp.y_op = sdp.x1_op;
		sdpCubes.x2_data = sdpCubes.y_data = sdpCubes.x1_data;
		sdp.y_op.alu_cvt.enable = 1;
		sdp.y_op.act = NVDLA_ACT_LUT;
		sdp.lut_index = lut;
	}

	std::vector<nvdla_task *> pointers() const
	{
		std::vector<nvdla_task *> result;
		for (const TaskPtr &task : tasks)
			result.push_back(task.get());
		return result;
	}

	/* Has the result written and takes it apart. */
	void write(nvdla_result_source source)
	{
		const auto all = pointers();
		source.tasks = all.data();
		source.num_tasks = static_cast<uint32_t>(all.size());
		const uint32_t size = nvdla_result_size(source.tasks, source.num_tasks);
		/* Words, so that it is aligned; one more, to see that it is left alone. */
		std::vector<uint64_t> words(size / 8 + 1, 0xa5a5a5a5a5a5a5a5);
		ASSERT_EQ(size % 8, 0u);
		nvdla_result_write(&source, words.data());
		EXPECT_EQ(words.back(), 0xa5a5a5a5a5a5a5a5);

		std::memcpy(&job, words.data(), sizeof(job));
		ASSERT_EQ(job.header_size, sizeof(job));
		ASSERT_EQ(job.operation_size, sizeof(operations[0]));
		ASSERT_EQ(size, sizeof(job) + job.num_operations * sizeof(operations[0]));
		operations.resize(job.num_operations);
		std::memcpy(operations.data(), reinterpret_cast<char *>(words.data()) + sizeof(job),
			    job.num_operations * sizeof(operations[0]));
	}
};

TEST_F(Result, OfAJobThatRan)
{
	builder.addPdp();
	builder.addCdp();
	addTask();
	ASSERT_EQ(start(tasks[0].get()), 0);
	irq(cdpDone);
	irq(pdpDone);
	ASSERT_EQ(done, std::vector<int>{ 0 });
	write({ .num_started = 1,
		.num_runs = 1,
		.submit_ns = 100,
		.start_ns = 200,
		.end_ns = 300 });
	EXPECT_EQ(job.status, 0);
	EXPECT_EQ(job.num_operations, 2u);
	EXPECT_EQ(job.num_completed, 2u);
	EXPECT_EQ(job.failed_task, none);
	EXPECT_EQ(job.failed_operation, none);
	EXPECT_EQ(job.num_runs, 1u);
	EXPECT_EQ(job.submit_ns, 100u);
	EXPECT_EQ(job.start_ns, 200u);
	EXPECT_EQ(job.end_ns, 300u);

	/* The clock ticks once for each beginning and each end. */
	EXPECT_EQ(operations[0].op_type, static_cast<uint32_t>(NVDLA_OP_PDP));
	EXPECT_EQ(operations[0].flags, ended);
	EXPECT_EQ(operations[0].start_ns, 1u);
	EXPECT_EQ(operations[0].end_ns, 4u);
	EXPECT_EQ(operations[1].op_type, static_cast<uint32_t>(NVDLA_OP_CDP));
	EXPECT_EQ(operations[1].flags, ended);
	EXPECT_EQ(operations[1].start_ns, 2u);
	EXPECT_EQ(operations[1].end_ns, 3u);
	EXPECT_EQ(operations[1].write_stall, 0u);
}

TEST_F(Result, OfAJobThatNeverRan)
{
	builder.addPdp();
	addTask();
	write({ .status = -ENODEV, .submit_ns = 100, .end_ns = 300 });
	EXPECT_EQ(job.status, -ENODEV);
	EXPECT_EQ(job.num_completed, 0u);
	EXPECT_EQ(job.failed_task, none);
	EXPECT_EQ(job.failed_operation, none);
	EXPECT_EQ(operations[0].op_type, static_cast<uint32_t>(NVDLA_OP_PDP));
	EXPECT_EQ(operations[0].flags, 0u);
	EXPECT_EQ(operations[0].start_ns, 0u);
}

TEST_F(Result, NamesTheOperationThatIsStuck)
{
	builder.addPdp();
	builder.addCdp();
	addTask();
	addTask();
	ASSERT_EQ(start(tasks[0].get()), 0);
	irq(pdpDone | cdpDone);
	ASSERT_EQ(start(tasks[1].get()), 0);
	irq(pdpDone << 1);
	nvdla_sequencer_abort(sequencer.get());
	write({ .num_started = 2, .status = -ETIMEDOUT, .num_runs = 1 });
	EXPECT_EQ(job.num_operations, 4u);
	EXPECT_EQ(job.num_completed, 3u);
	EXPECT_EQ(job.failed_task, 1u);
	EXPECT_EQ(job.failed_operation, 1u);
	EXPECT_EQ(operations[2].flags, ended);
	EXPECT_EQ(operations[3].flags, static_cast<uint32_t>(DRM_NVDLA_OPERATION_STARTED));
	EXPECT_EQ(operations[3].end_ns, 0u);
}

TEST_F(Result, OfStuckOperationsTheOneThatWasEnabledFirst)
{
	/* Streams are enabled from their end to their beginning. */
	builder.addConv();
	addTask();
	ASSERT_EQ(start(tasks[0].get()), 0);
	ASSERT_EQ(enabled, (std::vector<uint32_t>{ 1, 0 }));
	nvdla_sequencer_abort(sequencer.get());
	write({ .num_started = 1, .status = -ETIMEDOUT, .num_runs = 1 });
	EXPECT_EQ(job.failed_operation, 1u);
}

TEST_F(Result, ForgetsTheRunBefore)
{
	builder.flags = NVDLA_TASK_STATISTICS;
	builder.addPdp();
	addTask();
	ASSERT_EQ(start(tasks[0].get()), 0);
	irq(pdpDone);
	nvdla_task_rewind(tasks[0].get());
	write({ .status = -ENODEV });
	EXPECT_EQ(job.num_completed, 0u);
	EXPECT_EQ(operations[0].flags, 0u);
}

/* The status bit means something else after an ordinary layer. */
TEST_F(Result, ComparisonsTellWhatTheyFound)
{
	for (const uint32_t status : { 0u, 1u }) {
		builder = TaskBuilder();
		builder.flags = NVDLA_TASK_STATISTICS;
		builder.addComparison();
		tasks.clear();
		addTask();
		core.readable[NVDLA_SDP_D_STATUS] = status;
		ASSERT_EQ(start(tasks[0].get()), 0);
		irq(sdpDone << status); /* the groups take turns */
		write({ .num_started = 1, .num_runs = 1 });
		EXPECT_EQ(operations[0].unequal, status);
	}
}

/* Each register counts something else, and lands in the member that is named after it. */
TEST_F(Result, CarriesTheCountersOfEachEngine)
{
	builder.flags = NVDLA_TASK_STATISTICS;
	addFp16Conv();
	builder.addPdp();
	builder.addCdp();
	builder.addBdma();
	builder.addRubik(NVDLA_RUBIK_SPLIT);
	addTask();

	uint32_t value = 1;
	for (const uint32_t reg : { NVDLA_CDMA_D_PERF_DAT_READ_STALL,
				    NVDLA_CDMA_D_PERF_WT_READ_STALL,
				    NVDLA_CDMA_D_PERF_DAT_READ_LATENCY,
				    NVDLA_CDMA_D_PERF_WT_READ_LATENCY,
				    NVDLA_CACC_D_OUT_SATURATION,
				    NVDLA_CDMA_D_NAN_INPUT_DATA_NUM,
				    NVDLA_CDMA_D_INF_INPUT_DATA_NUM,
				    NVDLA_CDMA_D_NAN_INPUT_WEIGHT_NUM,
				    NVDLA_CDMA_D_INF_INPUT_WEIGHT_NUM,
				    NVDLA_SDP_D_PERF_WDMA_WRITE_STALL,
				    NVDLA_SDP_RDMA_D_PERF_BRDMA_READ_STALL,
				    NVDLA_SDP_RDMA_D_PERF_NRDMA_READ_STALL,
				    NVDLA_SDP_RDMA_D_PERF_ERDMA_READ_STALL,
				    NVDLA_SDP_D_PERF_OUT_SATURATION,
				    NVDLA_SDP_RDMA_D_STATUS_NAN_INPUT_NUM,
				    NVDLA_SDP_RDMA_D_STATUS_INF_INPUT_NUM,
				    NVDLA_SDP_D_STATUS_NAN_OUTPUT_NUM,
				    NVDLA_SDP_D_PERF_LUT_UFLOW,
				    NVDLA_PDP_RDMA_D_PERF_READ_STALL,
				    NVDLA_PDP_D_PERF_WRITE_STALL,
				    NVDLA_CDP_D_OUT_SATURATION,
				    NVDLA_CDP_D_PERF_LUT_UFLOW,
				    NVDLA_CDP_D_PERF_LUT_OFLOW,
				    NVDLA_CDP_D_PERF_LUT_LE_HIT,
				    NVDLA_CDP_D_PERF_LUT_LO_HIT,
				    NVDLA_CDP_D_PERF_LUT_HYBRID,
				    NVDLA_BDMA_STATUS_GRP0_READ_STALL,
				    NVDLA_BDMA_STATUS_GRP0_WRITE_STALL,
				    NVDLA_RBK_D_PERF_READ_STALL,
				    NVDLA_RBK_D_PERF_WRITE_STALL })
		core.readable[reg] = value++;
	core.readable[NVDLA_SDP_D_STATUS] = 1;

	ASSERT_EQ(start(tasks[0].get()), 0);
	irq(convDone | sdpDone | pdpDone | cdpDone | bdmaDone | rubikDone);
	ASSERT_EQ(done, std::vector<int>{ 0 });
	write({ .num_started = 1, .num_runs = 1 });
	for (const auto &operation : operations)
		EXPECT_EQ(operation.flags, ended | DRM_NVDLA_OPERATION_COUNTED);

	const auto &conv = operations[0];
	EXPECT_EQ(conv.read_stall, 1u);
	EXPECT_EQ(conv.weight_read_stall, 2u);
	EXPECT_EQ(conv.read_latency, 3u);
	EXPECT_EQ(conv.weight_read_latency, 4u);
	EXPECT_EQ(conv.saturation, 5u);
	EXPECT_EQ(conv.nan_input, 6u);
	EXPECT_EQ(conv.inf_input, 7u);
	EXPECT_EQ(conv.nan_weight, 8u);
	EXPECT_EQ(conv.inf_weight, 9u);
	const auto &sdp = operations[1];
	EXPECT_EQ(sdp.write_stall, 10u);
	EXPECT_EQ(sdp.operand_read_stall[0], 11u);
	EXPECT_EQ(sdp.operand_read_stall[1], 12u);
	EXPECT_EQ(sdp.operand_read_stall[2], 13u);
	EXPECT_EQ(sdp.saturation, 14u);
	EXPECT_EQ(sdp.nan_input, 15u);
	EXPECT_EQ(sdp.inf_input, 16u);
	EXPECT_EQ(sdp.nan_output, 17u);
	EXPECT_EQ(sdp.lut.underflow, 18u);
	EXPECT_EQ(sdp.unequal, 0u) << "the status bit is set, but nothing was compared";
	EXPECT_EQ(operations[2].read_stall, 19u);
	EXPECT_EQ(operations[2].write_stall, 20u);
	const auto &cdp = operations[3];
	EXPECT_EQ(cdp.saturation, 21u);
	EXPECT_EQ(cdp.lut.underflow, 22u);
	EXPECT_EQ(cdp.lut.overflow, 23u);
	EXPECT_EQ(cdp.lut.le_hit, 24u);
	EXPECT_EQ(cdp.lut.lo_hit, 25u);
	EXPECT_EQ(cdp.lut.hybrid, 26u);
	EXPECT_EQ(operations[4].read_stall, 27u);
	EXPECT_EQ(operations[4].write_stall, 28u);
	EXPECT_EQ(operations[5].read_stall, 29u);
	EXPECT_EQ(operations[5].write_stall, 30u);
}

} /* namespace nvdla::test */
