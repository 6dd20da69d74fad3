/* SPDX-License-Identifier: MIT */
#include "trace_options.h"

#include <charconv>
#include <filesystem>
#include <optional>
#include <string_view>

#include <fmt/core.h>

#include "base/io/error_code.h"
#include "device/embedded/embedded_device.h"
#include "folder.h"
#include "program.h"
#include "trace/published.h"

namespace nvdla::tools
{

namespace
{

/*
 * Lowest address that --trace-memory accepts: the end of the on-chip memory, whose size is fixed in
 * the trace format txn.
 */
constexpr uint64_t lowestMemory = Recorder::onChipBase + sim::txnCvsramSize;

std::optional<uint64_t> addressOf(std::string_view text)
{
	uint64_t value = 0;

	if (!text.starts_with("0x"))
		return std::nullopt;
	text.remove_prefix(2);
	const auto [end, error] =
		std::from_chars(text.data(), text.data() + text.size(), value, 16);
	if (error != std::errc() || end != text.data() + text.size() || value < lowestMemory ||
	    value % EmbeddedBuffer::pageSize)
		return std::nullopt;
	return value;
}

} /* namespace */

void TraceOptions::addTo(CommandLine &app)
{
	app.option("--trace", folder_,
		   "write a register trace of the run to this folder: the register writes, the "
		   "memory that the NVDLA reads and the expected results. A trace can be played by "
		   "nvdla-trace, by a simulation of the hardware, or on a board without an "
		   "operating system. Only on embedded, the "
		   "default of --device with this option")
		.valueText("FOLDER");
	others_.push_back(app.choice<sim::TraceFormat>(
		"--trace-format", format_,
		{ { "trace", sim::TraceFormat::Trace },
		  { "txn", sim::TraceFormat::Txn },
		  { "cfg", sim::TraceFormat::Cfg },
		  { "c", sim::TraceFormat::C } },
		"trace (the default): for nvdla-trace; txn and cfg: for the testbench of NVDLA's "
		"public hardware repository (nvdla/hw), txn in its branch nvdlav1, cfg in its "
		"branch master; c: an array in C, for a board"));
	others_.push_back(
		app.option("--trace-memory", memory_,
			   fmt::format("first address of the system memory in the trace, in "
				       "hexadecimal: a multiple of 4096, {:#x} or above; default: "
				       "{:#x}",
				       lowestMemory, Recorder::usualMemory))
			.valueText("ADDRESS"));
}

Result<void> TraceOptions::check() const
{
	if (!folder_.empty()) {
		if (auto checked = checkFolder("--trace", folder_); !checked)
			return checked;
	}
	for (const CommandLineOption &option : others_)
		if (auto checked = checkUses({ { option, !folder_.empty(), "--trace" } }); !checked)
			return checked;
	if (!memory_.empty() && !addressOf(memory_))
		return fail(ErrorCode::InvalidArgument, "--trace-memory", memory_,
			    fmt::format("must be a multiple of 4096 in hexadecimal, {:#x} or above",
					lowestMemory));
	return {};
}

Result<Device> TraceOptions::open(const std::string &path)
{
	if (folder_.empty())
		return Device::open(path);
	if (!isEmbeddedPath(path))
		return fail(ErrorCode::InvalidArgument, "--trace", path,
			    "is not an embedded device, and only these can be recorded; use "
			    "--device embedded");
	auto options = parseEmbeddedPath(path);
	if (!options)
		return forward(options);
	device_ = std::move(*options);
	device_.recorder =
		std::make_shared<Recorder>(addressOf(memory_).value_or(Recorder::usualMemory));
	auto device = EmbeddedDevice::open(path, device_);
	if (!device)
		return forward(device);
	return Device::open(std::shared_ptr<DeviceBackend>(std::move(*device)));
}

Result<void> TraceOptions::write() const
{
	if (!device_.recorder)
		return {};
	std::error_code error;
	std::filesystem::create_directories(folder_, error);
	if (error)
		return fail(codeOfName(error.value()), "--trace", folder_, error.message());
	const auto written =
		sim::writeTrace(device_.recorder->trace(*device_.core), format_, folder_);
	if (!written)
		return fail(ErrorCode::Io, "write trace", "", written.error());
	return {};
}

} /* namespace nvdla::tools */
