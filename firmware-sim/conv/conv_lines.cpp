/* SPDX-License-Identifier: MIT */
#include "conv/conv_lines.h"

#include <algorithm>
#include <atomic>
#include <mutex>
#include <optional>
#include <thread>
#include <vector>

#include "core/bands.h"

namespace nvdla::sim
{

namespace
{

/** \return the largest magnitude of an accumulator of \a op after truncation */
uint32_t largestSum(const ConvOp &op)
{
	constexpr uint32_t kAnySum = uint32_t{ 1 } << 31;
	constexpr uint64_t kLargestProduct = 1 << 14; /* of INT8: -128 * -128 */

	if (op.precision != Precision::Int8)
		return kAnySum;
	const uint64_t sum =
		(op.windows.kernel.elements() * kLargestProduct >> op.clipTruncate) + 1;
	return static_cast<uint32_t>(std::min<uint64_t>(sum, kAnySum));
}

/**
 * \return true if weights may be fetched before the lines of earlier groups are written
 *
 * Several threads fetch ahead, and so does a panel, because all of its groups are loaded first.
 */
bool mayFetchAhead(const WeightFetch &weights, const StreamSink &sink)
{
	const Placement packed = { weights.ram, weights.address, weights.bytes, {}, {} };
	const Placement masks = { weights.ram, weights.maskAddress, weights.maskBytes, {}, {} };

	return sink.spares(packed) && (!weights.compressed || sink.spares(masks));
}

/** A group's weights while a thread may need them */
struct HeldGroup {
	WeightGroup group;
	std::vector<std::byte> copy; /* copy of group.bytes if the next group overwrites them */
};

/** The groups of a panel, shared by the threads that compute it */
struct GroupSet {
	uint32_t surface; /* surface of the first group */
	uint32_t groups;
	std::vector<HeldGroup> held;
};

/** State of a thread that has its own receivers of lines */
struct Part {
	std::unique_ptr<LineMaker> maker;
	std::vector<std::unique_ptr<StreamSink>> sinks; /* a receiver for each group of a panel */
	std::optional<uint32_t> loaded;			/* surface of the loaded set */
	uint64_t last = 0;				/* index of the last piece that the thread
							 * made */
};

/** Some lines of a set of groups: the unit of work of a thread */
struct Piece {
	uint64_t index; /* place in the order of all pieces */
	uint64_t first;
	uint32_t count;
};

class LineStream
{
public:
	LineStream(const ConvOp &op, WeightSource &weights, StreamSink &sink,
		   const MemoryPort &memory, Workers &workers, const LineShares &shares)
		: op_(op), weights_(weights), sink_(sink), memory_(memory), workers_(workers),
		  inBands_(shares.inBands), fetchesAhead_(mayFetchAhead(op.weights, sink)),
		  threads_(fetchesAhead_ ? std::min(shares.threads, workers.threads()) : 1),
		  lines_(uint64_t{ op.windows.out.height } * op.batches),
		  lineValues_(size_t{ op.windows.out.width } * op.groupKernels()),
		  groupsAtOnce_(fetchesAhead_ ? std::min(shares.groupsAtOnce, op.surfaces()) : 1),
		  largestSum_(largestSum(op))
	{
		/* Divides lines into pieces of about the same size. */
		pieces_ = (lines_ + shares.linesAtOnce - 1) / shares.linesAtOnce;
		share(groupsAtOnce_);
		/* Make the number even, so that two threads get half each. It does not depend on
		 * the actual number of threads, because pieces decide which output is missing
		 * after a cancellation. */
		if (inBands_ && pieces_ < lines_ && (pieces_ > 1 || sets_ == 1))
			pieces_ += pieces_ % 2;
		threads_ = static_cast<unsigned int>(std::min<uint64_t>(threads_, sets_ * pieces_));
	}

	ConvCounters run(const std::function<std::unique_ptr<LineMaker>()> &newMaker)
	{
		isApart_ = (threads_ > 1 || groupsAtOnce_ > 1) && fork();
		if (!isApart_)
			share(1);
		workers_.run(threads_, [&](unsigned int thread) {
			orGiveUp([&] { isApart_ ? apart(newMaker, thread) : inTurn(newMaker); });
		});
		return counters_;
	}

private:
	/** Creates the first receiver of a thread; \return false if the sink cannot be forked */
	bool fork()
	{
		first_ = sink_.fork();
		takesSurfaces_ = !first_ && op_.surfaces() > 1;
		if (takesSurfaces_)
			first_ = newSink();
		/* If each receiver takes whole surfaces and larger panels would leave a thread
		 * idle, give each panel one group. */
		if (takesSurfaces_ && first_ && op_.surfaces() < threads_ * groupsAtOnce_)
			share(1);
		else if (first_ && inBands_ && !takesSurfaces_ && pieces_ >= threads_)
			bands_.emplace(pieces_, threads_, sets_);
		return first_ != nullptr;
	}

