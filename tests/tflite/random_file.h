/* SPDX-License-Identifier: MIT */
/*
 * A TensorFlow Lite file of what a seed decides.
 */
#pragma once

#include <random>
#include <string>
#include <vector>

#include "interpreter.h"
#include "tflite_builder.h"

namespace nvdla::test
{

/** \return the elements of a tensor */
size_t elementsIn(const Shape &shape);

/** \brief A file, the elements of its inputs, and what makes more of both */
class RandomFile
{
public:
	std::vector<std::byte> file;
	std::vector<Array> inputs;
	std::string description;

protected:
	explicit RandomFile(uint64_t seed) : random_(seed) {}

	uint32_t from(uint32_t low, uint32_t high)
	{
		return std::uniform_int_distribution<uint32_t>(low, high)(random_);
	}
	double real(double low, double high)
	{
		return std::uniform_real_distribution<double>(low, high)(random_);
	}
	bool chance(double share) { return real(0, 1) < share; }
	/** \return the last axes of \a shape, some of one element: it is repeated along the others
	 */
	Shape repeatable(Shape shape);

	std::mt19937_64 random_;
	TfliteBuilder builder_;
};

} /* namespace nvdla::test */
