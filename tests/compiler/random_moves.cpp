/* SPDX-License-Identifier: MIT */
/*
 * Random operators that move elements.
 */
#include <algorithm>
#include <cmath>

#include "random_generator.h"

namespace nvdla::test
{

using namespace compiler;

void Generator::pad()
{
	const Extents x = picture();
	const ValueId in = input(x);
	Pad pad{ { 0, from(0, 3), from(0, 3), from(0, 9) },
		 { 0, from(0, 3), from(0, 3), from(0, 40) },
		 0 };
	Extents y = x;

	for (size_t axis = 0; axis < y.size(); axis++)
		y[axis] += pad.before[axis] + pad.after[axis];
	const Quantization all = made_.model.values[in].quantization.channel(0);
	if (chance(0.4))
		pad.value = isInteger() ? all.real(std::round(real(-100, 100)))
					: std::round(real(-16, 16)) / 8;
	finish(pad, { in }, output(y, all));
}

void Generator::concatenation()
{
	const uint32_t axis = from(1, 3), parts = from(2, 4);
	const Extents first = picture();
	std::vector<ValueId> inputs;
	Extents y = first;

	y[axis] = 0;
	for (uint32_t i = 0; i < parts; i++) {
		Extents x = first;
		if (i > 0 || !joins_)
			x[axis] = axis == 3 && chance(0.4) ? 32 * from(1, 2) : from(1, 40);
		y[axis] += x[axis];
		inputs.push_back(i == 0 ? input(x) : freshInput(x));
	}
	/* As the format has it: the inputs' quantizations are the output's. */
	const Quantization all = made_.model.values[inputs.front()].quantization.channel(0);
	for (const ValueId id : inputs) {
		if (isInteger())
			made_.model.values[id].quantization = all;
	}
	finish(Concatenation{ axis, {} }, inputs, output(y, all));
}

void Generator::slice()
{
	const Extents x = picture();
	const ValueId in = input(x);
	Slice slice{ { 0, 0, 0, 0 }, { 1, 1, 1, 1 } };
	Extents y = x;

	for (size_t axis = 1; axis < 4; axis++) {
		slice.begin[axis] = from(0, x[axis] - 1);
		slice.stride[axis] = chance(0.3) ? from(1, 3) : 1;
		y[axis] = from(1, (x[axis] - 1 - slice.begin[axis]) / slice.stride[axis] + 1);
	}
	finish(slice, { in }, output(y, made_.model.values[in].quantization.channel(0)));
}

void Generator::transpose()
{
	Transpose transpose{ picture(), { 0, 1, 2, 3 } };
	const ValueId in = input(transpose.extents);
	Extents y;

	std::shuffle(transpose.order.begin() + 1, transpose.order.end(), random_);
	for (const uint32_t axis : transpose.order)
		y.push_back(transpose.extents[axis]);
	finish(transpose, { in }, output(y, made_.model.values[in].quantization.channel(0)));
}

void Generator::reshape()
{
	const Extents x = picture();
	const ValueId in = input(x);

	finish(Reshape{}, { in },
	       output({ 1, static_cast<uint32_t>(elementCount(x)) },
		      made_.model.values[in].quantization.channel(0)));
}

} /* namespace nvdla::test */
