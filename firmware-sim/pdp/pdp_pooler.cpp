/* SPDX-License-Identifier: MIT */
/*
 * Lines and windows; compiled once for each instruction set (Highway).
 */
#include "pdp/pdp_pooler.h"

#include <algorithm>
#include <array>
#include <vector>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "pdp/pdp_pooler.cpp"
#include <hwy/foreach_target.h>
/* After foreach_target.h. */
#include <hwy/highway.h>

#include "core/aligned.h"
#include "core/bring_ahead.h"
#include "core/memory.h"
#include "pdp/pdp_arith.h"
#include "pdp/pdp_averages-inl.h"
#include "pdp/pdp_vectors-inl.h"

HWY_BEFORE_NAMESPACE();
namespace nvdla::sim
{
namespace HWY_NAMESPACE
{

/** \brief Consecutive output lines */
struct Outputs {
	uint32_t first = 0;
	uint32_t end = 0;
};

/** \brief The columns of an output's window that are on the line, and how many are not */
struct Window {
	uint32_t first;
	uint32_t columns;
	uint32_t padded;
};

/** \tparam Ops of pdp_vectors-inl.h */
template<typename Ops, uint32_t Lanes>
class Pooler final : public PdpPooler
{
public:
	Pooler(const PdpOp &op, const PdpPart &part)
		: op_(op), ops_(op), windows_(windowsOf(op, part)), firstWhole_(firstWhole()),
		  endWhole_(endWhole()), rowNumbers_(size_t{ part.outWidth } * Lanes),
		  rows_(rowNumbers_ * op.kernelHeight)
	{
	}

	void push(std::span<const std::byte> line, PdpOutput &output) override
	{
		const auto *in = reinterpret_cast<const Element *>(line.data());

		findOutputs();
		if (outputs_.first < outputs_.end)
			poolLine(in);
		for (uint32_t outY = outputs_.first; outY < outputs_.end; outY++) {
			const int64_t top = int64_t{ outY } * op_.strideY - op_.padTop;
			const int64_t begin = std::max<int64_t>(top, 0);
			const int64_t end = std::min<int64_t>(top + op_.kernelHeight, op_.inHeight);

			if (y_ + 1 != end)
				continue;
			const auto out = output.place(outY, rowNumbers_ * sizeof(Element));
			if constexpr (Ops::kLosesSigns) {
				/* Signs cannot be looked at where they are overwritten. */
				if (!areApart(line, out))
					poolWithSigns(in);
			}
			const bool plain = finish(static_cast<uint32_t>(end - begin), in,
						  reinterpret_cast<Element *>(out.data()));
			output.write(outY, out, !plain);
		}
		slot_ = slot_ + 1 == op_.kernelHeight ? 0 : slot_ + 1;
		if (++y_ == op_.inHeight) {
			y_ = slot_ = 0;
			outputs_ = {};
		}
	}

private:
	using Element = typename Ops::Element;
	using Number = typename Ops::Number;
	using Tag = typename Ops::Tag;
	using Vector = typename Ops::Vector;

	static std::vector<Window> windowsOf(const PdpOp &op, const PdpPart &part)
	{
		std::vector<Window> windows(part.outWidth);
		const int64_t width = part.inWidth;
		int64_t left = -int64_t{ part.padLeft };

		for (Window &window : windows) {
			const int64_t begin = std::clamp<int64_t>(left, 0, width);
			const int64_t end =
				std::clamp<int64_t>(left + op.kernelWidth, begin, width);
			const auto columns = static_cast<uint32_t>(end - begin);

			window = { static_cast<uint32_t>(begin), columns,
				   op.kernelWidth - columns };
			left += op.strideX;
		}
		return windows;
	}

	bool isWhole(const Window &window) const { return window.columns == op_.kernelWidth; }

	size_t firstWhole() const
	{
		size_t from = 0;
		while (from < windows_.size() && !isWhole(windows_[from]))
			from++;
		return from;
	}

