/* SPDX-License-Identifier: MIT */
/*
 * Plain loops, which the compiler makes vectors of: compiled once for each instruction set
 * (Highway).
 */
#include "pdp/pdp_pooler.h"

#include <algorithm>
#include <type_traits>
#include <vector>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "pdp/pdp_pooler.cpp"
#include <hwy/foreach_target.h>
/* After foreach_target.h. */
#include <hwy/highway.h>

#include "pdp/pdp_arith.h"

HWY_BEFORE_NAMESPACE();
namespace nvdla::sim
{
namespace HWY_NAMESPACE
{

namespace hn = hwy::HWY_NAMESPACE;

/**
 * \brief PdpIntegerAverage::finish() of INT8 in vectors of 16 bits
 *
 * A product of 14 by 17 bits is not needed as a whole: of the lower 16 bits of the reciprocal the
 * product's upper half and its bit below, and the number itself for the bit above.
 */
class Int8Averages
{
	using Arith = PdpIntegerAverage<Precision::Int8>;
	using Tag = hn::CappedTag<int16_t, 32>;
	using Bits = hn::RebindToUnsigned<Tag>;
	using Vector = hn::Vec<Tag>;

public:
	/** \param count whole atoms */
	static void finish(const Arith &arith, const int16_t *sums, size_t count, uint32_t padded,
			   int8_t *out)
	{
		const Tag tag;
		const hn::Rebind<int8_t, Tag> outTag;
		/* The sum is wrapped afterwards anyhow. */
		const auto added = static_cast<int16_t>(arith.padValue[padded] * arith.width);

		for (size_t i = 0; i < count; i += hn::Lanes(tag)) {
			const Vector whole = wrap<Arith::kSumBits>(
				hn::Add(hn::LoadU(tag, sums + i), hn::Set(tag, added)));
			const Vector row = scale<Arith::kScaledBits>(whole, arith.recipWidth);
			const Vector all = scale<Arith::kOutBits>(row, arith.recipHeight);
			hn::StoreU(hn::DemoteTo(outTag, all), outTag, out + i);
		}
	}

private:
	template<int kBits>
	static HWY_INLINE Vector wrap(Vector value)
	{
		return hn::ShiftRight<16 - kBits>(hn::ShiftLeft<16 - kBits>(value));
	}

	/* As PdpIntegerAverage::scale(): of a negative number all bits are rounded. */
	template<int kBits>
	static HWY_INLINE Vector scale(Vector value, int32_t reciprocal)
	{
		const Tag tag;
		const Bits bits;
		const auto low = hn::Set(bits, static_cast<uint16_t>(reciprocal));
		const auto high = hn::Set(bits, static_cast<uint16_t>(-(reciprocal >> 16)));
		const auto magnitude = hn::BitCast(bits, hn::Abs(value));
		const auto whole = hn::Add(hn::MulHigh(magnitude, low), hn::And(magnitude, high));
		const auto half = hn::ShiftRight<15>(hn::Mul(magnitude, low));
		const auto sign = hn::BroadcastSignBit(value);
		const auto mask =
			hn::Or(hn::BitCast(bits, sign), hn::Set(bits, (1 << (kBits - 1)) - 1));
		const Vector rounded = hn::BitCast(tag, hn::Add(hn::And(whole, mask), half));

		return wrap<kBits>(hn::Sub(hn::Xor(rounded, sign), sign));
	}
};

/** \brief Consecutive output positions */
struct Outputs {
	uint32_t first;
	uint32_t end;
};

template<typename Arith, uint32_t Lanes>
class Pooler final : public PdpPooler
{
public:
	Pooler(const PdpOp &op, const PdpPart &part)
		: op_(op), part_(part), arith_(op),
		  slots_((op.kernelHeight + op.strideY - 1) / op.strideY),
		  in_(kConverts ? size_t{ part.inWidth } * Lanes : 0),
		  row_(size_t{ part.outWidth } * Lanes), sums_(row_.size() * slots_),
		  out_(row_.size())
	{
	}

	void push(std::span<const std::byte> line, const Emit &emit) override
	{
		const Outputs outputs = outputsOfLine();

		if (outputs.first < outputs.end)
			poolRow(numbers(line));
		for (uint32_t outY = outputs.first; outY < outputs.end; outY++) {
			const int64_t top = int64_t{ outY } * op_.strideY - op_.padTop;
			const int64_t begin = std::max<int64_t>(top, 0);
			const int64_t end = std::min<int64_t>(top + op_.kernelHeight, op_.inHeight);

			addRow(outY, y_ == begin);
			if (y_ + 1 == end)
				finish(outY, op_.kernelHeight - static_cast<uint32_t>(end - begin),
				       emit);
		}
		y_ = (y_ + 1) % op_.inHeight;
	}

private:
	using Element = typename Arith::Element;
	using Number = typename Arith::Number;
	static constexpr bool kConverts = !std::is_same_v<Element, Number>;

	/** \return output lines that the line leads to */
	Outputs outputsOfLine() const
	{
		const uint32_t top = y_ + op_.padTop; /* counted from the first padded line */
		const uint32_t first =
			top < op_.kernelHeight ? 0 : (top - op_.kernelHeight) / op_.strideY + 1;
		return { first, std::min(top / op_.strideY + 1, op_.outHeight) };
	}

	const Number *numbers(std::span<const std::byte> line)
	{
		const auto *HWY_RESTRICT elements = reinterpret_cast<const Element *>(line.data());

		if constexpr (kConverts) {
			/* A copy, which what is written cannot change. */
			const Arith arith = arith_;
			Number *HWY_RESTRICT out = in_.data();
			for (size_t i = 0; i < in_.size(); i++)
				out[i] = arith.load(elements[i]);
			return out;
		} else {
			return elements;
		}
	}

