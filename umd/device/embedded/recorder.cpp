/* SPDX-License-Identifier: MIT */
#include "recorder.h"

#include <algorithm>

namespace nvdla
{

using Recorded = sim::TraceCommand::Kind;

void Recorder::write(uint32_t offset, uint32_t value)
{
	const std::lock_guard guard(mutex_);

	commands_.push_back({ .kind = Recorded::Write, .address = offset, .value = value });
}

void Recorder::interrupts(uint32_t offset, uint32_t status)
{
	const std::lock_guard guard(mutex_);

	commands_.push_back(
		{ .kind = Recorded::Poll, .address = offset, .mask = status, .value = status });
	commands_.push_back({ .kind = Recorded::Write, .address = offset, .value = status });
}

void Recorder::begin(std::span<const EmbeddedJob::Use> uses)
{
	compare(uses, Recorded::Load);
}

void Recorder::end(std::span<const EmbeddedJob::Use> uses)
{
	compare(uses, Recorded::Expect);
}

/* Does not record a clear before the first operation has ended, because the memory is still zero
 * then. */
void Recorder::clearOnChip(uint64_t address, size_t size)
{
	const std::lock_guard guard(mutex_);
	const auto isOperation = [](const sim::TraceCommand &command) {
		return command.kind == Recorded::Poll;
	};

	if (std::ranges::none_of(commands_, isOperation))
		return;
	commands_.push_back({ .kind = Recorded::Load,
			      .ram = sim::RamType::Cv,
			      .address = address,
			      .data = std::vector<std::byte>(size) });
}

sim::Trace Recorder::trace(const sim::Geometry &core)
{
	const std::lock_guard guard(mutex_);

	return { .geometry = &core, .commands = commands_ };
}

bool Recorder::changes(uint64_t address, std::span<const std::byte> bytes)
{
	static constexpr Page zero = {};
	const auto known = pages_.find(address);

	if (std::ranges::equal(bytes, known == pages_.end() ? zero : known->second))
		return false;
	std::ranges::copy(bytes, pages_[address].begin());
	return true;
}

/* Records the pages of the buffers \a uses that have changed. Consecutive pages become one
 * command. */
void Recorder::compare(std::span<const EmbeddedJob::Use> uses, Recorded kind)
{
	const std::lock_guard guard(mutex_);

	for (const EmbeddedJob::Use &use : uses) {
		const EmbeddedBuffer *buffer = use.buffer.get();
		const std::span<const std::byte> bytes = buffer->bytes();
		bool goesOn = false;

		for (size_t at = 0; at < bytes.size(); at += pageSize) {
			const auto page = bytes.subspan(at, pageSize);
			const bool changed = changes(buffer->dmaAddress + at, page);

			if (changed && !goesOn)
				commands_.push_back({ .kind = kind,
						      .address = buffer->dmaAddress + at,
						      .data = std::vector<std::byte>() });
			if (changed)
				commands_.back().data->insert(commands_.back().data->end(),
							      page.begin(), page.end());
			goesOn = changed;
		}
	}
}

} /* namespace nvdla */
