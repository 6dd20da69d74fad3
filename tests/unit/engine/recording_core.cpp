/* SPDX-License-Identifier: MIT */
#include "recording_core.h"

#include <algorithm>

#include <nvdla/hw/registers.h>

namespace nvdla::test
{

RecordingCore::RecordingCore()
{
	readable[NVDLA_CDMA_S_CBUF_FLUSH_STATUS] = 1;
	readable[NVDLA_BDMA_STATUS] = 0x114;
}

nvdla_io RecordingCore::io()
{
	nvdla_io io = {};
	io.context = this;
	io.read = [](void *context, u32 reg) {
		auto *core = static_cast<RecordingCore *>(context);
		const auto found = core->readable.find(reg);
		const uint32_t value = found == core->readable.end() ? 0 : found->second;
		core->log.push_back({ false, reg, value });
		return value;
	};
	io.write = [](void *context, u32 reg, u32 value) {
		static_cast<RecordingCore *>(context)->log.push_back({ true, reg, value });
	};
	io.delay = [](void *context, u32) { static_cast<RecordingCore *>(context)->delays++; };
	io.now = [](void *context) -> u64 {
		return ++static_cast<RecordingCore *>(context)->nowNs;
	};
	return io;
}

std::vector<uint32_t> RecordingCore::writes(uint32_t reg) const
{
	std::vector<uint32_t> values;
	for (const Access &access : log)
		if (access.write && access.reg == reg)
			values.push_back(access.value);
	return values;
}

size_t RecordingCore::position(uint32_t reg) const
{
	const auto found = std::find_if(log.begin(), log.end(), [reg](const Access &access) {
		return access.write && access.reg == reg;
	});
	return static_cast<size_t>(found - log.begin());
}

SequencerFixture::SequencerFixture()
{
	static const nvdla_sequencer_ops ops = {
		[](void *context, nvdla_task *, int error) {
			static_cast<SequencerFixture *>(context)->done.push_back(error);
		},
		[](void *context, const nvdla_task *, u32 operation) {
			static_cast<SequencerFixture *>(context)->programmed.push_back(operation);
		},
		[](void *context, nvdla_task *, u32 operation) {
			static_cast<SequencerFixture *>(context)->enabled.push_back(operation);
		},
		[](void *context, nvdla_task *, u32 operation) {
			static_cast<SequencerFixture *>(context)->completed.push_back(operation);
		},
	};
	const nvdla_io io = core.io();
	nvdla_sequencer *created = nullptr;

	nvdla_sequencer_create(nvdla_variant_nv_full(), &io, &ops, this, &created);
	sequencer.reset(created);
}

struct nvdla_sequencer_snapshot SequencerFixture::snapshot() const
{
	struct nvdla_sequencer_snapshot result;
	nvdla_sequencer_snapshot(sequencer.get(), &result);
	return result;
}

} /* namespace nvdla::test */
