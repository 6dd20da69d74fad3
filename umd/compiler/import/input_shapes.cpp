/* SPDX-License-Identifier: MIT */
#include "import.h"

#include <algorithm>
#include <cmath>
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
		/* A channel without weights may have a scale of 0. */
		if (!std::isfinite(scales[i]) || scales[i] < 0 || zero < INT16_MIN ||
		    zero > UINT16_MAX)
			return std::nullopt;
		values.push_back({ scales[i], static_cast<int32_t>(zero) });
	}
	return TensorQuantization(std::move(values));
}

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
