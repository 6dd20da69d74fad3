/* SPDX-License-Identifier: MIT */
/*
 * Reading a trace line by line and word by word.
 */
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include <tl/expected.hpp>

#include "core/memory.h"
#include "trace/trace.h"

namespace nvdla::sim
{

/**
 * \brief One line: gives one word after the other, and keeps the first error
 *
 * After an error words are empty and numbers 0.
 */
class LineReader
{
public:
	/**
	 * \param line text to read, without the line end
	 * \param number of the line, from 1
	 * \param comment text that begins a comment
	 * \param separators characters between words
	 */
	LineReader(std::string_view line, unsigned int number, std::string_view comment,
		   std::string_view separators);

	unsigned int number() const { return number_; }

	std::string_view word();
	/** \return the next word without consuming it; empty at the end */
	std::string_view peek() const { return more() ? words_[next_] : std::string_view(); }
	/** \return a number, decimal or hexadecimal with 0x */
	uint64_t unsignedUpTo(uint64_t maximum);
	uint32_t unsigned32() { return static_cast<uint32_t>(unsignedUpTo(UINT32_MAX)); }
	double real();
	/** \return the name of a file in the trace's directory */
	std::string file();
	void keyword(std::string_view expected);

	/** \return true if there are words left */
	bool more() const { return next_ < words_.size(); }
	void fail(std::string message);
	/** \return the line's error, empty if there was none; words left unread are an error */
	const std::string &finish();

private:
	std::vector<std::string_view> words_;
	unsigned int number_;
	size_t next_ = 0;
	std::string error_;
};

/**
 * \brief Read a text line by line, skipping lines without words
 * \return a message that begins with the number of the first line with an error
 */
tl::expected<void, std::string> readLines(std::string_view text, std::string_view comment,
					  std::string_view separators,
					  const std::function<void(LineReader &line)> &read);

/**
 * \brief Read the lines of a trace
 * \param read appends the commands of a line
 * \return the commands with their lines' numbers
 */
tl::expected<std::vector<TraceCommand>, std::string> readCommands(
	std::string_view text, std::string_view comment, std::string_view separators,
	const std::function<void(LineReader &line, std::vector<TraceCommand> &commands)> &read);

} /* namespace nvdla::sim */
