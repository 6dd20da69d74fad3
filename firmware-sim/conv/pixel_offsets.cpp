/* SPDX-License-Identifier: MIT */
/*
 * Compiled once for each instruction set (Highway).
 */
#include "conv/pixel_offsets.h"

#include <algorithm>
#include <cstdlib>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "conv/pixel_offsets.cpp"
#include <hwy/foreach_target.h>
/* After foreach_target.h. */
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace nvdla::sim
{
namespace HWY_NAMESPACE
{

namespace hn = hwy::HWY_NAMESPACE;

#if HWY_TARGET != HWY_SCALAR

void addOffsetsOfTarget(const PixelOffsets &offsets, const std::byte *pixels, size_t count,
			std::byte *out)
{
	constexpr size_t kBlock = 16; /* bytes that are put in order at once */
	const hn::ScalableTag<int8_t> tag;
	const size_t lanes = hn::Lanes(tag);
	int8_t order[kBlock];
	int8_t halves[2][kBlock];

	for (size_t i = 0; i < kBlock; i++) {
		const size_t channel = i % PixelOffsets::kChannels;
		const int added = offsets.added[channel];
		order[i] = static_cast<int8_t>(i - channel + offsets.bytes[channel]);
		halves[0][i] = static_cast<int8_t>(added / 2);
		halves[1][i] = static_cast<int8_t>(added - added / 2);
	}
	const auto places = hn::LoadDup128(tag, order);
	const auto flip = hn::Set(tag, static_cast<int8_t>(offsets.flip));
	/* Both have the same sign: what one clips the other does not bring back. */
	const auto first = hn::LoadDup128(tag, halves[0]);
	const auto second = hn::LoadDup128(tag, halves[1]);
	const auto *in = reinterpret_cast<const int8_t *>(pixels);
	auto *to = reinterpret_cast<int8_t *>(out);
	size_t i = 0;

	for (; i + lanes <= count * PixelOffsets::kChannels; i += lanes) {
		const auto bytes = hn::TableLookupBytes(hn::LoadU(tag, in + i), places);
		const auto half = hn::SaturatedAdd(hn::Xor(bytes, flip), first);
		hn::StoreU(hn::SaturatedAdd(half, second), tag, to + i);
	}
	addOffsetsReference(offsets, pixels + i, count - i / PixelOffsets::kChannels, out + i);
}

#else

void addOffsetsOfTarget(const PixelOffsets &offsets, const std::byte *pixels, size_t count,
			std::byte *out)
{
	addOffsetsReference(offsets, pixels, count, out);
}

#endif

} /* namespace HWY_NAMESPACE */
} /* namespace nvdla::sim */
HWY_AFTER_NAMESPACE();

#if HWY_ONCE

namespace nvdla::sim
{

HWY_EXPORT(addOffsetsOfTarget);

std::optional<PixelOffsets> PixelOffsets::of(const ConvOp &op, const PixelFormat &format)
{
	constexpr uint8_t kSign = 0x80;
	const PixelInput &pixel = op.pixel;
	/* Without the converter the bits are taken as they are. */
	const bool isSigned = pixel.isSigned || !pixel.convert;
	PixelOffsets offsets = { {}, isSigned ? uint8_t{ 0 } : kSign, {} };

	if (op.precision != Precision::Int8 || format.kind != PixelKind::Int8 ||
	    format.channels != kChannels || format.planes != 1 ||
	    (pixel.convert && (pixel.scale != 1 || pixel.truncate != 0)))
		return std::nullopt;
	for (uint32_t channel = 0; channel < kChannels; channel++) {
		const int added = offsets.flip - (pixel.convert ? pixel.mean[channel] : 0);
		if (std::abs(added) > kMost)
			return std::nullopt;
		offsets.added[channel] = static_cast<int16_t>(added);
		offsets.bytes[channel] = static_cast<uint8_t>(format.element(channel));
	}
	return offsets;
}

void addOffsets(const PixelOffsets &offsets, const std::byte *pixels, size_t count, std::byte *out)
{
	HWY_DYNAMIC_DISPATCH(addOffsetsOfTarget)(offsets, pixels, count, out);
}

void addOffsetsReference(const PixelOffsets &offsets, const std::byte *pixels, size_t count,
			 std::byte *out)
{
	for (size_t x = 0; x < count; x++, pixels += PixelOffsets::kChannels) {
		for (size_t channel = 0; channel < PixelOffsets::kChannels; channel++) {
			const auto raw = std::to_integer<uint8_t>(pixels[offsets.bytes[channel]]);
			const int value = static_cast<int8_t>(raw ^ offsets.flip);
			*out++ = static_cast<std::byte>(std::clamp<int>(
				value + offsets.added[channel], INT8_MIN, INT8_MAX));
		}
	}
}

} /* namespace nvdla::sim */

#endif /* HWY_ONCE */