	size_t endWhole() const
	{
		size_t end = firstWhole_;
		while (end < windows_.size() && isWhole(windows_[end]))
			end++;
		return end;
	}

	/** Output lines that the line leads to, which are behind those of the line before */
	void findOutputs()
	{
		const uint32_t top = y_ + op_.padTop; /* counted from the first padded line */

		while (outputs_.first * op_.strideY + op_.kernelHeight <= top)
			outputs_.first++;
		while (outputs_.end < op_.outHeight && outputs_.end * op_.strideY <= top)
			outputs_.end++;
	}

	/** Reduce the rows of all windows that lie on one line; those with no column are zero */
	void poolLine(const Element *in)
	{
		bool &plain = isPlain_[slot_];

		plain = ops_.mayBePlain() && poolRow<true>(in);
		if (!plain)
			poolRow<false>(in);
	}

	/** As if something needed care */
	HWY_NOINLINE void poolWithSigns(const Element *in)
	{
		isPlain_[slot_] = false;
		poolRow<false>(in);
	}

	/**
	 * \tparam kPlain there is no number that needs care
	 * \return false if nothing is of use, as there is such a number
	 */
	template<bool kPlain>
	bool poolRow(const Element *in)
	{
		/* Those with columns that are not on the line. */
		const bool first = firstWhole_ == 0 || poolEach<kPlain>(in, 0, firstWhole_);
		const bool last = endWhole_ == windows_.size() ||
				  poolEach<kPlain>(in, endWhole_, windows_.size());

		return poolUsual<kPlain>(in) && first && last;
	}

	/** Windows that are whole; the usual widths, for which the compiler has no loop to make */
	template<bool kPlain>
	bool poolUsual(const Element *in)
	{
		switch (op_.kernelWidth) {
		case 2:
			return poolWhole<kPlain, 2, false>(in);
		case 3:
			return op_.strideX == 2 ? poolWhole<kPlain, 3, true>(in)
						: poolWhole<kPlain, 3, false>(in);
		default:
			return poolEach<kPlain>(in, firstWhole_, endWhole_);
		}
	}

	/** Windows of any width */
	template<bool kPlain>
	HWY_NOINLINE bool poolEach(const Element *in, size_t first, size_t end)
	{
		const Ops ops = ops_;
		bool plain = true;

		for (size_t lane = 0; lane < Lanes; lane += hn::Lanes(Tag())) {
			Number *row = rowOf(slot_) + lane;
			Vector seen = hn::Zero(Tag());
			for (size_t i = first; i < end; i++)
				hn::StoreU(sumOf<kPlain>(ops, windows_[i], in + lane, seen), Tag(),
					   row + i * Lanes);
			plain &= Ops::sawPlain(seen);
		}
		return plain;
	}

	/**
	 * Windows that are whole, of one width
	 * \tparam kColumns of each \tparam kShares a window's last column is the next one's first
	 */
	template<bool kPlain, uint32_t kColumns, bool kShares>
	bool poolWhole(const Element *in)
	{
		const size_t stride = size_t{ op_.strideX } * Lanes;
		const size_t count = endWhole_ - firstWhole_;
		const Ops ops = ops_;
		bool plain = true;

		if (count == 0)
			return true;
		in += size_t{ windows_[firstWhole_].first } * Lanes;
		for (size_t lane = 0; lane < Lanes; lane += hn::Lanes(Tag())) {
			Number *row = rowOf(slot_) + firstWhole_ * Lanes + lane;
			const Element *from = in + lane;
			Vector seen = hn::Zero(Tag());
			Vector column = ops.template load<kPlain>(from, seen);
			for (size_t i = 0; i < count; i++, from += stride) {
				bringAhead(from);
				if constexpr (!kShares)
					column = ops.template load<kPlain>(from, seen);
				hn::StoreU(rowSum<kPlain>(ops, from, kColumns, 0, column, seen),
					   Tag(), row + i * Lanes);
			}
			plain &= Ops::sawPlain(seen);
		}
		return plain;
	}

