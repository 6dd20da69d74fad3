/* SPDX-License-Identifier: MIT */
/*
 * Data, weights and pointers that stay in the convolution buffer from one operation to the next.
 *
 * RTL of nvdlav1: NV_NVDLA_CDMA_status (pointers of data), NV_NVDLA_CDMA_wt (pointers of weights
 * and masks), NV_NVDLA_CSC_sg (slices, kernels and their release) and NV_NVDLA_CSC_dl,
 * NV_NVDLA_CSC_wl (where CSC reads). The hardware's CDMA and CSC each keep a copy of the pointers;
 * as both copies follow the same messages, the model has one.
 */
#include "conv/cbuf.h"

#include <algorithm>
#include <cstring>

namespace nvdla::sim
{

uint32_t entriesPerSlice(ConvMode mode, Precision precision, uint32_t width, uint32_t channels,
			 const Geometry &geometry)
{
	const uint32_t bytes = elementBytes(precision);

	/*
	 * An image's line is packed, without gaps between atoms. A Winograd tile has four lines,
	 * each of which counts as a quarter of the tile's entries.
	 */
	if (mode != ConvMode::Direct)
		return (width * channels * bytes + geometry.entryBytes - 1) / geometry.entryBytes;

	const uint32_t surfaces = geometry.surfaces(precision, channels);
	const LineLayout layout(width, surfaces, geometry);
	return layout.atom(surfaces - 1, width - 1) / layout.perEntry() + 1;
}

uint32_t LineLayout::firstPadded(uint32_t end) const
{
	if (rest_ == 0)
		return end;
	return rest_ == 3 ? whole_ * width_ : end - 1;
}

Cbuf::Cbuf(const Geometry &geometry)
	: geometry_(geometry), bytes_(geometry.banks * size_t{ geometry.bankBytes() } + kLineBytes),
	  data_(geometry.banks * geometry.bankEntries),
	  weights_(geometry.banks * geometry.bankEntries),
	  masks_(geometry.banks * geometry.bankEntries), last_(nothing())
{
}

void Cbuf::clear()
{
	std::ranges::fill(bytes_, std::byte{ 0 });
	data_ = weights_ = masks_ = EntryRing(data_.mask() + 1);
	slices_ = kernels_ = 0;
	last_ = nothing();
}

Kept Cbuf::begin(const ConvOp &op)
{
	const uint32_t entries = geometry_.bankEntries;
	const bool otherData = op.dataBanks != last_.dataBanks;
	const bool otherBanks = otherData || op.weightBanks != last_.weightBanks;
	const bool sameMode = op.mode == last_.mode;

	if (otherData) {
		data_.reset(0, op.dataBanks * entries);
		slices_ = 0;
	} else if (!op.reuseData || !sameMode) {
		data_.released(last_.dataEntries);
		slices_ = (slices_ - last_.slices) & sliceMask();
	}

	if (otherBanks) {
		weights_.reset(op.dataBanks * entries, op.weightBanks * entries);
		masks_.reset((geometry_.banks - 1) * entries, entries);
		kernels_ = 0;
	} else if (!op.reuseWeights && last_.keepWeights) {
		weights_.released(last_.weightEntries);
		masks_.released(last_.maskEntries);
		releaseKernels(last_.kernels);
	}

	return { .data = op.reuseData && last_.keepData && sameMode && !otherData,
		 .weights = op.reuseWeights && last_.keepWeights && !otherBanks };
}

void Cbuf::end(const ConvOp &op)
{
	const uint32_t entries = op.bufferedEntries() * op.batches;
	const uint32_t released = op.keepData ? 0 : op.windows.releasedSlices;

	data_.released(entries * released);
	slices_ = (slices_ - released) & sliceMask();

	last_.dataBanks = op.dataBanks;
	last_.weightBanks = op.weightBanks;
	last_.mode = op.mode;
	last_.keepData = op.keepData;
	last_.slices = (op.windows.data.height - released) & sliceMask();
	last_.dataEntries = (entries * last_.slices) & data_.mask();
	last_.keepWeights = op.keepWeights;
	last_.kernels = op.windows.kernels;
	last_.weightEntries = op.weights.bytes / geometry_.entryBytes;
	last_.maskEntries = op.weights.compressed ? op.weights.maskBytes / geometry_.entryBytes : 0;
}

void Cbuf::addSlices(uint32_t count, uint32_t entries)
{
	data_.fetched(count * entries);
	slices_ = (slices_ + count) & sliceMask();
}

std::span<std::byte> Cbuf::from(const EntryRing &ring, uint32_t entry)
{
	const uint32_t first = ring.place(entry);
	const uint32_t inRing = entry < ring.size() ? ring.size() - entry : 1;
	const uint32_t count = std::min(inRing, ring.mask() + 1 - first);
	const size_t bytes = geometry_.entryBytes;

	return std::span(bytes_).subspan(first * bytes, count * bytes);
}

std::span<const std::byte> Cbuf::from(const EntryRing &ring, uint32_t entry) const
{
	return const_cast<Cbuf *>(this)->from(ring, entry);
}

void Cbuf::put(std::span<const std::byte> bytes, const EntryRing &ring, uint32_t entry,
	       uint32_t offset)
{
	while (!bytes.empty()) {
		const auto room = from(ring, ring.advance(entry, offset));
		const size_t count = std::min(room.size(), bytes.size());
		std::memcpy(room.data(), bytes.data(), count);
		bytes = bytes.subspan(count);
		offset += static_cast<uint32_t>(count / geometry_.entryBytes);
	}
}

} /* namespace nvdla::sim */
