/* SPDX-License-Identifier: MIT */
#include "random_operator.h"

#include <algorithm>
#include <cmath>

#include <nvdla/half.h>

#include "random_generator.h"

namespace nvdla::test
{

using namespace compiler;

Quantization Generator::quantization()
{
	if (!isInteger())
		return {};
	const auto scale = static_cast<double>(static_cast<float>(
		std::exp2(real(-9, 1)) / (type_ == ElementType::Int8 ? 1 : 256)));
	return { scale, type_ == ElementType::Int8 ? static_cast<int32_t>(from(0, 255)) - 128 : 0 };
}

Clamp Generator::clamp()
{
	const Clamp clamps[] = { {}, {}, { .low = 0 }, { 0, 6 }, { -1, 1 } };

	return clamps[from(0, 4)];
}

ValueId Generator::tensor(const std::string &name, const Extents &shape, const Quantization &all)
{
	Value value;

	value.name = name;
	value.type = type_;
	value.shape = shape;
	if (isInteger())
		value.quantization = all;
	made_.model.values.push_back(std::move(value));
	return made_.model.values.size() - 1;
}

std::string Generator::named(const std::string &name) const
{
	return joins_ ? name + std::to_string(made_.model.values.size()) : name;
}

std::vector<ValueId> Generator::written(const std::function<bool(const Extents &)> &fits) const
{
	std::vector<ValueId> found;

	for (ValueId id = 0; joins_ && id < made_.model.values.size(); id++) {
		const Value &value = made_.model.values[id];
		if (!value.isConstant && value.type == type_ && fits(value.shape))
			found.push_back(id);
	}
	return found;
}

Extents Generator::picture(uint32_t longest, uint32_t channels)
{
	const auto known = written([&](const Extents &shape) {
		return shape.size() == 4 && std::max(shape[1], shape[2]) <= longest &&
		       shape[3] <= channels;
	});

	/* The last ones more often: that makes chains. */
	if (!known.empty() && chance(0.9))
		return made_.model
			.values[chance(0.6) ? known.back() : known[from(0, known.size() - 1)]]
			.shape;
	return { 1, from(1, longest), from(1, longest), from(1, channels) };
}

ValueId Generator::input(const Extents &shape)
{
	const auto known = written([&](const Extents &other) { return other == shape; });

	return known.empty() || chance(0.1) ? freshInput(shape) : known[from(0, known.size() - 1)];
}

ValueId Generator::freshInput(const Extents &shape)
{
	const ValueId id = tensor("x" + std::to_string(made_.inputs.size()), shape, quantization());
	Numbers numbers;

	/* Floats are what the core is given: a difference is not one of rounding inputs. */
	for (uint64_t i = 0; i < elementCount(shape); i++)
		numbers.push_back(isInteger()
					  ? std::round(real(static_cast<double>(limits().lowest),
							    static_cast<double>(limits().highest)))
					  : static_cast<double>(halfToFloat(
						    floatToHalf(static_cast<float>(real(-4, 4))))));
	made_.inputs.push_back(std::move(numbers));
	made_.model.inputs.push_back(id);
	return id;
}

ValueId Generator::output(const Extents &shape, const Quantization &all)
{
	return tensor(named("y"), shape, all);
}

/* Scales of kernels lie far apart, as they do in depthwise layers. */
ValueId Generator::kernels(const Extents &shape)
{
	std::vector<std::byte> elements;
	Value value;

	/* Sums of a network's floats stay as large as what is summed. */
	const double steady =
		joins_ ? std::sqrt(shape[0] / static_cast<double>(elementCount(shape))) : 1;
	value.name = named("kernels");
	value.type = isInteger() ? ElementType::Int8 : ElementType::Float32;
	value.shape = shape;
	value.isConstant = true;
	for (uint64_t i = 0; i < elementCount(shape); i++) {
		if (isInteger())
			store<int8_t>(elements, std::round(real(-127, 127)));
		else
			store<float>(elements, real(-1, 1) * steady);
	}
	value.data = std::move(elements);
	std::vector<Quantization> scales;
	const bool each = chance(0.7);
	for (uint32_t k = 0; k < (each ? shape[0] : 1); k++)
		scales.push_back(
			{ static_cast<double>(static_cast<float>(std::exp2(real(-12, -4)))), 0 });
	if (isInteger())
		value.quantization = TensorQuantization(scales);
	made_.model.values.push_back(std::move(value));
	return made_.model.values.size() - 1;
}

ValueId Generator::bias(uint32_t count, ValueId input, ValueId weights)
{
	std::vector<std::byte> elements;
	Value value;

	value.name = named("bias");
	value.type = isInteger() ? ElementType::Int32 : ElementType::Float32;
	value.shape = { count };
	value.isConstant = true;
	for (uint32_t k = 0; k < count; k++) {
		if (isInteger())
			store<int32_t>(elements, std::round(real(-20000, 20000)));
		else
			store<float>(elements, real(-1, 1));
	}
	value.data = std::move(elements);
	made_.model.values.push_back(std::move(value));
	return made_.model.values.size() - 1;
}

Quantization Generator::forSums(ValueId input, ValueId weights)
{
	Quantization result = quantization();
	const Value &kernel = made_.model.values[weights];
	double largest = 0;

	if (!isInteger())
		return {};
	for (const Quantization &one : kernel.quantization.values())
		largest = std::max(largest, one.scale);
	const auto size = static_cast<double>(elementCount(kernel.shape) / kernel.shape[0]);
	result.scale = static_cast<double>(
		static_cast<float>(made_.model.values[input].quantization.channel(0).scale *
				   largest * std::sqrt(size) * real(30, 120)));
	return result;
}

void Generator::finish(Kind kind, std::vector<ValueId> inputs, ValueId output)
{
	made_.model.operators.push_back({ made_.model.values[output].name,
					  "random",
					  std::move(kind),
					  std::move(inputs),
					  { output } });
	made_.model.outputs = { output };
}

void Generator::makeOperator()
{
	void (Generator::*const kinds[])() = {
		&Generator::convolution,
		&Generator::convolution,
		&Generator::fullyConnected,
		&Generator::product,
		&Generator::elementwise,
		&Generator::pool,
		&Generator::globalAverage,
		&Generator::pad,
		&Generator::concatenation,
		&Generator::slice,
		&Generator::unary,
		&Generator::prelu,
		&Generator::enlarge,
		&Generator::transposedConvolution,
		&Generator::transpose,
		&Generator::argMax,
		&Generator::normalize,
		&Generator::localResponse,
		&Generator::quotient,
		&Generator::channelReduction,
		&Generator::standardize,
		&Generator::logSoftmax,
		/* Alone, a reshape has nothing to compute. */
		joins_ ? &Generator::reshape : &Generator::limit,
	};

	(this->*kinds[from(0, std::size(kinds) - 1)])();
}

RandomModel Generator::makeOne()
{
	makeOperator();
	return std::move(made_);
}

RandomModel Generator::makeSeveral()
{
	Model &model = made_.model;

	for (uint32_t count = from(2, 7); count > 0; count--)
		makeOperator();
	model.outputs.clear();
	for (const Operator &operation : model.operators) {
		if (model.readers(operation.outputs.front()).empty())
			model.outputs.push_back(operation.outputs.front());
	}
	return std::move(made_);
}

RandomModel randomOperator(std::mt19937_64 &random, ElementType type)
{
	return Generator(random, type, false).makeOne();
}

RandomModel randomNetwork(std::mt19937_64 &random, ElementType type)
{
	return Generator(random, type, true).makeSeveral();
}

} /* namespace nvdla::test */