	/** Reduce the rows of all windows that lie on one line: their first columns, their second
	 * ones, and so on */
	void poolRow(const Number *in)
	{
		beginRow(in);
		for (uint32_t column = 1; column < op_.kernelWidth; column++)
			addColumn(in, column);
		if constexpr (Arith::kPads)
			finishRow();
	}

	/** \return input column that column 0 of an output's window is at */
	int64_t left(uint32_t outX) const { return int64_t{ outX } * op_.strideX - part_.padLeft; }

	/** The first column of each window that is not padding */
	void beginRow(const Number *in)
	{
		for (uint32_t outX = 0; outX < part_.outWidth; outX++) {
			const int64_t x = std::max<int64_t>(left(outX), 0);
			Number *row = row_.data() + size_t{ outX } * Lanes;

			if (x < part_.inWidth)
				std::copy_n(in + x * Lanes, Lanes, row);
			else
				std::fill_n(row, Lanes, Number{ 0 });
		}
	}

	/** \return outputs for which \a column is on the line, and not the first that is */
	Outputs outputsOfColumn(uint32_t column) const
	{
		const int64_t stride = op_.strideX;
		const int64_t before = int64_t{ part_.padLeft } - column; /* of output 0 */
		const int64_t first = std::max<int64_t>((before + stride) / stride, 0);
		const int64_t end =
			(std::max<int64_t>(part_.inWidth + before, 0) + stride - 1) / stride;

		return { static_cast<uint32_t>(first),
			 static_cast<uint32_t>(std::min<int64_t>(end, part_.outWidth)) };
	}

	void addColumn(const Number *in, uint32_t column)
	{
		const Arith arith = arith_;
		const Outputs outputs = outputsOfColumn(column);
		const size_t step = size_t{ op_.strideX } * Lanes;
		Number *HWY_RESTRICT row = row_.data() + size_t{ outputs.first } * Lanes;

		if (outputs.first >= outputs.end)
			return;
		const Number *HWY_RESTRICT from = in + (left(outputs.first) + column) * Lanes;
		for (uint32_t i = outputs.first; i < outputs.end; i++, row += Lanes, from += step)
			for (uint32_t lane = 0; lane < Lanes; lane++)
				row[lane] = arith.addInRow(row[lane], from[lane]);
	}

	void finishRow()
	{
		const Arith arith = arith_;
		const int64_t width = part_.inWidth;

		for (uint32_t outX = 0; outX < part_.outWidth; outX++) {
			const int64_t begin = std::clamp<int64_t>(left(outX), 0, width);
			const int64_t end =
				std::clamp<int64_t>(left(outX) + op_.kernelWidth, begin, width);
			const auto padded = op_.kernelWidth - static_cast<uint32_t>(end - begin);
			Number *HWY_RESTRICT row = row_.data() + size_t{ outX } * Lanes;

			for (uint32_t lane = 0; lane < Lanes && begin < end; lane++)
				row[lane] = arith.finishRow(row[lane], padded);
		}
	}

	/** The sums of an output line that is under way */
	Number *slot(uint32_t outY) { return sums_.data() + row_.size() * (outY % slots_); }

	void addRow(uint32_t outY, bool first)
	{
		const Arith arith = arith_;
		Number *HWY_RESTRICT sum = slot(outY);
		const Number *HWY_RESTRICT row = row_.data();

		if (first) {
			std::copy_n(row, row_.size(), sum);
			return;
		}
		const size_t count = row_.size();
		for (size_t i = 0; i < count; i++)
			sum[i] = arith.addRow(sum[i], row[i]);
	}

	void finish(uint32_t outY, uint32_t padded, const Emit &emit)
	{
		const Arith arith = arith_;
		const Number *HWY_RESTRICT sum = slot(outY);
		Element *HWY_RESTRICT out = out_.data();
		const size_t count = out_.size();

		if constexpr (std::is_same_v<Arith, PdpIntegerAverage<Precision::Int8>>)
			Int8Averages::finish(arith, sum, count, padded, out);
		else
			for (size_t i = 0; i < count; i++)
				out[i] = arith.finish(sum[i], padded);
		emit(outY, std::as_bytes(std::span(out_)));
	}

	const PdpOp &op_;
	const PdpPart &part_;
	const Arith arith_;
	const uint32_t slots_; /* output lines under way at the same time */
	uint32_t y_ = 0;
	std::vector<Number> in_;
	std::vector<Number> row_;
	std::vector<Number> sums_;
	std::vector<Element> out_;
};

template<Precision P>
std::unique_ptr<PdpPooler> createFor(const PdpOp &op, const PdpPart &part)
{
	constexpr uint32_t lanes = atomChannels(P);
	using Max = PdpExtreme<P, PoolingMethod::Max>;
	using Min = PdpExtreme<P, PoolingMethod::Min>;
	using Average =
		std::conditional_t<P == Precision::Fp16, PdpFloatAverage, PdpIntegerAverage<P>>;

	switch (op.method) {
	case PoolingMethod::Max:
		return std::make_unique<Pooler<Max, lanes>>(op, part);
	case PoolingMethod::Min:
		return std::make_unique<Pooler<Min, lanes>>(op, part);
	case PoolingMethod::Average:
		break;
	}
	return std::make_unique<Pooler<Average, lanes>>(op, part);
}

std::unique_ptr<PdpPooler> createOfTarget(const PdpOp &op, const PdpPart &part)
{
	switch (op.precision) {
	case Precision::Int8:
		return createFor<Precision::Int8>(op, part);
	case Precision::Int16:
		return createFor<Precision::Int16>(op, part);
	case Precision::Fp16:
		break;
	}
	return createFor<Precision::Fp16>(op, part);
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
