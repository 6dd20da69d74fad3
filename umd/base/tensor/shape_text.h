/* SPDX-License-Identifier: MIT */
/* Shapes as text. */
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <fmt/core.h>
#include <nvdla/tensor.h>

namespace nvdla
{

/** \return the lengths of the axes, separated by \a between; "?" for an unknown length */
inline std::string shapeText(const std::vector<uint32_t> &shape, const char *between = "x")
{
	std::string text;

	for (size_t i = 0; i < shape.size(); i++) {
		text += i ? between : "";
		text += shape[i] == openAxis ? "?" : fmt::format("{}", shape[i]);
	}
	return text;
}

} /* namespace nvdla */