	/* Uses panels of \a groupsAtOnce groups. */
	void share(uint32_t groupsAtOnce)
	{
		groupsAtOnce_ = groupsAtOnce;
		sets_ = (op_.surfaces() + groupsAtOnce_ - 1) / groupsAtOnce_;
	}

	std::unique_ptr<StreamSink> newSink()
	{
		if (!takesSurfaces_)
			return sink_.fork();
		return sink_.forkOfSurfaces({ op_.windows.out.width, op_.windows.out.height,
					      op_.surfaces(), op_.batches, op_.groupKernels() });
	}

	/* Gives a thread a receiver for each group of a panel; each receiver gets its lines in
	 * order. */
	void takeSinks(std::vector<std::unique_ptr<StreamSink>> &sinks, unsigned int thread)
	{
		if (thread == 0 && first_)
			sinks.push_back(std::move(first_));
		while (sinks.size() < groupsAtOnce_)
			sinks.push_back(newSink());
	}

	/* Does a thread's work if each thread has its own receivers. */
	void apart(const std::function<std::unique_ptr<LineMaker>()> &newMaker, unsigned int thread)
	{
		Part part;
		std::vector<Piece> pieces;

		part.maker = newMaker();
		takeSinks(part.sinks, thread);
		std::unique_lock lock = lockSoon();
		while (const auto set = takeSome(pieces, thread)) {
			if (pieces.front().index < part.last) {
				joinSinks(part.sinks);
				takeSinks(part.sinks, thread);
			}
			lock.unlock();
			const uint32_t saturated = make(*set, pieces, part);
			lock = lockSoon();
			counters_.saturated += saturated;
		}
		joinSinks(part.sinks);
	}

	void joinSinks(std::vector<std::unique_ptr<StreamSink>> &sinks)
	{
		for (const auto &sink : sinks)
			sink_.join(*sink);
		sinks.clear();
	}

	/* \return number of clipped outputs */
	uint32_t make(const GroupSet &set, const std::vector<Piece> &pieces, Part &part) const
	{
		uint32_t saturated = 0;

		if (part.loaded != set.surface)
			load(*part.maker, set);
		part.loaded = set.surface;
		part.last = pieces.back().index;
		for (const Piece &piece : pieces) {
			part.maker->make(piece.first, piece.count);
			saturated += part.maker->saturated();
			for (uint32_t i = 0; i < set.groups; i++)
				push(*part.sinks[i], set.surface + i, piece, part.maker->lines(i));
		}
		return saturated;
	}

	/* Calls \a work. If it throws, all threads stop, so that none waits for a piece that is
	 * never made. */
	template<typename Work>
	void orGiveUp(const Work &work)
	{
		try {
			work();
		} catch (...) {
			isGivenUp_ = true;
			throw;
		}
	}

	/* Does a thread's work if there is one receiver: threads deliver their pieces in turn. */
	void inTurn(const std::function<std::unique_ptr<LineMaker>()> &newMaker)
	{
		std::unique_ptr<LineMaker> maker;
		std::optional<uint32_t> loaded; /* surface of the loaded set */
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
			/* Poll, because the wait is shorter than waking a thread. */
			while (delivered_ != piece->index && !isGivenUp_)
				std::this_thread::yield();
			if (isGivenUp_)
				return;
			counters_.saturated += maker->saturated();
			push(sink_, set->surface, *piece, maker->lines(0));
			delivered_ = piece->index + 1;
			lock = lockSoon();
		}
	}

	/* Polls, because the mutex is held for less time than waking a thread takes. */
	std::unique_lock<std::mutex> lockSoon()
	{
		std::unique_lock lock(mutex_, std::try_to_lock);

		while (!lock.owns_lock() && !lock.try_lock())
			std::this_thread::yield();
		return lock;
	}

	Piece pieceAt(uint64_t index) const
	{
		const uint64_t piece = index % pieces_;
		const uint64_t first = lines_ * piece / pieces_;
		const uint64_t end = lines_ * (piece + 1) / pieces_;

		return { index, first, static_cast<uint32_t>(end - first) };
	}

	std::optional<Piece> take()
	{
		const Piece piece = pieceAt(taken_);

		if (taken_ == sets_ * pieces_ || memory_.cancelled() || isGivenUp_)
			return std::nullopt;
		if (piece.first == 0)
			orGiveUp([&] {
				beginSet(static_cast<uint32_t>(taken_ / pieces_) * groupsAtOnce_);
			});
		taken_++;
		return piece;
	}

