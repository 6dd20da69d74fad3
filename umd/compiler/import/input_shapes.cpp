/* SPDX-License-Identifier: MIT */
#include "input_shapes.h"

#include <algorithm>
#include <charconv>

#include <fmt/core.h>
#include <fmt/ranges.h>

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
	const std::string_view sizes = hasName ? text.substr(equals + 1) : text;
	const char *at = sizes.data();
	const char *const end = at + sizes.size();
	while (true) {
		const auto [next, error] = std::from_chars(at, end, shape.sizes.emplace_back());
		if (error != std::errc() || !shape.sizes.back() || (next != end && *next != 'x'))
			return fail(ErrorCode::InvalidArgument, parsing, std::string(text),
				    "is no input's name and sizes, such as x=1x3x224x224");
		if (next == end)
			break;
		at = next + 1;
	}
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
	constexpr const char *taking = "take shape";
	GivenShapes given;

	for (const InputShape &shape : shapes) {
		if (shape.name.empty() && inputs.size() != 1)
			return fail(ErrorCode::InvalidArgument, taking, toString(shape),
				    fmt::format("does not say of which input: there are {}",
						fmt::join(inputs, ", ")));
		const std::string &name = shape.name.empty() ? inputs.front() : shape.name;
		if (!std::ranges::count(inputs, name))
			return fail(ErrorCode::InvalidArgument, taking, toString(shape),
				    fmt::format("'{}' is no input of the model: there are {}", name,
						fmt::join(inputs, ", ")));
		if (std::ranges::count(shape.sizes, 0u))
			return fail(ErrorCode::InvalidArgument, taking, toString(shape),
				    "has a size of 0");
		if (!given.emplace(name, shape.sizes).second)
			return fail(ErrorCode::InvalidArgument, taking, toString(shape),
				    "is the second shape of this input");
	}
	return given;
}

} /* namespace compiler */

} /* namespace nvdla */
