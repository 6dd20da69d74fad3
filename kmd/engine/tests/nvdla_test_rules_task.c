// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * Rules of tasks, their graphs, streams between engines, and memory.
 */
#include "../nvdla_platform.h"
#include "nvdla_test_rules.h"

static void make_pdp(struct nvdla_test_task *t)
{
	nvdla_test_add_pdp(t);
}

static void make_cdp(struct nvdla_test_task *t)
{
	nvdla_test_add_cdp(t);
}

static void make_conv(struct nvdla_test_task *t)
{
	nvdla_test_add_conv(t);
}

static void make_sdp_pdp(struct nvdla_test_task *t)
{
	nvdla_test_add_sdp_pdp(t);
}

static void make_pdp_and_sdp(struct nvdla_test_task *t)
{
	nvdla_test_add_pdp(t);
	nvdla_test_add_sdp(t);
}

static void make_two_pdps(struct nvdla_test_task *t)
{
	nvdla_test_add_pdp(t);
	nvdla_test_add_pdp(t);
	nvdla_test_edge(t, 0, 1, NVDLA_EVENT_OP_COMPLETED);
}

/* Two convolutions, each with its SDP, chained as compilers do. */
static void make_two_convs(struct nvdla_test_task *t)
{
	nvdla_test_add_conv(t);
	nvdla_test_add_conv(t);
	nvdla_test_edge(t, 0, 2, NVDLA_EVENT_OP_PROGRAMMED);
	nvdla_test_edge(t, 1, 3, NVDLA_EVENT_OP_PROGRAMMED);
}

static void make_pdp_of_cvsram(struct nvdla_test_task *t)
{
	nvdla_test_add_pdp(t);
	t->surfaces[0].pdp.src_data.type = NVDLA_MEM_CV;
	t->surfaces[0].pdp.src_data.address = NVDLA_TEST_CVSRAM;
}

static void make_single_element(struct nvdla_test_task *t)
{
	nvdla_test_add_pdp(t);
	t->surfaces[0].pdp.src_data = nvdla_test_feature(2, 0, 2, 2, 32, 1);
	t->surfaces[0].pdp.dst_data = nvdla_test_feature(3, 0, 1, 1, 32, 1);
}

static void count_rules(struct kunit *test)
{
	struct nvdla_test_task *t = test->priv;

	/* The counts are checked before the arrays are read, so too large ones do no harm. */
	NVDLA_BREAKS(test, TASK_NUM_OPERATIONS, TASK(num_operations), make_pdp,
		     t->num_operations = 0);
	NVDLA_BREAKS(test, TASK_NUM_OPERATIONS, TASK(num_operations), make_pdp,
		     t->num_operations = NVDLA_TASK_MAX_OPERATIONS + 1);
	NVDLA_BREAKS(test, TASK_NUM_LUTS, TASK(num_luts), make_pdp,
		     t->num_luts = NVDLA_TASK_MAX_LUTS + 1);
	NVDLA_BREAKS(test, TASK_NUM_ADDRESSES, TASK(num_addresses), make_pdp,
		     t->num_extents = NVDLA_TASK_MAX_ADDRESSES + 1);
}

static void graph_rules(struct kunit *test)
{
	struct nvdla_test_task *t = test->priv;

	NVDLA_BREAKS(test, NODE_OP_TYPE, NODE(op_type), make_pdp, t->graph[0].op_type = 6);
	NVDLA_BREAKS(test, NODE_ENGINE, NODE(op_type), make_pdp,
		     t->variant.engines &= ~(1u << NVDLA_OP_PDP));
	NVDLA_BREAKS(test, NODE_ROI, NODE(roi_index), make_pdp, t->graph[0].roi_index = 1);
	NVDLA_BREAKS(test, EDGE_INDEX, NODE(consumers[3].index), make_two_pdps,
		     t->graph[0].consumers[NVDLA_OP_PDP].index = 2);
	NVDLA_BREAKS(test, EDGE_INDEX, NODE(consumers[3].index), make_two_pdps,
		     t->graph[0].consumers[NVDLA_OP_PDP].index = -2);
	NVDLA_BREAKS(test, EDGE_SELF, NODE(consumers[3].index), make_two_pdps,
		     t->graph[0].consumers[NVDLA_OP_PDP].index = 0);
	NVDLA_BREAKS(test, EDGE_ENGINE, NODE(consumers[4].index), make_two_pdps,
		     t->graph[0].consumers[NVDLA_OP_CDP] = t->graph[0].consumers[NVDLA_OP_PDP]);
	NVDLA_BREAKS(test, EDGE_ENGINE, NODE(fused_parent.index), make_two_pdps,
		     t->graph[1].fused_parent.index = 0);
	NVDLA_BREAKS(test, EDGE_EVENT, NODE(consumers[3].event), make_two_pdps,
		     t->graph[0].consumers[NVDLA_OP_PDP].event = NVDLA_EVENT_NONE);
	NVDLA_BREAKS(test, EDGE_EVENT, NODE(consumers[3].event), make_two_pdps,
		     t->graph[0].consumers[NVDLA_OP_PDP].event = 6);
	NVDLA_BREAKS(test, EDGE_EVENT_ENGINE, NODE(consumers[3].event), make_two_pdps,
		     t->graph[0].consumers[NVDLA_OP_PDP].event = NVDLA_EVENT_CDMA_WT_DONE);
	NVDLA_BREAKS(test, GRAPH_STUCK, NODE(consumers[3].index), make_two_pdps,
		     nvdla_test_edge(t, 1, 0, NVDLA_EVENT_OP_COMPLETED));

	NVDLA_VALID(test, make_pdp_and_sdp);
	nvdla_test_edge(t, 0, 1, NVDLA_EVENT_OP_COMPLETED);
	nvdla_test_edge(t, 1, 0, NVDLA_EVENT_OP_COMPLETED);
	NVDLA_REFUSED(test, GRAPH_STUCK, NODE(consumers));
}