	/* Takes a piece of the lines reserved for the thread (its band), or else of another band.
	 * Keeps all sets of groups, because slower threads still need them. */
	std::shared_ptr<GroupSet> takeOfBand(std::vector<Piece> &pieces, unsigned int thread)
	{
		const auto index =
			memory_.cancelled() || isGivenUp_ ? std::nullopt : bands_->take(thread);

		pieces.clear();
		if (!index)
			return nullptr;
		const uint64_t set = *index / pieces_;
		pieces.push_back(pieceAt(*index));
		while (held_.size() <= set) {
			orGiveUp([&] {
				beginSet(static_cast<uint32_t>(held_.size()) * groupsAtOnce_);
				held_.push_back(set_);
			});
		}
		return held_[set];
	}

	/*
	 * Takes work for a thread, from one set of groups. The work is a whole set if every other
	 * thread can get one too, or if all lines of a set need the same receiver. Otherwise the
	 * work is one piece, so that all threads finish at about the same time.
	 *
	 * \return the set, null if no work is left
	 */
	std::shared_ptr<GroupSet> takeSome(std::vector<Piece> &pieces, unsigned int thread)
	{
		if (bands_)
			return takeOfBand(pieces, thread);
		const uint64_t set = taken_ / pieces_;
		const uint64_t rest = pieces_ - taken_ % pieces_;
		const bool whole = takesSurfaces_ || set + threads_ <= sets_;

		pieces.clear();
		while (pieces.size() < (whole ? rest : 1)) {
			const auto piece = take();
			if (!piece)
				return nullptr;
			pieces.push_back(*piece);
		}
		return set_;
	}

	void beginSet(uint32_t surface)
	{
		const uint32_t groups = std::min(groupsAtOnce_, op_.surfaces() - surface);

		set_ = std::make_shared<GroupSet>(GroupSet{ surface, groups, {} });
		for (uint32_t i = 0; i < groups; i++)
			set_->held.push_back(hold(weights_.next()));
	}

	HeldGroup hold(const WeightGroup &group) const
	{
		HeldGroup held{ group, {} };
		/* Prefetch this thread's next groups, which follow those of other threads. */
		const size_t others = bands_ ? 0 : (threads_ - 1) * groupsAtOnce_;

		held.group.soon = group.soon.subspan(
			std::min(others * group.bytes.size(), group.soon.size()));
		/* No copy: a single thread with panels of one group loads the group before it
		 * fetches the next one, which overwrites it. */
		if (group.stays || threads_ * groupsAtOnce_ == 1)
			return held;
		held.copy.assign(group.bytes.begin(), group.bytes.end());
		held.group.bytes = held.copy;
		return held;
	}

	static void load(LineMaker &maker, const GroupSet &set)
	{
		for (uint32_t i = 0; i < set.groups; i++)
			maker.load(set.held[i].group, i);
	}

	/** \param sums sums of the piece's lines */
	void push(StreamSink &sink, uint32_t surface, const Piece &piece,
		  std::span<const int32_t> sums) const
	{
		const uint32_t width = op_.windows.out.width;
		/* Lines of a batch's cubes alternate, so a batch is pushed line by line. */
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
	const bool inBands_;
	const bool fetchesAhead_;
	unsigned int threads_; /* threads that share the operation */
	uint64_t lines_;       /* lines of a group */
	size_t lineValues_;
	uint32_t groupsAtOnce_;
	uint32_t largestSum_;
	uint64_t pieces_ = 0; /* pieces of a set of groups */
	uint64_t sets_ = 0;
	bool isApart_ = false;	     /* true if each thread has receivers of its own */
	bool takesSurfaces_ = false; /* true if each receiver gets whole surfaces */
	std::optional<Bands> bands_;

	std::atomic<uint64_t> delivered_ = 0; /* number of delivered pieces, index of the next */
	std::atomic<bool> isGivenUp_ = false; /* true if a thread failed: no more pieces are
					       * taken */
	ConvCounters counters_;		      /* guarded by delivered_, or by mutex_ if isApart_ */

	std::mutex mutex_;		    /* guards the members below, weights_ and its memory */
	std::unique_ptr<StreamSink> first_; /* the first receiver, until a thread takes it */
	uint64_t taken_ = 0;
	std::shared_ptr<GroupSet> set_;		      /* set of the last piece taken */
	std::vector<std::shared_ptr<GroupSet>> held_; /* with bands: all sets taken so far */
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
	/*
	 * Number of sums that SDP processes in the time that waking a thread takes. In the same
	 * time, a thread does \a macs multiplications.
	 */
	constexpr uint64_t kSumsForAThread = 1 << 13;
	const uint64_t outputs =
		uint64_t{ windows.out.width } * windows.out.height * windows.kernels * op.batches;
	constexpr uint64_t most = 1024;

	return static_cast<unsigned int>(std::clamp<uint64_t>(
		outputs * (windows.kernel.elements() + macs / kSumsForAThread) / macs, 1, most));
}

} /* namespace nvdla::sim */
