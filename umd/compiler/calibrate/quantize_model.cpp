/* SPDX-License-Identifier: MIT */
#include "quantize_model.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <numeric>

namespace nvdla::compiler
{

namespace
{

/* Scale of a tensor that contains only zeros; any scale would do. */
constexpr double scaleOfNothing = 1.0 / 128;

/* Whether an operator only moves integers: its result consists of unchanged elements of inputs. */
bool movesElements(const Kind &kind)
{
	const auto *pool = std::get_if<Pool>(&kind);
	const auto *concatenation = std::get_if<Concatenation>(&kind);

	return traitsOf(kind).movesElements || (pool && isExtreme(pool->method)) ||
	       (concatenation && concatenation->activation.isNone());
}

/*
 * Returns the range of a function whose results have limits. As TFLite defines it, 256 integers
 * cover the range, and one of them is 0. Other operators keep the range that was seen.
 */
Range limitsOf(const Operator &operation, const Range &seen)
{
	constexpr double steps = 256;
	const auto *unary = std::get_if<Unary>(&operation.kind);
	const auto *softmax = std::get_if<Softmax>(&operation.kind);

	if ((softmax && !softmax->isLogarithm) ||
	    (unary && unary->function == Unary::Function::Logistic))
		return { 0, (steps - 1) / steps };
	if (unary && unary->function == Unary::Function::Tanh)
		return { -1, (steps - 2) / steps };
	return seen;
}

/* The least power of two that is not below \a step; 0 for 0 */
double powerOfTwo(double step)
{
	return step > 0 ? std::exp2(std::ceil(std::log2(step))) : 0;
}

bool isFixedPoint(const Calibration &calibration)
{
	return calibration.method == RangeMethod::PowersOfTwo && calibration.table.empty();
}

Quantization quantizationFor(const Range &range, const Calibration &calibration)
{
	const DataType type = calibration.type;
	const IntegerLimits limits = integerLimits(type);

	if (isFixedPoint(calibration)) {
		/* A limit may be rounded by half a step: a range up to 1 gets the step 2^-7,
		 * with the integer 127 for 1. */
		const double step = powerOfTwo(
			std::max(range.high / (static_cast<double>(limits.highest) + 0.5),
				 range.low / (static_cast<double>(limits.lowest) - 0.5)));
		return { step > 0 ? step : scaleOfNothing, 0 };
	}
	const bool isSymmetric =
		!calibration.table.empty() || type == DataType::Int16 || range.low == -range.high;
	auto quantization = quantizationOf(range.low, range.high, type,
					   isSymmetric ? ZeroPoint::Zero : ZeroPoint::Free);

	return quantization ? *quantization : Quantization{ scaleOfNothing, 0 };
}

ElementType elementTypeOf(DataType type)
{
	return type == DataType::Int8 ? ElementType::Int8 : ElementType::Int16;
}

/* Quantizes a kernel tensor: a scale for each output channel; with fixed point one for all. */
Value integerKernels(const Value &weights, const std::vector<double> &bias, double inputStep,
		     const Calibration &calibration)
{
	const DataType type = calibration.type;
	const auto most = static_cast<double>(integerLimits(type).highest);
	const size_t kernel = elementCount(weights.shape) / weights.shape.front();
	const size_t bytes = elementBytes(elementTypeOf(type));
	std::vector<std::byte> elements(elementCount(weights.shape) * bytes);
	std::vector<Quantization> scales;
	std::vector<double> steps;
	Value value = weights;

	value.type = elementTypeOf(type);
	value.quantizedAxis = 0;
	for (size_t k = 0; k < weights.shape.front(); k++) {
		double largest = 0;
		for (const double element : realNumbers(weights, k * kernel, kernel))
			largest = std::max(largest, std::fabs(element));
		/* The bias, in steps of the sums, has to fit 30 bits. */
		const double least = bias.empty() ? 0 : std::fabs(bias[k]) / inputStep * 0x1p-30;
		steps.push_back(std::max(largest / most, least));
	}
	if (isFixedPoint(calibration))
		std::ranges::fill(steps, powerOfTwo(std::ranges::max(steps)));
	std::byte *to = elements.data();
	for (size_t k = 0; k < steps.size(); k++) {
		scales.push_back({ steps[k] > 0 ? steps[k] : scaleOfNothing, 0 });
		for (const double number : realNumbers(weights, k * kernel, kernel)) {
			const auto element = static_cast<int16_t>(scales[k].quantize(number, type));
			/* Little endian: the low byte is first. */
			std::memcpy(to, &element, bytes);
			to += bytes;
		}
	}
	value.data = std::move(elements);
	value.quantization = TensorQuantization(std::move(scales));
	return value;
}

double sumOf(std::span<const uint64_t> counts)
{
	return static_cast<double>(std::accumulate(counts.begin(), counts.end(), uint64_t{ 0 }));
}

/*
 * Relative entropy of two distributions over the bins \a first to \a last - 1. One has the bins'
 * counts; counts of bins outside are added to the bins at the ends. The other represents it by
 * \a levels integers: all bins of an integer, except empty ones, share the integer's count.
 */
double divergence(std::span<const uint64_t> counts, size_t first, size_t last, size_t levels)
{
	const auto inner = counts.subspan(first, last - first);
	const double all = sumOf(counts), inside = sumOf(inner), below = sumOf(counts.first(first));
	/* Least probability of a bin in the integers' distribution, that of a bin with one number:
	 * without it, quotients could be infinite. */
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

void settleRanges(const Model &model, std::vector<Range> &ranges, const CoreGeometry &core,
		  bool areGiven)
{
	const bool hasY = core.has(Capability::SdpY);
	bool changed = true;
	const auto widen = [&](ValueId id, const Range &by) {
		changed |= by.low < ranges[id].low || by.high > ranges[id].high;
		ranges[id].include(by);
	};

	/* Results of operators that only move elements begin without a range: the loop below widens
	 * it to the inputs' ranges. */
	for (const Operator &operation : model.operators) {
		Range &range = ranges[operation.outputs.front()];
		if (!areGiven || range == Range{})
			range = movesElements(operation.kind) ? Range{}
							      : limitsOf(operation, range);
	}
	while (changed) {
		changed = false;
		for (const Operator &operation : model.operators) {
			const ValueId output = operation.outputs.front();
			for (const ValueId input : operation.inputs) {
				if (!movesElements(operation.kind) ||
				    model.values[input].isConstant)
					continue;
				widen(output, ranges[input]);
				widen(input, ranges[output]);
			}
			/* A second input must have zero point 0, so a symmetric range, if it
			 * becomes kernels, or is a factor on a core without SDP's unit Y. */
			const auto *of = std::get_if<Elementwise>(&operation.kind);
			const bool multiplies =
				of && of->function == Elementwise::Function::Multiply &&
				!model.values[operation.inputs[1]].isConstant && !hasY;
			if (isAny<Product>(operation.kind) || multiplies) {
				const Range range = ranges[operation.inputs[1]];
				widen(operation.inputs[1], { -range.high, -range.low });
			}
		}
		for (const State &state : model.states) {
			widen(model.inputs[state.input], ranges[model.outputs[state.output]]);
			widen(model.outputs[state.output], ranges[model.inputs[state.input]]);
		}
	}
}

void quantizeModel(Model &model, const std::vector<Range> &ranges, const Calibration &calibration)
{
	for (ValueId id = 0; id < model.values.size(); id++) {
		Value &value = model.values[id];
		if (value.isConstant || !isFloat(value.type))
			continue;
		value.type = elementTypeOf(calibration.type);
		value.quantization = quantizationFor(ranges[id], calibration);
	}
	for (Operator &operation : model.operators) {
		/* Hybrid models (float values, integer kernels) keep their kernels. */
		if (!hasKernels(operation.kind) || !isFloat(model.values[operation.inputs[1]].type))
			continue;
		const Value &weights = model.values[operation.inputs[1]];
		const double step = model.values[operation.inputs[0]].quantization.channel(0).scale;
		const std::vector<double> bias =
			operation.inputs.size() > 2 ? realNumbers(model.values[operation.inputs[2]])
						    : std::vector<double>{};
		/* Operators that share kernels get one copy each: scales depend on the bias. */
		operation.inputs[1] = model.add(integerKernels(weights, bias, step, calibration));
	}
	/* There are no results of a framework to match bit by bit, and rounding once is nearer to
	 * the float model than TFLite's rounding twice. */
	model.roundingOf8Bits = ScaleRounding::Once;
}

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
	const double all = sumOf(counts_), rare = all * (1 - percent / 100);
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

Range Histogram::leastEntropy() const
{
	constexpr size_t shares = 128, smallestShare = shares / 8;
	/* Integers of 8 bits; also used for 16 bits, which have more integers than bins. */
	constexpr size_t levels = 256;
	const auto zero = static_cast<double>(zeroBin());
	double low = 1, high = 1;

	auto entropyOf = [&](double lowShare, double highShare) {
		const auto first = static_cast<size_t>(std::floor(zero * (1 - lowShare)));
		const auto last = static_cast<size_t>(
			std::ceil(zero + (static_cast<double>(bins) - zero) * highShare));
		return divergence(counts_, first, std::max(last, first + 1), levels);
	};
	/* Choose the upper limit first, then the lower one with that upper limit. */
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
