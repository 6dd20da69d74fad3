/* SPDX-License-Identifier: MIT */
/*
 * Operators whose operands are all constants: exporters compute shapes with them. The compiler
 * computes their results at once, instead of adding the operators to the model.
 */
#include <algorithm>
#include <cmath>
#include <numeric>

#include "builder.h"
#include "compiler/real/evaluator.h"

namespace nvdla::compiler::legalize
{

namespace
{

/* mostWhole: a double holds all integers below it exactly. mostPlaces: the largest number of
 * elements whose indices floats, the numbers of evaluate(), hold exactly. */
constexpr double mostWhole = 0x1p53, mostPlaces = 0x1p24;

/* Returns numbers as a constant of a type; nothing if an integer would be too large. */
std::optional<Value> constantOf(const std::vector<double> &numbers, ElementType type,
				const Extents &shape)
{
	Value value = floatConstant(numbers, shape);

	if (isFloat(type))
		return value;
	/* This comparison refuses a NaN, too. */
	if (!std::ranges::all_of(numbers, [](double one) { return std::fabs(one) < mostWhole; }))
		return std::nullopt;
	value.type = type;
	value.data =
		lowBytes(std::vector<int64_t>(numbers.begin(), numbers.end()), elementBytes(type));
	return value;
}

/* Computes an operator that moves elements: the evaluator moves their indices, by which the
 * elements are then copied. */
std::optional<Value> moved(const Operator &operation, const std::vector<const Value *> &operands,
			   const Extents &shape)
{
	Value result = *operands.front();
	std::vector<std::byte> elements, made;
	std::vector<RealNumbers> places;
	Operator move = operation;
	Model model;

	for (size_t i = 0; i < operands.size(); i++) {
		const Value &operand = *operands[i];
		const uint64_t first = elements.size() / elementBytes(result.type);
		if (operand.type != result.type || operand.quantization != result.quantization ||
		    operand.quantization.values().size() > 1)
			return std::nullopt;
		elements.insert(elements.end(), operand.data.begin(), operand.data.end());
		RealNumbers &own = places.emplace_back(elementCount(operand.shape));
		std::iota(own.begin(), own.end(), static_cast<float>(first));
		move.inputs[i] = model.add({ .shape = operand.shape });
	}
	move.outputs = { model.add({ .shape = shape }) };
	const size_t size = elementBytes(result.type);
	if (static_cast<double>(elements.size() / size) > mostPlaces)
		return std::nullopt;
	result.shape = shape;
	for (const float place : evaluate(model, move, places)) {
		const auto from = elements.begin() +
				  static_cast<ptrdiff_t>(static_cast<size_t>(place) * size);
		made.insert(made.end(), from, from + static_cast<ptrdiff_t>(size));
	}
	result.data = std::move(made);
	return result;
}

} /* namespace */

std::optional<Value> Builder::folded(const Operator &operation, const ElementKind &elements,
				     const Extents &shape) const
{
	std::vector<const Value *> operands;

	for (const ValueId id : operation.inputs)
		operands.push_back(&model().values[id]);
	const Value &first = *operands.front();
	const auto *concatenation = std::get_if<Concatenation>(&operation.kind);
	if ((concatenation && concatenation->activation.isNone()) ||
	    (traitsOf(operation.kind).movesElements && !isAny<Pad>(operation.kind)))
		return elements == ElementKind{ first.type, first.quantization }
			       ? moved(operation, operands, shape)
			       : std::nullopt;
	std::vector<double> numbers;
	if (const auto *unary = std::get_if<Unary>(&operation.kind)) {
		for (const double number : realNumbers(first))
			numbers.push_back((*unary)(number));
	} else if (const auto *elementwise = std::get_if<Elementwise>(&operation.kind)) {
		const auto a = broadcast(realNumbers(first), first.shape, shape);
		const auto b = broadcast(realNumbers(*operands[1]), operands[1]->shape, shape);
		for (size_t i = 0; i < std::min(a.size(), b.size()); i++)
			numbers.push_back((*elementwise)(a[i], b[i]));
	}
	if (!elements.quantization.none() || numbers.size() != elementCount(shape))
		return std::nullopt;
	return constantOf(numbers, elements.type, shape);
}

} /* namespace nvdla::compiler::legalize */
