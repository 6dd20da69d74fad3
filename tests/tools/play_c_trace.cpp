/* SPDX-License-Identifier: MIT */
/*
 * Plays a trace in C, compiled to a shared library, on the device model:
 * play-c-trace LIBRARY CORE. Prints the step that fails.
 */
#include <cstdio>

#include <dlfcn.h>

#include "core/core.h"
#include "core/ram_memory.h"
#include "nvdla_player.h"

using namespace nvdla::sim;

namespace
{

/* As much as the examples need, where traces have their memory. */
constexpr uint64_t kBase = 0x80000000;
constexpr size_t kSize = 64 << 20;

struct Board {
	explicit Board(const CoreConfig &config) : core(config, dram, {}) {}

	RamMemory dram{ kBase, kSize };
	Core core;
};

Board &of(void *context)
{
	return *static_cast<Board *>(context);
}

uint8_t *memory(void *context, uint64_t address, uint32_t size)
{
	if (address < kBase || address - kBase > kSize || size > kSize - (address - kBase))
		return nullptr;
	const auto region = of(context).dram.region(address);
	return reinterpret_cast<uint8_t *>(region.bytes.data()) + (address - kBase);
}

} /* namespace */

int main(int argc, char **argv)
{
	void *library = argc == 3 ? dlopen(argv[1], RTLD_NOW) : nullptr;
	const Geometry *geometry = argc == 3 ? findGeometry(argv[2]) : nullptr;

	if (!library || !geometry) {
		std::fprintf(stderr, "play-c-trace: LIBRARY CORE: %s\n", library ? "" : dlerror());
		return 2;
	}
	const auto *steps = static_cast<const nvdla_step *>(dlsym(library, "nvdla_steps"));
	const auto *count = static_cast<const size_t *>(dlsym(library, "nvdla_step_count"));

	CoreConfig config;
	config.geometry = *geometry;
	Board board(config);
	nvdla_board calls = {};
	calls.context = &board;
	calls.read = [](void *context, uint32_t offset) {
		of(context).core.waitIdle();
		return of(context).core.csbRead(offset);
	};
	calls.write = [](void *context, uint32_t offset, uint32_t value) {
		of(context).core.csbWrite(offset, value);
	};
	calls.memory = memory;
	calls.polls = 1;
	const long failed = nvdla_play(&calls, steps, *count);
	if (failed >= 0)
		std::printf("step %ld of %zu fails\n", failed, *count);
	else
		std::printf("%zu steps\n", *count);
	return failed >= 0;
}
