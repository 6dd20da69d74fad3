/* SPDX-License-Identifier: MIT */
#include "compiler/import/import.h"

#include <algorithm>
#include <utility>

#include <fmt/core.h>
#include <fmt/ranges.h>

#include "base/io/number_list.h"

namespace nvdla
{

Result<InputShape> parseInputShape(std::string_view text)
{
	constexpr const char *parsing = "parse shape";
	const size_t equals = text.rfind('=');
	const bool hasName = equals != std::string_view::npos;
	InputShape shape;

	if (hasName)
		shape.name = text.substr(0, equals);
	auto sizes = parseNumbers<uint32_t>(hasName ? text.substr(equals + 1) : text, 'x');
	if (!sizes || std::ranges::count(*sizes, 0u))
		return fail(ErrorCode::InvalidArgument, parsing, std::string(text),
			    "is no input's name and sizes, such as x=1x3x224x224");
	shape.sizes = std::move(*sizes);
	if (hasName && shape.name.empty())
		return fail(ErrorCode::InvalidArgument, parsing, std::string(text),
			    "has no name in front of '='");
	return shape;
}

std::string toString(const InputShape &shape)
{
	return fmt::format("{}{}{}", shape.name, shape.name.empty() ? "" : "=",
			   fmt::join(shape.sizes, "x"));
}

namespace compiler
{

Result<GivenShapes> givenShapes(std::span<const InputShape> shapes,
				const std::vector<std::string> &inputs)
{
	GivenShapes given;

	for (const InputShape &shape : shapes) {
		const auto bad = [&](const std::string &why) {
			return fail(ErrorCode::InvalidArgument, "take shape", toString(shape), why);
		};
		if (shape.name.empty() && inputs.size() != 1)
			return bad(fmt::format("does not say of which input: there are {}",
					       fmt::join(inputs, ", ")));
		const std::string &name = shape.name.empty() ? inputs.front() : shape.name;
		if (!std::ranges::count(inputs, name))
			return bad(fmt::format("'{}' is no input of the model: there are {}", name,
					       fmt::join(inputs, ", ")));
		if (std::ranges::count(shape.sizes, 0u))
			return bad("has a size of 0");
		if (!given.emplace(name, shape.sizes).second)
			return bad("is the second shape of this input");
	}
	return given;
}

} /* namespace compiler */

} /* namespace nvdla */
