/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * Small valid task graphs that tests change and hand to the engine.
 */
#ifndef NVDLA_TEST_TASK_H
#define NVDLA_TEST_TASK_H

#include <drm/nvdla_descriptors.h>

#ifdef __cplusplus
extern "C" {
#endif

#include "../nvdla_task.h"
#include "../nvdla_types.h"
#include "../nvdla_variant.h"

struct kunit;

/** NVDLA_TEST_NUM_EXTENTS - address table entries; 0 to 3 are in system memory, 4 in CVSRAM */
#define NVDLA_TEST_NUM_EXTENTS 5
/** NVDLA_TEST_CVSRAM - index of the address table entry whose memory is in CVSRAM */
#define NVDLA_TEST_CVSRAM (NVDLA_TEST_NUM_EXTENTS - 1)
/** NVDLA_TEST_EXTENT_BYTES - size of the memory of each entry, in bytes */
#define NVDLA_TEST_EXTENT_BYTES 0x1000000
/** NVDLA_TEST_FIRST_ADDRESS - DMA address of entry 0 of the address table */
#define NVDLA_TEST_FIRST_ADDRESS 0x80000000ULL

/** NVDLA_TEST_MAX_OPERATIONS - operations for which a new task graph has room */
#define NVDLA_TEST_MAX_OPERATIONS 16
/** NVDLA_TEST_MAX_LUTS - look-up tables for which a new task graph has room */
#define NVDLA_TEST_MAX_LUTS 4

/* Pixel formats that tests use, values of enum nvdla_data_format. */
#define NVDLA_TEST_A8B8G8R8 12
#define NVDLA_TEST_A8R8G8B8 13
#define NVDLA_TEST_Y8U8V8 28

/**
 * struct nvdla_test_task - a task graph under construction
 * @variant: core that the graph is for
 * @graph: nodes
 * @operations: operation descriptors of the nodes
 * @surfaces: surface descriptors of the nodes
 * @luts: look-up tables
 * @extents: the address table
 * @num_operations: number of operations
 * @num_luts: entries of @luts in use
 * @num_extents: entries of @extents in use
 * @flags: NVDLA_TASK_STATISTICS or 0
 *
 * The add functions append valid operations and return the index of the last one. They need
 * room for two operations and a look-up table.
 */
struct nvdla_test_task {
	struct nvdla_variant variant;
	struct nvdla_graph_node *graph;
	union nvdla_operation_desc *operations;
	union nvdla_surface_desc *surfaces;
	struct nvdla_lut_desc *luts;
	struct nvdla_task_extent *extents;
	u32 num_operations;
	u32 num_luts;
	u32 num_extents;
	u32 flags;
};

struct nvdla_test_task *nvdla_test_task_new(struct kunit *test);
void nvdla_test_task_reset(struct nvdla_test_task *t);
void nvdla_test_fill_extents(struct nvdla_task_extent *extents);
struct nvdla_task_source nvdla_test_task_source(const struct nvdla_test_task *t);
int nvdla_test_task_create(const struct nvdla_test_task *t, struct nvdla_refusal *why,
			   struct nvdla_task **task);

u32 nvdla_test_add(struct nvdla_test_task *t, u32 op_type);
u32 nvdla_test_add_bdma(struct nvdla_test_task *t, u32 transfers);
u32 nvdla_test_add_conv(struct nvdla_test_task *t);
void nvdla_test_add_batch(struct nvdla_test_task *t);
u32 nvdla_test_add_winograd(struct nvdla_test_task *t);
u32 nvdla_test_add_compressed(struct nvdla_test_task *t);
u32 nvdla_test_add_image(struct nvdla_test_task *t, u32 format);
u32 nvdla_test_add_sdp(struct nvdla_test_task *t);
u32 nvdla_test_add_comparison(struct nvdla_test_task *t);
u32 nvdla_test_add_pdp(struct nvdla_test_task *t);
u32 nvdla_test_add_split_pdp(struct nvdla_test_task *t);
u32 nvdla_test_add_sdp_pdp(struct nvdla_test_task *t);
u32 nvdla_test_add_cdp(struct nvdla_test_task *t);
u32 nvdla_test_add_rubik(struct nvdla_test_task *t, u32 mode);
s16 nvdla_test_add_lut(struct nvdla_test_task *t);

void nvdla_test_use_lut(struct nvdla_test_task *t, u32 sdp);
void nvdla_test_set_channels(struct nvdla_test_task *t, u32 conv, u32 channels);
void nvdla_test_set_kernels(struct nvdla_test_task *t, u32 conv, u32 kernels);
void nvdla_test_fuse(struct nvdla_test_task *t, u32 producer, u32 consumer);
void nvdla_test_edge(struct nvdla_test_task *t, u32 node, u32 target, u32 event);

struct nvdla_data_cube nvdla_test_feature(s16 address, u32 offset, u32 width, u32 height,
					  u32 channels, u32 element_bytes);
struct nvdla_data_cube nvdla_test_stream(u32 width, u32 height, u32 channels, u32 element_bytes);
struct nvdla_data_cube nvdla_test_weights(s16 address, u32 offset, u32 size);

#ifdef __cplusplus
}
#endif

#endif /* NVDLA_TEST_TASK_H */