	template<bool kPlain>
	static HWY_INLINE Vector sumOf(const Ops &ops, const Window &window, const Element *in,
				       Vector &seen)
	{
		if (window.columns == 0)
			return hn::Zero(Tag());
		const Element *from = in + size_t{ window.first } * Lanes;
		Vector column = ops.template load<kPlain>(from, seen);
		return rowSum<kPlain>(ops, from, window.columns, window.padded, column, seen);
	}

	/**
	 * \param column the first one's elements, afterwards those of the last one
	 * \return what becomes of \a columns of a window, and of others that are \a padded
	 */
	template<bool kPlain>
	static HWY_INLINE Vector rowSum(const Ops &ops, const Element *from, uint32_t columns,
					uint32_t padded, Vector &column, Vector &seen)
	{
		Vector row = column;

		for (uint32_t n = 1; n < columns; n++) {
			column = ops.template load<kPlain>(from + n * Lanes, seen);
			row = ops.template addInRow<kPlain>(row, column);
		}
		if constexpr (kPlain)
			Ops::seeRow(row, seen);
		return ops.template finishRow<kPlain>(row, padded);
	}

	/** What became of the windows' rows on one of the last lines */
	Number *rowOf(uint32_t slot) { return &rows_[rowNumbers_ * slot]; }

	/**
	 * Reduce windows to elements: the rows of the last \a count lines
	 * \param in the last one of them \return true if all were plain
	 */
	bool finish(uint32_t count, const Element *in, Element *out)
	{
		std::array<const Number *, kMostRows> rows;
		bool plain = true;

		for (uint32_t i = count, slot = slot_; i > 0; i--) {
			rows[i - 1] = rowOf(slot);
			plain &= isPlain_[slot];
			slot = (slot == 0 ? op_.kernelHeight : slot) - 1;
		}
		if (plain)
			finishRows<true>(rows.data(), count, in, out);
		else
			finishRows<false>(rows.data(), count, in, out);
		return plain;
	}

	template<bool kPlain>
	HWY_NOINLINE void finishRows(const Number *const *rows, uint32_t count, const Element *in,
				     Element *out)
	{
		/* The usual heights, as of widths. */
		switch (count) {
		case 2:
			return finishWindows<kPlain, 2>(rows, count, in, out);
		case 3:
			return finishWindows<kPlain, 3>(rows, count, in, out);
		default:
			return finishWindows<kPlain, 0>(rows, count, in, out);
		}
	}

	/** \tparam kRows of a window; 0: \a count, any */
	template<bool kPlain, uint32_t kRows>
	void finishWindows(const Number *const *rows, uint32_t count, const Element *in,
			   Element *out)
	{
		const size_t step = hn::Lanes(Tag());
		const size_t numbers = rowNumbers_;
		const uint32_t padded = op_.kernelHeight - count;
		const Ops ops = ops_;
		const Number *row[kMostRows];

		count = kRows ? kRows : count;
		std::copy_n(rows, count, row);
		for (size_t i = 0; i < numbers; i += step) {
			Vector all = hn::LoadU(Tag(), row[0] + i);
			for (uint32_t n = 1; n < count; n++)
				all = ops.template addRow<kPlain>(all,
								  hn::LoadU(Tag(), row[n] + i));
			if constexpr (Ops::kLosesSigns) {
				if (HWY_UNLIKELY(Ops::hasZero(all)))
					all = withSigns(all, i, in);
			}
			ops.template finish<kPlain>(all, padded, out + i);
		}
	}

	/**
	 * Zeroes in plain rows have no sign of their own; of windows that are zero that of their
	 * last row is seen. It is none where no column has one.
	 *
	 * \param in the last row
	 */
	HWY_NOINLINE Vector withSigns(Vector all, size_t i, const Element *in) const
	{
		const Window &window = windows_[i / Lanes];
		Vector seen = hn::Zero(Tag());

		in += i % Lanes;
		if (!isPlain_[slot_] ||
		    (isWhole(window) &&
		     Ops::hasNoSigns(in + size_t{ window.first } * Lanes, window.columns)))
			return all;
		return Ops::withSign(all, sumOf<false>(ops_, window, in, seen));
	}

