/* SPDX-License-Identifier: MIT */
#include <algorithm>
#include <cmath>

#include <fmt/core.h>

#include "compiler/compile.h"
#include "compiler/real/evaluator.h"
#include "quantize_model.h"

namespace nvdla::compiler
{

namespace
{

constexpr const char *calibrating = "calibrate model";
/* Range of each value if there are no samples; like most real ranges, it needs a zero point. */
constexpr Range anyRange = { -1, 2 };

/* The numbers of each input, channels last; those of one sample for all of a batch. */
using Sample = std::vector<RealNumbers>;

/* C, H, W to H, W, C, for each cube of a batch. */
RealNumbers channelsBehind(const RealNumbers &numbers, size_t channels, size_t batch)
{
	const size_t cube = numbers.size() / batch, plane = cube / channels;
	RealNumbers turned(numbers.size());

	for (size_t i = 0; i < numbers.size(); i++)
		turned[i / cube * cube + i % plane * channels + i % cube / plane] = numbers[i];
	return turned;
}

bool areFinite(const std::vector<float> &numbers)
{
	return std::ranges::all_of(numbers, [](float number) { return std::isfinite(number); });
}

Result<Sample> sampleOf(const Model &model, const std::vector<std::vector<float>> &inputs,
			const std::string &where)
{
	auto bad = [&](const std::string &why) {
		return fail(ErrorCode::InvalidArgument, calibrating, where, why);
	};
	Sample sample;

	if (inputs.size() != model.inputs.size())
		return bad(fmt::format("has {} inputs, the model {}", inputs.size(),
				       model.inputs.size()));
	for (size_t i = 0; i < inputs.size(); i++) {
		const Value &value = model.values[model.inputs[i]];
		const uint64_t wanted = elementCount(value.cubeShape());
		/* A part of a divided model has different numbers for each cube of a batch. */
		if (inputs[i].size() != wanted && inputs[i].size() != wanted * value.batch)
			return bad(fmt::format("has {} numbers, the input '{}' of {} needs {}",
					       inputs[i].size(), value.name,
					       toString(value.cubeShape()), wanted));
		if (!areFinite(inputs[i]))
			return bad(fmt::format("has NaN or infinite numbers for the input '{}'",
					       value.name));
		const bool turns = i < model.inputOrders.size() &&
				   model.inputOrders[i] == ElementOrder::Nchw &&
				   value.shape.size() == 4;
		RealNumbers &all = sample.emplace_back();
		do
			all.insert(all.end(), inputs[i].begin(), inputs[i].end());
		while (all.size() < wanted * value.batch);
		if (turns)
			all = channelsBehind(all, value.shape.back(), value.batch);
	}
	return sample;
}

/* The samples of a float model; one at a time is in memory. */
struct Samples {
	const Evaluator &reference;
	const SampleReader &read;
	const size_t count;

