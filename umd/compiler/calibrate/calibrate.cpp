/* SPDX-License-Identifier: MIT */
#include <algorithm>
#include <cmath>
#include <map>

#include <fmt/core.h>

#include "compiler/compile.h"
#include "compiler/real/evaluator.h"
#include "compiler/rules.h"
#include "quantize_model.h"

namespace nvdla::compiler
{

namespace
{

constexpr const char *calibrating = "calibrate model";
/* Range of each value if there are no samples; like most real ranges, it needs a zero point. */
constexpr Range anyRange = { -1, 2 };

/* The numbers of each input, channels last. For a batch, one example's numbers are repeated. */
using Sample = std::vector<RealNumbers>;

[[noreturn]] void bad(const std::string &where, const std::string &why)
{
	refuse(ErrorCode::InvalidArgument, calibrating, where, why);
}

bool areFinite(const std::vector<float> &numbers)
{
	return std::ranges::all_of(numbers, [](float number) { return std::isfinite(number); });
}

Sample sampleOf(const Model &model, const std::vector<std::vector<float>> &inputs,
		const std::string &where)
{
	Sample sample;

	if (inputs.size() != model.givenInputs())
		bad(where,
		    fmt::format("has {} inputs, the model {}", inputs.size(), model.givenInputs()));
	for (size_t i = 0; i < inputs.size(); i++) {
		const Value &value = model.values[model.inputs[i]];
		const uint64_t wanted = elementCount(value.cubeShape());
		/* Inputs of a part of a divided model have numbers for each sample of a batch. */
		if (inputs[i].size() != wanted && inputs[i].size() != wanted * value.batch)
			bad(where, fmt::format("has {} numbers, the input '{}' of {} needs {}",
					       inputs[i].size(), value.name,
					       toString(value.inFile()), wanted * value.batch));
		if (!areFinite(inputs[i]))
			bad(where, fmt::format("has NaN or infinite numbers for the input '{}'",
					       value.name));
		const bool turns = i < model.inputsInFile.size() &&
				   model.inputsInFile[i].order == ElementOrder::Nchw &&
				   value.shape.size() == 4;
		const size_t channels = turns ? value.shape.back() : 1, plane = wanted / channels;
		RealNumbers &all = sample.emplace_back(wanted * value.batch);
		for (size_t to = 0; to < all.size(); to++)
			all[to] = inputs[i][(to / wanted * wanted + to % channels * plane +
					     to % wanted / channels) %
					    inputs[i].size()];
	}
	return sample;
}

/* The samples of a float model; one at a time is in memory. */
struct Samples {
	const Model &model;
	const SampleReader &read;
	const size_t count;

