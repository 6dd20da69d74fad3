/* SPDX-License-Identifier: MIT */
#include "nvdla_player.h"

#include <string.h>

static int poll(const struct nvdla_board *board, const struct nvdla_step *step)
{
	uint32_t left = board->polls;

	while ((board->read(board->context, (uint32_t)step->address) & step->mask) != step->value)
		if (board->polls && !left--)
			return 0;
	return 1;
}

static void sync(const struct nvdla_board *board, const struct nvdla_step *step, int is_read)
{
	if (board->sync)
		board->sync(board->context, step->address, step->mask, is_read);
}

static int play(const struct nvdla_board *board, const struct nvdla_step *step)
{
	uint8_t *memory = NULL;

	if (step->kind == NVDLA_LOAD || step->kind == NVDLA_EXPECT) {
		memory = board->memory(board->context, step->address, step->mask);
		if (!memory)
			return 0;
	}
	switch (step->kind) {
	case NVDLA_LOAD:
		memcpy(memory, step->bytes, step->mask);
		sync(board, step, 0);
		return 1;
	case NVDLA_WRITE:
		board->write(board->context, (uint32_t)step->address, step->value);
		return 1;
	case NVDLA_POLL:
		return poll(board, step);
	case NVDLA_EXPECT:
		sync(board, step, 1);
		return memcmp(memory, step->bytes, step->mask) == 0;
	}
	return 0;
}

long nvdla_play(const struct nvdla_board *board, const struct nvdla_step *steps, size_t count)
{
	size_t i;

	for (i = 0; i < count; i++)
		if (!play(board, &steps[i]))
			return (long)i;
	return -1;
}