	/* Calls visit with each sample, and with the values that the float model has for it. */
	template<typename Visit>
	Result<void> each(const Visit &visit) const
	{
		const Model &model = reference.model();

		for (size_t i = 0; i < count; i++) {
			auto sample = read(i).and_then([&](auto &&numbers) {
				return sampleOf(model, numbers, fmt::format("sample {}", i));
			});
			if (!sample)
				return forward(sample);
			const auto values = reference.run(*sample);
			for (ValueId id = 0; id < values.size(); id++) {
				if (!areFinite(values[id]))
					return fail(ErrorCode::InvalidArgument, calibrating,
						    fmt::format("'{}'", model.values[id].name),
						    "becomes NaN or infinite with these samples");
			}
			visit(*sample, values);
		}
		return {};
	}
};

/* The ranges of a table's scales; empty without a row of the value's or its operator's name. */
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
Result<void> checkRanges(const Model &model, const std::vector<Range> &ranges)
{
	for (const Operator &operation : model.operators) {
		std::vector<ValueId> ids = operation.inputs;
		ids.push_back(operation.outputs.front());
		for (const ValueId id : ids) {
			if (!model.values[id].isConstant && ranges[id] == Range{})
				return fail(ErrorCode::InvalidArgument, calibrating,
					    fmt::format("calibration table, '{}'",
							model.values[id].name),
					    fmt::format("has no row; {} '{}' needs its scale",
							operation.type, operation.name));
		}
	}
	return {};
}

/* Collects the range of each value's numbers over all samples. */
Result<std::vector<Range>> observe(const Samples &samples, const Calibration &calibration)
{
	std::vector<Range> ranges(samples.reference.model().values.size());

	auto seen = samples.each([&](const Sample &, const auto &values) {
		for (ValueId id = 0; id < values.size(); id++)
			ranges[id].include(values[id]);
	});
	if (!seen)
		return forward(seen);
	if (calibration.method == RangeMethod::MinMax)
		return ranges;
	std::vector<Histogram> histograms(ranges.begin(), ranges.end());
	seen = samples.each([&](const Sample &, const auto &values) {
		for (ValueId id = 0; id < values.size(); id++)
			histograms[id].count(values[id]);
	});
	if (!seen)
		return forward(seen);
	/* 16-bit integers would have more levels than the histogram has bins. */
	const size_t levels = size_t{ 1 } << 8;
	for (ValueId id = 0; id < ranges.size(); id++)
		ranges[id] = calibration.method == RangeMethod::Percentile
				     ? histograms[id].percentile(calibration.percentile)
				     : histograms[id].leastEntropy(levels);
	return ranges;
}

/*
 * The float model whose kernels are replaced by their rounding errors: its convolutions compute
 * what rounding takes away from the results.
 */
Model lossesOf(const Model &real, const Model &integers)
{
	Model losses = real;

	for (size_t i = 0; i < losses.operators.size(); i++) {
		Operator &operation = losses.operators[i];
		if (!hasKernels(operation.kind))
			continue;
		const Value &kernels = real.values[operation.inputs[1]];
		const std::vector<double> wanted = realNumbers(kernels);
		const std::vector<double> given =
			realNumbers(integers.values[integers.operators[i].inputs[1]]);
		std::vector<double> lost;
		for (size_t j = 0; j < wanted.size(); j++)
			lost.push_back(wanted[j] - given[j]);
		operation.inputs.resize(2);
		operation.inputs[1] = losses.add(floatConstant(lost, kernels.shape));
		*activationOf(operation.kind) = {};
	}
	return losses;
}

/* Corrects biases by the average error that rounding of kernels causes. */
Result<void> correctBiases(Model &integers, const Samples &samples)
{
	const Model losses = lossesOf(samples.reference.model(), integers);
	const Evaluator lost(losses);
	std::vector<std::vector<double>> sums(losses.operators.size());

	auto seen = samples.each([&](const Sample &, const auto &values) {
		for (size_t i = 0; i < losses.operators.size(); i++) {
			const Operator &operation = losses.operators[i];
			if (!hasKernels(operation.kind))
				continue;
			const uint32_t kernels = losses.values[operation.inputs[1]].shape.front();
			const RealNumbers result = lost.evaluate(operation, values);
			const double share = static_cast<double>(kernels) /
					     static_cast<double>(result.size() * samples.count);
			sums[i].resize(kernels);
			for (size_t j = 0; j < result.size(); j++)
				sums[i][j % kernels] += result[j] * share;
		}
	});
	if (!seen)
		return seen;
	for (size_t i = 0; i < integers.operators.size(); i++) {
		Operator &operation = integers.operators[i];
		if (!hasKernels(operation.kind))
			continue;
		std::vector<double> bias = sums[i];
		if (operation.inputs.size() > 2) {
			const std::vector<double> old =
				realNumbers(integers.values[operation.inputs[2]]);
			for (size_t k = 0; k < bias.size(); k++)
				bias[k] += old[k];
		}
		const Extents shape{ static_cast<uint32_t>(bias.size()) };
		operation.inputs.resize(2);
		operation.inputs.push_back(integers.add(floatConstant(bias, shape)));
	}
	return {};
}

/* Powers of a signal and of the noise that is added to it. */
struct Noise {
	double signal = 0;
	double noise = 0;
	double largest = 0;

