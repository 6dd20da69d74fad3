// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * A convolution of zeroes that overwrites the whole convolution buffer.
 *
 * CSC and CDMA clear their pointers when a convolution has another number of data banks than the
 * previous one (RTL of nvdlav1: NV_NVDLA_CSC_sg raises both pending requests,
 * NV_NVDLA_CDMA_status and NV_NVDLA_CDMA_wt answer). So there are two scrub tasks, which differ in
 * this number, and the task whose number differs from the last convolution's is run. It fetches
 * exactly as many bytes as its banks hold, and releases all of them.
 */

#include "nvdla_scrub.h"

#include <drm/nvdla_descriptors.h>

#include "nvdla_internal.h"
#include "nvdla_platform.h"
#include "nvdla_sequencer_internal.h"

/* Input of the scrub: the stride is as large as the width, so the output has few columns. */
#define SCRUB_WIDTH 8
#define SCRUB_STRIDE 8

enum { SCRUB_CONV, SCRUB_SDP, SCRUB_OPERATIONS };

/**
 * struct nvdla_scrub - see nvdla_scrub.h
 * @data_banks: per task, the number of banks for data
 * @task: tasks
 */
struct nvdla_scrub {
	u32 data_banks[2];
	struct nvdla_task *task[2];
};

/**
 * struct scrub_source - descriptors of a scrub task
 * @graph: nodes
 * @operations: operation descriptors
 * @surfaces: surface descriptors
 */
struct scrub_source {
	struct nvdla_graph_node graph[SCRUB_OPERATIONS];
	union nvdla_operation_desc operations[SCRUB_OPERATIONS];
	union nvdla_surface_desc surfaces[SCRUB_OPERATIONS];
};

static u32 bank_bytes(const struct nvdla_variant *variant)
{
	return variant->cbuf_bank_entries * variant->cbuf_entry_bytes;
}

static void describe_graph(struct scrub_source *source)
{
	u32 node, type;

	for (node = 0; node < SCRUB_OPERATIONS; node++) {
		source->graph[node].index = node;
		source->graph[node].fused_parent.index = -1;
		for (type = 0; type < NVDLA_NUM_OP_TYPES; type++)
			source->graph[node].consumers[type].index = -1;
	}
	source->graph[SCRUB_CONV].op_type = NVDLA_OP_CONV;
	source->graph[SCRUB_CONV].consumers[NVDLA_OP_SDP].index = SCRUB_SDP;
	source->graph[SCRUB_CONV].consumers[NVDLA_OP_SDP].event = NVDLA_EVENT_OP_PROGRAMMED;
	source->graph[SCRUB_SDP].op_type = NVDLA_OP_SDP;
	source->graph[SCRUB_SDP].fused_parent.index = SCRUB_CONV;
	source->graph[SCRUB_SDP].fused_parent.event = NVDLA_EVENT_OP_ENABLED;
}

static void describe_cube(const struct nvdla_variant *variant, struct nvdla_data_cube *cube,
			  u32 width, u32 height, u32 channels)
{
	cube->type = NVDLA_MEM_MC;
	cube->width = width;
	cube->height = height;
	cube->channel = channels;
	cube->line_stride = width * variant->atom_bytes;
	cube->surf_stride = cube->line_stride * height;
	cube->size = cube->surf_stride * DIV_ROUND_UP(channels, variant->atom_bytes);
}

static void describe_conv(const struct nvdla_variant *variant, struct nvdla_conv_op_desc *op,
			  u32 data_banks)
{
	/* The kernels of a group, which CSC processes together, fill a bank. */
	u32 channels = bank_bytes(variant) / variant->int8_kernels;

	op->data_format = NVDLA_FORMAT_FEATURE;
	op->entry_per_slice = SCRUB_WIDTH * channels / variant->cbuf_entry_bytes;
	op->input_height_csc = data_banks * variant->cbuf_bank_entries / op->entry_per_slice;
	op->release = op->input_height_csc;
	op->fetch_grain = 1;
	op->batch = 1;
	op->data_bank = data_banks;
	op->weight_bank = variant->cbuf_banks - data_banks;
	op->input_width_csc = SCRUB_WIDTH;
	op->input_channel_csc = channels;
	op->kernel_width_csc = 1;
	op->kernel_height_csc = 1;
	op->kernel_channel_csc = channels;
	op->conv_stride_x = SCRUB_STRIDE;
	op->conv_stride_y = SCRUB_STRIDE;
	op->dilation_x = 1;
	op->dilation_y = 1;
	op->bytes_per_kernel = channels;
	op->input_width_cmac = DIV_ROUND_UP(SCRUB_WIDTH, SCRUB_STRIDE);
	op->input_height_cmac = DIV_ROUND_UP(op->input_height_csc, SCRUB_STRIDE);
	op->out_cvt.scale = 1;
}

