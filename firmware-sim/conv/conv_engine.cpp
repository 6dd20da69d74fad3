/* SPDX-License-Identifier: MIT */
/* Runs a convolution, from the fetch to the release of the buffer. */
#include "conv/conv_engine.h"

#include <new>
#include <utility>

#include <nvdla/hw/registers.h>

#include "conv/conv_lines.h"

namespace nvdla::sim
{

namespace
{

/** \return the reason why CDMA's lines do not fit CSC's registers or the data banks; empty if they
 * fit */
std::string misfit(const ConvOp &op, const DataFetcher *data)
{
	std::string error = data ? data->check() : "";

	if (error.empty() && !DataView::fits(op))
		error = "CSC D_DATAIN_SIZE_EXT is more than the data banks hold";
	return error;
}

/** \return true if CSC reads exactly the lines that CDMA fetches, and releases all of them */
bool releasesAll(const ConvOp &op, const Cbuf &cbuf)
{
	const CubeSize &data = op.windows.data;
	const uint32_t entries = op.entriesOf(op.bufferedColumns());

	return op.mode != ConvMode::Winograd && !op.keepData && cbuf.data().available() == 0 &&
	       cbuf.slices() == 0 && op.fetch.size.height == data.height &&
	       op.windows.releasedSlices == data.height && op.fetchedEntries() == entries &&
	       op.bufferedEntries() == entries;
}

} /* namespace */

void ConvEngine::fetchData(const ConvOp &op, const StreamSink &sink)
{
	if (options_.released == ReleasedEntries::MayChange && releasesAll(op, cbuf_))
		cube_ = data_->leave(sink);
	if (!cube_)
		data_->fill(workers_);
}

std::string ConvEngine::prepareData(const ConvOp &op, MemoryPort &memory, const StreamSink &sink,
				    bool kept)
{
	data_.reset();
	cube_.reset();
	if (!kept)
		data_ = DataFetcher::create(op, memory, cbuf_);
	/* Check the lines first: the registers determine how much memory a line takes. */
	std::string error = misfit(op, data_.get());
	if (!error.empty())
		return error;
	if (!kept)
		fetchData(op, sink);
	if (memory.cancelled() || cbuf_.slices() >= op.windows.data.height)
		return {};
	return "CSC DATAIN_HEIGHT_EXT is more than the buffered lines";
}

ConvCounters ConvEngine::compute(const ConvOp &op, StreamSink &sink, const MemoryPort &memory)
{
	const DataView data(op, cbuf_, cube_ ? &*cube_ : nullptr);

	if (fastConvAccepts(op, options_.fp16))
		return computeConvFast(op, data, *weights_, sink, memory, workers_);
	if (fp16ConvAccepts(op))
		return computeConvFp16(op, data, *weights_, sink, memory, workers_);
	return computeConv(op, data, *weights_, sink, memory);
}

unsigned int ConvEngine::worthwhileThreads(const ConvOp &op) const
{
	return op.guestError.empty() ? sim::worthwhileThreads(op, options_.fp16) : 1;
}

template<typename Work>
OperationResult ConvEngine::orHang(const Work &work)
{
	try {
		return work();
	} catch (const NeverArrive &weights) {
		return hang(weights.what());
	} catch (const std::bad_alloc &) {
		return hang(kNoHostMemory);
	}
}

OperationResult ConvEngine::run(const ConvOp &op, MemoryPort &memory, StreamSink &sink)
{
	return orHang([&] { return carryOut(op, memory, sink); });
}

OperationResult ConvEngine::carryOut(const ConvOp &op, MemoryPort &memory, StreamSink &sink)
{
	if (!op.guestError.empty())
		return hang(op.guestError);

	const Kept kept = cbuf_.begin(op);
	std::string error = prepareData(op, memory, sink, kept.data);
	weights_.emplace(op, memory, cbuf_, kept.weights);
	if (error.empty())
		error = weights_->check();
	if (!error.empty() || memory.cancelled())
		return hang(std::move(error));

	const ConvCounters sums = compute(op, sink, memory);
	weights_->fill();
	if (options_.released == ReleasedEntries::Stay || !weights_->released())
		weights_->settle();
	cbuf_.end(op);

	OperationResult result;
	result.updates = counters();
	result.updates.push_back({ NVDLA_CACC_D_OUT_SATURATION, sums.saturated });
	result.work.conv = convWork(op, kept);
	return result;
}

std::vector<RegisterUpdate> ConvEngine::counters() const
{
	const SpecialCount data = data_ ? data_->special() : SpecialCount();
	const SpecialCount weights = weights_ ? weights_->special() : SpecialCount();

	return {
		{ NVDLA_CDMA_D_NAN_INPUT_DATA_NUM, data.nan },
		{ NVDLA_CDMA_D_NAN_INPUT_WEIGHT_NUM, weights.nan },
		{ NVDLA_CDMA_D_INF_INPUT_DATA_NUM, data.inf },
		{ NVDLA_CDMA_D_INF_INPUT_WEIGHT_NUM, weights.inf },
	};
}

bool ConvEngine::fetching() const
{
	return (data_ && !data_->done()) || (weights_ && !weights_->done());
}

OperationResult ConvEngine::finishFetch()
{
	return orHang([&] {
		if (data_)
			data_->fill(workers_);
		weights_->fill();
		if (fetching())
			return hang("CDMA: what it fetches does not fit the banks");

		OperationResult result;
		result.updates = counters();
		return result;
	});
}

void ConvEngine::reset()
{
	data_.reset();
	weights_.reset();
	cbuf_.clear();
}

OperationResult ConvEngine::hang(std::string reason)
{
	reset();
	return hangingOperation(std::move(reason));
}

} /* namespace nvdla::sim */
