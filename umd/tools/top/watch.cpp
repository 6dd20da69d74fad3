/* SPDX-License-Identifier: MIT */
#include "watch.h"

#include <algorithm>
#include <optional>
#include <utility>

namespace nvdla::top
{

namespace
{

using Clock = std::chrono::steady_clock;

Result<void> draw(Load &load, const View &view, const Terminal &terminal)
{
	const ScreenSize size = terminal.size();

	sortProcesses(load, view.order);
	return terminal.show(screenText(
		loadText(load, { .columns = size.columns, .bars = true, .colour = view.colour }),
		terminal.hasKeys() ? keyHelp(view.order) : "", size));
}

std::chrono::milliseconds until(Clock::time_point time)
{
	using std::chrono::milliseconds;

	return std::max(std::chrono::ceil<milliseconds>(time - Clock::now()), milliseconds(0));
}

} /* namespace */

Result<void> watch(const Selection &selection, Snapshot before, View view, Terminal &terminal)
{
	const auto interval = std::chrono::duration_cast<Clock::duration>(view.interval);
	auto next = Clock::now() + interval;
	std::optional<Load> load;

	for (;;) {
		const auto wake = terminal.wait(until(next));
		if (wake == Terminal::Wake::End)
			return {};
		if (wake == Terminal::Wake::Key) {
			if (terminal.key() == 'q')
				return {};
			view.order = orderOfKey(terminal.key(), view.order).value_or(view.order);
		}
		/* Take the next snapshot even if keys arrive without a pause. */
		if (Clock::now() >= next) {
			auto now = takeSnapshot(selection);
			if (!now)
				return forward(now);
			load = loadBetween(before, *now);
			before = std::move(*now);
			next = Clock::now() + interval;
		} else if (wake == Terminal::Wake::Time || !load) {
			continue;
		}
		if (auto done = draw(*load, view, terminal); !done)
			return done;
	}
}

} /* namespace nvdla::top */
