/* SPDX-License-Identifier: MIT */
#include "conv/conv_lines.h"

#include <algorithm>
#include <condition_variable>
#include <mutex>
#include <optional>
#include <vector>

namespace nvdla::sim
{

namespace
{

/** \return what no accumulator of \a op exceeds behind its truncation */
uint32_t largestSum(const ConvOp &op)
{
	constexpr uint32_t kAnySum = uint32_t{ 1 } << 31;
	constexpr uint64_t kLargestProduct = 1 << 14; /* of INT8 */
	const CubeSize &kernel = op.windows.kernel;
	const uint64_t elements = uint64_t{ kernel.width } * kernel.height * kernel.channels;

	if (op.precision != Precision::Int8)
		return kAnySum;
	const uint64_t sum = (elements * kLargestProduct >> op.clipTruncate) + 1;
	return static_cast<uint32_t>(std::min<uint64_t>(sum, kAnySum));
}

/** A copy of a group's weights, which all threads that work on it look at */
struct SharedGroup {
	uint32_t surface;
	uint32_t kernels;
	std::vector<std::byte> bytes;
};

/** Lines of one group */
struct Piece {
	uint64_t index; /* in the order of the stream */
	uint32_t surface;
	uint64_t first;
	uint32_t count;
};

class LineStream
{
public:
	LineStream(const ConvOp &op, WeightSource &weights, StreamSink &sink,
		   const MemoryPort &memory, Workers &workers, uint32_t linesAtOnce)
		: op_(op), weights_(weights), sink_(sink), memory_(memory), workers_(workers),
		  lines_(uint64_t{ op.windows.out.height } * op.batches),
		  largestSum_(largestSum(op))
	{
		/* Pieces of about the same size. */
		const uint64_t pieces = (lines_ + linesAtOnce - 1) / linesAtOnce;
		linesAtOnce_ = static_cast<uint32_t>((lines_ + pieces - 1) / pieces);
		pieces_ = (lines_ + linesAtOnce_ - 1) / linesAtOnce_;
	}

	ConvCounters run(unsigned int threads,
			 const std::function<std::unique_ptr<LineMaker>()> &newMaker)
	{
		alone_ = threads == 1 || workers_.threads() == 1;
		workers_.run(threads, [&] { work(newMaker); });
		return counters_;
	}

private:
	void work(const std::function<std::unique_ptr<LineMaker>()> &newMaker)
	{
		std::unique_ptr<LineMaker> maker;
		std::shared_ptr<const SharedGroup> loaded;
		std::unique_lock lock(mutex_);

		while (const auto piece = take()) {
			if (!maker)
				maker = newMaker();
			/* Alone there is no need of a copy. */
			if (alone_) {
				if (piece->first == 0)
					maker->load(weights_.next());
			} else {
				fetch(piece->surface);
			}
			const std::shared_ptr<const SharedGroup> group = group_;
			lock.unlock();
			if (group && group != loaded) {
				loaded = group;
				maker->load({ group->kernels, group->bytes });
			}
			maker->make(piece->first, piece->count);
			lock.lock();
			turn_.wait(lock, [&] { return delivered_ == piece->index; });
			deliver(*piece, *maker);
			delivered_++;
			turn_.notify_all();
		}
	}

	std::optional<Piece> take()
	{
		const uint64_t index = taken_;
		const auto surface = static_cast<uint32_t>(index / pieces_);
		const uint64_t first = index % pieces_ * linesAtOnce_;

		if (surface == op_.surfaces() || memory_.cancelled())
			return std::nullopt;
		taken_++;
		return Piece{ index, surface, first,
			      static_cast<uint32_t>(
				      std::min<uint64_t>(linesAtOnce_, lines_ - first)) };
	}

	void fetch(uint32_t surface)
	{
		if (group_ && group_->surface == surface)
			return;
		const WeightGroup group = weights_.next();
		group_ = std::make_shared<SharedGroup>(SharedGroup{
			surface, group.kernels, { group.bytes.begin(), group.bytes.end() } });
	}

	void deliver(const Piece &piece, const LineMaker &maker)
	{
		const uint32_t width = op_.windows.out.width;
		const size_t values = size_t{ width } * op_.groupKernels();
		/* Those of a batch's cubes alternate. */
		const uint32_t together = op_.batches == 1 ? piece.count : 1;

		counters_.saturated += maker.saturated();
		for (uint32_t i = 0; i < piece.count; i += together) {
			const uint64_t line = piece.first + i;
			sink_.pushLines({ static_cast<uint32_t>(line % op_.batches), piece.surface,
					  static_cast<uint32_t>(line / op_.batches), 0, width,
					  maker.lines().subspan(i * values, together * values),
					  largestSum_ },
					together);
		}
	}

	const ConvOp &op_;
	WeightSource &weights_;
	StreamSink &sink_;
	const MemoryPort &memory_;
	Workers &workers_;
	uint64_t lines_; /* of a group */
	uint32_t largestSum_;
	uint32_t linesAtOnce_ = 0; /* of a piece */
	uint64_t pieces_ = 0;	   /* of a group */
	bool alone_ = false;	   /* no other thread helps */

	std::mutex mutex_; /* everything below, the source, the sink and their memory */
	std::condition_variable turn_;
	uint64_t taken_ = 0;
	uint64_t delivered_ = 0;
	std::shared_ptr<const SharedGroup> group_;
	ConvCounters counters_;
};

} /* namespace */

ConvCounters streamLines(const ConvOp &op, WeightSource &weights, StreamSink &sink,
			 const MemoryPort &memory, Workers &workers, unsigned int threads,
			 uint32_t linesAtOnce,
			 const std::function<std::unique_ptr<LineMaker>()> &newMaker)
{
	return LineStream(op, weights, sink, memory, workers, linesAtOnce).run(threads, newMaker);
}

unsigned int worthwhileThreads(const ConvOp &op, uint64_t macs)
{
	const Windows &windows = op.windows;
	const uint64_t elements =
		uint64_t{ windows.kernel.width } * windows.kernel.height * windows.kernel.channels;
	const uint64_t outputs =
		uint64_t{ windows.out.width } * windows.out.height * windows.kernels * op.batches;
	constexpr uint64_t most = 1024;

	return static_cast<unsigned int>(std::clamp<uint64_t>(outputs * elements / macs, 1, most));
}

} /* namespace nvdla::sim */
