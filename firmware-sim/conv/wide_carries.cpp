/* SPDX-License-Identifier: MIT */
/*
 * How many products of INT16 fit 32 bits together, without multiplying them.
 *
 * A sum of products is no larger than the root of the sum of the one side's squares times that of
 * the other's (Cauchy and Schwarz). That is much less than the largest number there is times the
 * sum of the others, and the squares of data are known once for all kernels. Where data are not
 * negative, weights above and below zero need only fit by themselves.
 *
 * Extreme numbers next to each other are too large for that: the sums of such units, or two of
 * them, are held against the largest number.
 *
 * The file is compiled once for each instruction set (Highway).
 */
#include "conv/wide_tile.h"

#include <algorithm>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "conv/wide_carries.cpp"
#include <hwy/foreach_target.h>
/* After foreach_target.h. */
#include <hwy/highway.h>

#include "conv/wide_squares-inl.h"

HWY_BEFORE_NAMESPACE();
namespace nvdla::sim
{
namespace HWY_NAMESPACE
{

namespace hn = hwy::HWY_NAMESPACE;

/* Vectors whose size is known, so that they can be members. */
#if HWY_TARGET != HWY_SCALAR && !HWY_HAVE_SCALABLE

constexpr uint32_t kStepUnits = 4;

/** Sums of squares of a step's weights, 2^16 at a time, rounded down, of each column */
struct StepSquares {
	HWY_ALIGN int32_t all[kTileColumns];
	HWY_ALIGN int32_t positive[kTileColumns]; /* of the weights that are */
};

/** \return the squares of those numbers that are not below zero */
HWY_INLINE Words squaresAbove(Words numbers)
{
	return hn::AndNot(hn::BroadcastSignBit(numbers), squares(numbers));
}

/* A square of 2^30 is 2^14: two of them lose one, but there is nothing that was rounded down. */
HWY_INLINE Vector sumOfFour(Words a, Words b, Words c, Words d)
{
	return hn::Add(pairSums(hn::SaturatedAdd(a, b)), pairSums(hn::SaturatedAdd(c, d)));
}

/** Those of some steps */
HWY_INLINE void putSquares(const int32_t *weights, size_t steps, size_t columns, StepSquares *out)
{
	static_assert(kStepUnits == 4);
	for (size_t step = 0; step < steps; step++, weights += kStepUnits * columns) {
		for (size_t column = 0; column < columns; column += kLanes) {
			const auto load = [&](size_t unit) HWY_ATTR {
				return hn::BitCast(
					WordTag(),
					hn::LoadU(Tag(), weights + unit * columns + column));
			};
			const Words a = load(0), b = load(1), c = load(2), d = load(3);
			hn::Store(sumOfFour(squares(a), squares(b), squares(c), squares(d)), Tag(),
				  out[step].all + column);
			hn::Store(sumOfFour(squaresAbove(a), squaresAbove(b), squaresAbove(c),
					    squaresAbove(d)),
				  Tag(), out[step].positive + column);
		}
	}
}

/** What sums of squares of weights are held against */
struct SquareLimits {
	/* Of the sum before there is no more than the lower half. */
	static constexpr int32_t kRoot = INT16_MAX; /* of what there is room for, 2^16 at a time */
	static constexpr uint32_t kMostSteps = 8;

	bool bothSides;		     /* data may be negative */
	int32_t ofSteps[kMostSteps]; /* of as many kStepUnits, and one more */

