/* SPDX-License-Identifier: MIT */
/*
 * Vector code for the Highway library, which compiles this file once for each instruction set.
 */
#include "transpose.h"

#include <cstring>
#include <utility>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "base/tensor/transpose.cpp"
#include <hwy/foreach_target.h>
/* Highway requires this header after foreach_target.h. */
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace nvdla
{
namespace HWY_NAMESPACE
{

namespace hn = hwy::HWY_NAMESPACE;

/* Moves the elements \a first to \a count - 1 of all \a lanes one by one. Used for the end of a
 * line, and on hosts without vectors. */
template<typename T>
void moveOneByOne(size_t lanes, const std::byte *from, size_t fromLane, size_t fromStep,
		  std::byte *to, size_t toLane, size_t toStep, size_t first, size_t count)
{
	for (size_t lane = 0; lane < lanes; lane++)
		for (size_t i = first; i < count; i++)
			std::memcpy(to + lane * toLane + i * toStep,
				    from + lane * fromLane + i * fromStep, sizeof(T));
}

#if HWY_TARGET != HWY_SCALAR

/*
 * A square block of elements, with a vector for each of its lines. With two squares, the halves of
 * each vector belong to two such blocks, of which the second has the next lines. Indices are
 * constants, so that the vectors stay in registers.
 */
template<typename T, size_t squares>
struct Squares {
	static constexpr size_t size = transposeBytes / sizeof(T);
	static constexpr hn::FixedTag<T, size> half{};
	static constexpr hn::FixedTag<T, size * squares> tag{};
	using Vector = hn::Vec<hn::FixedTag<T, size * squares>>;

	Vector row[size];

	/* Loads a part of a line. With two squares, the upper half of the vector gets the same part
	 * of another line, \a size lines below. */
	static HWY_INLINE Vector loadLines(const std::byte *line, size_t stride)
	{
		const auto first = hn::LoadU(half, reinterpret_cast<const T *>(line));
		if constexpr (squares == 1) {
			return first;
		} else {
			const auto *behind = reinterpret_cast<const T *>(line + size * stride);
			return hn::Combine(tag, hn::LoadU(half, behind), first);
		}
	}

	static HWY_INLINE void storeLines(Vector vector, std::byte *line, size_t stride)
	{
		if constexpr (squares == 1) {
			hn::StoreU(vector, half, reinterpret_cast<T *>(line));
		} else {
			hn::StoreU(hn::LowerHalf(half, vector), half, reinterpret_cast<T *>(line));
			hn::StoreU(hn::UpperHalf(half, vector), half,
				   reinterpret_cast<T *>(line + size * stride));
		}
	}

	template<size_t... i>
	HWY_INLINE void loadLines(const std::byte *from, size_t stride, std::index_sequence<i...>)
	{
		((row[i] = loadLines(from + i * stride, stride)), ...);
	}

	template<size_t... i>
	HWY_INLINE void storeLines(std::byte *to, size_t stride, std::index_sequence<i...>) const
	{
		(storeLines(row[i], to + i * stride, stride), ...);
	}

	template<size_t... i>
	HWY_INLINE void loadPixels(const std::byte *from, size_t stride, std::index_sequence<i...>)
	{
		((row[i] = hn::LoadU(tag, reinterpret_cast<const T *>(from + i * stride))), ...);
	}

	template<size_t... i>
	HWY_INLINE void storePixels(std::byte *to, size_t stride, std::index_sequence<i...>) const
	{
		(hn::StoreU(row[i], tag, reinterpret_cast<T *>(to + i * stride)), ...);
	}

	/*
	 * Merging row i with row i + size / 2, for all i, moves one bit of each element's index
	 * from the number of its row to the number of its lane.
	 */
	template<size_t... i>
	HWY_INLINE Squares merge(std::index_sequence<i...>) const
	{
		return { { (i % 2 == 0 ? hn::InterleaveLower(tag, row[i / 2], row[(i + size) / 2])
				       : hn::InterleaveUpper(tag, row[i / 2],
							     row[(i + size) / 2]))... } };
	}

	/* Merges once for each bit of a row's number (3 or 4 bits): rows become columns. */
	HWY_INLINE Squares transposed() const
	{
		const std::make_index_sequence<size> indices;
		const Squares merged = merge(indices).merge(indices).merge(indices);

		if constexpr (size == 16)
			return merged.merge(indices);
		else
			return merged;
	}
};

/* Transposes whole squares. \return the number of elements of each line that were moved */
template<typename T, size_t squares>
size_t squaresToPixels(const std::byte *lines, size_t lineStride, std::byte *pixels,
		       size_t pixelStride, size_t count)
{
	using Kind = Squares<T, squares>;
	const std::make_index_sequence<Kind::size> indices;
	size_t done = 0;

	for (; done + Kind::size <= count; done += Kind::size) {
		Kind square;
		square.loadLines(lines + done * sizeof(T), lineStride, indices);
		square.transposed().storePixels(pixels + done * pixelStride, pixelStride, indices);
	}
	return done;
}

template<typename T, size_t squares>
size_t squaresToLines(const std::byte *pixels, size_t pixelStride, std::byte *lines,
		      size_t lineStride, size_t count)
{
	using Kind = Squares<T, squares>;
	const std::make_index_sequence<Kind::size> indices;
	size_t done = 0;

	for (; done + Kind::size <= count; done += Kind::size) {
		Kind square;
		square.loadPixels(pixels + done * pixelStride, pixelStride, indices);
		square.transposed().storeLines(lines + done * sizeof(T), lineStride, indices);
	}
	return done;
}

#endif

/* Number of squares that fit a vector. */
#if HWY_TARGET != HWY_SCALAR && HWY_ARCH_X86 && HWY_TARGET <= HWY_AVX2
constexpr size_t squaresAtOnce = 2;
#else
constexpr size_t squaresAtOnce = 1;
#endif

template<typename T>
void toPixels(size_t pieceBytes, const std::byte *lines, size_t lineStride, std::byte *pixels,
	      size_t pixelStride, size_t count)
{
	size_t done = 0;
#if HWY_TARGET != HWY_SCALAR
	if (squaresAtOnce * transposeBytes == pieceBytes) {
		done = squaresToPixels<T, squaresAtOnce>(lines, lineStride, pixels, pixelStride,
							 count);
	} else {
		for (size_t at = 0; at < pieceBytes; at += transposeBytes)
			done = squaresToPixels<T, 1>(lines + at / sizeof(T) * lineStride,
						     lineStride, pixels + at, pixelStride, count);
	}
#endif
	moveOneByOne<T>(pieceBytes / sizeof(T), lines, lineStride, sizeof(T), pixels, sizeof(T),
			pixelStride, done, count);
}

template<typename T>
void toLines(size_t pieceBytes, const std::byte *pixels, size_t pixelStride, std::byte *lines,
	     size_t lineStride, size_t count)
{
	size_t done = 0;
#if HWY_TARGET != HWY_SCALAR
	if (squaresAtOnce * transposeBytes == pieceBytes) {
		done = squaresToLines<T, squaresAtOnce>(pixels, pixelStride, lines, lineStride,
							count);
	} else {
		for (size_t at = 0; at < pieceBytes; at += transposeBytes)
			done = squaresToLines<T, 1>(pixels + at, pixelStride,
						    lines + at / sizeof(T) * lineStride, lineStride,
						    count);
	}
#endif
	moveOneByOne<T>(pieceBytes / sizeof(T), pixels, sizeof(T), pixelStride, lines, lineStride,
			sizeof(T), done, count);
}

void linesToPixels(size_t elementBytes, size_t pieceBytes, const std::byte *lines,
		   size_t lineStride, std::byte *pixels, size_t pixelStride, size_t count)
{
	if (elementBytes == 1)
		toPixels<uint8_t>(pieceBytes, lines, lineStride, pixels, pixelStride, count);
	else
		toPixels<uint16_t>(pieceBytes, lines, lineStride, pixels, pixelStride, count);
}

void pixelsToLines(size_t elementBytes, size_t pieceBytes, const std::byte *pixels,
		   size_t pixelStride, std::byte *lines, size_t lineStride, size_t count)
{
	if (elementBytes == 1)
		toLines<uint8_t>(pieceBytes, pixels, pixelStride, lines, lineStride, count);
	else
		toLines<uint16_t>(pieceBytes, pixels, pixelStride, lines, lineStride, count);
}

} /* namespace HWY_NAMESPACE */
} /* namespace nvdla */
HWY_AFTER_NAMESPACE();

#if HWY_ONCE

namespace nvdla
{

HWY_EXPORT(linesToPixels);
HWY_EXPORT(pixelsToLines);

void linesToPixels(size_t elementBytes, size_t pieceBytes, const std::byte *lines,
		   size_t lineStride, std::byte *pixels, size_t pixelStride, size_t count)
{
	HWY_DYNAMIC_DISPATCH(linesToPixels)
	(elementBytes, pieceBytes, lines, lineStride, pixels, pixelStride, count);
}

void pixelsToLines(size_t elementBytes, size_t pieceBytes, const std::byte *pixels,
		   size_t pixelStride, std::byte *lines, size_t lineStride, size_t count)
{
	HWY_DYNAMIC_DISPATCH(pixelsToLines)
	(elementBytes, pieceBytes, pixels, pixelStride, lines, lineStride, count);
}

} /* namespace nvdla */

#endif