static void describe(const struct nvdla_variant *variant, struct scrub_source *source,
		     u32 data_banks)
{
	struct nvdla_conv_op_desc *conv = &source->operations[SCRUB_CONV].conv;
	struct nvdla_conv_surface_desc *cubes = &source->surfaces[SCRUB_CONV].conv;
	struct nvdla_sdp_op_desc *sdp = &source->operations[SCRUB_SDP].sdp;
	struct nvdla_sdp_surface_desc *out = &source->surfaces[SCRUB_SDP].sdp;

	describe_graph(source);
	describe_conv(variant, conv, data_banks);
	describe_cube(variant, &cubes->src_data, SCRUB_WIDTH, conv->input_height_csc,
		      conv->input_channel_csc);
	/* With a surface stride of 0, all surfaces are read from the same few zeroes. */
	cubes->src_data.surf_stride = 0;
	cubes->weight_data.type = NVDLA_MEM_MC;
	cubes->weight_data.size = conv->weight_bank * bank_bytes(variant);

	describe_cube(variant, &out->dst_data, conv->input_width_cmac, conv->input_height_cmac,
		      conv->weight_bank * variant->int8_kernels);
	out->src_data = out->dst_data;
	out->src_data.type = NVDLA_MEM_HW;
	out->src_data.address = -1;
	cubes->dst_data = out->src_data;
	sdp->lut_index = -1;
	sdp->batch_num = 1;
	sdp->out_cvt.scale = 1;
	sdp->out_cvt.enable = 1;
}

static int create_task(const struct nvdla_variant *variant,
		       const struct nvdla_task_extent *zeroes, u32 data_banks,
		       struct nvdla_task **task)
{
	struct scrub_source *source = kvzalloc(sizeof(*source), GFP_KERNEL);
	struct nvdla_task_source task_source = {
		.extents = zeroes, .num_extents = 1, .num_operations = SCRUB_OPERATIONS,
	};
	int ret;

	if (!source)
		return -ENOMEM;

	describe(variant, source, data_banks);
	task_source.graph = source->graph;
	task_source.operations = source->operations;
	task_source.surfaces = source->surfaces;
	ret = nvdla_task_create(variant, &task_source, NULL, task);
	kvfree(source);
	return ret;
}

u64 nvdla_scrub_memory_size(const struct nvdla_variant *variant)
{
	/* The task with fewer data banks needs the most memory: two banks of weights. */
	return 2 * (u64)bank_bytes(variant);
}

int nvdla_scrub_create(const struct nvdla_variant *variant,
		       const struct nvdla_task_extent *zeroes, struct nvdla_scrub **scrub)
{
	struct nvdla_scrub *created = kvzalloc(sizeof(*created), GFP_KERNEL);
	u32 i;

	if (!created)
		return -ENOMEM;

	for (i = 0; i < ARRAY_SIZE(created->task); i++) {
		int ret;

		created->data_banks[i] = variant->cbuf_banks - 1 - i;
		ret = create_task(variant, zeroes, created->data_banks[i], &created->task[i]);
		if (ret) {
			nvdla_scrub_destroy(created);
			return ret;
		}
	}

	*scrub = created;
	return 0;
}

void nvdla_scrub_destroy(struct nvdla_scrub *scrub)
{
	u32 i;

	if (!scrub)
		return;
	for (i = 0; i < ARRAY_SIZE(scrub->task); i++)
		nvdla_task_destroy(scrub->task[i]);
	kvfree(scrub);
}

struct nvdla_task *nvdla_scrub_task(struct nvdla_scrub *scrub,
				    const struct nvdla_sequencer *sequencer)
{
	struct nvdla_task *task;

	if (!sequencer->cbuf_data_banks)
		return NULL;

	task = scrub->task[sequencer->cbuf_data_banks == scrub->data_banks[0]];
	nvdla_task_rewind(task);
	return task;
}
