/* SPDX-License-Identifier: MIT */
#include "terminal.h"

#include <cerrno>
#include <cstdio>
#include <cstring>

#include <poll.h>
#include <pthread.h>
#include <sys/ioctl.h>
#include <sys/signalfd.h>
#include <unistd.h>

namespace nvdla::top
{

namespace
{

constexpr std::string_view hideCursor = "\x1b[?25l";
constexpr std::string_view showCursor = "\x1b[?25h";

sigset_t handledSignals()
{
	sigset_t set;

	sigemptyset(&set);
	for (const int signal : { SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGTSTP, SIGCONT, SIGWINCH })
		sigaddset(&set, signal);
	return set;
}

} /* namespace */

Terminal::Terminal(int input, int output) : input_(input), output_(output)
{
	const sigset_t handled = handledSignals();

	pthread_sigmask(SIG_BLOCK, &handled, &signalsBefore_);
	signals_ = UniqueFd(signalfd(-1, &handled, SFD_CLOEXEC | SFD_NONBLOCK));
	if (hasKeys() && tcgetattr(input_, &before_))
		input_ = -1;
	enter();
}

Terminal::~Terminal()
{
	leave();
	pthread_sigmask(SIG_SETMASK, &signalsBefore_, nullptr);
}

ScreenSize Terminal::size() const
{
	winsize reported = {};

	ioctl(output_, TIOCGWINSZ, &reported);
	return screenSize(reported.ws_row, reported.ws_col);
}

Result<void> Terminal::show(std::string_view text) const
{
	while (!text.empty()) {
		const ssize_t written = write(output_, text.data(), text.size());
		if (written < 0 && errno != EINTR)
			return fail(ErrorCode::Io, "write", "terminal", std::strerror(errno));
		text.remove_prefix(written < 0 ? 0 : static_cast<size_t>(written));
	}
	return {};
}

Terminal::Wake Terminal::wait(std::chrono::milliseconds time)
{
	pollfd sources[] = { { .fd = signals_.get(), .events = POLLIN, .revents = 0 },
			     { .fd = input_, .events = POLLIN, .revents = 0 } };

	if (poll(sources, std::size(sources), static_cast<int>(time.count())) <= 0)
		return Wake::Time;
	return sources[0].revents ? readSignal() : readKey();
}

/* Sets the terminal to pass on each key at once and without echo. Ctrl-C and Ctrl-Z still send
 * signals. */
void Terminal::enter()
{
	if (hasKeys()) {
		termios keys = before_;
		keys.c_lflag &= ~static_cast<tcflag_t>(ICANON | ECHO);
		keys.c_cc[VMIN] = 1;
		keys.c_cc[VTIME] = 0;
		tcsetattr(input_, TCSADRAIN, &keys);
	}
	(void)show(hideCursor);
}

/* Restores the former mode. Leaves the cursor in the first column below the view, for the shell. */
void Terminal::leave()
{
	(void)show(showCursor);
	(void)show("\r\n");
	if (hasKeys())
		tcsetattr(input_, TCSADRAIN, &before_);
}

Terminal::Wake Terminal::readKey()
{
	char key;

	if (read(input_, &key, 1) != 1)
		return Wake::End;
	/* Arrows and function keys send Escape, '[' or 'O', parameters and a letter. */
	key_ = '\0';
	if (key == '\x1b') {
		sequence_ = 1;
	} else if (sequence_ == 1 && (key == '[' || key == 'O')) {
		sequence_ = 2;
	} else if (sequence_ == 2) {
		sequence_ = key >= '@' ? 0 : 2;
	} else {
		sequence_ = 0;
		key_ = key;
	}
	return Wake::Key;
}

Terminal::Wake Terminal::readSignal()
{
	signalfd_siginfo info = {};

	if (read(signals_.get(), &info, sizeof(info)) != sizeof(info))
		return Wake::Time;
	switch (info.ssi_signo) {
	case SIGTSTP:
		leave();
		raise(SIGSTOP);
		[[fallthrough]];
	case SIGCONT:
		enter();
		return Wake::Redraw;
	case SIGWINCH:
		return Wake::Redraw;
	default:
		signal_ = static_cast<int>(info.ssi_signo);
		return Wake::End;
	}
}

} /* namespace nvdla::top */
