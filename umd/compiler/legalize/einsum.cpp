/* SPDX-License-Identifier: MIT */
/*
 * Einsum: sums of products of two tensors whose axes are named by letters. Axes are merged so that
 * the sums become a product of two matrices, or a batch of such products.
 */
#include <algorithm>
#include <cctype>
#include <map>

#include <fmt/core.h>

#include "legalize.h"

namespace nvdla::compiler::legalize
{

namespace
{

struct Equation {
	std::string a, b, result;
};

/* Parses "ij,jk->ik". Without an arrow, the result's axes are the letters that occur only once, in
 * alphabetical order. */
Equation equationOf(Builder &builder, std::string text)
{
	std::erase(text, ' ');
	const size_t comma = text.find(','), arrow = std::min(text.find("->"), text.size());
	Equation made{ text.substr(0, comma), text.substr(comma + 1, arrow - comma - 1),
		       text.substr(std::min(arrow + 2, text.size())) };
	std::string all = made.a + made.b;
	const auto isLetter = [](unsigned char one) { return std::isalpha(one) != 0; };
	builder.support(comma < arrow && std::ranges::all_of(all + made.result, isLetter),
			"equation", fmt::format("is {}; letters of two tensors are known", text));
	std::ranges::sort(all);
	if (arrow == text.size())
		std::ranges::copy_if(all, std::back_inserter(made.result), [&](char letter) {
			return std::ranges::count(all, letter) == 1;
		});
	for (std::string one : { made.a, made.b, made.result }) {
		std::ranges::sort(one);
		builder.support(std::ranges::adjacent_find(one) == one.end(), "equation",
				fmt::format("is {}, and has a letter twice in a tensor", text));
	}
	return made;
}

Tensor ordered(Builder &builder, const Tensor &tensor, const std::string &from,
	       const std::string &to)
{
	std::vector<int64_t> perm;

	for (const char letter : to)
		perm.push_back(static_cast<int64_t>(from.find(letter)));
	return transposed(builder, tensor, perm);
}

} /* namespace */

Tensor einsum(Builder &builder, const std::string &text, const Tensor &a, const Tensor &b)
{
	const Equation equation = equationOf(builder, text);
	std::map<char, uint32_t> extents;
	std::string batch, rows, columns, sums;
	const auto name = [&](const Tensor &tensor, const std::string &letters) {
		builder.need(letters.size() == tensor.shape.size(), "equation",
			     fmt::format("names {} for {}", letters, toString(tensor.shape)));
		for (size_t i = 0; i < letters.size(); i++)
			builder.support(
				extents.emplace(letters[i], tensor.shape[i]).first->second ==
					tensor.shape[i],
				"equation", "has a letter for different lengths");
	};
	const auto shapeOf = [&](const std::string &letters) {
		Extents shape;
		for (const char letter : letters)
			shape.push_back(extents.at(letter));
		return shape;
	};
	const auto matrices = [&](const std::string &one, const std::string &other) {
		Extents shape = shapeOf(batch);
		for (const std::string &letters : { one, other })
			shape.push_back(static_cast<uint32_t>(elementCount(shapeOf(letters))));
		return shape;
	};

	name(a, equation.a);
	name(b, equation.b);
	for (const auto &[letter, extent] : extents) {
		const bool inA = std::ranges::count(equation.a, letter) > 0;
		const bool inB = std::ranges::count(equation.b, letter) > 0;
		const bool isMade = std::ranges::count(equation.result, letter) > 0;
		builder.support((inA && inB) || isMade, "equation",
				fmt::format("sums one tensor alone along {}", letter));
		(!isMade ? sums : inA && inB ? batch : inA ? rows : columns) += letter;
	}
	builder.need(equation.result.size() == batch.size() + rows.size() + columns.size(),
		     "equation", "has a letter in the result alone");
	const Tensor left = builder.reshaped(ordered(builder, a, equation.a, batch + rows + sums),
					     matrices(rows, sums));
	const Tensor right = builder.reshaped(
		ordered(builder, b, equation.b, batch + sums + columns), matrices(sums, columns));
	const Tensor made = builder.isConstant(right) && batch.empty()
				    ? product(builder, left,
					      { permuted(builder.value(right), { 1, 0 }), {} }, {})
				    : product(builder, left, right, {}, {});
	const std::string all = batch + rows + columns;
	return ordered(builder, builder.reshaped(made, shapeOf(all)), all, equation.result);
}

} /* namespace nvdla::compiler::legalize */
