/* SPDX-License-Identifier: MIT */
#pragma once

#include <chrono>
#include <csignal>
#include <string>
#include <string_view>

#include <nvdla/error.h>
#include <termios.h>

#include "base/io/unique_fd.h"
#include "screen.h"

namespace nvdla::top
{

/**
 * \brief A terminal that reports keys as they are pressed
 *
 * Signals take effect only in wait(). Before a signal stops the program, wait() restores the former
 * mode of the terminal. If a signal is to end the program, wait() returns End, and the destructor
 * restores the mode.
 */
class Terminal
{
public:
	enum class Wake {
		Time,	/**< the time passed without a key or a signal */
		Key,	/**< a key was pressed; key() returns it */
		Redraw, /**< the size changed, or the stopped program continues */
		End,	/**< signal() is to end the program, or the terminal is gone */
	};

	/** \param[in] input file descriptor from which keys are read, -1 for none */
	Terminal(int input, int output);
	~Terminal();
	Terminal(const Terminal &) = delete;
	Terminal &operator=(const Terminal &) = delete;

	bool hasKeys() const { return input_ >= 0; }
	ScreenSize size() const;
	Result<void> show(std::string_view text) const;

	/** \brief Wait for a key, a signal or the end of \a time */
	Wake wait(std::chrono::milliseconds time);
	/** \return the key; '\\0' for a key that sends several characters, such as an arrow */
	char key() const { return key_; }
	/** \return the signal that is to end the program; 0 if none is */
	int signal() const { return signal_; }

private:
	void enter();
	void leave();
	Wake readKey();
	Wake readSignal();

	int input_;
	int output_;
	termios before_ = {};
	sigset_t signalsBefore_ = {};
	UniqueFd signals_;
	char key_ = 0;
	int sequence_ = 0; /**< place in a control sequence: 1 after Escape, 2 after Escape and
			    *  '[' or 'O', 0 outside */
	int signal_ = 0;
};

} /* namespace nvdla::top */
