/* SPDX-License-Identifier: MIT */
#include "timing/conv_timing.h"

#include <algorithm>

namespace nvdla::sim
{

namespace
{

constexpr uint64_t kStripe = 16; /* positions of a stripe; the last one has up to 31 */

/* CDMA with a memory that answers at once: cycles an atom, and a line on top. */
constexpr double kOneSurfaceAtom = 0.53;
constexpr double kAtom = 0.69;
constexpr double kFeatureLine = 0.97;
constexpr double kImageLine = 2;
/* What weights get of a memory while data is fetched from it, too. */
constexpr double kWeightShare = 0.73;

/* CSC loads a cycle a kernel, in INT8 two of them, and never faster than this. */
constexpr uint64_t kShortestLoad = 10;
constexpr uint64_t kShortestWinogradLoad = 16;

/** What CDMA brings, and when */
class Fetch
{
public:
	Fetch(const ConvWork &work, const TimingParameters &parameters)
		: dataBytes_(static_cast<double>(work.dataBytes)),
		  weightBytes_(static_cast<double>(work.weightBytes)),
		  dataLatency_(parameters.of(work.dataRam).latency),
		  weightLatency_(parameters.of(work.weightRam).latency)
	{
		const double dataBandwidth = parameters.of(work.dataRam).readRate();
		weightAlone_ = parameters.of(work.weightRam).readRate();
		if (work.dataBytes)
			dataAlone_ = dataBytes_ / std::max(pace(work), dataBytes_ / dataBandwidth);
		dataRate_ = dataAlone_;
		weightRate_ = weightAlone_;
		if (work.dataRam == work.weightRam && work.dataBytes && work.weightBytes) {
			dataRate_ = std::min(dataAlone_, (1 - kWeightShare) * dataBandwidth);
			weightRate_ = weightAlone_ - dataRate_;
		}
		const double dataShared = work.dataBytes ? dataBytes_ / dataRate_ : 0;
		shared_ = std::min(dataShared, weightBytes_ / weightRate_);
	}

	double dataReady() const
	{
		if (dataBytes_ == 0)
			return 0;
		return dataLatency_ + shared_ + (dataBytes_ - shared_ * dataRate_) / dataAlone_;
	}

	/** \return when the first \a bytes of the weights are there */
	double weightsReady(double bytes) const
	{
		if (weightBytes_ == 0)
			return 0;
		if (bytes <= shared_ * weightRate_)
			return weightLatency_ + bytes / weightRate_;
		return weightLatency_ + shared_ + (bytes - shared_ * weightRate_) / weightAlone_;
	}

	double weightsAlone() const { return weightAlone_; }

private:
	static double pace(const ConvWork &work)
	{
		const auto lines = static_cast<double>(work.lines);
		if (work.walk == ConvWalk::Lines)
			return lines * kImageLine;
		return static_cast<double>(work.atoms) *
			       (work.oneSurface ? kOneSurfaceAtom : kAtom) +
		       lines * kFeatureLine;
	}

	double dataBytes_;
	double weightBytes_;
	double dataLatency_;
	double weightLatency_;
	double dataAlone_ = 1; /* bytes a cycle */
	double weightAlone_ = 1;
	double dataRate_ = 1; /* while both are fetched */
	double weightRate_ = 1;
	double shared_ = 0; /* cycles in which both are fetched */
};

/** \return cycles of one MAC step over \a positions, in stripes that last \a load at least */
uint64_t stripeCycles(uint64_t positions, uint64_t load)
{
	const uint64_t whole = std::max<uint64_t>(positions / kStripe, 1) - 1;

	return whole * std::max(kStripe, load) + std::max(positions - whole * kStripe, load);
}

uint64_t groupCycles(const ConvWork &work, uint32_t kernels)
{
	uint64_t load = std::max<uint64_t>(kernels * 16 / work.groupKernels, kShortestLoad);

	switch (work.walk) {
	case ConvWalk::Lines:
		return stripeCycles(work.outWidth, load) * work.outHeight * work.steps;
	case ConvWalk::Tiles:
		load = std::max(load, kShortestWinogradLoad);
		return stripeCycles(work.positions() / 4, load) * work.steps;
	case ConvWalk::Stripes:
		break;
	}
	return stripeCycles(work.positions(), load) * work.steps;
}

} /* namespace */

uint64_t stripesOf(const ConvWork &work)
{
	return std::max<uint64_t>(work.positions() / kStripe, 1) * work.groups();
}

ConvTiming timeConv(const ConvWork &work, const TimingParameters &parameters)
{
	const Fetch fetch(work, parameters);
	const auto room = static_cast<double>(work.weightRoom);
	const double kernelBytes =
		static_cast<double>(work.weightBytes) / std::max(work.kernels, 1U);
	ConvTiming timing = { .dataReady = fetch.dataReady() };
	double now = timing.dataReady;

	for (uint32_t first = 0; first < work.kernels; first += work.groupKernels) {
		const uint32_t kernels = std::min(work.groupKernels, work.kernels - first);
		const double upTo = kernelBytes * (first + kernels);
		double ready = fetch.weightsReady(upTo);
		/* What did not fit beside the group before is fetched when that is done. */
		const double before = first ? kernelBytes * (first - work.groupKernels) : 0;
		const double late = upTo - before - room;
		if (first && late > 0)
			ready = std::max(ready, now + late / fetch.weightsAlone());
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

} /* namespace nvdla::sim */
