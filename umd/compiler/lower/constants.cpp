/* SPDX-License-Identifier: MIT */
#include "constants.h"

#include <fmt/core.h>

namespace nvdla::compiler
{

std::optional<CubeNumbers> numbersFor(Lowerer &lowerer, ValueId x, ValueId constant)
{
	const Value &value = lowerer.value(constant);
	const Cube cube = lowerer.cube(x), given = naturalCube(value.shape);
	const bool perChannel = given.h == 1 && given.w == 1;
	const auto fits = [](uint32_t one, uint32_t whole) { return one == 1 || one == whole; };
	const std::vector<double> numbers = realNumbers(value);
	CubeNumbers met{ perChannel ? Cube{ cube.c, 1, 1 } : cube, {} };

	if (!lowerer.need(fits(given.c, cube.c) && fits(given.h, cube.h) && fits(given.w, cube.w) &&
				  given.elements() == numbers.size(),
			  "input",
			  fmt::format("is a constant of {} for {}; each of its axes has to have "
				      "one element or as many",
				      toString(value.shape), toString(lowerer.value(x).shape))) ||
	    !lowerer.needRoom(met.shape.elements()))
		return std::nullopt;
	met.numbers.reserve(met.shape.elements());
	for (size_t c = 0; c < met.shape.c; c++) {
		for (size_t h = 0; h < met.shape.h; h++) {
			for (size_t w = 0; w < met.shape.w; w++) {
				const size_t line = given.h == 1 ? 0 : h * given.w;
				const size_t pixel = line + (given.w == 1 ? 0 : w);
				met.numbers.push_back(
					numbers[pixel * given.c + (given.c == 1 ? 0 : c)]);
			}
		}
	}
	return met;
}

} /* namespace nvdla::compiler */
