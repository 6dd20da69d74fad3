/* SPDX-License-Identifier: MIT */
#include <nvdla/lut.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include <fmt/core.h>

#include "lut_format.h"

namespace nvdla
{

namespace
{

/*
 * A look-up unit has two tables: LE with 65 entries, linear or exponential, and LO with 257
 * entries, linear. makeLut() tries LO tables that cover the whole range, a half of it, a quarter
 * and so on (loDensities), each at several positions (loPlaces).
 */
constexpr int loDensities = 12;
constexpr int loPlaces = 16;
constexpr int evenSamples = 2048;
/* Samples for each doubling of the distance from the start, near which exponential tables are
 * dense. */
constexpr int samplesPerOctave = 16;
constexpr int octaves = 20;

/* Limits of a table's registers, from NVDLA's programming guide, "Limitation", LUT: exponents of 2
 * for the distances of entries, and the width in bits of the start and end registers. */
struct LutLimits {
	int offsetMin, offsetMax;
	int leMax, loMax;
	int stepMin;
	uint32_t edgeBits;
};

LutLimits limitsOf(LutUnit unit, DataType type)
{
	/* Entries for integer inputs need not be closer than 1 = 2^0, so stepMin is 0 for
	 * integers. */
	if (type == DataType::Half)
		return { -126, 127, 121, 119, -128, 0 };
	if (unit == LutUnit::Sdp)
		return { 0, 31, 25, 23, 0, 32 };
	if (type == DataType::Int8)
		return { 0, 20, 15, 13, 0, 38 };
	return { 0, 36, 31, 29, 0, 38 };
}

/* The function for which tables are made, with inputs and results as tables have them: quantized
 * to integers, or FP16. Errors of tables are measured at the samples. */
class Target
{
public:
	explicit Target(const LutRequest &request)
		: request_(request), half_(request.type == DataType::Half),
		  low_(toInput(request.low)), high_(toInput(request.high))
	{
		if (!half_) {
			low_ = std::floor(low_);
			high_ = std::max(std::ceil(high_), low_ + 1);
		} else {
			low_ = static_cast<float>(low_);
		}
		addSamples();
	}

	double low() const { return low_; }
	double high() const { return high_; }
	double range() const { return high_ - low_; }
	bool half() const { return half_; }
	bool straightOutside() const { return half_ && request_.straightOutside; }
	/* Factor that converts an error from units of the entries to real numbers. */
	double entryScale() const { return half_ ? 1 : request_.outputScale; }
	const std::vector<double> &samples() const { return samples_; }
	const std::vector<double> &values() const { return values_; }

	double operator()(double input) const
	{
		const double real = half_ ? input : request_.input.real(input);
		return request_.function(real) / entryScale();
	}

private:
	double toInput(double real) const { return half_ ? real : request_.input.steps(real); }

	void addSamples()
	{
		for (int i = 0; i <= evenSamples; i++)
			samples_.push_back(low_ + range() * i / evenSamples);
		for (int i = 1; i < octaves * samplesPerOctave; i++)
			samples_.push_back(low_ + range() * std::exp2(-i / 1.0 / samplesPerOctave));
		for (double &sample : samples_) {
			sample = half_ ? sample : roundReal(sample);
			values_.push_back((*this)(sample));
		}
	}

	const LutRequest &request_;
	bool half_;
	double low_, high_;
	std::vector<double> samples_, values_;
};

/* A filled table, and its error at each sample. */
struct Candidate {
	Candidate(const Target &target, LutHalf half) : table(std::move(half))
	{
		table.fill(target, target.low(), target.high());
		if (target.straightOutside())
			table.straighten(target);
		for (size_t i = 0; i < target.samples().size(); i++) {
			const double x = target.samples()[i];
			hits.push_back(table.hits(x));
			errors.push_back(std::fabs(table.value(x) - target.values()[i]));
		}
	}

