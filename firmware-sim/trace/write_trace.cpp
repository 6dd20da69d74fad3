/* SPDX-License-Identifier: MIT */
#include "trace/write_trace.h"

#include <cerrno>
#include <cstring>
#include <fstream>
#include <set>
#include <span>
#include <vector>

#include <fmt/core.h>
#include <nlohmann/json.hpp>
#include <zlib.h>

#include <nvdla/hw/registers.h>

#include "core/register_table.h"
#include "trace/published.h"

namespace nvdla::sim
{

namespace
{

namespace fs = std::filesystem;
using Kind = TraceCommand::Kind;
using Bytes = std::span<const std::byte>;

/* Bytes of memory images on a line of text. */
constexpr size_t lineBytes = 32;

/* A trace that is being written: its text, and the files beside it. */
class Writer
{
public:
	Writer(const Trace &trace, fs::path directory)
		: trace_(trace), directory_(std::move(directory))
	{
	}
	virtual ~Writer() = default;

	tl::expected<void, std::string> write()
	{
		std::error_code error;

		fs::create_directories(directory_, error);
		if (error)
			return tl::unexpected(
				fmt::format("{}: {}", directory_.string(), error.message()));
		for (const TraceCommand &command : trace_.commands)
			add(command);
		end();
		file("meta.json",
		     nlohmann::json{ { "variant", trace_.geometry->name } }.dump() + "\n");
		if (!error_.empty())
			return tl::unexpected(error_);
		return {};
	}

protected:
	/* Write a Load or Expect, with its bytes in the file \a name. */
	virtual void memory(const TraceCommand &command, const std::string &name) = 0;
	virtual void store(const TraceCommand &command) = 0;
	virtual void poll(const TraceCommand &command) = 0;
	virtual void end() = 0;

	template<typename... Values>
	void line(fmt::format_string<Values...> format, Values &&...values)
	{
		text_ += fmt::format(format, std::forward<Values>(values)...) + "\n";
	}

	void file(const std::string &name, std::string_view contents)
	{
		const fs::path path = directory_ / name;
		std::ofstream stream(path, std::ios::binary);

		stream.write(contents.data(), static_cast<std::streamsize>(contents.size()));
		stream.close();
		if (!stream && error_.empty())
			error_ = fmt::format("{}: cannot be written: {}", path.string(),
					     std::strerror(errno));
	}

	void fail(std::string message)
	{
		if (error_.empty())
			error_ = std::move(message);
	}

	uint32_t nameOf(const TraceCommand &command) const
	{
		return trace_.geometry->nameOf(static_cast<uint32_t>(command.address));
	}
	const Trace &trace_;
	const fs::path directory_;
	std::string text_;

private:
	void add(const TraceCommand &command)
	{
		switch (command.kind) {
		case Kind::Load:
			return memory(command, fmt::format("load-{}", files_++));
		case Kind::Write:
			return store(command);
		case Kind::Poll:
			return poll(command);
		case Kind::Expect:
			return memory(command, fmt::format("expect-{}", files_++));
		default:
			fail("a trace of another format cannot be written");
		}
	}

	unsigned int files_ = 0;
	std::string error_;
};

std::string_view text(Bytes bytes)
{
	return { reinterpret_cast<const char *>(bytes.data()), bytes.size() };
}

/* Append bytes in the form 0x01, each followed by \a behind. */
void appendBytes(std::string &out, Bytes bytes, std::string_view behind)
{
	for (const std::byte byte : bytes)
		out += fmt::format("{:#04x}{}", std::to_integer<unsigned>(byte), behind);
}

template<typename Line>
std::string byLines(Bytes bytes, Line line)
{
	std::string out;

	for (size_t at = 0; at < bytes.size(); at += lineBytes)
		line(out, at, bytes.subspan(at, std::min(lineBytes, bytes.size() - at)));
	return out;
}

const char *ramOf(const TraceCommand &command, const char *mc, const char *cv)
{
	return command.ram == RamType::Mc ? mc : cv;
}

class PlainWriter : public Writer
{
public:
	using Writer::Writer;

protected:
	void memory(const TraceCommand &command, const std::string &name) override
	{
		file(name + ".bin", text(*command.data));
		line("{} {} {:#x} {}.bin", command.kind == Kind::Load ? "load" : "expect",
		     ramOf(command, "mc", "cv"), command.address, name);
	}
	void store(const TraceCommand &command) override
	{
		line("write {:#x} {:#x}", command.address, command.value);
	}
	void poll(const TraceCommand &command) override
	{
		line("poll {:#x} {:#x} {:#x}", command.address, command.mask, command.value);
	}
	void end() override { file("trace", text_); }
};

class TxnWriter : public Writer
{
public:
	using Writer::Writer;

protected:
	void memory(const TraceCommand &command, const std::string &name) override
	{
		file(name + ".dat",
		     byLines(*command.data, [](std::string &out, size_t, Bytes bytes) {
			     appendBytes(out, bytes, " ");
			     out.back() = '\n';
		     }));
		line("{} {:#x} {:#x} {}.dat", command.kind == Kind::Load ? "load_mem" : "dump_mem",
		     command.address, command.data->size(), name);
	}
	void store(const TraceCommand &command) override
	{
		line("write_reg {:#x} {:#x}", word(command), command.value);
	}
	/*
	 * The testbench's "wait" ends at any interrupt. The read after it repeats until the
	 * register has the value.
	 */
	void poll(const TraceCommand &command) override
	{
		line("wait");
		line("read_reg {:#x} {:#x} {:#x}", word(command), command.mask, command.value);
	}
	void end() override { file("input.txn", text_); }

private:
	static uint32_t word(const TraceCommand &command)
	{
		return txnRegisters | static_cast<uint32_t>(command.address / 4);
	}
};

class CfgWriter : public Writer
{
public:
	using Writer::Writer;

protected:
	void memory(const TraceCommand &command, const std::string &name) override
	{
		if (command.kind == Kind::Expect)
			return expect(command);
		file(name + ".dat",
		     "{\n" + byLines(*command.data, [](std::string &out, size_t at, Bytes bytes) {
			     out += fmt::format("{{offset:{:#x}, size:{}, payload:", at,
						bytes.size());
			     appendBytes(out, bytes, " ");
			     out.back() = '}';
			     out += ",\n";
		     }) + "}\n");
		line("mem_load({}, {:#x}, \"{}.dat\");", ramOf(command, "pri_mem", "sec_mem"),
		     command.address, name);
	}

