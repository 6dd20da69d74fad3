/* SPDX-License-Identifier: MIT */
#include "conv/conv_lines.h"

#include <algorithm>
#include <atomic>
#include <mutex>
#include <optional>
#include <thread>
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

/** A group's weights, as long as somebody may want them */
struct HeldGroup {
	WeightGroup group;
	std::vector<std::byte> copy; /* of its bytes, if the source changes them */
};

/** Groups that are worked on at once, which all threads that do so look at */
struct GroupSet {
	GroupSet(uint32_t firstSurface, uint32_t count, Scratch &scratch, size_t values)
		: surface(firstSurface), groups(count), second(scratch, count > 1 ? values : 0)
	{
	}

	const uint32_t surface; /* the first group's */
	const uint32_t groups;
	std::vector<HeldGroup> held;  /* where threads share the operation */
	ScratchArray<int32_t> second; /* all lines of the second group */
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
		  threads_(std::min(shares.threads, workers.threads())),
		  lines_(uint64_t{ op.windows.out.height } * op.batches),
		  lineValues_(size_t{ op.windows.out.width } * op.groupKernels()),
		  largestSum_(largestSum(op))
	{
		/* Pieces of about the same size. */
		const uint64_t pieces = (lines_ + shares.linesAtOnce - 1) / shares.linesAtOnce;
		linesAtOnce_ = static_cast<uint32_t>((lines_ + pieces - 1) / pieces);
		pieces_ = (lines_ + linesAtOnce_ - 1) / linesAtOnce_;
		countSets();
		threads_ = static_cast<unsigned int>(std::min<uint64_t>(threads_, sets_ * pieces_));
	}

	ConvCounters run(const std::function<std::unique_ptr<LineMaker>()> &newMaker)
	{
		if (threads_ == 1)
			alone(*newMaker());
		else if (fork())
			workers_.run(threads_, [&] { apart(newMaker); });
		else
			workers_.run(threads_, [&] { inTurn(newMaker); });
		return counters_;
	}

private:
	/* One thread: weights are not held longer than the maker wants them. */
	void alone(LineMaker &maker)
	{
		while (const auto piece = take()) {
			if (piece->first == 0) {
				maker.begin(set_->second);
				for (uint32_t i = 0; i < set_->groups; i++)
					maker.load(weights_.next());
			}
			maker.make(piece->first, piece->count);
			deliver(*piece, *set_, maker);
		}
	}

	/** \return false if there is only one receiver */
	bool fork()
	{
		first_ = sink_.fork();
		takesSurfaces_ = !first_ && op_.surfaces() > 1;
		if (takesSurfaces_)
			first_ = newSink();
		if (takesSurfaces_ && first_)
			shareSets();
		return first_ != nullptr;
	}

	/* Whole ones, and of fewer groups rather than with nothing for some thread to do. */
	void shareSets()
	{
		if (op_.surfaces() < threads_ * groupsAtOnce_)
			groupsAtOnce_ = 1;
		countSets();
	}

	void countSets() { sets_ = (op_.surfaces() + groupsAtOnce_ - 1) / groupsAtOnce_; }

	std::unique_ptr<StreamSink> newSink()
	{
		if (!takesSurfaces_)
			return sink_.fork();
		return sink_.forkOfSurfaces({ op_.windows.out.width, op_.windows.out.height,
					      op_.surfaces(), op_.batches, op_.groupKernels() });
	}

	/*
	 * A thread's: one for each group that is worked on at once, so that each has its lines in
	 * their order, and the first one that is missed is the first in the stream.
	 */
	void takeSinks(std::vector<std::unique_ptr<StreamSink>> &sinks)
	{
		while (sinks.size() < groupsAtOnce_)
			sinks.push_back(first_ ? std::move(first_) : newSink());
	}

