/* SPDX-License-Identifier: MIT */
#include "trace/line_reader.h"

#include <algorithm>
#include <charconv>
#include <optional>

#include <fmt/core.h>

namespace nvdla::sim
{

namespace
{

template<typename Number, typename... Base>
std::optional<Number> parse(std::string_view text, Base... base)
{
	Number value = {};
	const auto [end, error] =
		std::from_chars(text.data(), text.data() + text.size(), value, base...);
	if (error != std::errc() || end != text.data() + text.size())
		return std::nullopt;
	return value;
}

std::optional<uint64_t> parseNumber(std::string_view text)
{
	if (text.starts_with("0x"))
		return parse<uint64_t>(text.substr(2), 16);
	return parse<uint64_t>(text, 10);
}

} /* namespace */

LineReader::LineReader(std::string_view line, unsigned int number, std::string_view comment,
		       std::string_view separators)
	: number_(number)
{
	line = line.substr(0, line.find(comment));
	for (size_t end = 0; end < line.size();) {
		const size_t begin = line.find_first_not_of(separators, end);
		if (begin == std::string_view::npos)
			break;
		end = std::min(line.find_first_of(separators, begin), line.size());
		words_.push_back(line.substr(begin, end - begin));
	}
}

std::string_view LineReader::word()
{
	if (more())
		return words_[next_++];
	fail("words are missing");
	return {};
}

uint64_t LineReader::unsignedUpTo(uint64_t maximum)
{
	const std::string_view text = word();
	const auto value = parseNumber(text);
	if (value && *value <= maximum)
		return *value;
	fail(fmt::format("'{}' is not a number up to {:#x}", text, maximum));
	return 0;
}

double LineReader::real()
{
	const std::string_view text = word();
	const auto value = parse<double>(text);
	if (!value)
		fail(fmt::format("'{}' is not a number", text));
	return value.value_or(0);
}

std::string LineReader::file()
{
	const std::string_view text = word();
	if (text.empty() || text.find('/') != std::string_view::npos || text == "..")
		fail(fmt::format("'{}' is not the name of a file in the directory", text));
	return std::string(text);
}

void LineReader::keyword(std::string_view expected)
{
	if (word() != expected)
		fail(fmt::format("'{}' is missing", expected));
}

void LineReader::fail(std::string message)
{
	if (error_.empty())
		error_ = std::move(message);
	next_ = words_.size();
}

const std::string &LineReader::finish()
{
	if (more())
		fail(fmt::format("'{}' is too much", words_[next_]));
	return error_;
}

tl::expected<void, std::string> readLines(std::string_view text, std::string_view comment,
					  std::string_view separators,
					  const std::function<void(LineReader &line)> &read)
{
	for (unsigned int number = 1; !text.empty(); number++) {
		const size_t end = std::min(text.find('\n'), text.size());
		LineReader line(text.substr(0, end), number, comment, separators);
		text.remove_prefix(std::min(end + 1, text.size()));
		if (!line.more())
			continue;
		read(line);
		if (const std::string &error = line.finish(); !error.empty())
			return tl::unexpected(fmt::format("line {}: {}", number, error));
	}
	return {};
}

tl::expected<std::vector<TraceCommand>, std::string>
readCommands(std::string_view text, std::string_view comment, std::string_view separators,
	     const std::function<void(LineReader &line, std::vector<TraceCommand> &commands)> &read)
{
	std::vector<TraceCommand> commands;
	const auto readOne = [&](LineReader &line) {
		const size_t first = commands.size();
		read(line, commands);
		for (size_t i = first; i < commands.size(); i++)
			commands[i].line = line.number();
	};

	return readLines(text, comment, separators, readOne).map([&] { return commands; });
}

} /* namespace nvdla::sim */
