/* SPDX-License-Identifier: MIT */
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>

namespace nvdla::examples
{

/** \brief Weights of red, green, blue and alpha in the luminance, as multiples of 1/4 */
constexpr std::array<int, 4> luminance{ 1, 2, 1, 0 };

/**
 * \brief Element of a 3x3 compass filter (Sobel's, rotated in steps of 45 degrees)
 * \param[in] direction 0 finds edges that get brighter to the right, 2 to the top
 * \param[in] line 0 to 2 from the top
 * \param[in] pixel 0 to 2 from the left
 */
constexpr int compassFilter(uint32_t direction, uint32_t line, uint32_t pixel)
{
	/* The eight outer elements of the filter, counter-clockwise from the right end of the
	 * middle line. */
	constexpr std::array<int, 8> ring{ 2, 1, 0, -1, -2, -1, 0, 1 };
	constexpr std::array<std::array<int, 3>, 3> place{
		{ { 3, 2, 1 }, { 4, -1, 0 }, { 5, 6, 7 } }
	};
	const int position = place[line][pixel];

	return position < 0 ? 0 : ring[(position + 8 - direction) % 8];
}

static_assert(compassFilter(0, 1, 2) == 2 && compassFilter(0, 1, 0) == -2);
static_assert(compassFilter(2, 0, 1) == 2 && compassFilter(2, 2, 1) == -2);

/**
 * \brief Compute the brightness of a drawn edge; the square root makes weak edges visible beside
 * strong ones
 * \param[in] strength strength of the edge; 255: black beside white
 * \return the brightness; it reaches 127, the highest INT8, at a strength of 64
 */
inline double toneCurve(double strength)
{
	return 127.0 * std::sqrt(std::max(strength, 0.0) / 64.0);
}

} /* namespace nvdla::examples */
