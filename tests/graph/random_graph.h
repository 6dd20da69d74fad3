/* SPDX-License-Identifier: MIT */
/*
 * Random graphs of 1 to 8 operations.
 */
#pragma once

#include <random>
#include <string>
#include <vector>

#include "reference.h"

namespace nvdla::test
{

/** \brief A graph with all that is needed to know its results */
struct RandomCase {
	Graph graph;
	Constants constants;
	std::map<std::string, Cube> inputs;
	std::vector<std::string> inputNames;
	std::vector<std::string> outputNames;
	/** \brief Surfaces that are made of others' channels, by their order */
	std::map<std::string, std::vector<std::string>> joined;
	AssembleOptions options;
	std::string description; /**< a line for each operation */
};

/**
 * \brief The graph of a seed, for a core
 *
 * Shapes are small and awkward: odd sizes, channels across atoms, strides, padding
 * and dilation, several kernel groups. All engines, types and layouts that the core has occur.
 */
RandomCase randomCase(uint32_t seed, const CoreGeometry &core = nvFull);

/** \brief Random numbers and what is made of them alone */
class Dice
{
public:
	explicit Dice(uint32_t seed) : engine_(seed) {}

	/** \return a number from \a low to \a high, both included */
	int pick(int low, int high)
	{
		return low + static_cast<int>(engine_() % static_cast<uint32_t>(high - low + 1));
	}
	uint32_t size(uint32_t low, uint32_t high) { return low + engine_() % (high - low + 1); }
	/** \return true in \a percent of all cases */
	bool chance(int percent) { return pick(1, 100) <= percent; }

	/** \brief Elements over the range of a type; FP16: -2 to 2 */
	Elements elements(DataType type, size_t count);
	Cube cube(DataType type, uint32_t n, uint32_t c, uint32_t h, uint32_t w);
	Converter converter(int offset, int scale, int shift);
	/** \brief A look-up table for inputs of about \a magnitude */
	Lut lut(bool isFloat, int magnitudeBits);

private:
	LutSlope slope(bool isFloat);

	std::mt19937 engine_;
};

} /* namespace nvdla::test */
