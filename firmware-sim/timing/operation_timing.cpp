/* SPDX-License-Identifier: MIT */
#include "timing/operation_timing.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "timing/conv_timing.h"

namespace nvdla::sim
{

namespace
{

/* Memories of the reference vectors, as wide as the ports of any core. */
constexpr TimingParameters reference;

/** Cycles of one engine in an operation */
struct Part {
	Bound bound;
	double fixed;	   /* cycles once per operation */
	double throughput; /* cycles to pass all elements */
};

double sdpDatapath(const SdpWork &work)
{
	const CoreTiming::Sdp &core = work.core->sdp;

	double elements = work.y ? core.yElements : core.xElements;

	if (work.flying)
		elements = std::min(elements, core.flyingElements);
	return static_cast<double>(work.elements) / elements +
	       core.pairedAtom * static_cast<double>(work.pairedAtoms);
}

double sdpWrites(const SdpWork &work)
{
	return static_cast<double>(work.writeWords) +
	       work.core->sdp.writeLine * static_cast<double>(work.writeLines);
}

Part convPart(const ConvWork &work, const ConvTiming &timing)
{
	const CoreTiming::Conv &core = work.core->conv;
	double fixed = core.fixed + timing.begin;

	if (work.walk == ConvWalk::Tiles)
		fixed += core.winogradFixed;
	if (!work.fetches())
		fixed += core.noFetch;
	return { Bound::Mac, fixed, timing.end - timing.begin };
}

Part sdpPart(const SdpWork &work)
{
	const CoreTiming::Sdp &core = work.core->sdp;
	double fixed = work.lut ? core.lut : 0;

	if (work.stages)
		fixed += work.flying ? core.flyingStage : core.stage;
	if (!work.flying)
		fixed += core.fixed;
	if (!work.writes)
		fixed += core.noWrite;
	return { Bound::Sdp, fixed, std::max(sdpDatapath(work), sdpWrites(work)) };
}

Part pdpPart(const PdpWork &work)
{
	return { Bound::Pdp, work.flying ? work.core->pdp.flyingFixed : work.core->pdp.fixed,
		 static_cast<double>(work.inCycles + work.outCycles) };
}

Part cdpPart(const CdpWork &work)
{
	const CoreTiming::Cdp &core = work.core->cdp;
	const double fixed = core.fixed + (work.squares ? core.squares : 0) +
			     (work.fp16 ? core.fp16 : 0) +
			     (work.fp16 && work.squares ? core.fp16Squares : 0);
	return { Bound::Cdp, fixed,
		 core.atom * static_cast<double>(work.atoms) +
			 core.position * static_cast<double>(work.positions) };
}

/** Cycles of each engine of an operation; add() can append other resources, such as memories */
class Parts
{
public:
	Parts(const OperationWork &work, const ConvTiming &conv)
	{
		if (work.conv)
			add(convPart(*work.conv, conv));
		if (work.sdp)
			add(sdpPart(*work.sdp));
		if (work.pdp)
			add(pdpPart(*work.pdp));
		if (work.cdp)
			add(cdpPart(*work.cdp));
		if (work.move)
			add({ work.move->bdma ? Bound::Bdma : Bound::Rubik, 0,
			      static_cast<double>(work.move->cycles) });
	}

	void add(const Part &part) { parts_[count_++] = part; }
	Part *begin() { return parts_.data(); }
	Part *end() { return parts_.data() + count_; }
	const Part *begin() const { return parts_.data(); }
	const Part *end() const { return parts_.data() + count_; }

private:
	static constexpr size_t kMost = 7; /* most parts, including both memories */

