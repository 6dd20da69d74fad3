/* SPDX-License-Identifier: MIT */
/*
 * Compiled once for each instruction set (Highway).
 */
#include "transpose.h"

#include <cstring>
#include <utility>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "tensor/transpose.cpp"
#include <hwy/foreach_target.h>
/* After foreach_target.h. */
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace nvdla
{
namespace HWY_NAMESPACE
{

namespace hn = hwy::HWY_NAMESPACE;

/* Lanes first..count, one by one: the end of a line, and hosts without vectors. */
template<typename T>
void moveOneByOne(const std::byte *from, size_t fromLane, size_t fromStep, std::byte *to,
		  size_t toLane, size_t toStep, size_t first, size_t count)
{
	for (size_t lane = 0; lane < transposeBytes / sizeof(T); lane++)
		for (size_t i = first; i < count; i++)
			std::memcpy(to + lane * toLane + i * toStep,
				    from + lane * fromLane + i * fromStep, sizeof(T));
}

#if HWY_TARGET != HWY_SCALAR

/* The vectors of a square; indices are constants, so that they stay in registers. */
template<typename T>
struct Square {
	static constexpr size_t size = transposeBytes / sizeof(T);
	static constexpr hn::FixedTag<T, size> tag{};
	using Vector = hn::Vec<hn::FixedTag<T, size>>;

	Vector row[size];

	template<size_t... i>
	HWY_INLINE void load(const std::byte *from, size_t stride, std::index_sequence<i...>)
	{
		((row[i] = hn::LoadU(tag, reinterpret_cast<const T *>(from + i * stride))), ...);
	}

	template<size_t... i>
	HWY_INLINE void store(std::byte *to, size_t stride, std::index_sequence<i...>) const
	{
		(hn::StoreU(row[i], tag, reinterpret_cast<T *>(to + i * stride)), ...);
	}

	/*
	 * Merging row i with row i + half, for all i, moves one bit of the index from the
	 * row's number to the lane's.
	 */
	template<size_t... i>
	HWY_INLINE Square merge(std::index_sequence<i...>) const
	{
		return { { (i % 2 == 0 ? hn::InterleaveLower(tag, row[i / 2], row[(i + size) / 2])
				       : hn::InterleaveUpper(tag, row[i / 2],
							     row[(i + size) / 2]))... } };
	}
};

/* After as many merges as an index has bits, rows are columns. */
template<typename T>
HWY_INLINE void transposeSquare(const std::byte *from, size_t fromStride, std::byte *to,
				size_t toStride)
{
	using Indices = std::make_index_sequence<Square<T>::size>;
	Square<T> square;

	square.load(from, fromStride, Indices());
	square = square.merge(Indices()).merge(Indices()).merge(Indices());
	if constexpr (Square<T>::size == 16)
		square = square.merge(Indices());
	square.store(to, toStride, Indices());
}

#endif

template<typename T>
void toPixels(const std::byte *lines, size_t lineStride, std::byte *pixels, size_t pixelStride,
	      size_t count)
{
	size_t done = 0;
#if HWY_TARGET != HWY_SCALAR
	constexpr size_t size = transposeBytes / sizeof(T);
	for (; done + size <= count; done += size)
		transposeSquare<T>(lines + done * sizeof(T), lineStride,
				   pixels + done * pixelStride, pixelStride);
#endif
	moveOneByOne<T>(lines, lineStride, sizeof(T), pixels, sizeof(T), pixelStride, done, count);
}

template<typename T>
void toLines(const std::byte *pixels, size_t pixelStride, std::byte *lines, size_t lineStride,
	     size_t count)
{
	size_t done = 0;
#if HWY_TARGET != HWY_SCALAR
	constexpr size_t size = transposeBytes / sizeof(T);
	for (; done + size <= count; done += size)
		transposeSquare<T>(pixels + done * pixelStride, pixelStride,
				   lines + done * sizeof(T), lineStride);
#endif
	moveOneByOne<T>(pixels, sizeof(T), pixelStride, lines, lineStride, sizeof(T), done, count);
}

void linesToPixels(size_t elementBytes, const std::byte *lines, size_t lineStride,
		   std::byte *pixels, size_t pixelStride, size_t count)
{
	if (elementBytes == 1)
		toPixels<uint8_t>(lines, lineStride, pixels, pixelStride, count);
	else
		toPixels<uint16_t>(lines, lineStride, pixels, pixelStride, count);
}

void pixelsToLines(size_t elementBytes, const std::byte *pixels, size_t pixelStride,
		   std::byte *lines, size_t lineStride, size_t count)
{
	if (elementBytes == 1)
		toLines<uint8_t>(pixels, pixelStride, lines, lineStride, count);
	else
		toLines<uint16_t>(pixels, pixelStride, lines, lineStride, count);
}

} /* namespace HWY_NAMESPACE */
} /* namespace nvdla */
HWY_AFTER_NAMESPACE();

#if HWY_ONCE

namespace nvdla
{

HWY_EXPORT(linesToPixels);
HWY_EXPORT(pixelsToLines);

void linesToPixels(size_t elementBytes, const std::byte *lines, size_t lineStride,
		   std::byte *pixels, size_t pixelStride, size_t count)
{
	HWY_DYNAMIC_DISPATCH(linesToPixels)
	(elementBytes, lines, lineStride, pixels, pixelStride, count);
}

void pixelsToLines(size_t elementBytes, const std::byte *pixels, size_t pixelStride,
		   std::byte *lines, size_t lineStride, size_t count)
{
	HWY_DYNAMIC_DISPATCH(pixelsToLines)
	(elementBytes, pixels, pixelStride, lines, lineStride, count);
}

} /* namespace nvdla */

#endif
