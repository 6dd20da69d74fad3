/* SPDX-License-Identifier: MIT */
/*
 * Feature cubes by half atoms: 16 INT8 channels, or 8 of two bytes.
 */
#include <cstring>

#include "packing.h"
#include "transpose.h"

namespace nvdla
{

namespace
{

/*
 * Calls move(plain bytes, byte stride between plain channels, byte stride between plain
 * pixels, offset of the pieces, count of pixels) for every half atom of every run of pixels.
 * Returns the channels of an image that these make up.
 */
template<typename Move>
uint32_t forEachHalfAtom(const TensorDesc &desc, const Layout &layout, ElementOrder order,
			 Move move)
{
	const uint64_t bytes = elementBytes(desc.type);
	const auto step = static_cast<uint32_t>(transposeBytes / bytes);

	if (!layout.feature() || layout.atomChannels() % step)
		return 0;

	/* Lines that follow each other are one run. */
	const bool whole = desc.lineStride == desc.w * layout.atomBytes();
	const uint64_t plane = uint64_t{ desc.h } * desc.w;
	const uint64_t count = whole ? plane : desc.w;
	const uint32_t channels = desc.c / step * step;
	const bool nchw = order == ElementOrder::Nchw;

	for (uint32_t n = 0; n < desc.n; n++) {
		for (uint32_t c = 0; c < channels; c += step) {
			uint64_t offset =
				n * (desc.size / desc.n) + layout.channel(desc, c).offset();
			for (uint64_t pixel = 0; pixel < plane; pixel += count) {
				const uint64_t plain =
					nchw ? (uint64_t{ n } * desc.c + c) * plane + pixel
					     : (n * plane + pixel) * desc.c + c;
				move(plain * bytes, (nchw ? plane : 1) * bytes,
				     (nchw ? 1 : desc.c) * bytes, offset, count);
				offset += desc.lineStride;
			}
		}
	}
	return channels;
}

} /* namespace */

uint32_t packFast(const TensorDesc &desc, const Layout &layout, ElementOrder order,
		  std::span<const std::byte> elements, std::span<std::byte> tensor)
{
	const size_t bytes = elementBytes(desc.type);
	const size_t atom = layout.atomBytes();

	return forEachHalfAtom(
		desc, layout, order,
		[&](uint64_t plain, uint64_t channelStride, uint64_t pixelStride, uint64_t offset,
		    uint64_t count) {
			const std::byte *from = &elements[plain];
			std::byte *to = &tensor[offset];
			if (order == ElementOrder::Nchw)
				linesToPixels(bytes, from, channelStride, to, atom, count);
			else
				for (uint64_t i = 0; i < count; i++)
					std::memcpy(to + i * atom, from + i * pixelStride,
						    transposeBytes);
		});
}

uint32_t unpackFast(const TensorDesc &desc, const Layout &layout, ElementOrder order,
		    std::span<const std::byte> tensor, std::span<std::byte> elements)
{
	const size_t bytes = elementBytes(desc.type);
	const size_t atom = layout.atomBytes();

	return forEachHalfAtom(desc, layout, order,
			       [&](uint64_t plain, uint64_t channelStride, uint64_t pixelStride,
				   uint64_t offset, uint64_t count) {
				       const std::byte *from = &tensor[offset];
				       std::byte *to = &elements[plain];
				       if (order == ElementOrder::Nchw)
					       pixelsToLines(bytes, from, atom, to, channelStride,
							     count);
				       else
					       for (uint64_t i = 0; i < count; i++)
						       std::memcpy(to + i * pixelStride,
								   from + i * atom, transposeBytes);
			       });
}

} /* namespace nvdla */
