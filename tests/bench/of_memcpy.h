/* SPDX-License-Identifier: MIT */
/*
 * What moves data cannot be faster than moving it: ratios to memcpy() in the same run.
 */
#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstring>
#include <vector>

#include <benchmark/benchmark.h>

namespace nvdla::bench
{

/** \return seconds that one call takes, the best of some rounds of at least 20 us */
template<typename Call>
double secondsOf(Call call)
{
	constexpr double longEnough = 20e-6;
	constexpr int rounds = 20;
	double best = 1e9;

	for (int i = 0, calls = 1; i < rounds;) {
		const auto start = std::chrono::steady_clock::now();
		for (int n = 0; n < calls; n++)
			call();
		const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
		if (took.count() < longEnough) {
			calls *= 2;
			continue;
		}
		best = std::min(best, took.count() / calls);
		i++;
	}
	return best;
}

/** \brief Time \a call and say how fast it is next to copying \a bytes bytes ("of_memcpy") */
template<typename Call>
void compareWithMemcpy(benchmark::State &state, size_t bytes, Call call)
{
	const std::vector<std::byte> from(bytes, std::byte{ 1 });
	std::vector<std::byte> to(bytes);
	auto copy = [&] {
		std::memcpy(to.data(), from.data(), bytes);
		benchmark::DoNotOptimize(to.data());
		benchmark::ClobberMemory();
	};

	for (auto _ : state)
		call();
	state.SetBytesProcessed(static_cast<int64_t>(state.iterations() * bytes));
	state.counters["of_memcpy"] = secondsOf(copy) / secondsOf(call);
}

} /* namespace nvdla::bench */
