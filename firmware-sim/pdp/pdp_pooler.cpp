/* SPDX-License-Identifier: MIT */
/*
 * Lines and windows; compiled once for each instruction set (Highway).
 */
#include "pdp/pdp_pooler.h"

#include <algorithm>
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
		  windows_(windowsOf(op, part)), row_(size_t{ part.outWidth } * Lanes),
		  sums_(row_.size() * slots_), out_(row_.size())
	{
	}

	void push(std::span<const std::byte> line, const Emit &emit) override
	{
		const Outputs outputs = outputsOfLine();

		if (outputs.first < outputs.end)
			poolRow(reinterpret_cast<const Element *>(line.data()));
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

	/** \return output lines that the line leads to */
	Outputs outputsOfLine() const
	{
		const uint32_t top = y_ + op_.padTop; /* counted from the first padded line */
		const uint32_t first =
			top < op_.kernelHeight ? 0 : (top - op_.kernelHeight) / op_.strideY + 1;
		return { first, std::min(top / op_.strideY + 1, op_.outHeight) };
	}

	/** Reduce the rows of all windows that lie on one line; those with no column are zero */
	void poolRow(const Element *in)
	{
		const size_t step = hn::Lanes(Tag());
		const Ops ops = ops_;

		for (size_t lane = 0; lane < Lanes; lane += step) {
			Number *row = row_.data() + lane;
			for (const Window &window : windows_) {
				hn::StoreU(rowOf(ops, window, in + lane), Tag(), row);
				row += Lanes;
			}
		}
	}

	static HWY_INLINE Vector rowOf(const Ops &ops, const Window &window, const Element *in)
	{
		if (window.columns == 0)
			return hn::Zero(Tag());
		const Element *from = in + size_t{ window.first } * Lanes;
		const Element *end = from + size_t{ window.columns } * Lanes;
		Vector row = ops.load(from);
		for (from += Lanes; from < end; from += Lanes)
			row = ops.addInRow(row, ops.load(from));
		return ops.finishRow(row, window.padded);
	}

	/** The sums of an output line that is under way */
	Number *slot(uint32_t outY) { return sums_.data() + row_.size() * (outY % slots_); }

	void addRow(uint32_t outY, bool first)
	{
		const size_t step = hn::Lanes(Tag());
		const size_t count = row_.size();
		const Ops ops = ops_;
		const Number *row = row_.data();
		Number *sum = slot(outY);

		if (first) {
			std::copy_n(row, count, sum);
			return;
		}
		for (size_t i = 0; i < count; i += step)
			hn::StoreU(ops.addRow(hn::LoadU(Tag(), sum + i), hn::LoadU(Tag(), row + i)),
				   Tag(), sum + i);
	}

	/** \param first the row is the only one */
	void finish(uint32_t outY, bool first, uint32_t padded)
	{
		const size_t step = hn::Lanes(Tag());
		const size_t count = row_.size();
		const Ops ops = ops_;
		const Number *row = row_.data();
		const Number *sum = slot(outY);
		Element *out = out_.data();

		for (size_t i = 0; i < count; i += step) {
			Vector all = hn::LoadU(Tag(), row + i);
			if (!first)
				all = ops.addRow(hn::LoadU(Tag(), sum + i), all);
			ops.finish(all, padded, out + i);
		}
	}

	const PdpOp &op_;
	const Ops ops_;
	const uint32_t slots_; /* output lines under way at the same time */
	uint32_t y_ = 0;
	const std::vector<Window> windows_;
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
