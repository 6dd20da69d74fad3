/* SPDX-License-Identifier: MIT */
#include "random_file.h"

namespace nvdla::test
{

size_t elementsIn(const Shape &shape)
{
	size_t count = 1;

	for (const int32_t extent : shape)
		count *= static_cast<size_t>(extent);
	return count;
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
