/* SPDX-License-Identifier: MIT */
/*
 * Matrices of elements: atoms of a cube are rows of channels, planes are rows of pixels.
 */
#pragma once

#include <cstddef>
#include <cstdint>

namespace nvdla::sim
{

/** \brief A matrix in memory: rows of elements, row after row */
template<typename Byte>
struct Matrix {
	Byte *first; /**< the first row's first element */
	size_t step; /**< bytes from one row to the next */
};

/**
 * \brief Put element c of row r of \a in where element r of row c of \a out is
 * \param elementBytes 1 or 2
 * \param rows of \a in \param columns of \a in
 */
void transpose(uint32_t elementBytes, Matrix<const std::byte> in, size_t rows, size_t columns,
	       Matrix<std::byte> out);

} /* namespace nvdla::sim */
