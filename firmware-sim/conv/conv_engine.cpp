/* SPDX-License-Identifier: MIT */
/*
 * One convolution from fetch to release.
 */
#include "conv/conv_engine.h"

#include <algorithm>

#include <nvdla/hw/registers.h>

#include "conv/conv_compute.h"
#include "conv/conv_fast.h"
#include "conv/conv_fp16.h"
#include "conv/conv_timing.h"

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

uint64_t readBytes(const MemoryPort &memory)
{
	return memory.traffic(RamType::Mc).readBytes + memory.traffic(RamType::Cv).readBytes;
}

} /* namespace */

std::string ConvEngine::prepareData(const ConvOp &op, MemoryPort &memory, SpecialCount &special)
{
	std::string error;

	if (!cbuf_.beginData(op)) {
		error = op.mode == ConvMode::Image ? fetchImage(op, memory, cbuf_, special)
						   : fetchData(op, memory, cbuf_, special);
	}
	if (error.empty() && !memory.cancelled())
		error = missingLines(op, cbuf_);
	return error;
}

std::string ConvEngine::prepareWeights(const ConvOp &op, MemoryPort &memory,
				       std::optional<WeightReader> &reader)
{
	if (cbuf_.beginWeights(op)) {
		if (!groupsFit(op, cbuf_.keptWeights()))
			return "CSC: reused weights are of another shape";
		return {};
	}

	reader.emplace(op, memory);
	std::string error = reader->check();
	if (error.empty() && op.keepWeights) {
		std::vector<WeightGroup> groups(op.surfaces());
		for (WeightGroup &group : groups)
			reader->next(group);
		cbuf_.keepWeights(std::move(groups));
	}
	return error;
}

OperationResult ConvEngine::run(const ConvOp &op, MemoryPort &memory, StreamSink &sink)
{
	const uint64_t before = readBytes(memory);
	SpecialCount dataSpecial;
	std::optional<WeightReader> reader;
	std::string error = op.guestError;

	if (error.empty())
		error = prepareData(op, memory, dataSpecial);
	ConvTraffic traffic = { readBytes(memory) - before, 0 };
	if (error.empty())
		error = prepareWeights(op, memory, reader);
	if (!error.empty() || memory.cancelled())
		return hang(std::move(error));

	ConvCounters counters;
	const DataView data(op, cbuf_);
	const auto compute = fastConvAccepts(op, fp16_) ? computeConvFast
			     : fp16ConvAccepts(op)	? computeConvFp16
							: computeConv;
	if (op.keepWeights || !reader) {
		KeptWeights weights(cbuf_.keptWeights());
		counters = compute(op, data, weights, sink, memory);
	} else {
		FetchedWeights weights(*reader);
		counters = compute(op, data, weights, sink, memory);
	}
	if (reader) {
		reader->finish();
		traffic.weightBytes = reader->bytes();
	}
	cbuf_.end(op);

	const SpecialCount weightSpecial = reader ? reader->special() : SpecialCount();
	OperationResult result;
	result.updates = {
		{ NVDLA_CDMA_D_NAN_INPUT_DATA_NUM, dataSpecial.nan },
		{ NVDLA_CDMA_D_NAN_INPUT_WEIGHT_NUM, weightSpecial.nan },
		{ NVDLA_CDMA_D_INF_INPUT_DATA_NUM, dataSpecial.inf },
		{ NVDLA_CDMA_D_INF_INPUT_WEIGHT_NUM, weightSpecial.inf },
		{ NVDLA_CACC_D_OUT_SATURATION, counters.saturated },
	};
	result.cycles = convCycles(op, traffic);
	return result;
}

OperationResult ConvEngine::hang(std::string reason)
{
	OperationResult result;

	/* Lines of an unfinished fetch must not be taken for whole ones. */
	cbuf_.clear();
	result.guestError = std::move(reason);
	result.hangs = true;
	return result;
}

} /* namespace nvdla::sim */
