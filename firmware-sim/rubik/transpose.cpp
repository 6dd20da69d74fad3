/* SPDX-License-Identifier: MIT */
/*
 * Compiled once for each instruction set (Highway).
 */
#include "rubik/transpose.h"

#include <cstring>
#include <utility>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "rubik/transpose.cpp"
#include <hwy/foreach_target.h>
/* After foreach_target.h. */
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace nvdla::sim
{
namespace HWY_NAMESPACE
{

template<typename Element>
void moveElements(Matrix<const std::byte> in, size_t rows, size_t columns, Matrix<std::byte> out)
{
	for (size_t column = 0; column < columns; column++)
		for (size_t row = 0; row < rows; row++)
			std::memcpy(out.first + column * out.step + row * sizeof(Element),
				    in.first + row * in.step + column * sizeof(Element),
				    sizeof(Element));
}

#if HWY_TARGET != HWY_SCALAR && !HWY_HAVE_SCALABLE

namespace hn = hwy::HWY_NAMESPACE;

/** Squares of elements beside one another, of rows of 16 bytes; a block of a vector has one's */
template<typename Element>
struct Squares {
	static constexpr size_t kSide = 16 / sizeof(Element);
	using Tag = hn::CappedTag<Element, 2 * kSide>;
	using Vector = hn::Vec<Tag>;
	static constexpr size_t kCount = hn::MaxLanes(Tag()) / kSide;
};

template<typename Element, size_t kRow>
HWY_INLINE typename Squares<Element>::Vector turned(const typename Squares<Element>::Vector *rows)
{
	const typename Squares<Element>::Tag tag;
	const auto a = rows[kRow / 2];
	const auto b = rows[kRow / 2 + Squares<Element>::kSide / 2];

	if constexpr (kRow % 2)
		return hn::InterleaveUpper(tag, a, b);
	else
		return hn::InterleaveLower(tag, a, b);
}

/** \param to the first square's row; the other one's is \a next bytes further on */
template<typename Element>
HWY_INLINE void storeRow(typename Squares<Element>::Vector row, std::byte *to, size_t next)
{
	const hn::CappedTag<Element, Squares<Element>::kSide> tag;

	if constexpr (Squares<Element>::kCount == 2) {
		hn::StoreU(hn::LowerHalf(tag, row), tag, reinterpret_cast<Element *>(to));
		hn::StoreU(hn::UpperHalf(tag, row), tag, reinterpret_cast<Element *>(to + next));
	} else {
		hn::StoreU(row, tag, reinterpret_cast<Element *>(to));
	}
}

/**
 * Of rows in two halves, the first ones of both are interleaved, then the second ones, and so on:
 * an element's number, row and column one after the other, is turned by one bit. Once for each bit
 * of the row, and row and column have changed places. Without a loop, in which rows would be in
 * memory.
 * \param kBits of the row that are still to be turned, as the number after the highest one
 */
template<typename Element, size_t kBits, size_t... kRow>
HWY_INLINE void turnRows(const typename Squares<Element>::Vector *rows, Matrix<std::byte> out,
			 std::index_sequence<kRow...> all)
{
	if constexpr (kBits > 1) {
		const typename Squares<Element>::Vector next[] = { turned<Element, kRow>(rows)... };
		turnRows<Element, kBits / 2>(next, out, all);
	} else {
		(storeRow<Element>(rows[kRow], out.first + kRow * out.step,
				   sizeof...(kRow) * out.step),
		 ...);
	}
}

template<typename Element, size_t... kRow>
HWY_INLINE void transposeSquares(Matrix<const std::byte> in, Matrix<std::byte> out,
				 std::index_sequence<kRow...> all)
{
	const typename Squares<Element>::Tag tag;
	const typename Squares<Element>::Vector rows[] = { hn::LoadU(
		tag, reinterpret_cast<const Element *>(in.first + kRow * in.step))... };

	turnRows<Element, sizeof...(kRow)>(rows, out, all);
}

template<typename Element>
void transposeAll(Matrix<const std::byte> in, size_t rows, size_t columns, Matrix<std::byte> out)
{
	constexpr size_t side = Squares<Element>::kSide;
	constexpr size_t width = side * Squares<Element>::kCount;
	const size_t wholeRows = rows / side * side;
	const size_t wholeColumns = columns / width * width;
	const auto inAt = [&](size_t row, size_t column) {
		return Matrix<const std::byte>{ in.first + row * in.step + column * sizeof(Element),
						in.step };
	};
	const auto outAt = [&](size_t row, size_t column) {
		return Matrix<std::byte>{ out.first + column * out.step + row * sizeof(Element),
					  out.step };
	};

	for (size_t row = 0; row < wholeRows; row += side)
		for (size_t column = 0; column < wholeColumns; column += width)
			transposeSquares<Element>(inAt(row, column), outAt(row, column),
						  std::make_index_sequence<side>());
	moveElements<Element>(inAt(0, wholeColumns), wholeRows, columns - wholeColumns,
			      outAt(0, wholeColumns));
	moveElements<Element>(inAt(wholeRows, 0), rows - wholeRows, columns, outAt(wholeRows, 0));
}

#else

template<typename Element>
void transposeAll(Matrix<const std::byte> in, size_t rows, size_t columns, Matrix<std::byte> out)
{
	moveElements<Element>(in, rows, columns, out);
}

#endif

void transposeOfTarget(uint32_t elementBytes, Matrix<const std::byte> in, size_t rows,
		       size_t columns, Matrix<std::byte> out)
{
	if (elementBytes == sizeof(uint8_t))
		transposeAll<uint8_t>(in, rows, columns, out);
	else
		transposeAll<uint16_t>(in, rows, columns, out);
}

} /* namespace HWY_NAMESPACE */
} /* namespace nvdla::sim */
HWY_AFTER_NAMESPACE();

#if HWY_ONCE

namespace nvdla::sim
{

HWY_EXPORT(transposeOfTarget);

void transpose(uint32_t elementBytes, Matrix<const std::byte> in, size_t rows, size_t columns,
	       Matrix<std::byte> out)
{
	HWY_DYNAMIC_DISPATCH(transposeOfTarget)(elementBytes, in, rows, columns, out);
}

} /* namespace nvdla::sim */

#endif /* HWY_ONCE */
