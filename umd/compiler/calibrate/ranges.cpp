/* SPDX-License-Identifier: MIT */
#include "ranges.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace nvdla::compiler
{

namespace
{

/*
 * Relative entropy of the bins from first to last, with what is beyond them at the ends, and of
 * what levels say of them: each level's numbers are spread over those of its bins that have any.
 */
double divergence(std::span<const uint64_t> counts, size_t first, size_t last, size_t levels)
{
	const auto inner = counts.subspan(first, last - first);
	const double all =
		static_cast<double>(std::accumulate(counts.begin(), counts.end(), uint64_t{ 0 }));
	const double inside =
		static_cast<double>(std::accumulate(inner.begin(), inner.end(), uint64_t{ 0 }));
	const double below = static_cast<double>(std::accumulate(
		counts.begin(), counts.begin() + static_cast<ptrdiff_t>(first), uint64_t{ 0 }));
	/* What integers cannot say, a number where they have none, is as likely as one of all. */
	const double unlikely = 1 / all;
	std::vector<double> sums(levels), filled(levels);
	double entropy = 0;

	auto levelOf = [&](size_t bin) { return bin * levels / inner.size(); };
	for (size_t bin = 0; bin < inner.size(); bin++) {
		sums[levelOf(bin)] += static_cast<double>(inner[bin]);
		filled[levelOf(bin)] += inner[bin] > 0;
	}
	for (size_t bin = 0; bin < inner.size(); bin++) {
		double there = static_cast<double>(inner[bin]);
		const double said =
			inner[bin] > 0 ? sums[levelOf(bin)] / filled[levelOf(bin)] / inside : 0;
		there += bin == 0 ? below : 0;
		there += bin + 1 == inner.size() ? all - inside - below : 0;
		if (there > 0)
			entropy += there / all * std::log(there / all / std::max(said, unlikely));
	}
	return entropy;
}

} /* namespace */

void Range::include(std::span<const float> numbers)
{
	for (const float number : numbers) {
		low = std::min(low, static_cast<double>(number));
		high = std::max(high, static_cast<double>(number));
	}
}

void Range::include(const Range &other)
{
	low = std::min(low, other.low);
	high = std::max(high, other.high);
}

void Histogram::count(std::span<const float> numbers)
{
	const double perBin = 1 / width();

	if (!std::isfinite(perBin))
		return;
	for (const float number : numbers) {
		if (number == 0)
			continue;
		const double bin = (number - range_.low) * perBin;
		counts_[std::min(static_cast<size_t>(std::max(bin, 0.0)), bins - 1)]++;
	}
}

size_t Histogram::zeroBin() const
{
	return range_ == Range{} ? 0
				 : std::min(static_cast<size_t>(-range_.low / width()), bins - 1);
}

Range Histogram::percentile(double percent) const
{
	const auto all =
		static_cast<double>(std::accumulate(counts_.begin(), counts_.end(), uint64_t{ 0 }));
	const double rare = all * (1 - percent / 100);
	size_t first = 0, last = bins;
	double below = 0, above = 0;

	if (all == 0)
		return range_;
	while (first < zeroBin() && below + static_cast<double>(counts_[first]) <= rare)
		below += static_cast<double>(counts_[first++]);
	while (last > zeroBin() + 1 && above + static_cast<double>(counts_[last - 1]) <= rare)
		above += static_cast<double>(counts_[--last]);
	return { first == 0 ? range_.low : range_.low + static_cast<double>(first) * width(),
		 last == bins ? range_.high : range_.low + static_cast<double>(last) * width() };
}

Range Histogram::leastEntropy(size_t levels) const
{
	constexpr size_t shares = 128, smallestShare = shares / 8;
	const auto zero = static_cast<double>(zeroBin());
	double low = 1, high = 1;

	auto entropyOf = [&](double lowShare, double highShare) {
		const auto first = static_cast<size_t>(std::floor(zero * (1 - lowShare)));
		const auto last = static_cast<size_t>(
			std::ceil(zero + (static_cast<double>(bins) - zero) * highShare));
		return divergence(counts_, first, std::max(last, first + 1), levels);
	};
	/* An outlier is at one end: first the upper one, then with that the lower one. */
	for (double *end : { &high, &low }) {
		double least = HUGE_VAL, best = 1;
		for (size_t i = smallestShare; i <= shares; i++) {
			*end = static_cast<double>(i) / shares;
			const double entropy = entropyOf(low, high);
			if (entropy <= least)
				best = *end;
			least = std::min(least, entropy);
		}
		*end = best;
	}
	return { range_.low * low, range_.high * high };
}

} /* namespace nvdla::compiler */
