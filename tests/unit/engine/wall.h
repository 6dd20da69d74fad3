/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * The engine's check of one operation, without a task around it: the registers that it would have
 * written, and the memory that it lets the core reach.
 */
#pragma once

#ifdef __cplusplus
#include <user/nvdla_engine.h>

extern "C" {
#else
#include <nvdla_task.h>
#endif

enum { WALL_MOST_WRITES = 320, WALL_MOST_ACCESSES = 48 };

/** \brief A register, and its value or the access whose address it holds */
struct wall_write {
	u32 reg;
	bool is_address;
	u32 value;
};

/** \brief Bytes from an address on, all that the core may read or write there */
struct wall_access {
	u64 bytes;
	u32 alignment;
	u32 mem_type;
	bool reads, writes;
};

struct wall_verdict {
	u32 num_writes, num_accesses;
	struct wall_write writes[WALL_MOST_WRITES];
	struct wall_access accesses[WALL_MOST_ACCESSES];
};

/** \return whether the first operation of \a source passes */
bool wall_check(const struct nvdla_variant *variant, const struct nvdla_task_source *source,
		struct wall_verdict *verdict);

#ifdef __cplusplus
}
#endif
