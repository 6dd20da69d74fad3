/* SPDX-License-Identifier: MIT */
#include "peak.h"

#include <algorithm>
#include <chrono>
#include <numeric>
#include <vector>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "peak.cpp"
#include <hwy/foreach_target.h>
/* After foreach_target.h. */
#include <hwy/highway.h>

#include "conv/conv_tile.h"

HWY_BEFORE_NAMESPACE();
namespace nvdla::bench
{
namespace HWY_NAMESPACE
{

namespace hn = hwy::HWY_NAMESPACE;

/* Enough chains to hide the latency of an instruction. */
constexpr size_t kChains = 10;

/**
 * Multiply-adds in chains that do not wait for each other; \a add(sum) is one vector of them.
 * They begin with different numbers, so that they are not one to the compiler.
 */
template<typename Tag, typename Number, typename Add>
HWY_INLINE void runChains(Tag tag, int rounds, Number *numbers, Add add)
{
	auto load = [=](size_t chain)
			    HWY_ATTR { return hn::LoadU(tag, numbers + chain * hn::Lanes(tag)); };
	auto a = load(0), b = load(1), c = load(2), d = load(3), e = load(4);
	auto f = load(5), g = load(6), h = load(7), i = load(8), j = load(9);

	for (int round = 0; round < rounds; round++) {
		a = add(a);
		b = add(b);
		c = add(c);
		d = add(d);
		e = add(e);
		f = add(f);
		g = add(g);
		h = add(h);
		i = add(i);
		j = add(j);
	}
	const auto sum = hn::Add(hn::Add(hn::Add(a, b), hn::Add(c, d)),
				 hn::Add(hn::Add(hn::Add(e, f), hn::Add(g, h)), hn::Add(i, j)));
	hn::StoreU(sum, tag, numbers);
}

/** \brief Makes \a factor one that a product of cannot be known, which would be made once for all
 * rounds */
template<typename Vector>
HWY_INLINE void keep([[maybe_unused]] Vector &factor)
{
#if HWY_ARCH_X86
	asm("" : "+v"(factor.raw));
#endif
}

/** \return multiply-adds that were done */
double floatRounds(int rounds, float *numbers)
{
	const hn::ScalableTag<float> tag;
	const auto factor = hn::Set(tag, *numbers);
	runChains(tag, rounds, numbers,
		  [&](auto value) HWY_ATTR { return hn::MulAdd(factor, factor, value); });

	return static_cast<double>(rounds) * kChains * static_cast<double>(hn::Lanes(tag));
}

/** \return multiply-adds of bytes that were done */
double byteRounds(int rounds, int32_t *numbers)
{
	const hn::ScalableTag<int32_t> tag;
	const auto factor = hn::Set(tag, *numbers);
#if HWY_ARCH_X86 && HWY_TARGET <= HWY_AVX3
	if (__builtin_cpu_supports("avx512vnni")) {
		runChains(tag, rounds, numbers, [&](auto value) HWY_ATTR {
			asm("vpdpbusd %1, %1, %0" : "+v"(value.raw) : "v"(factor.raw));
			return value;
		});
		return 4.0 * rounds * kChains * static_cast<double>(hn::Lanes(tag));
	}
#elif HWY_ARCH_X86 && HWY_TARGET == HWY_AVX2
	auto bytes = factor;
	runChains(tag, rounds, numbers, [&](auto value) HWY_ATTR {
		keep(bytes);
		const __m256i twos = _mm256_maddubs_epi16(bytes.raw, bytes.raw);
		const __m256i fours = _mm256_madd_epi16(twos, bytes.raw);
		/* GCC would keep copies of a sum in memory. */
		asm("vpaddd %1, %0, %0" : "+v"(value.raw) : "v"(fours));
		return value;
	});
	return 4.0 * rounds * kChains * static_cast<double>(hn::Lanes(tag));
#endif
#if HWY_TARGET == HWY_SCALAR
	runChains(tag, rounds, numbers,
		  [&](auto value) HWY_ATTR { return hn::MulAdd(factor, factor, value); });
	return static_cast<double>(rounds) * kChains;
#else
	const hn::Repartition<int16_t, decltype(tag)> pairTag;
	auto pairs = hn::BitCast(pairTag, factor);
	runChains(tag, rounds, numbers, [&](auto value) HWY_ATTR {
		auto other = hn::Zero(tag);
		keep(pairs);
		return hn::ReorderWidenMulAccumulate(tag, pairs, pairs, value, other);
	});
	return 2.0 * rounds * kChains * static_cast<double>(hn::Lanes(tag));
#endif
}

} /* namespace HWY_NAMESPACE */
} /* namespace nvdla::bench */
HWY_AFTER_NAMESPACE();

#if HWY_ONCE

namespace nvdla::bench
{

HWY_EXPORT(floatRounds);
HWY_EXPORT(byteRounds);

namespace
{

constexpr int kRounds = 200000;

#if defined(__x86_64__)
/** \return multiply-adds of bytes that AMX has done */
double matrixRounds(int rounds)
{
	constexpr double kMacs = 16 * 16 * 64;
	struct alignas(64) {
		uint8_t palette = 1;
		uint8_t reserved[15] = {};
		uint16_t rowBytes[16] = { 64, 64, 64, 64, 64, 64, 64, 64 };
		uint8_t rows[16] = { 16, 16, 16, 16, 16, 16, 16, 16 };
	} const shapes;

	asm volatile("ldtilecfg %0" : : "m"(shapes));
	for (int i = 0; i < rounds; i++)
		asm volatile("tdpbssd %tmm6, %tmm4, %tmm0\n\t"
			     "tdpbssd %tmm7, %tmm4, %tmm1\n\t"
			     "tdpbssd %tmm6, %tmm5, %tmm2\n\t"
			     "tdpbssd %tmm7, %tmm5, %tmm3");
	asm volatile("tilerelease");
	return 4 * kMacs * rounds;
}
#else
double matrixRounds(int)
{
	return 0; /* where tileKind() has none either */
}
#endif

/** \return starts of all chains, whatever the size of a vector */
template<typename Number>
std::vector<Number> distinct()
{
	constexpr size_t chains = 10;
	std::vector<Number> numbers(chains * HWY_MAX_BYTES / sizeof(Number));

	std::iota(numbers.begin(), numbers.end(), Number{ 0 });
	return numbers;
}

/** \return the most that \a work says it did in a second */
template<typename Work>
double best(Work work)
{
	double most = 0;

	for (int i = 0; i < 20; i++) {
		const auto start = std::chrono::steady_clock::now();
		const double done = work();
		const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
		most = std::max(most, done / took.count());
	}
	return most;
}

} /* namespace */

double floatPeak()
{
	return best([] {
		std::vector<float> numbers = distinct<float>();
		return HWY_DYNAMIC_DISPATCH(floatRounds)(kRounds, numbers.data());
	});
}

double int8Peak()
{
	if (sim::tileKind() == sim::TileKind::Matrices)
		return best([] { return matrixRounds(kRounds); });
	return best([] {
		std::vector<int32_t> numbers = distinct<int32_t>();
		return HWY_DYNAMIC_DISPATCH(byteRounds)(kRounds, numbers.data());
	});
}

} /* namespace nvdla::bench */

#endif /* HWY_ONCE */
