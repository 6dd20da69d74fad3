/* SPDX-License-Identifier: MIT */
/*
 * Pools lines into windows, in vectors; the file is compiled once for each instruction set
 * (Highway).
 */
#include "pdp/pdp_pooler.h"

#include <algorithm>
#include <array>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "pdp/pdp_pooler.cpp"
#include <hwy/foreach_target.h>
/* Headers that are included once for each instruction set must follow foreach_target.h. */
#include <hwy/highway.h>

#include "core/bring_ahead.h"
#include "pdp/pdp_arith.h"
#include "pdp/pdp_averages-inl.h"
#include "pdp/pdp_vectors-inl.h"

HWY_BEFORE_NAMESPACE();
namespace nvdla::sim
{
namespace HWY_NAMESPACE
{

/** \tparam Ops arithmetic: a class of pdp_vectors-inl.h or pdp_averages-inl.h */
template<typename Ops, uint32_t Lanes>
class Pooler final : public PdpPooler
{
public:
	Pooler(const PdpOp &op, const PdpPart &part) : PdpPooler(op, part, sizeof(Number)), ops_(op)
	{
	}

private:
	using Element = typename Ops::Element;
	using Number = typename Ops::Number;
	using Tag = typename Ops::Tag;
	using Vector = typename Ops::Vector;

	void poolLine(const std::byte *line, std::byte *row) const override
	{
		const auto *in = reinterpret_cast<const Element *>(line);
		const Ops ops = ops_;

		for (size_t lane = 0; lane < Lanes; lane += hn::Lanes(Tag())) {
			auto *numbers = reinterpret_cast<Number *>(row) + lane;
			for (const Window &window : windows_) {
				hn::StoreU(rowSum(ops, window, in + lane), Tag(), numbers);
				numbers += Lanes;
			}
		}
	}

	/** \return a window's columns on a line, reduced to a vector */
	static HWY_INLINE Vector rowSum(const Ops &ops, const Window &window, const Element *in)
	{
		static constexpr Element kZeroes[Lanes] = {};

		if (window.columns == 0)
			return ops.load(kZeroes);
		const Element *from = in + size_t{ window.first } * Lanes;
		Vector row = ops.load(from);
		bringAhead(from);
		for (uint32_t n = 1; n < window.columns; n++)
			row = ops.addInRow(row, ops.load(from + n * Lanes));
		return ops.finishRow(row, window.padded);
	}

	void finish(std::span<const std::byte *const> rows, uint32_t padded,
		    std::byte *bytes) const override
	{
		auto *out = reinterpret_cast<Element *>(bytes);
		const Ops ops = ops_;

		for (size_t i = 0; i < rowNumbers_; i += hn::Lanes(Tag())) {
			Vector all = numbersAt(rows[0], i);
			for (size_t n = 1; n < rows.size(); n++)
				all = ops.addRow(all, numbersAt(rows[n], i));
			ops.finish(all, padded, out + i);
		}
	}

	static HWY_INLINE Vector numbersAt(const std::byte *row, size_t i)
	{
		return hn::LoadU(Tag(), reinterpret_cast<const Number *>(row) + i);
	}

