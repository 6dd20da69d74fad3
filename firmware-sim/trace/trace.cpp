/* SPDX-License-Identifier: MIT */
#include "trace/trace.h"

#include <algorithm>
#include <charconv>
#include <fstream>
#include <optional>

#include <fmt/core.h>
#include <nlohmann/json.hpp>

namespace nvdla::sim
{

namespace
{

using Words = std::vector<std::string_view>;

Words split(std::string_view line)
{
	Words words;
	line = line.substr(0, line.find('#'));
	for (size_t end = 0; end < line.size();) {
		const size_t begin = line.find_first_not_of(" \t\r", end);
		if (begin == std::string_view::npos)
			break;
		end = std::min(line.find_first_of(" \t\r", begin), line.size());
		words.push_back(line.substr(begin, end - begin));
	}
	return words;
}

std::optional<uint64_t> parseNumber(std::string_view text, uint64_t maximum)
{
	const bool isHex = text.starts_with("0x");
	if (isHex)
		text.remove_prefix(2);
	uint64_t value = 0;
	const auto [end, error] =
		std::from_chars(text.data(), text.data() + text.size(), value, isHex ? 16 : 10);
	if (error != std::errc() || end != text.data() + text.size() || value > maximum)
		return std::nullopt;
	return value;
}

std::optional<double> parseReal(std::string_view text)
{
	double value = 0;
	const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
	if (error != std::errc() || end != text.data() + text.size())
		return std::nullopt;
	return value;
}

/* A line that is being read: takes one word after the other, keeps the first error. */
class Reader
{
public:
	explicit Reader(const Words &words) : words_(words) {}

	std::string_view word()
	{
		if (next_ < words_.size())
			return words_[next_++];
		fail("words are missing");
		return {};
	}

	uint64_t number(uint64_t maximum)
	{
		const std::string_view text = word();
		const auto value = parseNumber(text, maximum);
		if (!value)
			fail(fmt::format("'{}' is not a number up to {:#x}", text, maximum));
		return value.value_or(0);
	}

	double real()
	{
		const std::string_view text = word();
		const auto value = parseReal(text);
		if (!value)
			fail(fmt::format("'{}' is not a number", text));
		return value.value_or(0);
	}

	RamType ram()
	{
		const std::string_view text = word();
		if (text != "mc" && text != "cv")
			fail(fmt::format("'{}' is neither mc nor cv", text));
		return text == "cv" ? RamType::Cv : RamType::Mc;
	}

	std::string file()
	{
		const std::string_view text = word();
		if (text.empty() || text.find('/') != std::string_view::npos || text == "..")
			fail(fmt::format("'{}' is not the name of a file in the directory", text));
		return std::string(text);
	}

	void keyword(std::string_view expected)
	{
		if (word() != expected)
			fail(fmt::format("'{}' is missing", expected));
	}

	bool more() const { return next_ < words_.size(); }

	void fail(std::string message)
	{
		if (error_.empty())
			error_ = std::move(message);
	}