	/* Calls visit(sample, values); the float model has computed all values from the sample. */
	template<typename Visit>
	void each(const Visit &visit) const
	{
		std::vector<RealNumbers> values;

		for (size_t i = 0; i < count; i++) {
			Sample sample =
				sampleOf(model, valueOf(read(i)), fmt::format("sample {}", i));
			/* In a model with states, the samples are the steps of one sequence. */
			for (const State &state : model.states)
				sample.push_back(i ? values[model.outputs[state.output]]
						   : RealNumbers(state.first));
			values = evaluateAll(model, sample, std::move(values));
			for (ValueId id = 0; id < values.size(); id++) {
				if (!areFinite(values[id]))
					bad(fmt::format("'{}'", model.values[id].name),
					    "becomes NaN or infinite with these samples");
			}
			visit(sample, values);
		}
	}
};

/* The ranges for a table's scales. A value's range is empty if the table has no row with the name
 * of the value or of its operator. */
std::vector<Range> rangesOf(const Model &model, const CalibrationTable &table)
{
	const auto highest = static_cast<double>(integerLimits(DataType::Int8).highest);
	std::vector<Range> ranges(model.values.size());
	const auto give = [&](ValueId id, const std::string &name) {
		if (const auto row = table.find(name); row != table.end())
			ranges[id] = { -highest * row->second, highest * row->second };
	};

	for (const Operator &operation : model.operators)
		give(operation.outputs.front(), operation.name);
	for (ValueId id = 0; id < ranges.size(); id++)
		give(id, model.values[id].name);
	return ranges;
}

/* Refuses a value that has no row of a table, and gets no range from its operator. */
void checkRanges(const Model &model, const std::vector<Range> &ranges)
{
	for (const Operator &operation : model.operators) {
		std::vector<ValueId> ids = operation.inputs;
		ids.push_back(operation.outputs.front());
		for (const ValueId id : ids) {
			if (!model.values[id].isConstant && ranges[id] == Range{})
				bad(fmt::format("calibration table, '{}'", model.values[id].name),
				    fmt::format("has no row; {} '{}' needs its scale",
						operation.type, operation.name));
		}
	}
}

/*
 * Collects the range of each value's numbers over all samples, unless a table has the ranges.
 * Returns, by ValueId, the means over the samples of all tensors that operators with kernels read.
 */
std::vector<RealNumbers> observe(const Samples &samples, const Calibration &calibration,
				 std::vector<Range> &ranges)
{
	const Model &model = samples.model;
	const bool isPercentile = calibration.method == RangeMethod::Percentile;
	std::vector<RealNumbers> means(model.values.size());
	std::vector<Range> all(model.values.size());

	for (const Operator &operation : model.operators) {
		if (hasKernels(operation.kind))
			means[operation.inputs.front()].resize(
				elementCount(model.values[operation.inputs.front()].shape));
	}
	samples.each([&](const Sample &, const auto &values) {
		for (ValueId id = 0; id < values.size(); id++) {
			all[id].include(values[id]);
			for (size_t i = 0; i < std::min(means[id].size(), values[id].size()); i++)
				means[id][i] += values[id][i] / static_cast<float>(samples.count);
		}
	});
	if (!calibration.table.empty())
		return means;
	ranges = all;
	if (!isPercentile && calibration.method != RangeMethod::Entropy)
		return means;
	std::vector<Histogram> histograms(ranges.begin(), ranges.end());
	samples.each([&](const Sample &, const auto &values) {
		for (ValueId id = 0; id < values.size(); id++)
			histograms[id].count(values[id]);
	});
	for (ValueId id = 0; id < ranges.size(); id++)
		ranges[id] = isPercentile ? histograms[id].percentile(calibration.percentile)
					  : histograms[id].leastEntropy();
	return means;
}

/*
 * Corrects biases by the mean error that rounding of kernels causes. A convolution is linear: its
 * result for the mean input is the mean of its results.
 */
void correctBiases(Model &integers, const Model &real, const std::vector<RealNumbers> &means)
{
	Model both = integers; /* quantizeModel() kept the float kernels beside the integer ones */

	for (Value &value : both.values) {
		if (!value.isConstant)
			value.type = ElementType::Float32; /* evaluate() then rounds no result */
	}
	for (size_t i = 0; i < integers.operators.size(); i++) {
		std::vector<ValueId> &inputs = integers.operators[i].inputs;
		Operator linear = both.operators[i];
		if (!hasKernels(linear.kind))
			continue;
		*activationOf(linear.kind) = {};
		linear.inputs.resize(2);
		const uint32_t kernels = both.values[linear.inputs[1]].shape.front();
		const RealNumbers given = evaluate(both, linear, means);
		linear.inputs[1] = real.operators[i].inputs[1];
		const RealNumbers wanted = evaluate(both, linear, means);
		std::vector<double> bias(kernels);
		if (inputs.size() > 2)
			bias = realNumbers(integers.values[inputs[2]]);
		for (size_t j = 0; j < wanted.size(); j++)
			bias[j % kernels] += (double{ wanted[j] } - given[j]) * kernels /
					     static_cast<double>(wanted.size());
		inputs.resize(2);
		inputs.push_back(integers.add(floatConstant(bias, { kernels })));
	}
}

/* Energies of a signal and of the noise in it */
struct Noise {
	double signal = 0;  /* sum of the squares of the wanted numbers */
	double noise = 0;   /* sum of the squares of the errors */
	double largest = 0; /* largest error */