	static constexpr uint32_t kMostRows = 8; /* of a window */

	const PdpOp &op_;
	const Ops ops_;
	uint32_t y_ = 0;
	uint32_t slot_ = 0; /* of rows_, for the line at y_ */
	Outputs outputs_;   /* that the line leads to */
	const std::vector<Window> windows_;
	/* Those with all of their columns on the line, which lie beside one another. */
	const size_t firstWhole_;
	const size_t endWhole_;
	const size_t rowNumbers_;
	/* As many as a window has, in turns. Vectors of them are whole lines of the cache. */
	std::vector<Number, LineAllocator<Number>> rows_;
	/* No number of a row needs care. */
	std::array<bool, kMostRows> isPlain_ = {};
};

/** \tparam Max, Min, Average of pdp_vectors-inl.h */
template<typename Max, typename Min, typename Average, uint32_t Lanes>
std::unique_ptr<PdpPooler> createOf(const PdpOp &op, const PdpPart &part)
{
	switch (op.method) {
	case PoolingMethod::Max:
		return std::make_unique<Pooler<Max, Lanes>>(op, part);
	case PoolingMethod::Min:
		return std::make_unique<Pooler<Min, Lanes>>(op, part);
	case PoolingMethod::Average:
		break;
	}
	return std::make_unique<Pooler<Average, Lanes>>(op, part);
}

template<class AtOnce>
std::unique_ptr<PdpPooler> createOfIntegers(const PdpOp &op, const PdpPart &part)
{
	constexpr Precision precision = AtOnce::Scaling::kPrecision;
	constexpr uint32_t lanes = AtOnce::Scaling::kLanes;

	return createOf<IntegerExtremes<precision, PoolingMethod::Max, lanes>,
			IntegerExtremes<precision, PoolingMethod::Min, lanes>,
			IntegerAverages<AtOnce>, lanes>(op, part);
}

std::unique_ptr<PdpPooler> createOfFloats(const PdpOp &op, const PdpPart &part)
{
	constexpr uint32_t lanes = atomChannels(Precision::Fp16);

	if (op.method == PoolingMethod::Average && !FloatAverages::accepts(op))
		return std::make_unique<Pooler<OneByOne<PdpFloatAverage>, lanes>>(op, part);
	return createOf<FloatExtremes<PoolingMethod::Max>, FloatExtremes<PoolingMethod::Min>,
			FloatAverages, lanes>(op, part);
}

/* Lanes of an INT8 atom: nv_small and its sisters, nv_full and nv_large. */
constexpr uint32_t kSmallAtom = 8;
constexpr uint32_t kWideAtom = atomChannels(Precision::Int8);

std::unique_ptr<PdpPooler> createOfTarget(const PdpOp &op, const PdpPart &part)
{
	switch (op.precision) {
	case Precision::Int8:
		return op.lanes() == kSmallAtom ? createOfIntegers<Int8AtOnce<kSmallAtom>>(op, part)
						: createOfIntegers<Int8AtOnce<kWideAtom>>(op, part);
	case Precision::Int16:
		return createOfIntegers<Int16AtOnce>(op, part);
	case Precision::Fp16:
		break;
	}
	return createOfFloats(op, part);
}

} /* namespace HWY_NAMESPACE */
} /* namespace nvdla::sim */
HWY_AFTER_NAMESPACE();

#if HWY_ONCE

namespace nvdla::sim
{

HWY_EXPORT(createOfTarget);

std::unique_ptr<PdpPooler> PdpPooler::create(const PdpOp &op, const PdpPart &part)
{
	return HWY_DYNAMIC_DISPATCH(createOfTarget)(op, part);
}

} /* namespace nvdla::sim */

#endif /* HWY_ONCE */