	const Ops ops_;
};

/** \tparam Max, Min, Average classes of pdp_vectors-inl.h and pdp_averages-inl.h */
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

template<Precision P, uint32_t Lanes>
std::unique_ptr<PdpPooler> createOfIntegers(const PdpOp &op, const PdpPart &part)
{
	return createOf<IntegerExtremes<P, PoolingMethod::Max, Lanes>,
			IntegerExtremes<P, PoolingMethod::Min, Lanes>, IntegerAverages<P, Lanes>,
			Lanes>(op, part);
}

std::unique_ptr<PdpPooler> createOfFloats(const PdpOp &op, const PdpPart &part)
{
	constexpr uint32_t lanes = atomChannels(Precision::Fp16);

	if (op.method == PoolingMethod::Average && !FloatAverages::accepts(op))
		return std::make_unique<Pooler<OneByOne<PdpFloatAverage>, lanes>>(op, part);
	return createOf<FloatExtremes<PoolingMethod::Max>, FloatExtremes<PoolingMethod::Min>,
			FloatAverages, lanes>(op, part);
}

/* Lanes of an INT8 atom: 32 in nv_full and nv_large, 8 in all other configurations. */
constexpr uint32_t kSmallAtom = 8;
constexpr uint32_t kWideAtom = atomChannels(Precision::Int8);

std::unique_ptr<PdpPooler> createOfTarget(const PdpOp &op, const PdpPart &part)
{
	switch (op.precision) {
	case Precision::Int8:
		return op.lanes() == kSmallAtom
			       ? createOfIntegers<Precision::Int8, kSmallAtom>(op, part)
			       : createOfIntegers<Precision::Int8, kWideAtom>(op, part);
	case Precision::Int16:
		return createOfIntegers<Precision::Int16, atomChannels(Precision::Int16)>(op, part);
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

namespace
{

template<typename Window>
std::vector<Window> windowsOf(const PdpOp &op, const PdpPart &part)
{
	std::vector<Window> windows(part.outWidth);
	const int64_t width = part.inWidth;
	int64_t left = -int64_t{ part.padLeft };

	for (Window &window : windows) {
		const int64_t begin = std::clamp<int64_t>(left, 0, width);
		const int64_t end = std::clamp<int64_t>(left + op.kernelWidth, begin, width);
		const auto columns = static_cast<uint32_t>(end - begin);

		window = { static_cast<uint32_t>(begin), columns, op.kernelWidth - columns };
		left += op.strideX;
	}
	return windows;
}

} /* namespace */

std::unique_ptr<PdpPooler> PdpPooler::create(const PdpOp &op, const PdpPart &part)
{
	return HWY_DYNAMIC_DISPATCH(createOfTarget)(op, part);
}

PdpPooler::PdpPooler(const PdpOp &op, const PdpPart &part, size_t numberBytes)
	: windows_(windowsOf<Window>(op, part)), rowNumbers_(size_t{ part.outWidth } * op.lanes()),
	  op_(op), rowBytes_(rowNumbers_ * numberBytes), rows_(rowBytes_ * op.kernelHeight)
{
}

void PdpPooler::push(std::span<const std::byte> line, PdpOutput &output)
{
	findOutputs();
	if (outputs_.first < outputs_.end)
		poolLine(line.data(), &rows_[rowBytes_ * slot_]);
	for (uint32_t outY = outputs_.first; outY < outputs_.end; outY++) {
		const int64_t top = int64_t{ outY } * op_.strideY - op_.padTop;
		const int64_t begin = std::max<int64_t>(top, 0);
		const int64_t end = std::min<int64_t>(top + op_.kernelHeight, op_.inHeight);

		if (y_ + 1 != end)
			continue;
		const auto out = output.place(outY, rowNumbers_ * elementBytes(op_.precision));
		finishLine(static_cast<uint32_t>(end - begin), out.data());
		output.write(outY, out);
	}
	slot_ = slot_ + 1 == op_.kernelHeight ? 0 : slot_ + 1;
	if (++y_ == op_.inHeight) {
		y_ = slot_ = 0;
		outputs_ = {};
	}
}

/* Finds the output lines that need the line at y_, starting from those of the previous line. */
void PdpPooler::findOutputs()
{
	const uint32_t top = y_ + op_.padTop; /* index of the line, padded lines included */

	while (outputs_.first * op_.strideY + op_.kernelHeight <= top)
		outputs_.first++;
	while (outputs_.end < op_.outHeight && outputs_.end * op_.strideY <= top)
		outputs_.end++;
}

/* Makes an output line from the reduced rows of the last \a count input lines. */
void PdpPooler::finishLine(uint32_t count, std::byte *out) const
{
	std::array<const std::byte *, kMostRows> rows;

	for (uint32_t i = count, slot = slot_; i > 0; i--) {
		rows[i - 1] = &rows_[rowBytes_ * slot];
		slot = (slot == 0 ? op_.kernelHeight : slot) - 1;
	}
	finish(std::span(rows).first(count), op_.kernelHeight - count, out);
}

} /* namespace nvdla::sim */

#endif /* HWY_ONCE */