	explicit SquareLimits(const WideData &data) : bothSides(data.numbers.range.lowest < 0)
	{
		constexpr uint32_t kNumbers = Int16Squares::kRow; /* of a step's weights */
		/* Numbers that begin elsewhere are in one more row. */
		const bool isBetween = data.alignment % (kNumbers * sizeof(int16_t)) != 0;

		static_assert(kStepUnits * kUnitBytes == kNumbers * sizeof(int16_t));
		for (uint32_t i = 0; i < kMostSteps; i++) {
			const uint32_t squares = data.numbers.squares.of(i + 1) +
						 (isBetween ? data.numbers.squares.of(1) : 0);
			/* Each weight's square may be almost one more. */
			ofSteps[i] = kRoot * kRoot / static_cast<int32_t>(std::max(1U, squares)) -
				     static_cast<int32_t>((i + 1) * kNumbers);
		}
	}
};

/** The weights of all columns since sums were carried on */
class Chunk
{
public:
	HWY_INLINE Chunk(const WideData &data, size_t columns) : limits_(data), columns_(columns)
	{
		restart();
	}

	/** Nothing was added since */
	HWY_INLINE void restart()
	{
		steps_ = 0;
		sums_ = {};
	}

	HWY_INLINE bool empty() const { return steps_ == 0; }

	/** \return false if a step's weights do not fit any more; then it is to restart */
	HWY_INLINE bool add(const StepSquares &step)
	{
		Vector worst = hn::Zero(Tag());

		if (steps_ == SquareLimits::kMostSteps)
			return false;
		for (size_t column = 0; column < columns_; column += kLanes) {
			const auto sum = [&](int32_t *sums, const int32_t *more) HWY_ATTR {
				const Vector both = hn::Add(hn::Load(Tag(), sums + column),
							    hn::Load(Tag(), more + column));
				hn::Store(both, Tag(), sums + column);
				return both;
			};
			const Vector all = sum(sums_.all, step.all);
			const Vector positive = sum(sums_.positive, step.positive);
			const Vector side = hn::Max(positive, hn::Sub(all, positive));
			worst = hn::Max(worst, limits_.bothSides ? all : side);
		}
		return hn::AllFalse(Tag(),
				    hn::Gt(worst, hn::Set(Tag(), limits_.ofSteps[steps_++])));
	}

private:
	SquareLimits limits_;
	size_t columns_;
	uint32_t steps_;
	StepSquares sums_;
};

/** What sums of products with some weights may come to, for a vector of columns */
struct WeightSides {
	Vector positive;
	Vector negative; /* without its sign */

	/** \param weights of a unit */
	static HWY_INLINE WeightSides of(const int32_t *weights)
	{
		const Words words = hn::BitCast(WordTag(), hn::LoadU(Tag(), weights));
		const Vector above = pairSums(hn::Max(words, hn::Zero(WordTag())));

		return { above, hn::Sub(above, pairSums(words)) };
	}

	HWY_INLINE WeightSides operator+(const WeightSides &other) const
	{
		return { hn::Add(positive, other.positive), hn::Add(negative, other.negative) };
	}
};

/** What sums are held against: either side alone counts if no data are below zero */
struct SumLimit {
	/* Of the sum before there is no more than the lower half. */
	static constexpr int32_t kRoom = INT32_MAX - UINT16_MAX;

	bool bothSides;
	int32_t most;

	HWY_INLINE explicit SumLimit(Int16Range data)
		: bothSides(data.lowest < 0),
		  most(kRoom / static_cast<int32_t>(std::max(1U, data.largest())))
	{
	}

	HWY_INLINE bool fits(const WeightSides &sides) const
	{
		const Vector worst = bothSides ? hn::Add(sides.positive, sides.negative)
					       : hn::Max(sides.positive, sides.negative);
		return hn::AllFalse(Tag(), hn::Gt(worst, hn::Set(Tag(), most)));
	}
};

/** One or two units */
bool fewFit(const int32_t *weights, uint32_t units, size_t columns, SumLimit limit)
{
	bool fit = true;

	for (size_t column = 0; column < columns; column += kLanes) {
		WeightSides sides = WeightSides::of(weights + column);
		if (units > 1)
			sides = sides + WeightSides::of(weights + columns + column);
		fit = fit && limit.fits(sides);
	}
	return fit;
}

/** wideCarries() of a run, step by step */
class RunCarries
{
public:
	HWY_INLINE RunCarries(const int32_t *weights, size_t columns, const WideData &data,
			      std::vector<uint8_t> &carries)
		: weights_(weights), columns_(columns), chunk_(data, columns),
		  limit_(data.numbers.range), carries_(carries)
	{
	}

