/* SPDX-License-Identifier: MIT */
#include "model.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <functional>
#include <map>
#include <numeric>
#include <utility>

#include <fmt/core.h>
#include <fmt/ranges.h>
#include <nvdla/half.h>

#include "base/number/element_functions.h"
#include "walk.h"

namespace nvdla::compiler
{

namespace
{

/* Returns an element of type T in memory, converted to Number. */
template<typename Number, typename T>
Number numberAt(const std::byte *bytes)
{
	T element;

	std::memcpy(&element, bytes, sizeof(T));
	return static_cast<Number>(element);
}

double halfAt(const std::byte *bytes)
{
	return halfToFloat(numberAt<uint16_t, uint16_t>(bytes));
}

struct TypeInfo {
	const char *name;
	size_t bytes;
	double (*real)(const std::byte *);
	int64_t (*whole)(const std::byte *); /* nullptr: the elements are floating-point numbers */
};

template<typename T>
constexpr TypeInfo integers(const char *name)
{
	return { name, sizeof(T), numberAt<double, T>, numberAt<int64_t, T> };
}

/* In the order of ElementType. */
constexpr TypeInfo types[] = {
	{ "float32", 4, numberAt<double, float>, nullptr },
	{ "float16", 2, halfAt, nullptr },
	integers<int8_t>("int8"),
	integers<uint8_t>("uint8"),
	integers<int16_t>("int16"),
	integers<int32_t>("int32"),
	integers<int64_t>("int64"),
	integers<uint8_t>("bool"),
};

const TypeInfo &infoOf(ElementType type)
{
	return types[static_cast<size_t>(type)];
}

/* Calls function(i, quantization of the channel) for elements first + i, where i < count. */
template<typename Function>
void eachQuantized(const Value &value, size_t first, size_t count, Function function)
{
	const bool areSeveral = value.quantization.values().size() > 1 && !value.shape.empty();
	const size_t extent = areSeveral ? value.shape[value.quantizedAxis] : 1;
	const size_t inner =
		areSeveral ? packedStrides(value.shape)[value.quantizedAxis] : first + count;

	for (size_t i = 0, next = 0; i < count; i = next) {
		const size_t channel = (first + i) / inner;
		const auto one =
			value.quantization.channel(static_cast<uint32_t>(channel % extent));
		for (next = std::min((channel + 1) * inner - first, count); i < next; i++)
			function(i, one);
	}
}

} /* namespace */

const char *elementTypeName(ElementType type)
{
	return infoOf(type).name;
}

size_t elementBytes(ElementType type)
{
	return infoOf(type).bytes;
}

bool isFloat(ElementType type)
{
	return !infoOf(type).whole;
}

uint64_t elementCount(const Extents &shape)
{
	return std::accumulate(shape.begin(), shape.end(), uint64_t{ 1 }, std::multiplies<>());
}

std::string toString(const Extents &shape)
{
	return shape.empty() ? "scalar" : fmt::format("{}", fmt::join(shape, " x "));
}

std::optional<Extents> shapeFrom(const std::vector<int64_t> &extents, uint64_t most)
{
	uint64_t elements = 1;
	Extents shape;

	for (const int64_t extent : extents) {
		if (extent < 0 || static_cast<uint64_t>(extent) > most)
			return std::nullopt;
		shape.push_back(static_cast<uint32_t>(extent));
		elements *= static_cast<uint64_t>(extent);
		if (elements > most)
			return std::nullopt;
	}
	return shape;
}

std::optional<TensorQuantization> quantizationFrom(const std::vector<double> &scales,
						   const std::vector<int64_t> &zeroPoints)
{
	std::vector<Quantization> values;

	for (size_t i = 0; i < scales.size(); i++) {
		const int64_t zero = i < zeroPoints.size() ? zeroPoints[i] : 0;
		/* A channel whose weights are all zero may have a scale of 0. */
		if (!std::isfinite(scales[i]) || scales[i] < 0 || zero < INT16_MIN ||
		    zero > UINT16_MAX)
			return std::nullopt;
		values.push_back({ scales[i], static_cast<int32_t>(zero) });
	}
	return TensorQuantization(std::move(values));
}

Matrices::Matrices(const Extents &shape, bool areBeside) : areBeside(areBeside)
{
	const size_t rank = shape.size();
	const uint32_t inner = rank > 1 ? shape[rank - 2] : 1,
		       outer = rank > 2 ? shape[rank - 3] : 1;

	columns = rank > 0 ? shape[rank - 1] : 1;
	count = areBeside ? inner : outer;
	rows = areBeside ? outer : inner;
	for (size_t axis = 0; axis + 3 < rank; axis++)
		samples *= shape[axis];
}

double Elementwise::operator()(double a, double b) const
{
	switch (function) {
	case Function::Add:
		return a + b;
	case Function::Subtract:
		return a - b;
	case Function::Multiply:
		return a * b;
	case Function::Maximum:
		return std::max(a, b);
	case Function::Minimum:
		return std::min(a, b);
	case Function::Divide:
		return a / b;
	}
	return 0;
}

double Unary::operator()(double x) const
{
	const double from = shift + scale * elementFunction(inner).bounded(x, 0);

	return std::clamp(elementFunction(function).bounded(from, parameter), activation.low,
			  activation.high);
}

Transpose ofSamples(uint32_t samples, Transpose one)
{
	if (samples == 1)
		return one;
	one.extents.insert(one.extents.begin(), samples);
	for (uint32_t &axis : one.order)
		axis++;
	one.order.insert(one.order.begin(), 0);
	return one;
}

bool isOverChannels(const Kind &kind)
{
	const auto *reduction = std::get_if<ChannelReduction>(&kind);

	return isAny<Softmax, OverChannels>(kind) || (reduction && isExtreme(reduction->method));
}

const Clamp *activationOf(const Kind &kind)
{
	return std::visit(
		[](const auto &operation) -> const Clamp * {
			if constexpr (requires { operation.activation; })
				return &operation.activation;
			else
				return nullptr;
		},
		kind);
}

Clamp *activationOf(Kind &kind)
{
	return const_cast<Clamp *>(activationOf(std::as_const(kind)));
}

std::vector<size_t> Model::readers(ValueId value) const
{
	std::vector<size_t> found;

	for (size_t i = 0; i < operators.size(); i++) {
		if (std::ranges::count(operators[i].inputs, value))
			found.push_back(i);
	}
	return found;
}

const Operator *Model::writer(ValueId value) const
{
	for (const Operator &operation : operators) {
		if (std::ranges::count(operation.outputs, value))
			return &operation;
	}
	return nullptr;
}

Operator *Model::writer(ValueId value)
{
	return const_cast<Operator *>(std::as_const(*this).writer(value));
}

ValueId Model::beforeReshapes(ValueId value) const
{
	for (const Operator *by = writer(value); by && isAny<Reshape>(by->kind); by = writer(value))
		value = by->inputs.front();
	return value;
}

ValueId Model::add(Value value)
{
	values.push_back(std::move(value));
	return values.size() - 1;
}

ValueId Model::addLike(ValueId like, const std::string &what, Extents shape)
{
	Value value = values[like];

	value.name += what;
	value.shape = std::move(shape);
	return add(std::move(value));
}

Model Model::alone(const Operator &operation) const
{
	Model part;
	std::map<ValueId, ValueId> ids;
	Operator &same = part.operators.emplace_back(operation);

	for (auto *own : { &same.inputs, &same.outputs }) {
		for (ValueId &id : *own) {
			const auto [found, isNew] = ids.emplace(id, part.values.size());
			if (isNew)
				part.values.push_back(values[id]);
			if (isNew && own == &same.inputs && !values[id].isConstant)
				part.inputs.push_back(found->second);
			id = found->second;
		}
	}
	part.outputs = same.outputs;
	part.roundingOf8Bits = roundingOf8Bits;
	return part;
}

std::vector<double> rawNumbers(Value constant)
{
	constant.quantization = {};
	return realNumbers(constant);
}

std::vector<int64_t> wholeNumbers(const Value &constant)
{
	const TypeInfo &info = infoOf(constant.type);
	std::vector<int64_t> numbers(info.whole ? constant.data.size() / info.bytes : 0);

	for (size_t i = 0; i < numbers.size(); i++)
		numbers[i] = info.whole(&constant.data[i * info.bytes]);
	return numbers;
}

template<typename Number>
std::vector<Number> realNumbers(const Value &constant, size_t first, size_t count)
{
	const size_t bytes = elementBytes(constant.type);
	const auto real = infoOf(constant.type).real;
	std::vector<Number> numbers(std::min(count, constant.data.size() / bytes - first));

	eachQuantized(constant, first, numbers.size(), [&](size_t i, const Quantization &one) {
		const double element = real(&constant.data[(first + i) * bytes]);
		numbers[i] = static_cast<Number>(one.real(element));
	});
	return numbers;
}
template std::vector<float> realNumbers(const Value &, size_t, size_t);
template std::vector<double> realNumbers(const Value &, size_t, size_t);

Value quantizedConstant(const std::vector<double> &numbers, Value value)
{
	const bool isSigned = value.type == ElementType::Int8;
	const double least = isSigned ? INT8_MIN : 0, most = isSigned ? INT8_MAX : UINT8_MAX;

	value.isConstant = true;
	std::vector<std::byte> bytes;
	eachQuantized(value, 0, numbers.size(), [&](size_t i, const Quantization &one) {
		const double steps = std::nearbyint(numbers[i] / one.scale) + one.zeroPoint;
		/* A NaN fails this comparison, and becomes \a least. */
		const double held = steps > least ? std::min(steps, most) : least;
		bytes.push_back(static_cast<std::byte>(static_cast<int>(held)));
	});
	value.data = std::move(bytes);
	return value;
}

Value permuted(const Value &value, const std::vector<uint32_t> &order)
{
	const size_t bytes = elementBytes(value.type);
	const Walk walk = transposed(value.shape, order);
	std::vector<std::byte> made(value.data.size());
	Value result = value;

	result.shape = walk.shape;
	for (size_t axis = 0; axis < order.size(); axis++) {
		if (order[axis] == value.quantizedAxis)
			result.quantizedAxis = static_cast<uint32_t>(axis);
	}
	for (size_t i = 0; i < made.size() / bytes; i++)
		std::memcpy(&made[i * bytes], &value.data[walk(i) * bytes], bytes);
	result.data = std::move(made);
	return result;
}

Value floatConstant(const std::vector<double> &numbers, const Extents &shape)
{
	Value value;

	value.shape = shape;
	value.isConstant = true;
	const std::vector<float> floats(numbers.begin(), numbers.end());
	const auto bytes = std::as_bytes(std::span(floats));
	value.data = std::vector(bytes.begin(), bytes.end());
	return value;
}

} /* namespace nvdla::compiler */