	void add(const RealNumbers &got, const RealNumbers &wanted)
	{
		for (size_t i = 0; i < wanted.size(); i++) {
			const double distance = std::fabs(double{ got[i] } - wanted[i]);
			signal += double{ wanted[i] } * wanted[i];
			noise += distance * distance;
			largest = std::max(largest, distance);
		}
	}
	/* Signal-to-noise ratio; infinite without noise. */
	double decibels() const { return noise == 0 ? HUGE_VAL : 10 * std::log10(signal / noise); }
};

LayerErrors measure(const Model &integers, const Samples &samples)
{
	std::map<ValueId, Noise> all, own;
	LayerErrors errors;
	std::vector<RealNumbers> got;
	RealNumbers alone;

	samples.each([&](const Sample &sample, const auto &wanted) {
		got = evaluateAll(integers, sample, std::move(got));
		for (const Operator &operation : integers.operators) {
			const ValueId output = operation.outputs.front();
			all[output].add(got[output], wanted[output]);
			alone = evaluate(integers, operation, wanted, std::move(alone));
			own[output].add(alone, wanted[output]);
		}
	});
	for (const auto &[output, noise] : all)
		errors[output] = { noise.decibels(), own[output].decibels(), noise.largest };
	return errors;
}

} /* namespace */

Result<void> checkCalibration(const Calibration &calibration)
{
	return resultOf([&] {
		if (calibration.samples.empty() && calibration.table.empty())
			bad("samples", "there are none; give inputs like those of the application");
		if (calibration.type != DataType::Int8 && calibration.type != DataType::Int16)
			bad("type", fmt::format("is {}; int8 and int16 are possible",
						dataTypeName(calibration.type)));
		/* Written so that a NaN is refused. */
		if (!(calibration.percentile >= 50 && calibration.percentile <= 100))
			bad("percentile",
			    fmt::format("is {}; 50 to 100 are possible", calibration.percentile));
	});
}

Result<void> checkFloat(const Model &model)
{
	Result<void> checked;

	for (const Operator &operation : model.operators) {
		for (const ValueId id : operation.inputs) {
			const Value &value = model.values[id];
			const std::string where = fmt::format("'{}'", value.name);
			const char *type = elementTypeName(value.type);
			if (value.isConstant || isFloat(value.type))
				continue;
			if (!value.quantization.none())
				return fail(ErrorCode::InvalidArgument, calibrating, where,
					    fmt::format("is {} already; only float models are "
							"calibrated, this one is compiled as it is",
							type));
			checked = fail(
				ErrorCode::Unsupported, calibrating, where,
				fmt::format("is {}; only tensors of float are calibrated", type));
		}
	}
	return checked;
}

Result<LayerErrors> calibrate(Model &model, const Calibration &calibration,
			      const SampleReader &reader, const CoreGeometry &core)
{
	return resultOf([&] {
		valueOf(checkFloat(model));
		const bool hasTable = !calibration.table.empty();
		const size_t count = calibration.samples.size();
		const Model real = model; /* a copy that shares the constants' bytes */
		const SampleReader given = [&](size_t i) { return calibration.samples[i]; };
		const Samples samples{ real, reader ? reader : given, count };
		std::vector<RealNumbers> means;
		std::vector<Range> ranges(model.values.size(), anyRange);
		if (hasTable) {
			ranges = rangesOf(model, calibration.table);
			settleRanges(model, ranges, core, true);
			checkRanges(model, ranges);
		}
		if (count)
			means = observe(samples, calibration, ranges);
		for (const ValueId id : model.inputs) {
			const auto found = calibration.extremes.find(model.values[id].name);
			if (!hasTable && found != calibration.extremes.end())
				ranges[id].include(found->second);
		}
		if (!hasTable)
			settleRanges(model, ranges, core);
		quantizeModel(model, ranges, calibration);
		if (count && calibration.correctBias)
			correctBiases(model, real, means);
		return count ? measure(model, samples) : LayerErrors();
	});
}

} /* namespace nvdla::compiler */