static void stream_rules(struct kunit *test)
{
	struct nvdla_test_task *t = test->priv;

	NVDLA_BREAKS(test, FUSED_NO_CONSUMER, SURFACE(sdp, dst_data.type), make_sdp_pdp,
		     t->surfaces[1].pdp.src_data = nvdla_test_feature(2, 0, 8, 8, 32, 1));
	NVDLA_BREAKS(test, FUSED_NO_PRODUCER, SURFACE(pdp, src_data.type), make_sdp_pdp,
		     t->surfaces[0].sdp.dst_data = nvdla_test_feature(2, 0, 8, 8, 32, 1));

	NVDLA_VALID(test, make_two_convs);
	t->graph[1].fused_parent.index = 2;
	t->graph[3].fused_parent.index = 0;
	NVDLA_REFUSED(test, FUSED_ORDER, NODE(fused_parent.index));

	NVDLA_VALID(test, make_sdp_pdp);
	t->surfaces[1].pdp.src_data = nvdla_test_stream(10, 8, 32, 1);
	t->surfaces[1].pdp.dst_data = nvdla_test_feature(3, 0, 5, 4, 32, 1);
	NVDLA_REFUSED(test, FUSED_SIZE, SURFACE(pdp, src_data.width));

	NVDLA_VALID(test, make_sdp_pdp);
	t->surfaces[1].pdp.src_data = nvdla_test_stream(8, 10, 32, 1);
	t->surfaces[1].pdp.dst_data = nvdla_test_feature(3, 0, 4, 5, 32, 1);
	NVDLA_REFUSED(test, FUSED_SIZE, SURFACE(pdp, src_data.height));

	NVDLA_VALID(test, make_sdp_pdp);
	t->surfaces[1].pdp.src_data.channel = 16;
	t->surfaces[1].pdp.dst_data.channel = 16;
	NVDLA_REFUSED(test, FUSED_SIZE, SURFACE(pdp, src_data.channel));

	NVDLA_BREAKS(test, FUSED_PRECISION, OPERATION(pdp, precision), make_sdp_pdp,
		     t->operations[1].pdp.precision = NVDLA_PRECISION_INT16);

	NVDLA_VALID(test, make_conv);
	t->operations[1].sdp.src_precision = NVDLA_PRECISION_INT16;
	t->operations[1].sdp.dst_precision = NVDLA_PRECISION_INT16;
	NVDLA_REFUSED(test, FUSED_PRECISION, OPERATION(sdp, src_precision));

	NVDLA_VALID(test, make_conv);
	t->operations[1].sdp.batch_num = 2;
	t->operations[1].sdp.batch_stride = 4096;
	NVDLA_REFUSED(test, FUSED_BATCH, OPERATION(sdp, batch_num));

	NVDLA_BREAKS(test, FUSED_MODE, OPERATION(sdp, conv_mode), make_conv,
		     t->operations[1].sdp.conv_mode = NVDLA_CONV_MODE_WINOGRAD);
}

