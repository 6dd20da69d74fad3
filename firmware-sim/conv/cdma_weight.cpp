/* SPDX-License-Identifier: MIT */
/*
 * Weights out of memory, uncompressed or sparse.
 *
 * Formats document, "Weight Format" and "Sparse Compression option". The mask (WMB)
 * has one bit per element, least significant first, and runs on from group to group;
 * so do the packed elements. The group sizes (WGS) only tell the hardware when a
 * group has arrived.
 */
#include "conv/cdma.h"

#include <algorithm>
#include <cstring>

#include "conv/conv_tile.h"

namespace nvdla::sim
{

namespace
{

constexpr uint32_t kReadBytes = 4096;
constexpr uint32_t kGroupSizeBytes = 4;

uint64_t kernelElements(const ConvOp &op)
{
	const CubeSize &kernel = op.windows.kernel;

	return static_cast<uint64_t>(kernel.width) * kernel.height * kernel.channels;
}

} /* namespace */

void WeightReader::Stream::refill()
{
	const uint64_t piece = std::min<uint64_t>(left_, kReadBytes);

	buffer_.resize(piece);
	used_ = 0;
	if (piece == 0)
		return;
	memory_.read(ram_, address_, buffer_);
	address_ += piece;
	left_ -= piece;
}

void WeightReader::Stream::read(std::span<std::byte> out)
{
	while (!out.empty()) {
		if (used_ == buffer_.size())
			refill();
		if (buffer_.empty()) {
			std::fill(out.begin(), out.end(), std::byte{ 0 });
			return;
		}
		const size_t count = std::min(out.size(), buffer_.size() - used_);
		std::memcpy(out.data(), &buffer_[used_], count);
		used_ += count;
		out = out.subspan(count);
	}
}

WeightReader::WeightReader(const ConvOp &op, MemoryPort &memory)
	: op_(op), packed_(memory, op.weights.ram, op.weights.address, op.weights.bytes),
	  mask_(memory, op.weights.ram, op.weights.maskAddress,
		op.weights.compressed ? op.weights.maskBytes : 0),
	  kernelsLeft_(op.windows.kernels)
{
	if (!op.weights.compressed)
		return;

	/* Fetched as the hardware does; the mask alone says where a group ends. */
	std::vector<std::byte> groupSizes(static_cast<size_t>(op.surfaces()) * kGroupSizeBytes);
	memory.read(op.weights.ram, op.weights.groupSizeAddress, groupSizes);
}

std::string WeightReader::check() const
{
	const uint64_t kernel = kernelElements(op_);
	const uint64_t bytes = elementBytes(op_.precision);
	const uint64_t group = kernel * std::min(op_.windows.kernels, op_.groupKernels());
	const uint64_t all = kernel * op_.windows.kernels;
	const uint64_t held = op_.keepWeights ? all : group;
	const uint64_t bankBytes = static_cast<uint64_t>(op_.weightBanks) * kBankBytes;

	if (op_.weights.compressed) {
		if (held > uint64_t{ kBankBytes } * 8)
			return "CDMA: the mask of a kernel group does not fit its bank";
		if (all > uint64_t{ op_.weights.maskBytes } * 8)
			return "CDMA D_WMB_BYTES is less than the kernels take";
		return {};
	}
	if (held * bytes > bankBytes)
		return "CDMA: a kernel group does not fit the weight banks";
	if (all * bytes > op_.weights.bytes)
		return "CDMA D_WEIGHT_BYTES is less than the kernels take";
	if (op_.weights.bytes - all * bytes > bankBytes)
		return "CDMA D_WEIGHT_BYTES is more than the kernels take";
	return {};
}

uint64_t WeightReader::bytes() const
{
	uint64_t bytes = op_.weights.bytes;

	if (op_.weights.compressed)
		bytes += op_.weights.maskBytes + uint64_t{ op_.surfaces() } * kGroupSizeBytes;
	return bytes;
}

bool WeightReader::maskBit()
{
	if (maskBitsLeft_ == 0) {
		std::byte next;
		mask_.read({ &next, 1 });
		maskByte_ = std::to_integer<uint8_t>(next);
		maskBitsLeft_ = 8;
	}
	const bool bit = maskByte_ & 1;
	maskByte_ >>= 1;
	maskBitsLeft_--;
	return bit;
}

void WeightReader::read(std::span<int16_t> elements)
{
	bytes_.resize(elements.size() * elementBytes(op_.precision));
	packed_.read(bytes_);
	if (op_.precision == Precision::Int8) {
		widenBytes(bytes_.data(), elements.size(), elements.data());
		return;
	}
	if (!elements.empty())
		std::memcpy(elements.data(), bytes_.data(), bytes_.size());
	if (op_.precision == Precision::Fp16)
		for (int16_t &element : elements)
			element = static_cast<int16_t>(
				special_.pass(static_cast<uint16_t>(element), op_.fetch.flushNan));
}

void WeightReader::next(WeightGroup &group)
{
	group.kernels = std::min(kernelsLeft_, op_.groupKernels());
	group.elements.resize(kernelElements(op_) * group.kernels);
	kernelsLeft_ -= group.kernels;
	if (!op_.weights.compressed) {
		read(group.elements);
		return;
	}

	size_t present = 0;
	for (int16_t &element : group.elements) {
		element = maskBit();
		present += static_cast<size_t>(element);
	}
	present_.resize(present);
	read(present_);
	const int16_t *next = present_.data();
	for (int16_t &element : group.elements)
		if (element)
			element = *next++;
}

void WeightReader::finish()
{
	const uint64_t bankBytes = static_cast<uint64_t>(op_.weightBanks) * kBankBytes;

	if (op_.precision != Precision::Fp16)
		return;
	present_.resize(std::min(packed_.left(), bankBytes) / sizeof(int16_t));
	read(present_);
}

} /* namespace nvdla::sim */
