/* SPDX-License-Identifier: MIT */
#include "random_file.h"

#include <cstdlib>

namespace nvdla::test
{

size_t elementsIn(const Shape &shape)
{
	size_t count = 1;

	for (const int32_t extent : shape)
		count *= static_cast<size_t>(extent);
	return count;
}

unsigned long numberOf(const char *variable, unsigned long usual)
{
	const char *text = std::getenv(variable);

	return text ? std::strtoul(text, nullptr, 10) : usual;
}

Shape RandomFile::repeatable(Shape shape)
{
	shape.erase(shape.begin(),
		    shape.begin() + from(0, static_cast<uint32_t>(shape.size()) - 1));
	for (int32_t &extent : shape)
		extent = chance(0.4) ? 1 : extent;
	return shape;
}

} /* namespace nvdla::test */
