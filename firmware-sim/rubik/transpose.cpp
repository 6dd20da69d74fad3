/* SPDX-License-Identifier: MIT */
#include "rubik/transpose.h"

#include <cstring>
#include <utility>

namespace nvdla::sim
{

namespace
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

/** A vector that all hosts have, the compiler's own */
template<typename Element>
struct RowOf {
	static constexpr size_t kBytes = 16;
	static constexpr size_t kElements = kBytes / sizeof(Element);

	typedef Element Vector __attribute__((vector_size(kBytes)));
};

/** \return the lower, or upper, halves of two rows, element by element */
template<typename Element, size_t kFirst, size_t... kElement>
typename RowOf<Element>::Vector interleave(typename RowOf<Element>::Vector a,
					   typename RowOf<Element>::Vector b,
					   std::index_sequence<kElement...>)
{
	return __builtin_shufflevector(
		a, b, (kFirst + kElement / 2 + kElement % 2 * sizeof...(kElement))...);
}

/**
 * Of rows in two halves, the first ones of both are interleaved, then the second ones, and so on:
 * an element's number, row and column one after the other, is turned by one bit. Once for each bit
 * of the row, and row and column have changed places.
 */
template<typename Element, size_t... kRow>
void transposeSquare(Matrix<const std::byte> in, Matrix<std::byte> out,
		     std::index_sequence<kRow...> indices)
{
	using Vector = typename RowOf<Element>::Vector;
	constexpr size_t half = sizeof...(kRow) / 2;
	Vector rows[sizeof...(kRow)];

	(std::memcpy(&rows[kRow], in.first + kRow * in.step, sizeof(Vector)), ...);
	for (size_t bit = 1; bit < sizeof...(kRow); bit *= 2) {
		const Vector turned[] = { interleave<Element, kRow % 2 * half>(
			rows[kRow / 2], rows[kRow / 2 + half], indices)... };
		((rows[kRow] = turned[kRow]), ...);
	}
	(std::memcpy(out.first + kRow * out.step, &rows[kRow], sizeof(Vector)), ...);
}

template<typename Element>
void transposeAll(Matrix<const std::byte> in, size_t rows, size_t columns, Matrix<std::byte> out)
{
	constexpr size_t side = RowOf<Element>::kElements;
	const size_t wholeRows = rows / side * side;
	const size_t wholeColumns = columns / side * side;
	const auto inAt = [&](size_t row, size_t column) {
		return Matrix<const std::byte>{ in.first + row * in.step + column * sizeof(Element),
						in.step };
	};
	const auto outAt = [&](size_t row, size_t column) {
		return Matrix<std::byte>{ out.first + column * out.step + row * sizeof(Element),
					  out.step };
	};

	for (size_t row = 0; row < wholeRows; row += side)
		for (size_t column = 0; column < wholeColumns; column += side)
			transposeSquare<Element>(inAt(row, column), outAt(row, column),
						 std::make_index_sequence<side>());
	moveElements<Element>(inAt(0, wholeColumns), wholeRows, columns - wholeColumns,
			      outAt(0, wholeColumns));
	moveElements<Element>(inAt(wholeRows, 0), rows - wholeRows, columns, outAt(wholeRows, 0));
}

} /* namespace */

void transpose(uint32_t elementBytes, Matrix<const std::byte> in, size_t rows, size_t columns,
	       Matrix<std::byte> out)
{
	if (elementBytes == sizeof(uint8_t))
		transposeAll<uint8_t>(in, rows, columns, out);
	else
		transposeAll<uint16_t>(in, rows, columns, out);
}

} /* namespace nvdla::sim */
