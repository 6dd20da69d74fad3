/* SPDX-License-Identifier: MIT */
/*
 * nvdla-sim: the device model as a PCI function that QEMU attaches over vfio-user.
 */
#include <algorithm>
#include <cerrno>
#include <charconv>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <sys/signalfd.h>

#include "command-line/chip_options.h"
#include "command-line/command_line.h"
#include "pci/nvdla_function.h"
#include "vfio-user/server.h"

using namespace nvdla::sim;
using nvdla::ChipOptions;
using nvdla::CommandLine;

namespace
{

constexpr size_t kMaxCvsramSize = size_t{ 1 } << 32;
constexpr uint64_t kMaxCvsramBase = uint64_t{ 1 } << 48;

struct Options {
	std::string socket;
	std::string variant = nvFull.name;
	uint64_t cvsramSize = nvFull.cvsramSize;
	uint64_t cvsramBase = 0;
	Fp16Arithmetic fp16 = Fp16Arithmetic::Exact;
	unsigned int threads = 0;
	bool faults = false;
	ChipOptions chip;
	bool realtime = false;
	vfiouser::LogLevel logLevel = vfiouser::LogLevel::Info;
	vfiouser::Offer offer;
};

const std::vector<std::pair<std::string, vfiouser::LogLevel>> kLogLevels = {
	{ "error", vfiouser::LogLevel::Error }, { "warning", vfiouser::LogLevel::Warning },
	{ "info", vfiouser::LogLevel::Info },	{ "debug", vfiouser::LogLevel::Debug },
	{ "trace", vfiouser::LogLevel::Trace },
};

const std::vector<std::pair<std::string, Fp16Arithmetic>> kFp16 = {
	{ "exact", Fp16Arithmetic::Exact },
	{ "fast", Fp16Arithmetic::Fast },
};

const char *name(vfiouser::LogLevel level)
{
	for (const auto &[text, value] : kLogLevels) {
		if (value == level)
			return text.c_str();
	}
	return "";
}

void print(vfiouser::LogLevel level, std::string_view text)
{
	std::fprintf(stderr, "nvdla-sim: %s: %.*s\n", name(level), static_cast<int>(text.size()),
		     text.data());
}

std::string checkVariant(const std::string &name)
{
	if (findGeometry(name))
		return {};
	return "\"" + name + "\" is not modelled; there are " + geometryNames();
}

std::string checkCvsramSize(const std::string &text)
{
	uint64_t size = 0;
	const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), size);
	if (error != std::errc() || *end || size % 4096 || size > kMaxCvsramSize)
		return "the CVSRAM's size must be a multiple of 4 KiB up to 4 GiB";
	return {};
}

std::string checkCvsramBase(const std::string &text)
{
	/* Text that is not a number gives 0 here; the parser reports that error later. */
	const uint64_t base = std::strtoull(text.c_str(), nullptr, 0);
	if (base % 4096 || base > kMaxCvsramBase)
		return "the CVSRAM's address must be a multiple of 4 KiB up to 0x1000000000000";
	return {};
}

/* Signals that end the server are read from a descriptor. All threads inherit the signal mask. */
vfiouser::UniqueFd openSignals()
{
	sigset_t signals;
	sigemptyset(&signals);
	sigaddset(&signals, SIGINT);
	sigaddset(&signals, SIGTERM);
	sigaddset(&signals, SIGHUP);
	pthread_sigmask(SIG_BLOCK, &signals, nullptr);
	std::signal(SIGPIPE, SIG_IGN);
	return vfiouser::UniqueFd(signalfd(-1, &signals, SFD_CLOEXEC | SFD_NONBLOCK));
}

int serve(const Options &options)
{
	vfiouser::Log log(options.logLevel, print);
	const vfiouser::UniqueFd signals = openSignals();
	if (!signals.valid()) {
		log.error("signals cannot be received: {}", std::strerror(errno));
		return 1;
	}

	auto listener = vfiouser::Listener::open(options.socket);
	if (!listener) {
		log.error("{}", listener.error());
		return 2;
	}

	vfiouser::GuestMemory memory(log);
	vfiouser::Interrupts interrupts(log, 1);
	const NvdlaFunction::Config config = { .geometry = *findGeometry(options.variant),
					       .cvsramBase = options.cvsramBase,
					       .cvsramSize = options.cvsramSize,
					       .fp16 = options.fp16,
					       .threads = options.threads,
					       .faults = options.faults,
					       .timing = options.chip.given()
								 ? options.chip.chip().parameters()
								 : TimingParameters(),
					       .realtime = options.realtime };
	NvdlaFunction function(config, memory, interrupts, log);
	vfiouser::Server server(function, memory, interrupts, log, options.offer);

	/* A program that starts the server may wait for this line. */
	std::printf("listening on %s\n", options.socket.c_str());
	std::fflush(stdout);
	const bool orderly = server.run(*listener, signals.get());
	log.info("stopped");
	return orderly ? 0 : 1;
}

} /* namespace */

