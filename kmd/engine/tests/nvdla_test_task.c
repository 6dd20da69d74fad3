// SPDX-License-Identifier: GPL-2.0-only OR MIT
#include "../nvdla_platform.h"
#include "nvdla_test_task.h"

#define ATOM_BYTES 32

/**
 * nvdla_test_task_reset() - make a task graph as nvdla_test_task_new() returned it
 * @t: task graph of nvdla_test_task_new()
 */
void nvdla_test_task_reset(struct nvdla_test_task *t)
{
	t->variant = *nvdla_variant_nv_full();
	t->num_operations = 0;
	t->num_luts = 0;
	t->num_extents = NVDLA_TEST_NUM_EXTENTS;
	t->flags = 0;
	nvdla_test_fill_extents(t->extents);
}

/**
 * nvdla_test_fill_extents() - give each entry of an address table a large memory
 * @extents: NVDLA_TEST_NUM_EXTENTS entries
 */
void nvdla_test_fill_extents(struct nvdla_task_extent *extents)
{
	u32 i;

	for (i = 0; i < NVDLA_TEST_NUM_EXTENTS; i++) {
		extents[i].dma_addr = NVDLA_TEST_FIRST_ADDRESS + (u64)i * NVDLA_TEST_EXTENT_BYTES;
		extents[i].size = NVDLA_TEST_EXTENT_BYTES;
		extents[i].mem_type = i == NVDLA_TEST_CVSRAM ? NVDLA_MEM_CV : NVDLA_MEM_MC;
		extents[i].present = true;
	}
}

/**
 * nvdla_test_task_source() - get the argument of nvdla_task_create() for a task graph
 * @t: task graph, to whose arrays the argument points
 *
 * Return: the argument.
 */
struct nvdla_task_source nvdla_test_task_source(const struct nvdla_test_task *t)
{
	return (struct nvdla_task_source) {
		.graph = t->graph,
		.operations = t->operations,
		.surfaces = t->surfaces,
		.luts = t->luts,
		.extents = t->extents,
		.num_operations = t->num_operations,
		.num_luts = t->num_luts,
		.num_extents = t->num_extents,
		.flags = t->flags,
	};
}

/**
 * nvdla_test_task_create() - have the engine check a task graph
 * @t: task graph
 * @why: as for nvdla_task_create()
 * @task: as for nvdla_task_create()
 *
 * Return: what nvdla_task_create() returns.
 */
int nvdla_test_task_create(const struct nvdla_test_task *t, struct nvdla_refusal *why,
			   struct nvdla_task **task)
{
	const struct nvdla_task_source source = nvdla_test_task_source(t);

	return nvdla_task_create(&t->variant, &source, why, task);
}

/**
 * nvdla_test_feature() - describe a packed feature cube in system memory
 * @address: index into the address table
 * @offset: bytes from the start of that entry's memory
 * @width: columns
 * @height: lines
 * @channels: number of channels
 * @element_bytes: 1 or 2
 *
 * Return: the cube.
 */
struct nvdla_data_cube nvdla_test_feature(s16 address, u32 offset, u32 width, u32 height,
					  u32 channels, u32 element_bytes)
{
	return (struct nvdla_data_cube) {
		.type = NVDLA_MEM_MC,
		.address = address,
		.offset = offset,
		.width = width,
		.height = height,
		.channel = channels,
		.line_stride = width * ATOM_BYTES,
		.surf_stride = height * width * ATOM_BYTES,
		.size = height * width * ATOM_BYTES *
			DIV_ROUND_UP(channels * element_bytes, ATOM_BYTES),
	};
}

/**
 * nvdla_test_stream() - describe a cube that one engine passes to the next, without memory
 * @width: columns
 * @height: lines
 * @channels: number of channels
 * @element_bytes: 1 or 2
 *
 * Return: the cube.
 */
