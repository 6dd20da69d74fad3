/* SPDX-License-Identifier: MIT */
/*
 * Random numbers of property tests, with the seed in the test's output.
 */
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <random>
#include <vector>

#include <nvdla/tensor.h>

namespace nvdla::test
{

class Random
{
public:
	explicit Random(uint32_t seed) : engine_(seed) { std::printf("seed %u\n", seed); }

	/** \return a whole number from \a low to \a high */
	int32_t operator()(int32_t low, int32_t high)
	{
		return std::uniform_int_distribution<int32_t>(low, high)(engine_);
	}

	/** \return an unsigned whole number from \a low to \a high */
	uint32_t size(uint32_t low, uint32_t high)
	{
		return std::uniform_int_distribution<uint32_t>(low, high)(engine_);
	}

	double real(double low, double high)
	{
		return std::uniform_real_distribution<double>(low, high)(engine_);
	}

	/** \return 2^x for an x from \a low to \a high */
	double powerOfTwo(double low, double high) { return std::exp2(real(low, high)); }

	std::vector<std::byte> bytes(size_t count)
	{
		std::vector<std::byte> bytes(count);
		for (std::byte &byte : bytes)
			byte = static_cast<std::byte>(engine_() & 0xff);
		return bytes;
	}

	/** \return \a count whole numbers of magnitude \a limit at most */
	std::vector<float> numbers(size_t count, int32_t limit)
	{
		std::vector<float> numbers(count);
		for (float &number : numbers)
			number = static_cast<float>((*this)(-limit, limit));
		return numbers;
	}

	template<typename T>
	const T &oneOf(const std::vector<T> &choices)
	{
		return choices[size(0, static_cast<uint32_t>(choices.size() - 1))];
	}

	DataType type()
	{
		return oneOf<DataType>({ DataType::Int8, DataType::Int16, DataType::Half });
	}

private:
	std::mt19937 engine_;
};

} /* namespace nvdla::test */
