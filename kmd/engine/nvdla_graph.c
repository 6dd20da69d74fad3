// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * Task graphs: dependencies, the order in which engines run their operations,
 * and streams between engines.
 */

#include "nvdla_check.h"
#include "nvdla_conv.h"
#include "nvdla_internal.h"
#include "nvdla_platform.h"
#include "nvdla_schedule.h"

static void check_node(struct nvdla_check *check, const struct nvdla_graph_node *node)
{
	if (!need_range(check, node->op_type, 0, NVDLA_NUM_OP_TYPES - 1, "no such engine"))
		return;

	need(check, check->variant->engines & BIT(node->op_type), node->op_type,
	     check->variant->engines, "this core has no such engine");
	need_equal(check, node->roi_index, 0, "regions of interest are not supported");
}

/*
 * Adds an edge to a node that runs on engine @target_type. An edge to another engine's node is
 * refused, not ignored: an operation that does not wait would compute with wrong data.
 */
static void add_edge(struct nvdla_check *check, const struct nvdla_consumer *consumer,
		     u32 target_type)
{
	struct nvdla_operation *op = check->current_op;
	bool fetch = consumer->event == NVDLA_EVENT_CDMA_WT_DONE ||
		     consumer->event == NVDLA_EVENT_CDMA_DT_DONE;
	u32 type;

	if (consumer->index == -1)
		return;
	if (!need_range(check, consumer->index, 0, check->source->num_operations - 1,
			"the graph has no such node"))
		return;
	type = check->source->graph[consumer->index].op_type;
	need(check, consumer->index != check->operation, consumer->index, check->operation,
	     "an operation cannot wait for itself");
	nvdla_state(check, type == target_type, type, target_type, NVDLA_FIELD(consumer->index),
		    "the node at this index runs on another engine");
	need_range(check, consumer->event, NVDLA_EVENT_OP_COMPLETED,
		   NVDLA_EVENT_CDMA_DT_DONE, "no such event");
	need(check, !fetch || check->op_type == NVDLA_OP_CONV, consumer->event,
	     NVDLA_EVENT_OP_ENABLED, "only a convolution has fetch events");
	if (check->failed)
		return;

	op->edges[op->num_edges++] = (struct nvdla_edge) { consumer->index, consumer->event };
	check->prepared->operations[consumer->index].waits++;
}

static void add_edges(struct nvdla_check *check, u32 operation)
{
	const struct nvdla_graph_node *node = &check->source->graph[operation];
	u32 type;

	nvdla_check_set_operation(check, operation);
	for (type = 0; type < NVDLA_NUM_OP_TYPES; type++)
		add_edge(check, &node->consumers[type], type);

	/* The fused parent runs on the engine upstream: CONV for SDP, SDP for PDP. */
	add_edge(check, &node->fused_parent, (u32)node->op_type - 1);
}

static bool is_last_of_chain(const struct nvdla_check *check, u32 operation)
{
	const struct nvdla_graph_node *node = &check->source->graph[operation];

	return node->consumers[node->op_type].index == -1;
}

static const char stuck[] =
	"the operation never becomes ready: its dependencies form a cycle";

/*
 * Orders the operations of one engine. Edges between them give the order; each operation has at
 * most one such successor. Starting with the lowest index, follows each chain of edges up to an
 * operation that still waits for one that is not queued.
 */
static void build_queue(struct nvdla_check *check, u32 op_type)
{
	struct nvdla_prepared *prepared = check->prepared;
	struct nvdla_op_state *state = check->rehearsal->state;
	struct nvdla_queue *queue = &prepared->queue[op_type];
	u32 i;

	for (i = 0; i < prepared->num_operations; i++) {
		const struct nvdla_graph_node *node = &check->source->graph[i];

		if (node->op_type == op_type && !is_last_of_chain(check, i))
			state[node->consumers[op_type].index].waits++;
	}

	for (i = 0; i < prepared->num_operations; i++) {
		u32 operation = i;

		if (check->source->graph[i].op_type != op_type || state[i].waits > 0)
			continue;

		/* Mark the operation as queued, so that the loop does not take it again. */
		state[operation].waits = U16_MAX;
		prepared->queue_entries[queue->first + queue->count++] = operation;
		while (!is_last_of_chain(check, operation)) {
			operation = check->source->graph[operation].consumers[op_type].index;
			if (--state[operation].waits > 0)
				break;
			state[operation].waits = U16_MAX;
			prepared->queue_entries[queue->first + queue->count++] = operation;
		}
	}

	/* Operations that are not in the queue now form a cycle of edges within the engine. */
	for (i = 0; i < prepared->num_operations && !check->failed; i++) {
		if (check->source->graph[i].op_type != op_type || state[i].waits == U16_MAX)
			continue;
		nvdla_check_set_operation(check, i);
		nvdla_state(check, false, i, 0,
			    NVDLA_FIELD(check->source->graph[i].consumers[op_type].index), stuck);
	}
}

