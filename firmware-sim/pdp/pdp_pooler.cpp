/* SPDX-License-Identifier: MIT */
#include "pdp/pdp_pooler.h"

#include <algorithm>
#include <vector>

#include "pdp/pdp_arith.h"

namespace nvdla::sim
{

namespace
{

/** \brief Output positions that an input position leads to */
struct Outputs {
	uint32_t first;
	uint32_t end;
};

template<typename Arith, uint32_t Lanes>
class Pooler final : public PdpPooler
{
public:
	Pooler(const PdpOp &op, const PdpPart &part);

	void push(std::span<const int32_t> line, const Emit &emit) override;

private:
	void poolRow(std::span<const int32_t> line);
	void addRow(std::span<int32_t> sum, bool first);
	void finish(std::span<const int32_t> sum, uint32_t padded, uint32_t y, const Emit &emit);
	Outputs outputsOfLine() const;
	std::span<int32_t> slot(uint32_t outY);

	const PdpOp &op_;
	const PdpPart &part_;
	const Arith arith_;
	const uint32_t slots_; /* output lines under way at the same time */
	uint32_t y_ = 0;
	std::vector<int32_t> in_;
	std::vector<int32_t> row_;
	std::vector<int32_t> sums_;
	std::vector<int32_t> out_;
};

template<typename Arith, uint32_t Lanes>
Pooler<Arith, Lanes>::Pooler(const PdpOp &op, const PdpPart &part)
	: op_(op), part_(part), arith_(op), slots_((op.kernelHeight + op.strideY - 1) / op.strideY),
	  in_(size_t{ part.inWidth } * Lanes), row_(size_t{ part.outWidth } * Lanes),
	  sums_(row_.size() * slots_), out_(row_.size())
{
}

/* Reduce the rows of all windows that lie on one line. */
template<typename Arith, uint32_t Lanes>
void Pooler<Arith, Lanes>::poolRow(std::span<const int32_t> line)
{
	const int64_t width = part_.inWidth;
	/* A copy, which what is written cannot change. */
	const Arith arith = arith_;

	std::transform(line.begin(), line.end(), in_.begin(),
		       [&arith](int32_t value) { return arith.load(value); });
	for (uint32_t outX = 0; outX < part_.outWidth; outX++) {
		const int64_t left = int64_t{ outX } * op_.strideX - part_.padLeft;
		const int64_t begin = std::clamp<int64_t>(left, 0, width);
		const int64_t end = std::clamp<int64_t>(left + op_.kernelWidth, begin, width);
		int32_t *row = &row_[size_t{ outX } * Lanes];

		if (begin == end) {
			std::fill_n(row, Lanes, 0);
			continue;
		}
		const int32_t *value = &in_[static_cast<size_t>(begin) * Lanes];
		std::copy_n(value, Lanes, row);
		for (int64_t x = begin + 1; x < end; x++) {
			value += Lanes;
			for (uint32_t lane = 0; lane < Lanes; lane++)
				row[lane] = arith.addInRow(row[lane], value[lane]);
		}
		const auto padded = op_.kernelWidth - static_cast<uint32_t>(end - begin);
		for (uint32_t lane = 0; lane < Lanes; lane++)
			row[lane] = arith.finishRow(row[lane], padded);
	}
}

template<typename Arith, uint32_t Lanes>
void Pooler<Arith, Lanes>::addRow(std::span<int32_t> sum, bool first)
{
	if (first) {
		std::copy(row_.begin(), row_.end(), sum.begin());
		return;
	}
	const Arith arith = arith_;
	for (size_t i = 0; i < sum.size(); i++)
		sum[i] = arith.addRow(sum[i], row_[i]);
}

template<typename Arith, uint32_t Lanes>
void Pooler<Arith, Lanes>::finish(std::span<const int32_t> sum, uint32_t padded, uint32_t y,
				  const Emit &emit)
{
	const Arith arith = arith_;

	for (size_t i = 0; i < sum.size(); i++)
		out_[i] = arith.finish(sum[i], padded);
	emit(y, out_);
}

template<typename Arith, uint32_t Lanes>
Outputs Pooler<Arith, Lanes>::outputsOfLine() const
{
	const uint32_t top = y_ + op_.padTop; /* counted from the first padded line */
	const uint32_t first =
		top < op_.kernelHeight ? 0 : (top - op_.kernelHeight) / op_.strideY + 1;
	return { first, std::min(top / op_.strideY + 1, op_.outHeight) };
}

template<typename Arith, uint32_t Lanes>
std::span<int32_t> Pooler<Arith, Lanes>::slot(uint32_t outY)
{
	return std::span(sums_).subspan(row_.size() * (outY % slots_), row_.size());
}

template<typename Arith, uint32_t Lanes>
void Pooler<Arith, Lanes>::push(std::span<const int32_t> line, const Emit &emit)
{
	const Outputs outputs = outputsOfLine();

	if (outputs.first < outputs.end)
		poolRow(line);
	for (uint32_t outY = outputs.first; outY < outputs.end; outY++) {
		const int64_t top = int64_t{ outY } * op_.strideY - op_.padTop;
		const int64_t begin = std::max<int64_t>(top, 0);
		const int64_t end = std::min<int64_t>(top + op_.kernelHeight, op_.inHeight);

		addRow(slot(outY), y_ == begin);
		if (y_ + 1 == end)
			finish(slot(outY), op_.kernelHeight - static_cast<uint32_t>(end - begin),
			       outY, emit);
	}
	y_ = (y_ + 1) % op_.inHeight;
}

template<Precision P>
std::unique_ptr<PdpPooler> createFor(const PdpOp &op, const PdpPart &part)
{
	constexpr uint32_t kLanes = atomChannels(P);

	switch (op.method) {
	case PoolingMethod::Max:
		return std::make_unique<Pooler<PdpExtreme<P, PoolingMethod::Max>, kLanes>>(op,
											   part);
	case PoolingMethod::Min:
		return std::make_unique<Pooler<PdpExtreme<P, PoolingMethod::Min>, kLanes>>(op,
											   part);
	case PoolingMethod::Average:
		break;
	}
	if constexpr (P == Precision::Fp16)
		return std::make_unique<Pooler<PdpFloatAverage, kLanes>>(op, part);
	else
		return std::make_unique<Pooler<PdpIntegerAverage<P>, kLanes>>(op, part);
}

} /* namespace */

std::unique_ptr<PdpPooler> PdpPooler::create(const PdpOp &op, const PdpPart &part)
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

} /* namespace nvdla::sim */