	LutHalf table;
	std::vector<bool> hits;
	std::vector<double> errors;
};

LutHalf emptyTable(const Target &target, size_t entries, int step, double start)
{
	LutHalf table;

	table.half = target.half();
	table.step = step;
	table.start = target.half() ? static_cast<float>(start) : std::floor(start);
	table.entries.resize(entries);
	return table;
}

/* Returns the smallest distance of entries, as an exponent of 2, with which a table covers the
 * range; at least \a smallest. */
int coveringStep(const Target &target, size_t entries, int smallest)
{
	const double step = target.range() / static_cast<double>(entries - 1);

	return std::max(smallest, static_cast<int>(std::ceil(std::log2(step))));
}

bool fits(const LutHalf &table, const LutLimits &limits)
{
	if (table.half) /* bound the rounding of the start, whose register is an FP32 with 24
			   significant bits, relative to a step */
		return table.exponential || std::fabs(table.start) < std::ldexp(1, table.step + 30);
	const auto range = integerLimits(limits.edgeBits);
	return table.start >= static_cast<double>(range.lowest) &&
	       (table.exponential ||
		table.input(table.steps()) <= static_cast<double>(range.highest));
}

std::vector<Candidate> leCandidates(const Target &target, const LutLimits &limits)
{
	std::vector<Candidate> candidates;
	LutHalf linear =
		emptyTable(target, Lut::leCount, coveringStep(target, Lut::leCount, limits.stepMin),
			   target.low());
	LutHalf exponential = linear;

	if (linear.step <= limits.leMax && fits(linear, limits))
		candidates.emplace_back(target, std::move(linear));
	/*
	 * Entry i is at start + 2^(step + i): the last entry is behind the end of the range, and
	 * the first is as close to the start as the limits allow.
	 */
	exponential.exponential = true;
	exponential.step = std::max(limits.offsetMin, std::ilogb(target.range()) + 1 -
							      static_cast<int>(Lut::leCount - 1));
	if (exponential.step <= limits.offsetMax && fits(exponential, limits))
		candidates.emplace_back(target, std::move(exponential));
	return candidates;
}

std::vector<Candidate> loCandidates(const Target &target, const LutLimits &limits)
{
	std::vector<Candidate> candidates;
	const int covering = coveringStep(target, Lut::loCount, limits.stepMin);

	for (int step = std::min(covering, limits.loMax);
	     step >= std::max(limits.stepMin, covering - loDensities); step--) {
		const double spare =
			target.range() - std::ldexp(static_cast<double>(Lut::loCount - 1), step);
		const int places = spare > 0 ? loPlaces : 0;
		for (int place = 0; place <= places; place++) {
			double start = target.low() + std::max(spare, 0.0) * place / loPlaces;
			if (target.half() &&
			    spare > 0) /* place an entry at 0, where functions bend */
				start = std::ldexp(std::floor(std::ldexp(start, -step)), step);
			LutHalf table = emptyTable(target, Lut::loCount, step, start);
			if (fits(table, limits))
				candidates.emplace_back(target, std::move(table));
		}
	}
	return candidates;
}

struct Score {
	double largest = 0;
	double mean = 0;

	bool operator<(const Score &other) const
	{
		/* The mean error is added so that it decides between tables with about the same
		 * largest error. */
		return largest + mean < other.largest + other.mean;
	}
};

Score scoreOf(const Candidate &le, const Candidate &lo)
{
	Score score;

	for (size_t i = 0; i < le.errors.size(); i++) {
		const double error = lo.hits[i] ? lo.errors[i] : le.errors[i];
		score.largest = std::max(score.largest, error);
		score.mean += error / static_cast<double>(le.errors.size());
	}
	return score;
}

Result<void> check(const LutRequest &request)
{
	constexpr const char *what = "make look-up table";
	const bool integer = request.type == DataType::Int8 || request.type == DataType::Int16;

	if (!integer && request.type != DataType::Half)
		return fail(ErrorCode::InvalidArgument, what, "type",
			    fmt::format("no pipeline works in {}", dataTypeName(request.type)));
	if (!(request.low < request.high) || !std::isfinite(request.high - request.low))
		return fail(ErrorCode::InvalidArgument, what, "range",
			    fmt::format("{} to {} is no range", request.low, request.high));
	if (integer && (!(request.input.scale > 0) || !(request.outputScale > 0)))
		return fail(ErrorCode::InvalidArgument, what, "scale",
			    fmt::format("input {} and output {} must be positive",
					request.input.scale, request.outputScale));
	if (!request.function)
		return fail(ErrorCode::InvalidArgument, what, "function", "there is none");
	return {};
}

} /* namespace */

Result<LutTable> makeLut(const LutRequest &request)
{
	auto checked = check(request);
	if (!checked)
		return forward(checked);

	const LutLimits limits = limitsOf(request.unit, request.type);
	const Target target(request);
	for (double value : target.values()) {
		if (!std::isfinite(value))
			return fail(ErrorCode::InvalidArgument, "make look-up table", "function",
				    fmt::format("is {} between {} and {}", value, request.low,
						request.high));
	}

	const auto les = leCandidates(target, limits);
	const auto los = loCandidates(target, limits);
	const Candidate *le = nullptr, *lo = nullptr;
	Score best{ std::numeric_limits<double>::infinity(), 0 };
	for (const Candidate &coarse : les) {
		for (const Candidate &dense : los) {
			const Score score = scoreOf(coarse, dense);
			if (score < best) {
				best = score;
				le = &coarse;
				lo = &dense;
			}
		}
	}
	if (!le)
		return fail(ErrorCode::Unsupported, "make look-up table", "range",
			    fmt::format("{} to {} is more than the table's {} steps hold",
					request.low, request.high, Lut::leCount - 1));
	return LutTable{ lutOf(le->table, lo->table), best.largest * target.entryScale(),
			 best.mean * target.entryScale() };
}

double readLut(const Lut &lut, DataType type, double x)
{
	const LutHalf le = leHalf(lut, type);
	const LutHalf lo = loHalf(lut, type);
	bool useLo;

	if (le.hits(x) != lo.hits(x))
		useLo = lo.hits(x);
	else if (le.hits(x) || le.underflows(x) != lo.underflows(x))
		useLo = lut.hybridSelectsLo;
	else if (le.underflows(x))
		useLo = lut.underflowSelectsLo;
	else
		useLo = lut.overflowSelectsLo;
	return (useLo ? lo : le).value(x);
}

double sigmoid(double x)
{
	return 1 / (1 + std::exp(-x));
}

std::function<double(double)> lrnFactor(double alpha, double beta, double k, uint32_t size)
{
	return [=](double sum) { return std::pow(k + alpha / size * sum, -beta); };
}

} /* namespace nvdla */
