/* SPDX-License-Identifier: MIT */
#include "timing/conv_timing.h"

#include <algorithm>

namespace nvdla::sim
{

namespace
{

/** CDMA's fetch of the cube, or of the weights */
struct Stream {
	uint64_t begin; /* bytes that are fetched already */
	uint64_t end;
	double latency;
	double alone = 1;  /* bytes a cycle while the other stream is not fetched */
	double rate = 1;   /* bytes a cycle while both streams are fetched */
	double shared = 0; /* cycles in which both streams are fetched */

	/** \return the time when \a bytes are fetched */
	double ready(double bytes) const
	{
		const double missing = bytes - static_cast<double>(begin);

		if (missing <= 0)
			return 0;
		if (missing <= shared * rate)
			return latency + missing / rate;
		return latency + shared + (missing - shared * rate) / alone;
	}

	/** \return the time when all bytes are fetched */
	double ready() const { return ready(static_cast<double>(end)); }

	/** \return bytes that are fetched after \a cycles */
	uint64_t bytesAfter(double cycles) const
	{
		const double fetching = std::max(cycles - latency, 0.0);
		const double both = std::min(fetching, shared);

		const double bytes = both * rate + (fetching - both) * alone;

		return std::min(end, begin + static_cast<uint64_t>(bytes));
	}
};

/** Both streams of CDMA */
struct Fetch {
	/** Fetches the bytes from \a begin to \a end, which the buffer has room for */
	Fetch(const ConvWork &work, const TimingParameters &parameters, const InBuffer &begin,
	      const InBuffer &end)
		: data{ begin.dataBytes, end.dataBytes,
			static_cast<double>(parameters.of(work.dataRam).latency) },
		  weights{ begin.weightBytes, end.weightBytes,
			   static_cast<double>(parameters.of(work.weightRam).latency) }
	{
		const TimingParameters seen = parameters.seenBy(*work.core);
		const double dataBandwidth = seen.of(work.dataRam).readRate();
		const auto dataBytes = static_cast<double>(end.dataBytes - begin.dataBytes);
		const auto weightBytes = static_cast<double>(end.weightBytes - begin.weightBytes);

		weights.alone = weights.rate = seen.of(work.weightRam).readRate();
		if (work.dataBytes)
			data.alone = std::min(static_cast<double>(work.dataBytes) / pace(work),
					      dataBandwidth);
		data.rate = data.alone;
		if (work.dataRam == work.weightRam && dataBytes > 0 && weightBytes > 0) {
			data.rate = std::min(data.alone,
					     (1 - work.core->conv.weightShare) * dataBandwidth);
			weights.rate = weights.alone - data.rate;
		}
		data.shared = weights.shared =
			std::min(dataBytes / data.rate, weightBytes / weights.rate);
	}

	static double pace(const ConvWork &work)
	{
		const CoreTiming::Conv &core = work.core->conv;
		const auto lines = static_cast<double>(work.lines);
		if (work.walk == ConvWalk::Lines)
			return lines * core.imageLine +
			       static_cast<double>(work.dataBytes) * core.imageByte;
		return static_cast<double>(work.atoms) *
			       (work.oneSurface ? core.oneSurfaceAtom : core.atom) +
		       lines * core.featureLine;
	}

	Stream data;
	Stream weights;
};

/** \return cycles of one set of weights for \a positions; each stripe takes at least \a load */
uint64_t stripeCycles(uint64_t stripe, uint64_t positions, uint64_t load)
{
	const uint64_t whole = std::max<uint64_t>(positions / stripe, 1) - 1;

	return whole * std::max(stripe, load) + std::max(positions - whole * stripe, load);
}

uint64_t groupCycles(const ConvWork &work, uint32_t kernels)
{
	const CoreTiming::Conv &core = work.core->conv;
	uint64_t load =
		std::max<uint64_t>(kernels * core.groupLoad / work.groupKernels, core.shortestLoad);

	switch (work.walk) {
	case ConvWalk::Lines:
		return stripeCycles(core.stripe, work.outWidth, load) * work.outHeight * work.steps;
	case ConvWalk::Tiles:
		load = std::max(load, core.shortestWinograd);
		return stripeCycles(core.stripe, work.positions() / 4, load) * work.steps;
	case ConvWalk::Stripes:
		break;
	}
	return stripeCycles(core.stripe, work.positions(), load) * work.steps;
}

} /* namespace */

uint64_t stripesOf(const ConvWork &work)
{
	return std::max<uint64_t>(work.positions() / work.core->conv.stripe, 1) * work.groups();
}

ConvTiming timeConv(const ConvWork &work, const TimingParameters &parameters)
{
	const Fetch fetch(work, parameters, work.ahead, { work.dataBytes, work.weightBytes });
	const auto room = static_cast<double>(work.weightRoom);
	const double kernelBytes =
		static_cast<double>(work.weightBytes) / std::max(work.kernels, 1U);
	ConvTiming timing = { .dataReady = fetch.data.ready() };
	double now = timing.dataReady;

	for (uint32_t first = 0; first < work.kernels; first += work.groupKernels) {
		const uint32_t kernels = std::min(work.groupKernels, work.kernels - first);
		const double upTo = kernelBytes * (first + kernels);
		double ready = fetch.weights.ready(upTo);
		/*
		 * The weight banks had no room for these kernels beside those of the previous
		 * group, so CDMA fetches them when the previous group is done.
		 */
		const double before = first ? kernelBytes * (first - work.groupKernels) : 0;
		const double late = upTo - before - room;
		if (first && late > 0)
			ready = std::max(ready, now + late / fetch.weights.alone);
		now = std::max(now, ready);
		if (first == 0)
			timing.begin = now;
		timing.weightsReady = std::max(timing.weightsReady, ready);
		const auto steps = static_cast<double>(groupCycles(work, kernels));
		timing.macCycles += steps;
		now += steps;
	}
	timing.end = now;
	return timing;
}

InBuffer roomAhead(const ConvWork &work, const ConvWork *before)
{
	InBuffer room = { work.dataRoom, work.weightRoom };

	if (before) {
		if (before->dataRoom != work.dataRoom || before->weightRoom != work.weightRoom)
			return {};
		room.dataBytes -= std::min(room.dataBytes, before->dataHeld);
		room.weightBytes -=
			std::min(room.weightBytes, before->weightBytes / before->groups());
	}
	return { std::min(room.dataBytes, work.dataBytes),
		 std::min(room.weightBytes, work.weightBytes) };
}

double cyclesAhead(const ConvWork &work, const InBuffer &room, const TimingParameters &parameters)
{
	const Fetch fetch(work, parameters, {}, room);

	return std::max(fetch.data.ready(), fetch.weights.ready());
}

InBuffer fetchedAhead(const ConvWork &work, const InBuffer &room, double cycles,
		      const TimingParameters &parameters)
{
	const Fetch fetch(work, parameters, {}, room);

	return { fetch.data.bytesAfter(cycles), fetch.weights.bytesAfter(cycles) };
}

} /* namespace nvdla::sim */