static void build_queues(struct nvdla_check *check)
{
	struct nvdla_prepared *prepared = check->prepared;
	u32 first = 0;
	u32 type;
	u32 i;

	for (type = 0; type < NVDLA_NUM_OP_TYPES && !check->failed; type++) {
		/* build_queue() counts an operation's predecessors in the same engine in waits. */
		for (i = 0; i < prepared->num_operations; i++)
			check->rehearsal->state[i].waits = 0;
		prepared->queue[type].first = first;
		build_queue(check, type);
		first += prepared->queue[type].count;
	}
}

void nvdla_graph_build(struct nvdla_check *check)
{
	u32 i;

	for (i = 0; i < check->source->num_operations && !check->failed; i++) {
		check->operation = i;
		check->op_type = check->source->graph[i].op_type;
		check_node(check, &check->source->graph[i]);
	}
	if (check->failed)
		return;

	for (i = 0; i < check->source->num_operations; i++)
		add_edges(check, i);
	if (check->failed)
		return;

	build_queues(check);
}

/* Checks that the current operation can take the stream of @producer. */
static void check_stream(struct nvdla_check *check, u32 producer)
{
	const char *precision = "the producer's stream has another precision";
	const char *batch = "the producer's stream has another number of batches";
	const char *size = "the producer's stream has another size";
	const union nvdla_operation_desc *from = &check->source->operations[producer];
	const union nvdla_operation_desc *to = &check->source->operations[check->operation];
	const union nvdla_surface_desc *out = &check->source->surfaces[producer];
	const union nvdla_surface_desc *in = &check->source->surfaces[check->operation];

	if (check->op_type == NVDLA_OP_SDP) {
		nvdla_need_same_size(check, &in->sdp.src_data, &out->conv.dst_data, size);
		need_equal(check, to->sdp.src_precision, from->conv.out_precision, precision);
		need_equal(check, to->sdp.batch_num, from->conv.batch, batch);
		need_equal(check, to->sdp.conv_mode, from->conv.conv_mode,
			   "the producer's convolution mode differs");
		return;
	}

	nvdla_need_same_size(check, &in->pdp.src_data, &out->sdp.dst_data, size);
	need_equal(check, to->pdp.precision, from->sdp.dst_precision, precision);
	nvdla_state(check, from->sdp.batch_num == 1, 1, from->sdp.batch_num,
		    NVDLA_FIELD(in->pdp.src_data.type), batch);
}

/* Returns the member that makes the current operation take (@in) or produce (else) a stream. */
static struct nvdla_field stream_field(const struct nvdla_check *check, bool in)
{
	const union nvdla_surface_desc *surface = &check->source->surfaces[check->operation];

	switch (check->op_type) {
	case NVDLA_OP_CONV:
		return NVDLA_FIELD(surface->conv.dst_data.type);
	case NVDLA_OP_PDP:
		return NVDLA_FIELD(surface->pdp.src_data.type);
	default:
		return in ? NVDLA_FIELD(surface->sdp.src_data.type) :
			    NVDLA_FIELD(surface->sdp.dst_data.type);
	}
}

/*
 * Returns the next operation of a queue that produces (@out) or takes (else) a stream, or
 * NVDLA_NO_OP. Moves @position past that operation.
 */
static u16 next_flying(const struct nvdla_prepared *prepared, u32 op_type, bool out,
		       u32 *position)
{
	const struct nvdla_queue *queue = &prepared->queue[op_type];

	while (*position < queue->count) {
		u16 operation = prepared->queue_entries[queue->first + (*position)++];
		const struct nvdla_operation *op = &prepared->operations[operation];

		if (out ? op->flying_out : op->flying_in)
			return operation;
	}

	return NVDLA_NO_OP;
}