	/* Several threads, each with receivers of its own. */
	void apart(const std::function<std::unique_ptr<LineMaker>()> &newMaker)
	{
		std::unique_ptr<LineMaker> maker;
		std::vector<std::unique_ptr<StreamSink>> sinks;
		std::optional<uint32_t> loaded; /* surface of the set */
		std::vector<Piece> pieces;
		std::unique_lock lock = lockSoon();

		while (takeSome(pieces)) {
			if (!maker)
				maker = newMaker();
			takeSinks(sinks);
			const std::shared_ptr<GroupSet> set = set_;
			uint32_t saturated = 0;
			lock.unlock();
			if (loaded != set->surface)
				load(*maker, *set);
			loaded = set->surface;
			for (const Piece &piece : pieces) {
				maker->make(piece.first, piece.count);
				saturated += maker->saturated();
				push(*sinks.front(), set->surface, piece, maker->lines());
				if (set->groups > 1)
					push(*sinks.back(), set->surface + 1, piece,
					     linesOf(*set, piece));
			}
			lock = lockSoon();
			counters_.saturated += saturated;
		}
		for (const auto &sink : sinks)
			sink_.join(*sink);
	}

	/* Several threads that deliver what they have made one after the other. */
	void inTurn(const std::function<std::unique_ptr<LineMaker>()> &newMaker)
	{
		std::unique_ptr<LineMaker> maker;
		std::optional<uint32_t> loaded; /* surface of the set */
		std::unique_lock lock = lockSoon();

		while (const auto piece = take()) {
			if (!maker)
				maker = newMaker();
			const std::shared_ptr<GroupSet> set = set_;
			lock.unlock();
			if (loaded != set->surface)
				load(*maker, *set);
			loaded = set->surface;
			maker->make(piece->first, piece->count);
			/* Shorter than it takes to wake somebody. */
			while (delivered_ != piece->index)
				std::this_thread::yield();
			deliver(*piece, *set, *maker);
			delivered_ = piece->index + 1;
			lock = lockSoon();
		}
	}

	/* The mutex is held for a shorter time than it takes to wake somebody. */
	std::unique_lock<std::mutex> lockSoon()
	{
		std::unique_lock lock(mutex_, std::try_to_lock);

		while (!lock.owns_lock() && !lock.try_lock())
			std::this_thread::yield();
		return lock;
	}

	Piece pieceAt(uint64_t index) const
	{
		const uint64_t first = index % pieces_ * linesAtOnce_;
		const auto count = std::min<uint64_t>(linesAtOnce_, lines_ - first);

		return { index, first, static_cast<uint32_t>(count), first + count == lines_ };
	}

	std::optional<Piece> take()
	{
		const Piece piece = pieceAt(taken_);

		if (taken_ == sets_ * pieces_ || memory_.cancelled())
			return std::nullopt;
		if (piece.first == 0)
			beginSet(static_cast<uint32_t>(taken_ / pieces_) * groupsAtOnce_);
		taken_++;
		return piece;
	}

	/*
	 * What a thread makes before it asks again, of one set: all lines while there is a set for
	 * each of the others as well, then so few that all are done at about the same time, unless
	 * the set's are one receiver's.
	 */
	bool takeSome(std::vector<Piece> &pieces)
	{
		const uint64_t set = taken_ / pieces_;
		const uint64_t rest = pieces_ - taken_ % pieces_;
		const bool whole = takesSurfaces_ || set + threads_ <= sets_;

		pieces.clear();
		while (pieces.size() < (whole ? rest : 1)) {
			const auto piece = take();
			if (!piece)
				return false;
			pieces.push_back(*piece);
		}
		return true;
	}

	void beginSet(uint32_t surface)
	{
		const uint32_t groups = std::min(groupsAtOnce_, op_.surfaces() - surface);

		set_.reset(); /* whose memory is the next one's, if nobody is at it any more */
		set_ = std::make_shared<GroupSet>(surface, groups, workers_.scratch(),
						  lines_ * lineValues_);
		for (uint32_t i = 0; i < groups && threads_ > 1; i++)
			set_->held.push_back(hold(weights_.next()));
	}