	const std::string &finish()
	{
		if (more())
			fail(fmt::format("'{}' is too much", words_[next_]));
		return error_;
	}

private:
	const Words &words_;
	size_t next_ = 0;
	std::string error_;
};

Tolerance parseTolerance(Reader &reader)
{
	Tolerance tolerance;
	reader.keyword("tol");
	const std::string_view kind = reader.word();
	if (kind == "dc") {
		tolerance.kind = Tolerance::Kind::Convolution;
		tolerance.products = reader.real();
		tolerance.products *= reader.real();
		tolerance.products *= reader.real();
		tolerance.maxExponent = reader.real();
	} else if (kind == "abs") {
		tolerance.kind = Tolerance::Kind::Pooling;
		tolerance.absolute = reader.real();
		reader.keyword("rel");
		tolerance.relative = reader.real();
	} else if (kind != "none") {
		reader.fail(fmt::format("'{}' is not a tolerance", kind));
	}
	return tolerance;
}

TraceCommand parseCommand(Reader &reader)
{
	TraceCommand command = {};
	const std::string_view name = reader.word();
	const auto registers = [&](TraceCommand::Kind kind, bool masked) {
		command.kind = kind;
		command.address = reader.number(UINT32_MAX);
		if (masked)
			command.mask = static_cast<uint32_t>(reader.number(UINT32_MAX));
		command.value = static_cast<uint32_t>(reader.number(UINT32_MAX));
	};
	const auto memory = [&](TraceCommand::Kind kind) {
		command.kind = kind;
		command.ram = reader.ram();
		command.address = reader.number(UINT64_MAX);
		command.file = reader.file();
	};

	if (name == "write") {
		registers(TraceCommand::Kind::Write, false);
	} else if (name == "poll") {
		registers(TraceCommand::Kind::Poll, true);
	} else if (name == "read") {
		registers(TraceCommand::Kind::Read, true);
	} else if (name == "load") {
		memory(TraceCommand::Kind::Load);
	} else if (name == "expect") {
		memory(TraceCommand::Kind::Expect);
		if (reader.more())
			command.tolerance = parseTolerance(reader);
	} else {
		reader.fail(fmt::format("'{}' is not a command", name));
	}
	return command;
}

} /* namespace */

tl::expected<std::vector<TraceCommand>, std::string> parseTrace(std::string_view text)
{
	std::vector<TraceCommand> commands;
	unsigned int line = 0;
	while (!text.empty()) {
		line++;
		const size_t end = std::min(text.find('\n'), text.size());
		const Words words = split(text.substr(0, end));
		text.remove_prefix(std::min(end + 1, text.size()));
		if (words.empty())
			continue;
		Reader reader(words);
		commands.push_back(parseCommand(reader));
		commands.back().line = line;
		if (const std::string &error = reader.finish(); !error.empty())
			return tl::unexpected(fmt::format("line {}: {}", line, error));
	}
	return commands;
}

nlohmann::json loadMeta(const std::filesystem::path &directory)
{
	std::ifstream file(directory / "meta.json");
	auto meta = nlohmann::json::parse(file, nullptr, false);

	return meta.is_object() ? meta : nlohmann::json::object();
}

tl::expected<Trace, std::string> loadTrace(const std::filesystem::path &directory)
{
	const auto path = directory / "trace";
	const auto bytes = readFile(path);
	if (!bytes)
		return tl::unexpected(bytes.error());
	auto commands =
		parseTrace({ reinterpret_cast<const char *>(bytes->data()), bytes->size() });
	if (!commands)
		return tl::unexpected(fmt::format("{}: {}", path.string(), commands.error()));
	const auto meta = loadMeta(directory);
	const auto variant = meta.find("variant");
	const std::string name = variant == meta.end() || !variant->is_string()
					 ? nvFull.name
					 : variant->get<std::string>();
	const Geometry *geometry = findGeometry(name);
	if (!geometry)
		return tl::unexpected(
			fmt::format("{}: variant \"{}\" is not modelled; there are {}",
				    (directory / "meta.json").string(), name, geometryNames()));
	return Trace{ .directory = directory,
		      .geometry = geometry,
		      .commands = std::move(*commands) };
}

tl::expected<std::vector<std::byte>, std::string> readFile(const std::filesystem::path &path)
{
	constexpr std::streamoff maximum = 1 << 30;
	std::ifstream file(path, std::ios::binary | std::ios::ate);
	const std::streamoff size = file ? static_cast<std::streamoff>(file.tellg()) : -1;
	if (size < 0 || size > maximum)
		return tl::unexpected(fmt::format("{}: cannot be read", path.string()));
	std::vector<std::byte> bytes(static_cast<size_t>(size));
	file.seekg(0);
	if (!file.read(reinterpret_cast<char *>(bytes.data()), size))
		return tl::unexpected(fmt::format("{}: cannot be read", path.string()));
	return bytes;
}

} /* namespace nvdla::sim */
