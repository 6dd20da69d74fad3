/* SPDX-License-Identifier: MIT */
/*
 * MAC cells for INT8 and INT16. A step's sum always fits the cell's 22 or 44 bits,
 * so nothing saturates or wraps before CACC.
 */
#include "conv/cmac.h"

namespace nvdla::sim
{

int64_t macInteger(const int16_t *data, const int16_t *weights, uint32_t lanes)
{
	int64_t sum = 0;

	for (uint32_t i = 0; i < lanes; i++)
		sum += static_cast<int32_t>(data[i]) * weights[i];
	return sum;
}

std::array<int64_t, 4> winogradOutput(const std::array<int64_t, 16> &m)
{
	std::array<int64_t, 8> lines;

	for (size_t x = 0; x < 4; x++) {
		lines[x] = m[x] + m[x + 4] + m[x + 8];
		lines[x + 4] = m[x + 4] - m[x + 8] - m[x + 12];
	}
	return { lines[0] + lines[1] + lines[2], lines[1] - lines[2] - lines[3],
		 lines[4] + lines[5] + lines[6], lines[5] - lines[6] - lines[7] };
}

std::array<int64_t, 4> macIntegerWinograd(const int16_t *data, const int16_t *weights)
{
	constexpr uint32_t kTileChannels = 4;
	std::array<int64_t, 16> m;

	for (int64_t &sum : m) {
		sum = macInteger(data, weights, kTileChannels);
		data += kTileChannels;
		weights += kTileChannels;
	}
	return winogradOutput(m);
}

} /* namespace nvdla::sim */