	/*
	 * The testbench has a thread for each block (unit). Before its first register write after a
	 * poll, the block's thread waits for the events of that poll.
	 */
	void store(const TraceCommand &command) override
	{
		const uint32_t name = nameOf(command);
		const RegisterInfo *info = registerInfo(name);

		/* The testbench itself clears interrupts that it has seen. */
		if (name == NVDLA_GLB_S_INTR_STATUS)
			return;
		if (!info)
			return fail(fmt::format("the register {:#x} has no name", command.address));
		const std::string block =
			std::string("NVDLA_") + unitName(static_cast<Unit>(name / NVDLA_UNIT_SIZE));
		if (waiting_.insert(block).second)
			for (const std::string &event : events_)
				line("sync_wait({}, {});", block, event);
		line("reg_write({}.{}_0, {:#x});", block, info->name, command.value);
	}

	void poll(const TraceCommand &command) override
	{
		waiting_.clear();
		events_.clear();
		for (uint32_t bit = 0; bit < 32; bit++) {
			if (!(command.value >> bit & 1))
				continue;
			events_.push_back(fmt::format("sync_id_{}", syncs_++));
			line("intr_notify({}, {});", interruptName(bit), events_.back());
			/* The testbench wants a check for each event; this one checks nothing. */
			line("check_nothing({});", events_.back());
		}
	}

	void end() override
	{
		const auto name = fs::absolute(directory_ / ".").parent_path().filename();

		file(name.string() + ".cfg", text_);
	}

private:
	void expect(const TraceCommand &command)
	{
		const auto crc = static_cast<uint32_t>(
			crc32_z(0, reinterpret_cast<const unsigned char *>(command.data->data()),
				command.data->size()));
		line("check_crc({}, {}, {:#x}, {:#x}, {:#010x});",
		     events_.empty() ? "sync_id_0" : events_.back(),
		     ramOf(command, "pri_mem", "sec_mem"), command.address, command.data->size(),
		     crc);
	}

	unsigned int syncs_ = 0;
	std::vector<std::string> events_; /* events of the last wait */
	std::set<std::string> waiting_;	  /* blocks that wait for events_ */
};

class CWriter : public Writer
{
public:
	using Writer::Writer;

protected:
	void memory(const TraceCommand &command, const std::string &) override
	{
		if (command.ram != RamType::Mc)
			return fail("on-chip memory is written before it is used, and a processor "
				    "has no way to it");
		arrays_ += fmt::format("static const uint8_t bytes_{}[] = {{\n", count_);
		arrays_ += byLines(*command.data, [](std::string &out, size_t, Bytes bytes) {
			out += '\t';
			appendBytes(out, bytes, ",");
			out += '\n';
		});
		arrays_ += "};\n\n";
		line("\t{{ {}, {:#x}, {:#x}, 0, bytes_{} }},",
		     command.kind == Kind::Load ? "NVDLA_LOAD" : "NVDLA_EXPECT", command.address,
		     command.data->size(), count_++);
	}
	void store(const TraceCommand &command) override
	{
		line("\t{{ NVDLA_WRITE, {:#x}, 0, {:#x}, 0 }},", command.address, command.value);
	}
	void poll(const TraceCommand &command) override
	{
		line("\t{{ NVDLA_POLL, {:#x}, {:#x}, {:#x}, 0 }},", command.address, command.mask,
		     command.value);
	}
	void end() override
	{
		file("trace.c",
		     fmt::format("/* For a core of {}; to be played by nvdla_player.c. */\n"
				 "#include \"nvdla_player.h\"\n\n{}"
				 "const struct nvdla_step nvdla_steps[] = {{\n{}}};\n"
				 "const size_t nvdla_step_count = "
				 "sizeof(nvdla_steps) / sizeof(nvdla_steps[0]);\n",
				 trace_.geometry->name, arrays_, text_));
	}

private:
	std::string arrays_;
	unsigned int count_ = 0;
};

} /* namespace */

tl::expected<void, std::string> writeTrace(const Trace &trace, TraceFormat format,
					   const fs::path &directory)
{
	switch (format) {
	case TraceFormat::Trace:
		return PlainWriter(trace, directory).write();
	case TraceFormat::Txn:
		return TxnWriter(trace, directory).write();
	case TraceFormat::Cfg:
		return CfgWriter(trace, directory).write();
	case TraceFormat::C:
		return CWriter(trace, directory).write();
	}
	return {};
}

} /* namespace nvdla::sim */