	std::array<Part, kMost> parts_;
	size_t count_ = 0;
};

uint32_t readLatency(const MemoryTraffic &traffic, const TimingParameters &parameters)
{
	uint32_t latency = 0;

	for (const RamType ram : { RamType::Mc, RamType::Cv })
		if (traffic.of(ram).readBytes)
			latency = std::max(latency, parameters.of(ram).latency);
	return latency;
}

/* Cycles of fused engines that work in parallel, each one stripe behind the previous one. */
double pipelined(const Parts &parts, uint64_t stripes)
{
	double sum = 0;
	double slowest = 0;

	for (const Part &part : parts) {
		sum += part.throughput;
		slowest = std::max(slowest, part.throughput);
	}
	return slowest + (sum - slowest) / static_cast<double>(stripes);
}

/* Cycles of an operation that shares the memories with no other. */
struct Times {
	ConvTiming conv;
	double fixed = 0;
	double work = 0;
	double cycles = 0;
};

Times timesOf(const OperationWork &work, const TimingParameters &parameters)
{
	const MemoryTraffic traffic = work.traffic();
	Times times;

	if (work.conv)
		times.conv = timeConv(*work.conv, parameters);
	const Parts parts(work, times.conv);
	for (const Part &part : parts)
		times.fixed += part.fixed;
	/* Add the latency beyond that of the reference vectors, unless a convolution's fetch
	 * includes this latency already. */
	if (!work.conv)
		times.fixed +=
			std::max<double>(readLatency(traffic, parameters), reference.mc.latency) -
			reference.mc.latency;
	times.work = pipelined(parts, work.conv ? stripesOf(*work.conv) : 1);

	const double memory =
		std::max(parameters.mc.cycles(traffic.mc), parameters.cv.cycles(traffic.cv));
	const double before = work.conv ? times.fixed - times.conv.begin : times.fixed;
	times.cycles = std::max(times.fixed + times.work, before + memory);
	return times;
}

uint64_t whole(double cycles)
{
	return cycles > 0 ? static_cast<uint64_t>(std::llround(cycles)) : 0;
}

Bound boundOf(const OperationWork &work, const Times &times, const TimingParameters &parameters)
{
	const MemoryTraffic traffic = work.traffic();
	Parts candidates(work, times.conv);

	if (work.conv)
		candidates.begin()->throughput = times.conv.macCycles;
	candidates.add({ Bound::Dram, 0, parameters.mc.cycles(traffic.mc) });
	candidates.add({ Bound::Sram, 0, parameters.cv.cycles(traffic.cv) });
	const auto most = std::max_element(
		candidates.begin(), candidates.end(),
		[](const Part &a, const Part &b) { return a.throughput < b.throughput; });
	return 2 * most->throughput < times.cycles ? Bound::Latency : most->bound;
}

/**
 * Stall cycles of reads and writes; both may stall in the same cycle, in different memories
 */
struct Stall {
	double reads;
	double writes;
};

Stall divide(double stall, const MemoryTraffic &traffic, const TimingParameters &parameters)
{
	const double late =
		std::max<double>(readLatency(traffic, parameters), reference.mc.latency) -
		reference.mc.latency;
	const double ofBytes = std::max(0.0, stall - late);
	double reads = 0;
	double writes = 0;
	double all = 1;

	for (const RamType ram : { RamType::Mc, RamType::Cv }) {
		const MemoryTiming &memory = parameters.of(ram);
		const Traffic &bytes = traffic.of(ram);
		reads = std::max(reads, static_cast<double>(bytes.readBytes) / memory.readRate());
		writes =
			std::max(writes, static_cast<double>(bytes.writeBytes) / memory.readRate());
		all = std::max(all, memory.cycles(bytes));
	}
	return { std::min(stall, late) + ofBytes * std::min(1.0, reads / all),
		 ofBytes * std::min(1.0, writes / all) };
}

/* Gives SDP's operands their share of a stall caused by \a bytes. \return the sum of shares */
uint64_t addOperandStalls(const OperationWork &work, double stall, uint64_t bytes,
			  OperationTiming &timing)
{
	uint64_t sum = 0;

	if (!work.sdp || !bytes)
		return 0;
	for (size_t i = 0; i < timing.operandStall.size(); i++) {
		timing.operandStall[i] =
			whole(stall * static_cast<double>(work.sdp->operandBytes[i]) /
			      static_cast<double>(bytes));
		sum += timing.operandStall[i];
	}
	return sum;
}

/* \return bytes that SDP and PDP move during a convolution: operands and output */
uint64_t bytesBehind(const OperationWork &work, const MemoryTraffic &traffic)
{
	return traffic.mc.writeBytes + traffic.cv.writeBytes +
	       (work.sdp ? work.sdp->allOperandBytes() : 0);
}

} /* namespace */

const char *boundName(Bound bound)
{
	constexpr std::array names = { "MAC",  "SDP",  "PDP",  "CDP",	 "RUBIK",
				       "BDMA", "DRAM", "SRAM", "latency" };
	return names[static_cast<size_t>(bound)];
}

OperationTiming timeOperation(const OperationWork &work, const TimingParameters &chip)
{
	const TimingParameters parameters = chip.seenBy(work.core());
	const Times ideal = timesOf(work, reference.seenBy(work.core()));
	const Times real = timesOf(work, parameters);
	const double stall = std::max(0.0, real.cycles - ideal.cycles);
	OperationTiming timing;

	timing.cycles = whole(real.cycles);
	timing.latency = readLatency(work.traffic(), parameters);
	timing.bound = boundOf(work, real, parameters);
	if (!work.conv) {
		const MemoryTraffic traffic = work.traffic();
		const Stall stalled = divide(stall, traffic, parameters);
		const uint64_t operands = addOperandStalls(
			work, stalled.reads, traffic.mc.readBytes + traffic.cv.readBytes, timing);
		const uint64_t reads = whole(stalled.reads);
		timing.readStall = reads > operands ? reads - operands : 0;
		timing.writeStall = whole(stalled.writes);
		return timing;
	}
	timing.macCycles = whole(real.conv.macCycles);
	timing.dataCycles = whole(real.conv.dataReady);
	timing.weightCycles = whole(real.conv.weightsReady);
	timing.readStall = whole(real.conv.dataReady - ideal.conv.dataReady);
	/* MACs wait only before the last MAC step; later stalls are those of SDP. */
	const double waited = real.conv.end - real.conv.dataReady;
	timing.weightStall = whole(waited - (ideal.conv.end - ideal.conv.dataReady));
	const uint64_t fetching = timing.readStall + timing.weightStall;
	const uint64_t behind = whole(stall) > fetching ? whole(stall) - fetching : 0;
	const uint64_t operands = addOperandStalls(work, static_cast<double>(behind),
						   bytesBehind(work, work.traffic()), timing);
	timing.writeStall = behind > operands ? behind - operands : 0;
	return timing;
}

} /* namespace nvdla::sim */