	void add(const RealNumbers &got, const RealNumbers &wanted)
	{
		for (size_t i = 0; i < wanted.size(); i++) {
			const double distance = std::fabs(double{ got[i] } - wanted[i]);
			signal += double{ wanted[i] } * wanted[i];
			noise += distance * distance;
			largest = std::max(largest, distance);
		}
	}
	/* Infinite without noise. */
	double decibels() const { return noise == 0 ? HUGE_VAL : 10 * std::log10(signal / noise); }
};

Result<std::vector<LayerError>> measure(const Model &integers, const Samples &samples)
{
	const Evaluator quantized(integers);
	std::vector<Noise> all(integers.operators.size()), own(integers.operators.size());
	std::vector<LayerError> errors;

	auto seen = samples.each([&](const Sample &sample, const auto &wanted) {
		const auto got = quantized.run(sample);
		for (size_t i = 0; i < integers.operators.size(); i++) {
			const Operator &operation = integers.operators[i];
			const ValueId output = operation.outputs.front();
			all[i].add(got[output], wanted[output]);
			own[i].add(quantized.evaluate(operation, wanted), wanted[output]);
		}
	});
	if (!seen)
		return forward(seen);
	for (size_t i = 0; i < all.size(); i++)
		errors.push_back({ all[i].decibels(), own[i].decibels(), all[i].largest });
	return errors;
}

} /* namespace */

Result<void> checkCalibration(const Calibration &calibration)
{
	auto bad = [](const std::string &where, const std::string &why) {
		return fail(ErrorCode::InvalidArgument, calibrating, where, why);
	};

	if (calibration.samples.empty() && calibration.table.empty())
		return bad("samples", "there are none; give inputs like those of the application");
	if (calibration.type != DataType::Int8 && calibration.type != DataType::Int16)
		return bad("type", fmt::format("is {}; int8 and int16 are possible",
					       dataTypeName(calibration.type)));
	/* Written so that a NaN is refused. */
	if (!(calibration.percentile >= 50 && calibration.percentile <= 100))
		return bad("percentile",
			   fmt::format("is {}; 50 to 100 are possible", calibration.percentile));
	return {};
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

Result<std::vector<LayerError>> calibrate(Model &model, const Calibration &calibration,
					  const SampleReader &reader)
{
	if (auto checked = checkFloat(model); !checked)
		return forward(checked);
	const Model real = model;
	const Evaluator reference(real);
	const SampleReader given = [&](size_t i) { return calibration.samples[i]; };
	const Samples samples{ reference, reader ? reader : given, calibration.samples.size() };
	const bool hasTable = !calibration.table.empty();
	Result<std::vector<Range>> ranges = std::vector<Range>(model.values.size(), anyRange);
	if (hasTable)
		ranges = rangesOf(model, calibration.table);
	else if (samples.count)
		ranges = observe(samples, calibration);
	if (!ranges)
		return forward(ranges);
	settleRanges(model, *ranges, hasTable);
	if (hasTable) {
		if (auto checked = checkRanges(model, *ranges); !checked)
			return forward(checked);
	}
	quantizeModel(model, *ranges, calibration.type,
		      hasTable || calibration.type == DataType::Int16 ? ZeroPoint::Zero
								      : ZeroPoint::Free);
	if (!samples.count)
		return std::vector<LayerError>();
	auto corrected = calibration.correctBias ? correctBiases(model, samples) : Result<void>();
	return corrected ? measure(model, samples) : forward(corrected);
}

} /* namespace nvdla::compiler */
