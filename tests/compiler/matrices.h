/* SPDX-License-Identifier: MIT */
/*
 * Products of matrices in double precision, and arrays with their axes in another order.
 */
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <numeric>
#include <random>
#include <vector>

#include "reference.h"

namespace nvdla::test
{

using Dims = std::vector<int64_t>;

inline size_t countOf(const Dims &shape)
{
	return static_cast<size_t>(
		std::accumulate(shape.begin(), shape.end(), int64_t{ 1 }, std::multiplies<>()));
}

/* Whole numbers from -3 to 3: FP16 and the sums hold them exactly. */
inline Numbers wholeNumbers(const Dims &shape, uint32_t seed)
{
	std::mt19937 random(seed);
	Numbers numbers(countOf(shape));

	for (double &number : numbers)
		number = std::uniform_int_distribution<int>(-3, 3)(random);
	return numbers;
}

/* Extents of the axes before the last two, repeated. */
inline Dims broadcast(const Dims &a, const Dims &b)
{
	const Dims &longer = a.size() >= b.size() ? a : b, &other = a.size() >= b.size() ? b : a;
	Dims made(longer.begin(), longer.end() - 2);

	for (size_t i = 0; i + 2 < other.size(); i++) {
		int64_t &extent = made[made.size() + 2 - other.size() + i];
		extent = std::max(extent, other[i]);
	}
	return made;
}

/* The place of a matrix' first element: each axis of one element is repeated. */
inline size_t matrixAt(const Dims &shape, const Dims &leading, size_t number)
{
	size_t at = 0, stride = static_cast<size_t>(shape.back() * shape[shape.size() - 2]);

	for (size_t axis = leading.size(); axis-- > 0;) {
		const size_t index = number % static_cast<size_t>(leading[axis]);
		const size_t missing = leading.size() + 2 - shape.size();
		number /= static_cast<size_t>(leading[axis]);
		if (axis < missing)
			continue;
		const auto extent = static_cast<size_t>(shape[axis - missing]);
		at += index % extent * stride;
		stride *= extent;
	}
	return at;
}

/* a is ... x T x C, b ... x C x K. */
inline Numbers productOf(const Dims &a, const Numbers &left, const Dims &b, const Numbers &right)
{
	const Dims leading = broadcast(a, b);
	const auto rows = static_cast<size_t>(a[a.size() - 2]);
	const auto channels = static_cast<size_t>(a.back());
	const auto columns = static_cast<size_t>(b.back());
	Numbers made;

	for (size_t number = 0; number < countOf(leading); number++) {
		const size_t atA = matrixAt(a, leading, number), atB = matrixAt(b, leading, number);
		for (size_t i = 0; i < rows; i++)
			for (size_t k = 0; k < columns; k++) {
				double sum = 0;
				for (size_t c = 0; c < channels; c++)
					sum += left[atA + i * channels + c] *
					       right[atB + c * columns + k];
				made.push_back(sum);
			}
	}
	return made;
}

/* Axes of an array in another order. */
inline Numbers turned(const Numbers &numbers, const Dims &shape, const Dims &order)
{
	Numbers made(numbers.size());
	Dims index(shape.size());

	for (double &number : made) {
		size_t at = 0;
		Dims from(shape.size());
		for (size_t i = 0; i < order.size(); i++)
			from[static_cast<size_t>(order[i])] = index[i];
		for (size_t axis = 0; axis < shape.size(); axis++)
			at = at * static_cast<size_t>(shape[axis]) +
			     static_cast<size_t>(from[axis]);
		number = numbers[at];
		for (size_t i = order.size(); i-- > 0;) {
			if (++index[i] < shape[static_cast<size_t>(order[i])])
				break;
			index[i] = 0;
		}
	}
	return made;
}

inline Dims turned(const Dims &shape, const Dims &order)
{
	Dims made;

	for (const int64_t axis : order)
		made.push_back(shape[static_cast<size_t>(axis)]);
	return made;
}

} /* namespace nvdla::test */
