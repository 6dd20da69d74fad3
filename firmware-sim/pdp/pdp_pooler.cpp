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
	uint32_t first;
	uint32_t end;
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
		: op_(op), ops_(op), slots_((op.kernelHeight + op.strideY - 1) / op.strideY),
		  inWidth_(part.inWidth), windows_(windowsOf(op, part)), firstWhole_(firstWhole()),
		  endWhole_(endWhole()), row_(size_t{ part.outWidth } * Lanes),
		  sums_(row_.size() * slots_), out_(row_.size())
	{
	}

	void push(std::span<const std::byte> line, const Emit &emit) override
	{
		const Outputs outputs = outputsOfLine();

		if (outputs.first < outputs.end)
			poolLine(reinterpret_cast<const Element *>(line.data()));
		for (uint32_t outY = outputs.first; outY < outputs.end; outY++) {
			const int64_t top = int64_t{ outY } * op_.strideY - op_.padTop;
			const int64_t begin = std::max<int64_t>(top, 0);
			const int64_t end = std::min<int64_t>(top + op_.kernelHeight, op_.inHeight);

			if (y_ + 1 != end) {
				addRow(outY, y_ == begin);
				continue;
			}
			finish(outY, y_ == begin,
			       op_.kernelHeight - static_cast<uint32_t>(end - begin));
			emit(outY, std::as_bytes(std::span(out_)));
		}
		y_ = (y_ + 1) % op_.inHeight;
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

	/** \return output lines that the line leads to */
	Outputs outputsOfLine() const
	{
		const uint32_t top = y_ + op_.padTop; /* counted from the first padded line */
		const uint32_t first =
			top < op_.kernelHeight ? 0 : (top - op_.kernelHeight) / op_.strideY + 1;
		return { first, std::min(top / op_.strideY + 1, op_.outHeight) };
	}

	/** Reduce the rows of all windows that lie on one line; those with no column are zero */
	void poolLine(const Element *in)
	{
		rowIsPlain_ = ops_.isPlain(in, size_t{ inWidth_ } * Lanes);
		if (rowIsPlain_)
			poolRow<true>(in);
		else
			poolRow<false>(in);
	}

	template<bool kPlain>
	void poolRow(const Element *in)
	{
		/* The usual widths, for which the compiler has no loop to make. */
		switch (op_.kernelWidth) {
		case 2:
			return poolWindows<kPlain, 2>(in);
		case 3:
			return poolWindows<kPlain, 3>(in);
		default:
			return poolWindows<kPlain, 0>(in);
		}
	}

	/** \tparam kPlain there is no number that needs care \tparam kColumns of a window; 0: any
	 */
	template<bool kPlain, uint32_t kColumns>
	void poolWindows(const Element *in)
	{
		const size_t step = hn::Lanes(Tag());
		const size_t stride = size_t{ op_.strideX } * Lanes;
		const size_t width = windows_.size();
		const size_t first = kColumns ? firstWhole_ : width;
		const size_t end = kColumns ? endWhole_ : width;
		const Ops ops = ops_;

		for (size_t lane = 0; lane < Lanes; lane += step) {
			Number *row = row_.data() + lane;
			const auto some = [&](size_t from, size_t to) HWY_ATTR {
				for (size_t i = from; i < to; i++)
					hn::StoreU(rowOf<kPlain>(ops, windows_[i], in + lane),
						   Tag(), row + i * Lanes);
			};

			some(0, first);
			if constexpr (kColumns > 0) {
				const Element *from = in + lane;
				if (first < end)
					from += size_t{ windows_[first].first } * Lanes;
				for (size_t i = first; i < end; i++, from += stride) {
					Vector sum = ops.template load<kPlain>(from);
					for (uint32_t n = 1; n < kColumns; n++)
						sum = ops.template addInRow<kPlain>(
							sum, ops.template load<kPlain>(from +
										       n * Lanes));
					hn::StoreU(ops.finishRow(sum, 0), Tag(), row + i * Lanes);
				}
			}
			some(end, width);
		}
	}

	template<bool kPlain>
	static HWY_INLINE Vector rowOf(const Ops &ops, const Window &window, const Element *in)
	{
		if (window.columns == 0)
			return hn::Zero(Tag());
		const Element *from = in + size_t{ window.first } * Lanes;
		const Element *end = from + size_t{ window.columns } * Lanes;
		Vector row = ops.template load<kPlain>(from);
		for (from += Lanes; from < end; from += Lanes)
			row = ops.template addInRow<kPlain>(row, ops.template load<kPlain>(from));
		return ops.finishRow(row, window.padded);
	}

	/** The sums of an output line that is under way */
	Number *slot(uint32_t outY) { return sums_.data() + row_.size() * (outY % slots_); }

	void addRow(uint32_t outY, bool first)
	{
		bool &isPlain = slotIsPlain_[outY % slots_];

		if (first) {
			std::copy_n(row_.data(), row_.size(), slot(outY));
			isPlain = rowIsPlain_;
			return;
		}
		isPlain &= rowIsPlain_;
		if (isPlain)
			addToSums<true>(slot(outY));
		else
			addToSums<false>(slot(outY));
	}

	template<bool kPlain>
	void addToSums(Number *sum)
	{
		const size_t step = hn::Lanes(Tag());
		const size_t count = row_.size();
		const Ops ops = ops_;
		const Number *row = row_.data();

		for (size_t i = 0; i < count; i += step)
			hn::StoreU(ops.template addRow<kPlain>(hn::LoadU(Tag(), sum + i),
							       hn::LoadU(Tag(), row + i)),
				   Tag(), sum + i);
	}

	/** \param first the row is the only one */
	void finish(uint32_t outY, bool first, uint32_t padded)
	{
		const Number *sum = first ? nullptr : slot(outY);

		if (rowIsPlain_ && (first || slotIsPlain_[outY % slots_]))
			finishSums<true>(sum, padded);
		else
			finishSums<false>(sum, padded);
	}

	/** \param sum null: there is none */
	template<bool kPlain>
	void finishSums(const Number *sum, uint32_t padded)
	{
		const size_t step = hn::Lanes(Tag());
		const size_t count = row_.size();
		const Ops ops = ops_;
		const Number *row = row_.data();
		Element *out = out_.data();

		for (size_t i = 0; i < count; i += step) {
			Vector all = hn::LoadU(Tag(), row + i);
			if (sum)
				all = ops.template addRow<kPlain>(hn::LoadU(Tag(), sum + i), all);
			ops.template finish<kPlain>(all, padded, out + i);
		}
	}

	const PdpOp &op_;
	const Ops ops_;
	const uint32_t slots_; /* output lines under way at the same time */
	uint32_t y_ = 0;
	const uint32_t inWidth_;
	const std::vector<Window> windows_;
	/* Those with all of their columns on the line, which lie beside one another. */
	const size_t firstWhole_;
	const size_t endWhole_;
	/* No number of the row, or of all rows of a slot, needs care. */
	bool rowIsPlain_ = false;
	std::array<bool, 8> slotIsPlain_ = {};
	std::vector<Number> row_;
	std::vector<Number> sums_;
	std::vector<Element> out_;
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

template<Precision P, typename Average>
std::unique_ptr<PdpPooler> createOfIntegers(const PdpOp &op, const PdpPart &part)
{
	return createOf<IntegerExtremes<P, PoolingMethod::Max>,
			IntegerExtremes<P, PoolingMethod::Min>, Average, atomChannels(P)>(op, part);
}

std::unique_ptr<PdpPooler> createOfFloats(const PdpOp &op, const PdpPart &part)
{
	constexpr uint32_t lanes = atomChannels(Precision::Fp16);

	if (op.method == PoolingMethod::Average && !FloatAverages::accepts(op))
		return std::make_unique<Pooler<OneByOne<PdpFloatAverage>, lanes>>(op, part);
	return createOf<FloatExtremes<PoolingMethod::Max>, FloatExtremes<PoolingMethod::Min>,
			FloatAverages, lanes>(op, part);
}

std::unique_ptr<PdpPooler> createOfTarget(const PdpOp &op, const PdpPart &part)
{
	switch (op.precision) {
	case Precision::Int8:
		return createOfIntegers<Precision::Int8, Int8Averages>(op, part);
	case Precision::Int16:
		return createOfIntegers<Precision::Int16, Int16Averages>(op, part);
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
