/* SPDX-License-Identifier: MIT */
/*
 * One convolution from fetch to release.
 */
#include "conv/conv_engine.h"

#include <algorithm>
#include <optional>

#include <nvdla/hw/registers.h>

#include "conv/cdma.h"
#include "conv/conv_compute.h"

namespace nvdla::sim
{

namespace
{

/** Groups one at a time out of memory */
class FetchedWeights : public WeightSource
{
public:
	explicit FetchedWeights(WeightReader &reader) : reader_(reader) {}

	const WeightGroup &next() override
	{
		reader_.next(group_);
		return group_;
	}

private:
	WeightReader &reader_;
	WeightGroup group_;
};

/** Groups that stay in the buffer */
class KeptWeights : public WeightSource
{
public:
	explicit KeptWeights(std::span<const WeightGroup> groups) : groups_(groups) {}

	const WeightGroup &next() override { return groups_[next_++]; }

private:
	std::span<const WeightGroup> groups_;
	size_t next_ = 0;
};

/** \return true if \a groups are what \a op would have fetched */
bool groupsFit(const ConvOp &op, std::span<const WeightGroup> groups)
{
	const CubeSize &kernel = op.windows.kernel;
	const size_t elements = static_cast<size_t>(kernel.width) * kernel.height * kernel.channels;
	uint32_t kernels = op.windows.kernels;

	if (groups.size() != op.surfaces())
		return false;
	for (const WeightGroup &group : groups) {
		const uint32_t expected = std::min(kernels, op.groupKernels());
		if (group.kernels != expected || group.elements.size() != elements * expected)
			return false;
		kernels -= expected;
	}
	return true;
}

/** \return what CSC would wait for forever, empty if all its lines are there */
std::string missingLines(const ConvOp &op, const Cbuf &cbuf)
{
	const CubeSize &data = op.windows.data;
	size_t columns = data.width;

	if (op.mode == ConvMode::Image)
		columns += op.fetch.padLeft + op.fetch.padRight;
	if (cbuf.slices() < static_cast<uint64_t>(data.height) * op.batches)
		return "CSC DATAIN_HEIGHT_EXT is more than the buffered lines";
	if (cbuf.sliceElements() != columns * data.channels)
		return "CSC D_DATAIN_SIZE_EXT differs from the buffered lines";
	return {};
}

OperationResult hang(std::string reason)
{
	OperationResult result;

	result.guestError = std::move(reason);
	result.hangs = true;
	return result;
}

/**
 * Core cycles: MAC steps or memory traffic, whichever takes longer, plus filling the
 * pipeline. One MAC step takes a cycle (four outputs of a tile in Winograd mode); a
 * port moves 64 bytes in one.
 */
uint64_t estimateCycles(const ConvOp &op, const MemoryPort &memory, uint64_t trafficBefore)
{
	constexpr uint64_t kPortBytes = 64;
	constexpr uint64_t kPipelineFill = 100;
	const CubeSize &out = op.windows.out;
	const uint64_t blocks = makeBlocks(op).size();
	uint64_t steps = blocks * op.surfaces() * out.width * out.height * op.batches;

	if (op.mode == ConvMode::Winograd)
		steps /= 4;
	const uint64_t traffic = memory.traffic(RamType::Mc).readBytes +
				 memory.traffic(RamType::Cv).readBytes - trafficBefore;
	return std::max(steps, traffic / kPortBytes) + kPipelineFill;
}

} /* namespace */

OperationResult ConvEngine::run(const ConvOp &op, MemoryPort &memory, StreamSink &sink)
{
	if (!op.guestError.empty())
		return hang(op.guestError);

	const uint64_t trafficBefore =
		memory.traffic(RamType::Mc).readBytes + memory.traffic(RamType::Cv).readBytes;
	SpecialCount dataSpecial;
	std::string error;

	if (!cbuf_.beginData(op))
		error = op.mode == ConvMode::Image ? fetchImage(op, memory, cbuf_, dataSpecial)
						   : fetchData(op, memory, cbuf_, dataSpecial);
	if (error.empty() && !memory.cancelled())
		error = missingLines(op, cbuf_);
	if (!error.empty())
		return hang(std::move(error));

	const bool reuseWeights = cbuf_.beginWeights(op);
	std::optional<WeightReader> reader;
	if (reuseWeights) {
		if (!groupsFit(op, cbuf_.keptWeights()))
			return hang("CSC: reused weights are of another shape");
	} else {
		reader.emplace(op, memory);
		error = reader->check();
		if (!error.empty())
			return hang(std::move(error));
		if (op.keepWeights) {
			std::vector<WeightGroup> groups(op.surfaces());
			for (WeightGroup &group : groups)
				reader->next(group);
			cbuf_.keepWeights(std::move(groups));
		}
	}
	if (memory.cancelled())
		return {};

	ConvCounters counters;
	const DataView data(op, cbuf_);
	if (reuseWeights || op.keepWeights) {
		KeptWeights weights(cbuf_.keptWeights());
		counters = computeConv(op, data, weights, sink, memory);
	} else {
		FetchedWeights weights(*reader);
		counters = computeConv(op, data, weights, sink, memory);
	}
	if (reader)
		reader->finish();
	cbuf_.end(op);

	OperationResult result;
	const SpecialCount weightSpecial = reader ? reader->special() : SpecialCount();
	result.updates = {
		{ NVDLA_CDMA_D_NAN_INPUT_DATA_NUM, dataSpecial.nan },
		{ NVDLA_CDMA_D_NAN_INPUT_WEIGHT_NUM, weightSpecial.nan },
		{ NVDLA_CDMA_D_INF_INPUT_DATA_NUM, dataSpecial.inf },
		{ NVDLA_CDMA_D_INF_INPUT_WEIGHT_NUM, weightSpecial.inf },
		{ NVDLA_CACC_D_OUT_SATURATION, counters.saturated },
	};
	result.cycles = estimateCycles(op, memory, trafficBefore);
	return result;
}

} /* namespace nvdla::sim */
