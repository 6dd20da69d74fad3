/* SPDX-License-Identifier: MIT */
#include "trace/trace.h"

#include <fstream>

#include <fmt/core.h>
#include <nlohmann/json.hpp>

#include "trace/line_reader.h"
#include "trace/published.h"

namespace nvdla::sim
{

namespace
{

namespace fs = std::filesystem;

RamType parseRam(LineReader &line)
{
	const std::string_view text = line.word();

	if (text != "mc" && text != "cv")
		line.fail(fmt::format("'{}' is neither mc nor cv", text));
	return text == "cv" ? RamType::Cv : RamType::Mc;
}

Tolerance parseTolerance(LineReader &line)
{
	Tolerance tolerance;
	line.keyword("tol");
	const std::string_view kind = line.word();
	if (kind == "dc") {
		tolerance.kind = Tolerance::Kind::Convolution;
		tolerance.products = line.real();
		tolerance.products *= line.real();
		tolerance.products *= line.real();
		tolerance.maxExponent = line.real();
	} else if (kind == "abs") {
		tolerance.kind = Tolerance::Kind::Pooling;
		tolerance.absolute = line.real();
		line.keyword("rel");
		tolerance.relative = line.real();
	} else if (kind != "none") {
		line.fail(fmt::format("'{}' is not a tolerance", kind));
	}
	return tolerance;
}

void readTraceLine(LineReader &line, std::vector<TraceCommand> &commands)
{
	TraceCommand command = {};
	const std::string_view name = line.word();
	const auto registers = [&](TraceCommand::Kind kind, bool masked) {
		command.kind = kind;
		command.address = line.unsigned32();
		if (masked)
			command.mask = line.unsigned32();
		command.value = line.unsigned32();
	};
	const auto memory = [&](TraceCommand::Kind kind) {
		command.kind = kind;
		command.ram = parseRam(line);
		command.address = line.unsignedUpTo(UINT64_MAX);
		command.file = line.file();
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
		if (line.more())
			command.tolerance = parseTolerance(line);
	} else {
		line.fail(fmt::format("'{}' is not a command", name));
	}
	commands.push_back(std::move(command));
}

/* How to find and read the files of a trace format. */
struct Format {
	/* Returns the path of the trace file in a directory. */
	fs::path (*nameIn)(const fs::path &directory);
	tl::expected<std::vector<TraceCommand>, std::string> (*parse)(std::string_view text,
								      const Geometry &core);
	/* Decodes a memory image in text form; null: files are binary. */
	tl::expected<std::vector<std::byte>, std::string> (*decode)(std::string_view text);
	bool isInFolderOfCore; /* the folder's path names the core */
	size_t cvsramSize;
};

constexpr Format formats[] = {
	{ [](const fs::path &) -> fs::path { return "trace"; },
	  [](std::string_view text, const Geometry &) { return parseTrace(text); }, nullptr, false,
	  0 },
	{ [](const fs::path &) -> fs::path { return "input.txn"; }, parseTxn, decodeDump, false,
	  txnCvsramSize },
	{ [](const fs::path &directory) -> fs::path {
		 return fs::absolute(directory / ".").parent_path().filename().string() + ".cfg";
	 },
	  parseCfg, decodeRecords, true, 0 },
};

const Format *formatIn(const fs::path &directory)
{
	std::error_code error;

	for (const Format &format : formats)
		if (fs::is_regular_file(directory / format.nameIn(directory), error))
			return &format;
	return nullptr;
}

std::string_view textOf(const std::vector<std::byte> &bytes)
{
	return { reinterpret_cast<const char *>(bytes.data()), bytes.size() };
}

/* Decode the text files that commands name into the commands. */
tl::expected<void, std::string> decodeFiles(Trace &trace, const Format &format)
{
	for (TraceCommand &command : trace.commands) {
		if (command.file.empty() || !format.decode)
			continue;
		const auto bytes = readFile(trace.directory / command.file);
		if (!bytes)
			return tl::unexpected(bytes.error());
		auto data = format.decode(textOf(*bytes));
		if (!data)
			return tl::unexpected(fmt::format(
				"{}: {}", (trace.directory / command.file).string(), data.error()));
		if (command.size && command.size < data->size())
			data->resize(command.size);
		command.data = std::move(*data);
	}
	return {};
}

/* Returns the core that meta.json or the path names; an error if it is not modelled. */
tl::expected<const Geometry *, std::string> geometryOf(const fs::path &directory,
						       const Format &format)
{
	const auto meta = loadMeta(directory);
	const auto variant = meta.find("variant");
	std::string name = nvFull.name;

	if (variant != meta.end() && variant->is_string())
		name = variant->get<std::string>();
	else if (format.isInFolderOfCore)
		for (const fs::path &folder : fs::absolute(directory))
			if (folder.string().starts_with("nv_"))
				name = folder.string();
	if (const Geometry *geometry = findGeometry(name))
		return geometry;
	return tl::unexpected(fmt::format("{}: the core {} is not modelled; there are {}",
					  directory.string(), name, geometryNames()));
}

} /* namespace */

tl::expected<std::vector<TraceCommand>, std::string> parseTrace(std::string_view text)
{
	return readCommands(text, "#", " \t\r", readTraceLine);
}

bool hasTrace(const fs::path &directory)
{
	return formatIn(directory) != nullptr;
}

nlohmann::json loadMeta(const std::filesystem::path &directory)
{
	std::ifstream file(directory / "meta.json");
	auto meta = nlohmann::json::parse(file, nullptr, false);

	return meta.is_object() ? meta : nlohmann::json::object();
}

tl::expected<Trace, std::string> loadTrace(const fs::path &directory)
{
	const Format *format = formatIn(directory);
	if (!format)
		return tl::unexpected(fmt::format(
			"{}: there is neither trace nor input.txn nor {} in it", directory.string(),
			std::end(formats)[-1].nameIn(directory).string()));
	const fs::path path = directory / format->nameIn(directory);
	const auto bytes = readFile(path);
	if (!bytes)
		return tl::unexpected(bytes.error());
	const auto geometry = geometryOf(directory, *format);
	if (!geometry)
		return tl::unexpected(geometry.error());
	auto commands = format->parse(textOf(*bytes), **geometry);
	if (!commands)
		return tl::unexpected(fmt::format("{}: {}", path.string(), commands.error()));
	Trace trace = { .directory = directory,
			.geometry = *geometry,
			.cvsramSize = format->cvsramSize,
			.commands = std::move(*commands) };
	if (const auto decoded = decodeFiles(trace, *format); !decoded)
		return tl::unexpected(decoded.error());
	return trace;
}

tl::expected<std::vector<std::byte>, std::string> contents(const Trace &trace,
							   const TraceCommand &command)
{
	if (command.data)
		return *command.data;
	return readFile(trace.directory / command.file);
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