int main(int argc, char **argv)
{
	Options options;
	int verbose = 0;
	CommandLine app(
		"The device model: an NVDLA (a hardware accelerator for neural networks) in "
		"software, as a PCI function that QEMU (10.1.1 or newer) attaches to a virtual "
		"machine, the guest, with\n"
		"-device '{\"driver\": \"vfio-user-pci\", \"socket\": {\"type\": \"unix\", "
		"\"path\": \"PATH\"}}'\n"
		"where PATH is that of --socket. Start nvdla-sim before QEMU. QEMU must share the "
		"guest's memory: -object memory-backend-memfd,id=ram,size=...,share=on "
		"-machine q35,memory-backend=ram\n"
		"The device model calculates how long operations would take on a chip. --clock, "
		"--dram, --dram-latency, --sram and --sram-latency describe this chip: if one of "
		"them is given, the others have their defaults; if none is given, the chip's "
		"memory is as fast as the NVDLA's ports to memory. The chip changes no results.\n",
		"nvdla-sim", "nvdla-sim --socket /tmp/nvdla.sock");
	app.option("--socket", options.socket,
		   "UNIX socket to listen on; the program removes the socket when it ends")
		.required()
		.valueText("PATH");
	app.option("--variant", options.variant, "configuration of the NVDLA; default: nv_full")
		.check(checkVariant)
		.valueText("nv_full|nv_large|nv_small|nv_small_256|nv_small_256_full");
	auto cvsram = app.option(
		"--cvsram-size", options.cvsramSize,
		"size of the on-chip memory, as 4M or 512K: a multiple of 4K, at most 4G; 0: none; "
		"default: 4M, but 0, the only possible size, for nv_small and nv_small_256");
	cvsram.bytes().check(checkCvsramSize).valueText("BYTES");
	app.option("--cvsram-base", options.cvsramBase,
		   "start of on-chip memory as the NVDLA sees it: a multiple of 4096; default: 0")
		.check(checkCvsramBase)
		.valueText("ADDRESS");
	app.choice(
		"--fp16", options.fp16, kFp16,
		"how FP16 convolutions are computed: exact (the default): bit for bit as the "
		"hardware; fast: with sums in f32, many times faster; a result then differs by at "
		"most one unit in the last place of FP16 plus N * 2^-20 times the largest of the N "
		"products in the sum");
	app.option("--threads", options.threads,
		   "threads that compute an operation together; 0: one for each processor of the "
		   "host")
		.range(0U, CoreConfig::kMostThreads)
		.showDefault();
	options.chip.addTo(app, {}, ChipOptions::For::Core);
	app.flag("--realtime", options.realtime,
		 "make operations take as long as on the described chip (by default 1 GHz, with "
		 "memory as fast as the NVDLA's ports), if the host is fast enough");
	app.choice("--log-level", options.logLevel, kLogLevels,
		   "least severity of the messages on standard error; default: info");
	app.flag("-v", verbose,
		 "show more messages: each -v goes one level beyond --log-level, towards trace");
	app.flag("--faults", options.faults,
		 "let the guest request faults of the device, such as lost interrupts, for tests "
		 "of drivers");
	app.flag("--write-multiple", options.offer.writeMultiple,
		 "let QEMU send several register writes in one vfio-user message instead of one "
		 "message for each; needs QEMU 11 or newer");
	app.footer(
		"Exit codes: 0 ended by SIGINT, SIGTERM or SIGHUP, which is the normal end, 1 the "
		"device cannot be made or cannot go on, 2 wrong argument, or the socket cannot be "
		"made.");
	if (const auto code = app.parse(argc, argv))
		return *code;

	constexpr int most = static_cast<int>(vfiouser::LogLevel::Trace);
	options.logLevel = static_cast<vfiouser::LogLevel>(
		std::min(static_cast<int>(options.logLevel) + verbose, most));
	const Geometry &geometry = *findGeometry(options.variant);
	if (!cvsram.given())
		options.cvsramSize = geometry.cvsramSize;
	if (options.cvsramSize && !geometry.has(Unit::Cvif)) {
		print(vfiouser::LogLevel::Error,
		      "--cvsram-size: " + options.variant + " has no interface to on-chip memory");
		return 2;
	}
	if (options.cvsramBase && !options.cvsramSize) {
		print(vfiouser::LogLevel::Error, "--cvsram-base: has no effect without on-chip "
						 "memory (--cvsram-size 0)");
		return 2;
	}
	try {
		return serve(options);
	} catch (const std::exception &error) {
		print(vfiouser::LogLevel::Error,
		      std::string("the device cannot be made: ") + error.what());
		return 1;
	}
}
