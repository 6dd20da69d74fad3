/* SPDX-License-Identifier: MIT */
#pragma once

#include <chrono>
#include <string>
#include <string_view>

#include <poll.h>
#include <pty.h>
#include <termios.h>
#include <unistd.h>

#include "base/io/unique_fd.h"

namespace nvdla::test
{

/** \brief A terminal of 0 rows and 0 columns, and the user in front of it */
class PseudoTerminal
{
public:
	PseudoTerminal()
	{
		int user, terminal;

		if (openpty(&user, &terminal, nullptr, nullptr, nullptr))
			return;
		user_ = UniqueFd(user);
		terminal_ = UniqueFd(terminal);
	}

	bool valid() const { return user_ && terminal_; }
	int terminal() const { return terminal_.get(); }
	void hangUp() { user_ = UniqueFd(); }

	termios mode() const
	{
		termios mode = {};

		tcgetattr(terminal_.get(), &mode);
		return mode;
	}

	/** \brief Press keys, which are read together */
	void write(std::string_view keys) const
	{
		(void)!::write(user_.get(), keys.data(), keys.size());
	}

	/** \return what is shown, up to \a text at least; all there is after a minute without it */
	std::string readUntil(std::string_view text) const
	{
		using namespace std::chrono;
		const auto end = steady_clock::now() + minutes(1);
		std::string shown;

		while (shown.find(text) == std::string::npos && steady_clock::now() < end) {
			pollfd source = { .fd = user_.get(), .events = POLLIN, .revents = 0 };
			char bytes[4096];
			if (poll(&source, 1, 100) <= 0)
				continue;
			const ssize_t size = read(user_.get(), bytes, sizeof(bytes));
			if (size <= 0)
				break;
			shown.append(bytes, static_cast<size_t>(size));
		}
		return shown;
	}

private:
	UniqueFd user_;
	UniqueFd terminal_;
};

} /* namespace nvdla::test */
