/* SPDX-License-Identifier: MIT */
#include "conv/channel_weights.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>

#include "conv/line_elements.h"
#include "conv/tile_operands.h"

namespace nvdla::sim
{

namespace
{

bool areZero(const std::byte *bytes, size_t count)
{
	uint64_t any = 0;
	uint64_t word = 0;
	size_t i = 0;

	for (; i + sizeof(word) <= count; i += sizeof(word)) {
		std::memcpy(&word, bytes + i, sizeof(word));
		any |= word;
	}
	for (; i < count; i++)
		any |= std::to_integer<uint64_t>(bytes[i]);
	return any == 0;
}

} /* namespace */

ChannelWeights::ChannelWeights(const TilePlan &plan)
	: plan_(plan),
	  kernelBytes_(size_t{ plan.op.windows.data.channels } * elementBytes(plan.op.precision)),
	  start_(plan.op.groupKernels()), weightSums_(plan.op.groupKernels()),
	  magnitudes_(plan.op.groupKernels())
{
	const Windows &windows = plan.op.windows;
	std::vector<size_t> taps; /* bytes from a position's first operand */

	for (uint32_t row = 0; row < windows.kernel.height; row++)
		for (uint32_t column = 0; column < windows.kernel.width; column++)
			taps.push_back(row * plan.rowBytes() +
				       size_t{ column } * windows.dilationX *
					       windows.data.channels * plan.elementBytes);
	elements_ = taps.size();
	/* Behind an odd number of them one that meets no weights. */
	taps.push_back(taps.back());
	for (size_t i = 0; i < elements_; i += 2)
		taps_.push_back({ taps[i], taps[i + 1] });
	weights_.resize(2 * taps_.size() * plan.op.groupKernels());
}

/* Between the weights of a kernel element there is one zero more than a kernel has channels. */
bool ChannelWeights::accepts(const WeightGroup &group) const
{
	const size_t weightBytes = elementBytes(plan_.op.precision);
	const size_t between = kernelBytes_;
	const std::byte *bytes = group.bytes.data();

	for (size_t element = 0; element < elements_; element++) {
		for (uint32_t kernel = 0; kernel + 1 < group.kernels; kernel++) {
			bytes += weightBytes;
			if (!areZero(bytes, between))
				return false;
			bytes += between;
		}
		bytes += weightBytes;
		const size_t behind = kernelBytes_ - group.kernels * weightBytes;
		if (!areZero(bytes, behind))
			return false;
		bytes += behind;
	}
	return true;
}

bool ChannelWeights::load(const WeightGroup &group, Int16Range data)
{
	constexpr int32_t kUnsignedZero = 128;
	const size_t weightBytes = elementBytes(plan_.op.precision);
	const std::byte *bytes = group.bytes.data();
	std::byte numbers[atomBytes];

	if (data.lowest == INT16_MIN || !accepts(group))
		return false;
	std::ranges::fill(magnitudes_, uint64_t{ 0 });
	std::ranges::fill(weightSums_, 0);
	for (size_t element = 0; element < elements_; element++) {
		for (uint32_t kernel = 0; kernel < group.kernels; kernel++, bytes += kernelBytes_)
			std::memcpy(&numbers[kernel * weightBytes], bytes + kernel * weightBytes,
				    weightBytes);
		put(element, { numbers, group.kernels * weightBytes });
	}
	areWide_ = plan_.op.precision == Precision::Int16 &&
		   std::ranges::max(magnitudes_) * data.largest() > INT32_MAX;
	/* An output whose data are all zero, 128 as unsigned numbers, is to be zero. */
	if (plan_.kind == TileKind::Quads)
		std::ranges::transform(weightSums_, start_.begin(),
				       [](int32_t sum) { return -kUnsignedZero * sum; });
	return true;
}

void ChannelWeights::put(size_t element, std::span<const std::byte> weights)
{
	if (plan_.op.precision == Precision::Fp16) {
		widenHalves(
			weights.data(), weights.size() / sizeof(uint16_t),
			reinterpret_cast<float *>(&weights_[element * plan_.op.groupKernels()]));
		return;
	}
	int16_t numbers[kTileColumns];
	const auto some =
		std::span(numbers).first(weights.size() / elementBytes(plan_.op.precision));
	auto *halves =
		reinterpret_cast<int16_t *>(&weights_[element / 2 * plan_.op.groupKernels()]);

	widen(plan_.op.precision, weights.data(), some);
	for (size_t kernel = 0; kernel < some.size(); kernel++) {
		halves[2 * kernel + element % 2] = some[kernel];
		weightSums_[kernel] += some[kernel];
		magnitudes_[kernel] += static_cast<uint64_t>(std::abs(int32_t{ some[kernel] }));
	}
}

} /* namespace nvdla::sim */