	/** \return false if a unit does not fit */
	HWY_INLINE bool add(const StepSquares &step, uint32_t units)
	{
		const int32_t *here = weights_;
		const bool begins = chunk_.empty();

		weights_ += units * columns_;
		if (chunk_.add(step) || (!begins && carry() && chunk_.add(step))) {
			units_ += units;
			return true;
		}
		chunk_.restart();
		return addFew(here, units);
	}

	/** Behind the units that there are */
	HWY_INLINE bool carry()
	{
		if (units_)
			carries_.push_back(static_cast<uint8_t>(units_));
		units_ = 0;
		chunk_.restart();
		return true;
	}

private:
	/* Units that do not fit together. */
	bool addFew(const int32_t *weights, uint32_t units)
	{
		constexpr uint32_t kFew = 2;

		for (uint32_t unit = 0; unit < units; unit += kFew, weights += kFew * columns_) {
			const uint32_t some = std::min(kFew, units - unit);
			if (fewFit(weights, some, columns_, limit_)) {
				carries_.push_back(static_cast<uint8_t>(some));
				continue;
			}
			for (uint32_t i = 0; i < some; i++)
				if (!fewFit(weights + i * columns_, 1, columns_, limit_))
					return false;
			carries_.insert(carries_.end(), some, 1);
		}
		return true;
	}

	const int32_t *weights_; /* of the next step */
	size_t columns_;
	Chunk chunk_;
	SumLimit limit_;
	uint32_t units_ = 0; /* since sums were carried on */
	std::vector<uint8_t> &carries_;
};

/** \return false if a unit does not fit */
bool carriesOfTarget(const int32_t *weights, uint32_t units, size_t columns, const WideData &data,
		     std::vector<uint8_t> &carries)
{
	constexpr uint32_t kStepsAtOnce = 32;
	StepSquares squares[kStepsAtOnce];
	RunCarries run(weights, columns, data, carries);

	for (uint32_t unit = 0; unit < units;) {
		const uint32_t steps = std::min(kStepsAtOnce, (units - unit) / kStepUnits);
		putSquares(weights + unit * columns, steps, columns, squares);
		for (uint32_t i = 0; i < steps; i++, unit += kStepUnits)
			if (!run.add(squares[i], kStepUnits))
				return false;
		if (unit + kStepUnits <= units || unit == units)
			continue;
		/* Behind the last ones there are zeroes. */
		const uint32_t some = units - unit;
		int32_t rest[kStepUnits * kTileColumns] = {};
		std::copy_n(weights + unit * columns, some * columns, rest);
		putSquares(rest, 1, columns, squares);
		if (!run.add(squares[0], some))
			return false;
		unit = units;
	}
	return run.carry();
}

#else /* vectors of any size */

bool carriesOfTarget(const int32_t *, uint32_t, size_t, const WideData &, std::vector<uint8_t> &)
{
	return false;
}

#endif

} /* namespace HWY_NAMESPACE */
} /* namespace nvdla::sim */
HWY_AFTER_NAMESPACE();

#if HWY_ONCE

namespace nvdla::sim
{

HWY_EXPORT(carriesOfTarget);

std::vector<uint8_t> wideCarries(const TileOperands &operands, const WideData &data)
{
	const int32_t *weights = operands.weights;
	std::vector<uint8_t> carries;

	for (const TileRun &run : operands.runs) {
		if (!HWY_DYNAMIC_DISPATCH(carriesOfTarget)(weights, run.units, operands.columns,
							   data, carries))
			return {};
		weights += run.units * operands.columns;
	}
	return carries;
}

} /* namespace nvdla::sim */

#endif /* HWY_ONCE */
