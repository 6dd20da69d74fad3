/* SPDX-License-Identifier: MIT */
#include "table_softmax.h"

#include <array>
#include <bit>

#include "fixed_point.h"

namespace nvdla::test
{

namespace
{

constexpr int64_t lowest = INT16_MIN, highest = INT16_MAX;
constexpr float unit = 32768; /* 1.0 with 15 bits of fraction */

/* A function over -32768 to 32767, which stand for the interval from low to high. */
class Table
{
public:
	template<typename Function>
	Table(float low, float high, Function &&function)
	{
		const float step = (high - low) / steps;
		auto sample = [&](float x) { return std::round(function(x) * unit); };

		for (size_t i = 0; i < steps; i++) {
			const float x = low + static_cast<float>(i) * step;
			/* Half of what a straight line is off in the middle. */
			const float line = std::round((function(x + step) * unit + sample(x)) / 2);
			const float bias = std::round((line - sample(x + step / 2)) / 2);
			entries_[i] = entry(sample(x) - bias);
		}
		entries_[steps] = entry(sample(high));
	}

	int64_t operator()(int64_t x) const
	{
		const int64_t at = std::clamp(x, lowest, highest) - lowest;
		const auto i = static_cast<size_t>(at / stepSize);
		const int64_t slope = entries_[i + 1] - entries_[i];

		return entries_[i] + ((slope * (at % stepSize) + stepSize / 2) >> 7);
	}

private:
	static constexpr size_t steps = 512;
	static constexpr int64_t stepSize = 128;

	static int64_t entry(float number)
	{
		return std::clamp(static_cast<int64_t>(number), lowest, highest);
	}

	std::array<int64_t, steps + 1> entries_{};
};

} /* namespace */

Numbers tableSoftmax(const Numbers &row, double scale)
{
	const Table exponential(-10, 0, [](float x) { return std::exp(x); });
	const Table reciprocal(0, 1, [](float x) { return 1 / (1 + x); });
	/* Differences of -10 to 0 take the exponential's whole table. */
	const RealFactor factor = realFactor(scale * 65535 / 10);
	const auto largest = static_cast<int64_t>(*std::max_element(row.begin(), row.end()));
	int64_t sum = 0;
	Numbers powers, result;

	for (const double number : row) {
		const int64_t difference = static_cast<int64_t>(number) - largest;
		const int64_t power = exponential(multiply(difference, factor) + highest);
		powers.push_back(static_cast<double>(power));
		sum += power;
	}
	/* sum = (1 + x) * 2^(30 - zeros), x from 0 to 1 in 16 bits. */
	const int zeros = std::countl_zero(static_cast<uint32_t>(sum)) - 1;
	const int64_t shifted = ((sum << zeros) + (1 << 13)) >> 14;
	const int64_t inverse = reciprocal(shifted - (1 << 16) + lowest);
	const int shift = 30 - zeros;
	for (const double power : powers) {
		const int64_t product = static_cast<int64_t>(power) * inverse;
		const int64_t rounded = (product + (int64_t{ 1 } << (shift - 1))) >> shift;
		result.push_back(static_cast<double>(std::clamp<int64_t>(rounded, 0, highest)));
	}
	return result;
}

} /* namespace nvdla::test */
