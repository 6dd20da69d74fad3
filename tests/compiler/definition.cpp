/* SPDX-License-Identifier: MIT */
#include "definition.h"

#include <iostream>

#include <fmt/format.h>

#include "agreement.h"
#include "compiler/passes/passes.h"

namespace nvdla::test
{

std::vector<Numbers> numbersOf(const std::vector<Array> &arrays)
{
	std::vector<Numbers> numbers;

	for (const Array &array : arrays)
		numbers.push_back(array.numbers);
	return numbers;
}

Numbers channelsLast(const Numbers &numbers, const compiler::Extents &shape)
{
	if (shape.size() != 4)
		return numbers;
	const size_t plane = size_t{ shape[1] } * shape[2], channels = shape[3];
	Numbers result(numbers.size());

	for (size_t i = 0; i < numbers.size(); i++)
		result[i % plane * channels + i / plane] = numbers[i];
	return result;
}

std::vector<Numbers> asDefined(const ModelFolder &folder, const compiler::Model &imported,
			       const ModelCase &known)
{
	if (folder.format == "tflite") {
		const std::vector<Numbers> values = evaluate(imported, numbersOf(known.inputs));
		std::vector<Numbers> outputs;
		for (const compiler::ValueId id : imported.outputs)
			outputs.push_back(values[id]);
		return outputs;
	}
	compiler::Model model = imported;
	std::vector<Numbers> inputs, outputs;

	if (!runPasses(model))
		return {};
	for (size_t i = 0; i < model.inputs.size(); i++) {
		const compiler::Value &value = model.values[model.inputs[i]];
		inputs.push_back(channelsLast(known.inputs[i].numbers, value.shape));
		for (double &number : inputs.back()) {
			if (!isFloat(value.type))
				number = static_cast<double>(value.quantization.channel(0).quantize(
					number, integerLimits(8U)));
		}
	}
	const std::vector<Numbers> values = evaluate(model, inputs);
	for (const compiler::ValueId id : model.outputs) {
		const compiler::Value &value = model.values[id];
		outputs.push_back(values[id]);
		for (double &number : outputs.back()) {
			if (!value.quantization.none())
				number = value.quantization.channel(0).real(number);
		}
	}
	return outputs;
}

std::string shortfallByDefinition(const ModelFolder &folder, const compiler::Model &imported,
				  const ModelCase &known, size_t i, const Numbers &got,
				  const Array &wanted)
{
	const double range = rangeOf(folder, i), step = stepOf(imported, i);
	const CaseTensor runtime{ wanted, known.outputs[i].largestOfKernels };
	const std::string found = shortfall(got, runtime, known.classifies, range, step);

	if (found.empty())
		return {};
	CaseTensor defined = runtime;
	defined.array.numbers = asDefined(folder, imported, known)[i];
	const std::string own =
		shortfall(defined.array.numbers, runtime, known.classifies, range, step);
	if (own.empty())
		return found;
	std::cout << fmt::format("{}: the wanted results are not what the operators are defined to "
				 "make: {}\n",
				 known.description, own);
	return shortfall(got, defined, known.classifies, range, step);
}

} /* namespace nvdla::test */
