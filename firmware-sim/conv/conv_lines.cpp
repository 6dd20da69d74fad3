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

/** A copy of a group's weights */
struct GroupCopy {
	uint32_t kernels;
	std::vector<std::byte> bytes;
};

/** Groups that are worked on at once, which all threads that do so look at */
struct GroupSet {
	GroupSet(uint32_t firstSurface, uint32_t count, Scratch &scratch, size_t values)
		: surface(firstSurface), groups(count), second(scratch, count > 1 ? values : 0)
	{
	}

	const uint32_t surface; /* the first group's */
	const uint32_t groups;
	std::vector<GroupCopy> copies; /* where threads share them */
	ScratchArray<int32_t> second;  /* all lines of the second group */
};

/** Lines of a set of groups */
struct Piece {
	uint64_t index; /* in the order of the stream */
	uint64_t first;
	uint32_t count;
	bool isLast; /* of its set */
};

class LineStream
{
public:
	LineStream(const ConvOp &op, WeightSource &weights, StreamSink &sink,
		   const MemoryPort &memory, Workers &workers, const LineShares &shares)
		: op_(op), weights_(weights), sink_(sink), memory_(memory), workers_(workers),
		  groupsAtOnce_(shares.groupsAtOnce),
		  lines_(uint64_t{ op.windows.out.height } * op.batches),
		  lineValues_(size_t{ op.windows.out.width } * op.groupKernels()),
		  largestSum_(largestSum(op)), alone_(shares.threads == 1 || workers.threads() == 1)
	{
		/* Pieces of about the same size. */
		const uint64_t pieces = (lines_ + shares.linesAtOnce - 1) / shares.linesAtOnce;
		linesAtOnce_ = static_cast<uint32_t>((lines_ + pieces - 1) / pieces);
		pieces_ = (lines_ + linesAtOnce_ - 1) / linesAtOnce_;
	}

	ConvCounters run(unsigned int threads,
			 const std::function<std::unique_ptr<LineMaker>()> &newMaker)
	{
		workers_.run(threads, [&] { work(newMaker); });
		return counters_;
	}

private:
	void work(const std::function<std::unique_ptr<LineMaker>()> &newMaker)
	{
		std::unique_ptr<LineMaker> maker;
		std::optional<uint32_t> loaded; /* surface of the set */
		std::unique_lock lock(mutex_);

		while (const auto piece = take()) {
			if (!maker)
				maker = newMaker();
			const std::shared_ptr<GroupSet> set = set_;
			/* Alone there is no need of a copy. */
			if (alone_ && loaded != set->surface)
				load(*maker, *set, [&](uint32_t) { return weights_.next(); });
			lock.unlock();
			if (!alone_ && loaded != set->surface)
				load(*maker, *set, [&](uint32_t i) {
					return WeightGroup{ set->copies[i].kernels,
							    set->copies[i].bytes };
				});
			loaded = set->surface;
			maker->make(piece->first, piece->count);
			lock.lock();
			turn_.wait(lock, [&] { return delivered_ == piece->index; });
			deliver(*piece, *set, *maker);
			delivered_++;
			turn_.notify_all();
		}
	}

	std::optional<Piece> take()
	{
		const uint64_t index = taken_;
		const uint64_t first = index % pieces_ * linesAtOnce_;
		const auto count = std::min<uint64_t>(linesAtOnce_, lines_ - first);

		if (index / pieces_ * groupsAtOnce_ >= op_.surfaces() || memory_.cancelled())
			return std::nullopt;
		if (first == 0)
			beginSet(static_cast<uint32_t>(index / pieces_) * groupsAtOnce_);
		taken_++;
		return Piece{ index, first, static_cast<uint32_t>(count), first + count == lines_ };
	}

	void beginSet(uint32_t surface)
	{
		const uint32_t groups = std::min(groupsAtOnce_, op_.surfaces() - surface);

		set_.reset(); /* whose memory is the next one's, if nobody is at it any more */
		set_ = std::make_shared<GroupSet>(surface, groups, workers_.scratch(),
						  lines_ * lineValues_);
		for (uint32_t i = 0; i < groups && !alone_; i++) {
			const WeightGroup group = weights_.next();
			set_->copies.push_back(
				{ group.kernels, { group.bytes.begin(), group.bytes.end() } });
		}
	}

	/** \param groupAt called for the groups of \a set, in their order */
	template<typename GroupAt>
	static void load(LineMaker &maker, GroupSet &set, GroupAt groupAt)
	{
		maker.begin(set.second);
		for (uint32_t i = 0; i < set.groups; i++)
			maker.load(groupAt(i));
	}

	void deliver(const Piece &piece, const GroupSet &set, const LineMaker &maker)
	{
		counters_.saturated += maker.saturated();
		push(set.surface, piece.first, piece.count, maker.lines());
		if (!piece.isLast || set.groups == 1)
			return;
		/* In pieces as well, which are nearer when they are written. */
		for (uint64_t line = 0; line < lines_; line += linesAtOnce_)
			push(set.surface + 1, line,
			     static_cast<uint32_t>(std::min<uint64_t>(linesAtOnce_, lines_ - line)),
			     std::span(set.second).subspan(line * lineValues_));
	}

	/** \param sums from line \a first on */
	void push(uint32_t surface, uint64_t first, uint32_t count, std::span<const int32_t> sums)
	{
		const uint32_t width = op_.windows.out.width;
		/* Those of a batch's cubes alternate. */
		const uint32_t together = op_.batches == 1 ? count : 1;

		for (uint32_t i = 0; i < count; i += together) {
			const uint64_t line = first + i;
			sink_.pushLines({ static_cast<uint32_t>(line % op_.batches), surface,
					  static_cast<uint32_t>(line / op_.batches), 0, width,
					  sums.subspan(i * lineValues_, together * lineValues_),
					  largestSum_ },
					together);
		}
	}

	const ConvOp &op_;
	WeightSource &weights_;
	StreamSink &sink_;
	const MemoryPort &memory_;
	Workers &workers_;
	uint32_t groupsAtOnce_;
	uint64_t lines_; /* of a group */
	size_t lineValues_;
	uint32_t largestSum_;
	bool alone_;		   /* no other thread helps */
	uint32_t linesAtOnce_ = 0; /* of a piece */
	uint64_t pieces_ = 0;	   /* of a set of groups */

	std::mutex mutex_; /* everything below, the source, the sink and their memory */
	std::condition_variable turn_;
	uint64_t taken_ = 0;
	uint64_t delivered_ = 0;
	std::shared_ptr<GroupSet> set_; /* of the piece that was taken last */
	ConvCounters counters_;
};

} /* namespace */

ConvCounters streamLines(const ConvOp &op, WeightSource &weights, StreamSink &sink,
			 const MemoryPort &memory, Workers &workers, const LineShares &shares,
			 const std::function<std::unique_ptr<LineMaker>()> &newMaker)
{
	return LineStream(op, weights, sink, memory, workers, shares).run(shares.threads, newMaker);
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
