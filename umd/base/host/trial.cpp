/* SPDX-License-Identifier: MIT */
#include "trial.h"

#include <algorithm>
#include <random>
#include <utility>

#include <nvdla/tensor.h>

namespace nvdla
{

TrialInputs::TrialInputs(const std::vector<HostValue> &inputs, std::optional<float> number,
			 const std::set<std::string> &divisors)
{
	std::mt19937 random;

	for (const HostValue &input : inputs) {
		const DataType type = typeOfOnnx(input.type).value_or(DataType::Float);
		const bool isReal = type == DataType::Float || type == DataType::Half;
		const bool isByte = type == DataType::Int8 || type == DataType::UInt8;
		uint64_t count = 1;
		for (const int64_t extent : input.shape)
			count *= static_cast<uint64_t>(extent);
		std::vector<float> numbers(count);
		for (float &one : numbers)
			one = number ? *number
				     : static_cast<float>(random() % 1000) / (isByte ? 10 : 1000);
		if (divisors.contains(input.name) && !isReal)
			std::ranges::fill(numbers, number ? 1.0f : 3.0f);
		bytes_.push_back(elementsFromFloat(type, numbers));
		arrays_.push_back({ input, bytes_.back() });
	}
}

std::optional<std::vector<int64_t>> commonShape(std::vector<int64_t> one,
						const std::vector<int64_t> &other)
{
	if (one.size() != other.size())
		return std::nullopt;
	for (size_t axis = 0; axis < one.size(); axis++)
		one[axis] = one[axis] == other[axis] ? one[axis] : -1;
	return one;
}

TrialRuns tryNumbers(const HostModel &model, const std::vector<HostValue> &inputs,
		     std::span<const std::string> outputs,
		     const std::vector<std::optional<float>> &numbers,
		     const std::set<std::string> &divisors)
{
	TrialRuns trial;
	bool isFirst = true;

	for (const std::string &name : outputs)
		trial.outputs.push_back({ .name = name, .type = 0, .shape = {} });
	for (const std::optional<float> &number : numbers) {
		auto run = model.shapes(TrialInputs(inputs, number, divisors).arrays(), outputs);
		if (!run)
			continue;
		if (std::exchange(isFirst, false)) {
			trial.number = number;
			trial.outputs = *run;
		}
		for (size_t i = 0; i < run->size(); i++) {
			HostValue &output = trial.outputs[i];
			auto shape = commonShape(output.shape, (*run)[i].shape);
			output.type = shape ? output.type : 0;
			output.shape = std::move(shape).value_or(output.shape);
		}
	}
	return trial;
}

} /* namespace nvdla */