static void memory_rules(struct kunit *test)
{
	struct nvdla_test_task *t = test->priv;

	NVDLA_BREAKS(test, CUBE_MEM_TYPE, SURFACE(cdp, dst_data.type), make_cdp,
		     t->surfaces[0].cdp.dst_data.type = NVDLA_MEM_HW);
	NVDLA_BREAKS(test, CUBE_MEM_TYPE, SURFACE(pdp, src_data.type), make_pdp,
		     t->surfaces[0].pdp.src_data.type = 3);
	NVDLA_BREAKS(test, CUBE_NO_CVSRAM, SURFACE(pdp, src_data.type), make_pdp_of_cvsram,
		     t->variant.has_cvsram = false);
	NVDLA_BREAKS(test, CUBE_ADDRESS, SURFACE(pdp, src_data.address), make_pdp,
		     t->surfaces[0].pdp.src_data.address = 5);
	NVDLA_BREAKS(test, CUBE_ADDRESS, SURFACE(pdp, src_data.address), make_pdp,
		     t->surfaces[0].pdp.src_data.address = -1);
	NVDLA_BREAKS(test, CUBE_ABSENT, SURFACE(pdp, src_data.address), make_pdp,
		     t->extents[2].present = false);
	NVDLA_BREAKS(test, CUBE_WRONG_MEMORY, SURFACE(pdp, src_data.type), make_pdp,
		     t->surfaces[0].pdp.src_data.type = NVDLA_MEM_CV);
	NVDLA_BREAKS(test, CUBE_EXTENT, SURFACE(pdp, src_data), make_pdp,
		     t->extents[2].size = 8 * 8 * 32 - 1);
	NVDLA_BREAKS(test, CUBE_EXTENT, SURFACE(pdp, dst_data), make_pdp,
		     t->surfaces[0].pdp.dst_data.offset = NVDLA_TEST_EXTENT_BYTES - 32);
	NVDLA_BREAKS(test, CUBE_OVERFLOW, SURFACE(pdp, src_data.offset), make_pdp,
		     t->extents[2].dma_addr = U64_MAX - 31);

	NVDLA_VALID(test, make_pdp);
	t->variant.address_bits = 32;
	t->extents[2].dma_addr = 0xffffff00;
	NVDLA_REFUSED(test, CUBE_ADDRESS_BITS, SURFACE(pdp, src_data.address));

	NVDLA_BREAKS(test, CUBE_ALIGNMENT, SURFACE(pdp, src_data.offset), make_pdp,
		     t->surfaces[0].pdp.src_data.offset = 16);

	NVDLA_VALID(test, make_cdp);
	t->surfaces[0].cdp.src_data.width = 0;
	t->surfaces[0].cdp.dst_data.width = 0;
	NVDLA_REFUSED(test, CUBE_EMPTY, SURFACE(cdp, src_data.width));

	NVDLA_VALID(test, make_pdp);
	t->surfaces[0].pdp.src_data.channel = 0;
	t->surfaces[0].pdp.dst_data.channel = 0;
	NVDLA_REFUSED(test, CUBE_EMPTY, SURFACE(pdp, src_data.channel));

	NVDLA_BREAKS(test, CUBE_STRIDE_ALIGNMENT, SURFACE(pdp, src_data.line_stride), make_pdp,
		     t->surfaces[0].pdp.src_data.line_stride += 16);
	NVDLA_BREAKS(test, CUBE_STRIDE_ALIGNMENT, SURFACE(pdp, dst_data.surf_stride), make_pdp,
		     t->surfaces[0].pdp.dst_data.surf_stride += 1);
	NVDLA_BREAKS(test, CUBE_LINE_STRIDE, SURFACE(pdp, src_data.line_stride), make_pdp,
		     t->surfaces[0].pdp.src_data.line_stride -= 32);
	NVDLA_BREAKS(test, CUBE_PACKED, SURFACE(pdp, dst_data.line_stride), make_single_element,
		     t->surfaces[0].pdp.dst_data.line_stride = 64);
	NVDLA_BREAKS(test, CUBE_PACKED, SURFACE(pdp, dst_data.surf_stride), make_single_element,
		     t->surfaces[0].pdp.dst_data.surf_stride = 64);

	NVDLA_VALID(test, make_pdp);
	t->extents[2].size = 1ULL << 40;
	t->operations[0].pdp.pool_width = 0;
	t->operations[0].pdp.stride_x = 16;
	t->surfaces[0].pdp.src_data = nvdla_test_feature(2, 0, 16 * 100 + 1, 8, 32, 1);
	t->surfaces[0].pdp.dst_data = nvdla_test_feature(3, 0, 101, 4, 32, 1);
	t->operations[0].pdp.split_num = 2;
	t->operations[0].pdp.partial_width_first = 100;
	t->operations[0].pdp.partial_in_width_first = 1585;
	t->operations[0].pdp.partial_width_last = 1;
	t->operations[0].pdp.partial_in_width_last = 16;
	NVDLA_REFUSED(test, FIELD_WIDTH, OPERATION(pdp, partial_in_width_first));
}

static struct kunit_case nvdla_task_rules_cases[] = {
	KUNIT_CASE(count_rules),
	KUNIT_CASE(graph_rules),
	KUNIT_CASE(stream_rules),
	KUNIT_CASE(memory_rules),
	{}
};

static struct kunit_suite nvdla_task_rules_suite = {
	.name = "nvdla_task_rules",
	.init = nvdla_rules_init,
	.test_cases = nvdla_task_rules_cases,
};

kunit_test_suite(nvdla_task_rules_suite);