	HeldGroup hold(const WeightGroup &group) const
	{
		HeldGroup held{ group, {} };
		const size_t others = size_t{ threads_ - 1 } * groupsAtOnce_ * group.bytes.size();

		held.group.ahead = {}; /* which others may be given */
		held.group.soon = group.soon.subspan(std::min(others, group.soon.size()));
		if (group.stays)
			return held;
		held.copy.assign(group.bytes.begin(), group.bytes.end());
		held.group = { .kernels = group.kernels, .bytes = held.copy };
		return held;
	}

	static void load(LineMaker &maker, GroupSet &set)
	{
		maker.begin(set.second);
		for (const HeldGroup &held : set.held)
			maker.load(held.group);
	}

	void deliver(const Piece &piece, const GroupSet &set, const LineMaker &maker)
	{
		counters_.saturated += maker.saturated();
		push(sink_, set.surface, piece, maker.lines());
		if (!piece.isLast || set.groups == 1)
			return;
		/* In pieces as well, which are nearer when they are written. */
		for (uint64_t i = 0; i < pieces_; i++) {
			const Piece second = pieceAt(i);
			push(sink_, set.surface + 1, second, linesOf(set, second));
		}
	}

	/* Those of the second group. */
	std::span<const int32_t> linesOf(const GroupSet &set, const Piece &piece) const
	{
		return std::span(set.second).subspan(piece.first * lineValues_);
	}

	/** \param sums of the piece's lines */
	void push(StreamSink &sink, uint32_t surface, const Piece &piece,
		  std::span<const int32_t> sums) const
	{
		const uint32_t width = op_.windows.out.width;
		/* Those of a batch's cubes alternate. */
		const uint32_t together = op_.batches == 1 ? piece.count : 1;

		for (uint32_t i = 0; i < piece.count; i += together) {
			const uint64_t line = piece.first + i;
			sink.pushLines({ static_cast<uint32_t>(line % op_.batches), surface,
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
	unsigned int threads_; /* that share the operation */
	uint64_t lines_;       /* of a group */
	size_t lineValues_;
	uint32_t largestSum_;
	uint32_t linesAtOnce_ = 0; /* of a piece */
	uint64_t pieces_ = 0;	   /* of a set of groups */
	uint64_t sets_ = 0;
	bool takesSurfaces_ = false; /* whole ones, a receiver */

	std::atomic<uint64_t> delivered_ = 0; /* index of the piece whose turn it is */
	ConvCounters counters_;		      /* of who has the turn; apart, of the mutex */

	std::mutex mutex_;		    /* everything below, the source and its memory */
	std::unique_ptr<StreamSink> first_; /* of the receivers, until somebody takes it */
	uint64_t taken_ = 0;
	std::shared_ptr<GroupSet> set_; /* of the piece that was taken last */
};

} /* namespace */

ConvCounters streamLines(const ConvOp &op, WeightSource &weights, StreamSink &sink,
			 const MemoryPort &memory, Workers &workers, const LineShares &shares,
			 const std::function<std::unique_ptr<LineMaker>()> &newMaker)
{
	return LineStream(op, weights, sink, memory, workers, shares).run(newMaker);
}

unsigned int worthwhileThreads(const ConvOp &op, uint64_t macs)
{
	const Windows &windows = op.windows;
	/* What becomes of so many sums takes as long, too. */
	constexpr uint64_t kSumsForAThread = 1 << 13;
	const uint64_t elements =
		uint64_t{ windows.kernel.width } * windows.kernel.height * windows.kernel.channels;
	const uint64_t outputs =
		uint64_t{ windows.out.width } * windows.out.height * windows.kernels * op.batches;
	constexpr uint64_t most = 1024;

	return static_cast<unsigned int>(std::clamp<uint64_t>(
		outputs * (elements + macs / kSumsForAThread) / macs, 1, most));
}

} /* namespace nvdla::sim */
