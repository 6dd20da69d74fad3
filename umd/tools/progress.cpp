/* SPDX-License-Identifier: MIT */
#include "progress.h"

#include <fmt/core.h>
#include <unistd.h>

#include "command-line/message.h"

namespace nvdla::tools
{

namespace
{

/* Shortest time between two updates of the line. */
constexpr std::chrono::milliseconds betweenShows(100);
/* The remaining time is shown after this time only: earlier estimates are too uncertain. */
constexpr std::chrono::seconds beforeGuess(1);

} /* namespace */

Progress::Progress(bool wanted)
	: active_(wanted && isatty(STDERR_FILENO)), start_(Clock::now()),
	  shown_(start_ - betweenShows)
{
}

Progress::~Progress()
{
	show("");
}

void Progress::show(const std::string &text)
{
	if (!active_)
		return;
	say("\r\x1b[K" + text);
}

void Progress::count(const char *what, uint64_t done, uint64_t all)
{
	if (!active_)
		return;
	const auto now = Clock::now();
	if (!done)
		start_ = now;
	if (now - shown_ < betweenShows)
		return;
	shown_ = now;

	std::string text = fmt::format("{} {} of {}", what, done + 1, all);
	const std::chrono::duration<double> spent = now - start_;
	if (done && spent > beforeGuess)
		text += fmt::format(", {:.0f} s left", spent.count() / static_cast<double>(done) *
							       static_cast<double>(all - done));
	show(text);
}

} /* namespace nvdla::tools */
