/* SPDX-License-Identifier: MIT */
/*
 * Convolution buffer: the lines and the weights CDMA brought in for CSC.
 */
#pragma once

#include <cstdint>
#include <deque>
#include <span>
#include <vector>

#include "conv/conv_op.h"

namespace nvdla::sim
{

/** \brief Size of the buffer: 16 banks of 256 entries of 128 bytes */
inline constexpr uint32_t kBankEntries = 256;
inline constexpr uint32_t kEntryBytes = 128;
inline constexpr uint32_t kBankBytes = kBankEntries * kEntryBytes;

/**
 * \brief Weights of one kernel group, unpacked, in the order CSC loads them
 *
 * For every block (see csc.h) the elements of each kernel, channel fastest.
 * INT8 is sign-extended, FP16 are raw bits.
 */
struct WeightGroup {
	uint32_t kernels = 0;
	std::vector<int16_t> elements;
};

/**
 * \brief One line of the cube as it is buffered: columns of channels, channel fastest
 *
 * INT8 is sign-extended, FP16 are raw bits. Image lines include the columns of
 * padding; Winograd lines are those of the channel-extended cube.
 */
using Slice = std::vector<int16_t>;

/** \brief What must stay the same for an operation to use what an earlier one left */
struct BufferUse {
	ConvMode mode = ConvMode::Direct;
	Precision precision = Precision::Int8;
	uint32_t dataBanks = 0;
	uint32_t weightBanks = 0;

	bool operator==(const BufferUse &) const = default;
};

/** \return entries a line of \a width columns of \a channels takes (ENTRY_PER_SLICE) */
uint32_t entriesPerSlice(ConvMode mode, Precision precision, uint32_t width, uint32_t channels);

/**
 * \brief Contents of the convolution buffer between operations
 *
 * Holds lines in the order they were fetched, and the weights of an operation
 * that kept them. The capacity check against the banks is what bounds its memory.
 */
class Cbuf
{
public:
	/** \brief Forget everything, as reset does */
	void clear();

	/**
	 * \brief Start an operation: give up lines that it does not reuse
	 * \return true if all lines it needs are those kept by SKIP_DATA_RLS
	 */
	bool beginData(const ConvOp &op);
	/** \return true if the weights kept by SKIP_WEIGHT_RLS are to be used */
	bool beginWeights(const ConvOp &op);

	/** \return lines that are buffered */
	uint32_t slices() const { return static_cast<uint32_t>(slices_.size()); }
	/** \return columns times channels of every buffered line */
	size_t sliceElements() const { return slices_.empty() ? 0 : slices_.front().size(); }
	const Slice &slice(uint32_t index) const { return slices_[index]; }
	void append(Slice &&slice) { slices_.push_back(std::move(slice)); }

	std::span<const WeightGroup> keptWeights() const { return keptWeights_; }
	void keepWeights(std::vector<WeightGroup> &&groups) { keptWeights_ = std::move(groups); }

	/** \brief End an operation: release lines and weights as the registers say */
	void end(const ConvOp &op);

private:
	std::deque<Slice> slices_;
	std::vector<WeightGroup> keptWeights_;
	BufferUse dataUse_;
	BufferUse weightUse_;
	bool keptData_ = false;
	bool haveWeights_ = false;
};

} /* namespace nvdla::sim */
