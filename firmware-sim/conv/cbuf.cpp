/* SPDX-License-Identifier: MIT */
/*
 * What stays in the convolution buffer from one operation to the next.
 *
 * Rules (hardware semantics, "Reuse"; programming guide, "WEIGHT/DATA_REUSE"):
 * nothing is reused unless mode and banks are unchanged. After SKIP_DATA_RLS the
 * next operation with DATA_REUSE fetches nothing; otherwise it finds the lines
 * that RLS_SLICES left and fetches more behind them. An operation without
 * DATA_REUSE gives up whatever is left.
 */
#include "conv/cbuf.h"

#include <algorithm>

namespace nvdla::sim
{

namespace
{

constexpr uint32_t kAtomBytes = 32;
constexpr uint32_t kAtomsPerEntry = kEntryBytes / kAtomBytes;

BufferUse useOf(const ConvOp &op)
{
	return { op.mode, op.precision, op.dataBanks, op.weightBanks };
}

uint32_t divideRoundUp(uint32_t value, uint32_t divisor)
{
	return (value + divisor - 1) / divisor;
}

} /* namespace */

uint32_t entriesPerSlice(ConvMode mode, Precision precision, uint32_t width, uint32_t channels)
{
	const uint32_t bytes = elementBytes(precision);

	if (mode == ConvMode::Image)
		return divideRoundUp(width * channels * bytes, kEntryBytes);

	/* Winograd stores tiles of four lines; a line's share of them is the same sum. */
	if (mode == ConvMode::Winograd)
		return divideRoundUp(width * channels * bytes, kEntryBytes);

	/* Full entries hold four atoms of one column, the rest is packed across columns. */
	const uint32_t atoms = divideRoundUp(channels * bytes, kAtomBytes);
	const uint32_t rest = atoms % kAtomsPerEntry;
	uint32_t entries = atoms / kAtomsPerEntry * width;
	if (rest == 3)
		entries += width;
	else if (rest != 0)
		entries += divideRoundUp(width * rest, kAtomsPerEntry);
	return entries;
}

void Cbuf::clear()
{
	*this = Cbuf();
}

bool Cbuf::beginData(const ConvOp &op)
{
	const BufferUse use = useOf(op);
	const bool reuse = op.reuseData && dataUse_ == use && !slices_.empty();

	dataUse_ = use;
	if (!reuse)
		slices_.clear();
	return reuse && keptData_;
}

bool Cbuf::beginWeights(const ConvOp &op)
{
	const BufferUse use = useOf(op);
	const bool reuse = op.reuseWeights && haveWeights_ && weightUse_ == use;

	weightUse_ = use;
	if (!reuse) {
		keptWeights_.clear();
		haveWeights_ = false;
	}
	return reuse;
}

void Cbuf::end(const ConvOp &op)
{
	keptData_ = op.keepData;
	if (!op.keepData) {
		const auto released = std::min<size_t>(op.windows.releasedSlices, slices_.size());
		slices_.erase(slices_.begin(), slices_.begin() + static_cast<ptrdiff_t>(released));
	}

	haveWeights_ = op.keepWeights;
	if (!op.keepWeights)
		keptWeights_.clear();
}

} /* namespace nvdla::sim */
