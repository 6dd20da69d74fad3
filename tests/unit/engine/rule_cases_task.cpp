/* SPDX-License-Identifier: MIT */
#include <cstdint>
#include <limits>

#include "rule_cases.h"

namespace nvdla::test
{

namespace
{

using B = TaskBuilder;

void pdp(B &b)
{
	b.addPdp();
}

void conv(B &b)
{
	b.addConv();
}

void sdpPdp(B &b)
{
	b.addSdpPdp();
}

void twoPdps(B &b)
{
	b.addPdp();
	b.addPdp();
	b.edge(0, 1, NVDLA_EVENT_OP_COMPLETED);
}

/* Two convolutions, each with its SDP, chained as compilers do. */
void twoConvs(B &b)
{
	b.addConv();
	b.addConv();
	b.edge(0, 2, NVDLA_EVENT_OP_PROGRAMMED);
	b.edge(1, 3, NVDLA_EVENT_OP_PROGRAMMED);
}

std::vector<RuleCase> countCases()
{
	return {
		{ "TASK_NUM_OPERATIONS", "num_operations", pdp,
		  [](B &b) {
			  b.graph.clear();
			  b.operations.clear();
			  b.surfaces.clear();
		  } },
		{ "TASK_NUM_OPERATIONS", "num_operations", pdp,
		  [](B &b) {
			  while (b.graph.size() <= NVDLA_TASK_MAX_OPERATIONS)
				  b.addPdp();
		  } },
		{ "TASK_NUM_LUTS", "num_luts", pdp,
		  [](B &b) {
			  while (b.luts.size() <= NVDLA_TASK_MAX_LUTS)
				  b.addLut();
		  } },
		{ "TASK_NUM_ADDRESSES", "num_addresses", pdp,
		  [](B &b) { b.extents.resize(NVDLA_TASK_MAX_ADDRESSES + 1); } },
	};
}

std::vector<RuleCase> graphCases()
{
	return {
		{ "NODE_OP_TYPE", "op_type", pdp, [](B &b) { b.graph[0].op_type = 6; } },
		{ "NODE_ENGINE", "op_type", pdp,
		  [](B &b) { b.variant.engines &= ~(1u << NVDLA_OP_PDP); } },
		{ "NODE_ROI", "roi_index", pdp, [](B &b) { b.graph[0].roi_index = 1; } },
		{ "EDGE_INDEX", "consumers[3].index", twoPdps,
		  [](B &b) { b.graph[0].consumers[NVDLA_OP_PDP].index = 2; } },
		{ "EDGE_INDEX", "consumers[3].index", twoPdps,
		  [](B &b) { b.graph[0].consumers[NVDLA_OP_PDP].index = -2; } },
		{ "EDGE_SELF", "consumers[3].index", twoPdps,
		  [](B &b) { b.graph[0].consumers[NVDLA_OP_PDP].index = 0; } },
		{ "EDGE_ENGINE", "consumers[4].index", twoPdps,
		  [](B &b) {
			  b.graph[0].consumers[NVDLA_OP_CDP] = b.graph[0].consumers[NVDLA_OP_PDP];
		  } },
		{ "EDGE_ENGINE", "fused_parent.index", twoPdps,
		  [](B &b) {
			  b.graph[1].fused_parent = { 0, NVDLA_EVENT_OP_ENABLED, 0 };
		  } },
		{ "EDGE_EVENT", "consumers[3].event", twoPdps,
		  [](B &b) { b.graph[0].consumers[NVDLA_OP_PDP].event = NVDLA_EVENT_NONE; } },
		{ "EDGE_EVENT", "consumers[3].event", twoPdps,
		  [](B &b) { b.graph[0].consumers[NVDLA_OP_PDP].event = 6; } },
		{ "EDGE_EVENT_ENGINE", "consumers[3].event", twoPdps,
		  [](B &b) {
			  b.graph[0].consumers[NVDLA_OP_PDP].event = NVDLA_EVENT_CDMA_WT_DONE;
		  } },
		{ "GRAPH_STUCK", "consumers[3].index", twoPdps,
		  [](B &b) { b.edge(1, 0, NVDLA_EVENT_OP_COMPLETED); } },
		{ "GRAPH_STUCK", "consumers",
		  [](B &b) {
			  b.addPdp();
			  b.addSdp();
		  },
		  [](B &b) {
			  b.edge(0, 1, NVDLA_EVENT_OP_COMPLETED);
			  b.edge(1, 0, NVDLA_EVENT_OP_COMPLETED);
		  } },
	};
}

std::vector<RuleCase> streamCases()
{
	return {
		{ "FUSED_NO_CONSUMER", "dst_data.type", sdpPdp,
		  [](B &b) { b.pdpCubes(1).src_data = featureCube(2, 0, 8, 8, 32); } },
		{ "FUSED_NO_PRODUCER", "src_data.type", sdpPdp,
		  [](B &b) { b.sdpCubes(0).dst_data = featureCube(2, 0, 8, 8, 32); } },
		{ "FUSED_ORDER", "fused_parent.index", twoConvs,
		  [](B &b) {
			  b.graph[1].fused_parent.index = 2;
			  b.graph[3].fused_parent.index = 0;
		  } },
		{ "FUSED_WIDTH", "src_data.width", sdpPdp,
		  [](B &b) {
			  b.pdpCubes(1).src_data = streamCube(10, 8, 32);
			  b.pdpCubes(1).dst_data = featureCube(3, 0, 5, 4, 32);
		  } },
		{ "FUSED_HEIGHT", "src_data.height", sdpPdp,
		  [](B &b) {
			  b.pdpCubes(1).src_data = streamCube(8, 10, 32);
			  b.pdpCubes(1).dst_data = featureCube(3, 0, 4, 5, 32);
		  } },
		{ "FUSED_CHANNEL", "src_data.channel", sdpPdp,
		  [](B &b) {
			  b.pdpCubes(1).src_data.channel = 16;
			  b.pdpCubes(1).dst_data.channel = 16;
		  } },
		{ "FUSED_PRECISION", "precision", sdpPdp,
		  [](B &b) { b.pdp(1).precision = NVDLA_PRECISION_INT16; } },
		{ "FUSED_PRECISION", "src_precision", conv,
		  [](B &b) {
			  b.sdp(1).src_precision = NVDLA_PRECISION_INT16;
			  b.sdp(1).dst_precision = NVDLA_PRECISION_INT16;
		  } },
		{ "FUSED_BATCH", "batch_num", conv,
		  [](B &b) {
			  b.sdp(1).batch_num = 2;
			  b.sdp(1).batch_stride = 4096;
		  } },
		{ "FUSED_MODE", "conv_mode", conv,
		  [](B &b) { b.sdp(1).conv_mode = NVDLA_CONV_MODE_WINOGRAD; } },
	};
}

std::vector<RuleCase> memoryCases()
{
	return {
		{ "CUBE_MEM_TYPE", "dst_data.type", [](B &b) { b.addCdp(); },
		  [](B &b) { b.cdpCubes(0).dst_data.type = NVDLA_MEM_HW; } },
		{ "CUBE_MEM_TYPE", "src_data.type", pdp,
		  [](B &b) { b.pdpCubes(0).src_data.type = 3; } },
		{ "CUBE_NO_CVSRAM", "src_data.type",
		  [](B &b) {
			  b.addPdp();
			  b.pdpCubes(0).src_data.type = NVDLA_MEM_CV;
			  b.pdpCubes(0).src_data.address = B::cvsram;
		  },
		  [](B &b) { b.variant.has_cvsram = false; } },
		{ "CUBE_ADDRESS", "src_data.address", pdp,
		  [](B &b) { b.pdpCubes(0).src_data.address = 5; } },
		{ "CUBE_ADDRESS", "src_data.address", pdp,
		  [](B &b) { b.pdpCubes(0).src_data.address = -1; } },
		{ "CUBE_ABSENT", "src_data.address", pdp,
		  [](B &b) { b.extents[2].present = false; } },
		{ "CUBE_WRONG_MEMORY", "src_data.type", pdp,
		  [](B &b) { b.pdpCubes(0).src_data.type = NVDLA_MEM_CV; } },
		{ "CUBE_EXTENT", "src_data", pdp,
		  [](B &b) { b.extents[2].size = 8 * 8 * 32 - 1; } },
		{ "CUBE_EXTENT", "dst_data", pdp,
		  [](B &b) { b.pdpCubes(0).dst_data.offset = B::extentBytes - 32; } },
		{ "CUBE_OVERFLOW", "src_data.offset", pdp,
		  [](B &b) { b.extents[2].dma_addr = std::numeric_limits<uint64_t>::max() - 31; } },
		{ "CUBE_ADDRESS_BITS", "src_data.address", pdp,
		  [](B &b) {
			  b.variant.address_bits = 32;
			  b.extents[2].dma_addr = 0xffffff00;
		  } },
		{ "CUBE_ALIGNMENT", "src_data.offset", pdp,
		  [](B &b) { b.pdpCubes(0).src_data.offset = 16; } },
		{ "CUBE_EMPTY", "src_data.width", [](B &b) { b.addCdp(); },
		  [](B &b) { b.cdpCubes(0).src_data.width = b.cdpCubes(0).dst_data.width = 0; } },
		{ "CUBE_EMPTY", "src_data.channel", pdp,
		  [](B &b) {
			  b.pdpCubes(0).src_data.channel = b.pdpCubes(0).dst_data.channel = 0;
		  } },
		{ "CUBE_STRIDE_ALIGNMENT", "src_data.line_stride", pdp,
		  [](B &b) { b.pdpCubes(0).src_data.line_stride += 16; } },
		{ "CUBE_STRIDE_ALIGNMENT", "dst_data.surf_stride", pdp,
		  [](B &b) { b.pdpCubes(0).dst_data.surf_stride += 1; } },
		{ "CUBE_LINE_STRIDE", "src_data.line_stride", pdp,
		  [](B &b) { b.pdpCubes(0).src_data.line_stride -= 32; } },
		{ "CUBE_PACKED", "dst_data.line_stride",
		  [](B &b) {
			  b.addPdp();
			  b.pdpCubes(0).src_data = featureCube(2, 0, 2, 2, 32);
			  b.pdpCubes(0).dst_data = featureCube(3, 0, 1, 1, 32);
		  },
		  [](B &b) { b.pdpCubes(0).dst_data.line_stride = 64; } },
		{ "CUBE_PACKED", "dst_data.surf_stride",
		  [](B &b) {
			  b.addPdp();
			  b.pdpCubes(0).src_data = featureCube(2, 0, 2, 2, 32);
			  b.pdpCubes(0).dst_data = featureCube(3, 0, 1, 1, 32);
		  },
		  [](B &b) { b.pdpCubes(0).dst_data.surf_stride = 64; } },
		{ "FIELD_WIDTH", "partial_in_width_first", pdp,
		  [](B &b) {
			  b.extents[2].size = 1ULL << 40;
			  b.pdp(0).pool_width = 0;
			  b.pdp(0).stride_x = 16;
			  b.pdpCubes(0).src_data = featureCube(2, 0, 16 * 100 + 1, 8, 32);
			  b.pdpCubes(0).dst_data = featureCube(3, 0, 101, 4, 32);
			  b.pdp(0).split_num = 2;
			  b.pdp(0).partial_width_first = 100;
			  b.pdp(0).partial_in_width_first = 1585;
			  b.pdp(0).partial_width_last = 1;
			  b.pdp(0).partial_in_width_last = 16;
		  } },
	};
}

} /* namespace */

std::vector<RuleCase> taskRuleCases()
{
	std::vector<RuleCase> cases;
	for (const auto &part : { countCases(), graphCases(), streamCases(), memoryCases() })
		cases.insert(cases.end(), part.begin(), part.end());
	return cases;
}

} /* namespace nvdla::test */