/*
 * A stream has no address: the n-th operation that produces a stream feeds the n-th that takes one,
 * in the order in which the engines run them.
 */
static void pair_streams(struct nvdla_check *check, u32 producer_type, u32 consumer_type)
{
	struct nvdla_prepared *prepared = check->prepared;
	u32 producer_position = 0;
	u32 consumer_position = 0;

	while (!check->failed) {
		u16 producer = next_flying(prepared, producer_type, true, &producer_position);
		u16 consumer = next_flying(prepared, consumer_type, false, &consumer_position);
		const struct nvdla_consumer *parent;

		if (producer == NVDLA_NO_OP && consumer == NVDLA_NO_OP)
			return;
		if (consumer == NVDLA_NO_OP) {
			nvdla_check_set_operation(check, producer);
			nvdla_state(check, false, NVDLA_MEM_HW, NVDLA_MEM_CV,
				    stream_field(check, false),
				    "no operation takes this output stream");
			return;
		}
		nvdla_check_set_operation(check, consumer);
		if (!nvdla_state(check, producer != NVDLA_NO_OP, NVDLA_MEM_HW, NVDLA_MEM_CV,
				 stream_field(check, true),
				 "no operation produces this input stream"))
			return;

		parent = &check->source->graph[consumer].fused_parent;
		need(check, parent->index == -1 || parent->index == producer, parent->index,
		     producer,
		     "fused operations are not in the order in which their engines run them");
		check_stream(check, producer);
		prepared->operations[producer].consumer = consumer;
		prepared->operations[consumer].producer = producer;
	}
}

void nvdla_graph_check_pairs(struct nvdla_check *check)
{
	pair_streams(check, NVDLA_OP_CONV, NVDLA_OP_SDP);
	pair_streams(check, NVDLA_OP_SDP, NVDLA_OP_PDP);
	nvdla_check_conv_reuse(check);
}

/* True if the operation is enabled and is the oldest one of its engine. */
static bool has_turn(const struct nvdla_schedule *schedule, u16 operation)
{
	u32 op_type = schedule->task->prepared->operations[operation].op_type;
	u32 group = nvdla_schedule_oldest(schedule, op_type);

	return group != NVDLA_NUM_GROUPS &&
	       schedule->engine[op_type].group[group].operation == operation;
}

/*
 * True if a core would complete this operation now. A stream flows only if every engine that it
 * passes has reached its operation.
 */
static bool completes(const struct nvdla_schedule *schedule, u16 operation)
{
	const struct nvdla_task *task = schedule->task;
	const struct nvdla_operation *op = &task->prepared->operations[operation];
	u16 consumer;

	if (op->producer != NVDLA_NO_OP && !task->state[op->producer].completed)
		return false;

	for (consumer = operation; consumer != NVDLA_NO_OP;
	     consumer = task->prepared->operations[consumer].consumer)
		if (!has_turn(schedule, consumer))
			return false;

	return true;
}

static bool complete_some(struct nvdla_schedule *schedule)
{
	bool progress = false;
	u32 type;

	for (type = 0; type < NVDLA_NUM_OP_TYPES; type++) {
		u32 group = nvdla_schedule_oldest(schedule, type);

		if (group == NVDLA_NUM_GROUPS ||
		    !completes(schedule, schedule->engine[type].group[group].operation))
			continue;
		nvdla_schedule_complete(schedule, type, group);
		progress = true;
	}

	return progress;
}

void nvdla_graph_check_progress(struct nvdla_check *check)
{
	struct nvdla_task *task = check->rehearsal;
	struct nvdla_schedule schedule;
	u32 i;

	nvdla_schedule_init(&schedule, task, NULL, NULL);
	do {
		nvdla_schedule_run(&schedule);
	} while (complete_some(&schedule));

	if (nvdla_schedule_done(&schedule))
		return;

	for (i = 0; i < check->prepared->num_operations; i++)
		if (!task->state[i].completed)
			break;
	nvdla_check_set_operation(check, i);
	nvdla_state(check, false, task->state[i].waits, 0,
		    NVDLA_WHOLE(check->source->graph[i].consumers), stuck);
}