struct nvdla_data_cube nvdla_test_stream(u32 width, u32 height, u32 channels, u32 element_bytes)
{
	struct nvdla_data_cube cube = nvdla_test_feature(-1, 0, width, height, channels,
							 element_bytes);

	cube.type = NVDLA_MEM_HW;
	return cube;
}

/**
 * nvdla_test_weights() - describe weights, their mask or their group sizes in system memory
 * @address: index into the address table
 * @offset: bytes from the start of that entry's memory
 * @size: bytes
 *
 * Return: the cube.
 */
struct nvdla_data_cube nvdla_test_weights(s16 address, u32 offset, u32 size)
{
	return (struct nvdla_data_cube) {
		.type = NVDLA_MEM_MC,
		.address = address,
		.offset = offset,
		.size = size,
	};
}

/**
 * nvdla_test_add() - add a node with empty descriptors and no edges
 * @t: task graph
 * @op_type: enum nvdla_op_type
 *
 * Return: its index.
 */
u32 nvdla_test_add(struct nvdla_test_task *t, u32 op_type)
{
	u32 index = t->num_operations++;
	struct nvdla_graph_node *node = &t->graph[index];
	u32 engine;

	memset(node, 0, sizeof(*node));
	memset(&t->operations[index], 0, sizeof(t->operations[index]));
	memset(&t->surfaces[index], 0, sizeof(t->surfaces[index]));
	node->index = index;
	node->op_type = op_type;
	for (engine = 0; engine < NVDLA_NUM_OP_TYPES; engine++)
		node->consumers[engine].index = -1;
	node->fused_parent.index = -1;
	return index;
}

/**
 * nvdla_test_edge() - have one operation wait for another
 * @t: task graph
 * @node: index of the operation whose event is waited for
 * @target: index of the operation that waits
 * @event: enum nvdla_event, of @node
 */
void nvdla_test_edge(struct nvdla_test_task *t, u32 node, u32 target, u32 event)
{
	struct nvdla_consumer *consumer = &t->graph[node].consumers[t->graph[target].op_type];

	consumer->index = target;
	consumer->event = event;
}

/**
 * nvdla_test_fuse() - have one operation pass its output to another as a stream
 * @t: task graph
 * @producer: index of the operation that writes the stream
 * @consumer: index of the operation that reads the stream
 */
void nvdla_test_fuse(struct nvdla_test_task *t, u32 producer, u32 consumer)
{
	nvdla_test_edge(t, producer, consumer, NVDLA_EVENT_OP_PROGRAMMED);
	t->graph[consumer].fused_parent.index = producer;
	t->graph[consumer].fused_parent.event = NVDLA_EVENT_OP_ENABLED;
}

/**
 * nvdla_test_add_lut() - add a look-up table that suits every engine
 * @t: task graph
 *
 * Return: its index.
 */
s16 nvdla_test_add_lut(struct nvdla_test_task *t)
{
	u32 index = t->num_luts++;
	struct nvdla_lut_desc *lut = &t->luts[index];
	u32 i;

	memset(lut, 0, sizeof(*lut));
	for (i = 0; i < NVDLA_LUT_LE_ENTRIES; i++)
		lut->le_table[i] = index * 1000 + i;
	for (i = 0; i < NVDLA_LUT_LO_ENTRIES; i++)
		lut->lo_table[i] = index * 1000 + 100 + i;
	lut->le_end = 64;
	lut->lo_end = 256;
	lut->method = NVDLA_LUT_LINEAR;
	return index;
}

/**
 * nvdla_test_use_lut() - give unit Y of an SDP operation a look-up table
 * @t: task graph
 * @sdp: index of the operation
 */
void nvdla_test_use_lut(struct nvdla_test_task *t, u32 sdp)
{
	struct nvdla_sdp_op_desc *op = &t->operations[sdp].sdp;

	op->lut_index = nvdla_test_add_lut(t);
	op->y_op.enable = 1;
	op->y_op.act = NVDLA_ACT_LUT;
}
