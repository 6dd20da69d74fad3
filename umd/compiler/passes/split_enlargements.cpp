/* SPDX-License-Identifier: MIT */
/*
 * Larger pictures of 8 bits whose kernels need more bits are made in two steps: columns, then
 * lines, with 16 bits between them.
 */
#include "passes.h"

#include <cstdint>

namespace nvdla::compiler
{

namespace
{

/* Parts of the nearest element are twice the factor along an axis, at most. */
bool fitsKernels(const Enlarge &enlarge)
{
	const auto most = [](uint32_t factor) { return factor > 1 ? uint64_t{ 2 } * factor : 1; };

	return enlarge.method == Enlarge::Method::Nearest ||
	       most(enlarge.factor.x) * most(enlarge.factor.y) <= INT8_MAX;
}

} /* namespace */

void splitEnlargements(Model &model)
{
	constexpr double stepsOf8Bits = 128;

	expandEach(model, [&](Operator &operation) -> std::vector<Operator> {
		auto *lines = std::get_if<Enlarge>(&operation.kind);
		const Value in = model.values[operation.inputs.front()];
		if (!lines || in.type != ElementType::Int8 || lines->factor.x == 1 ||
		    lines->factor.y == 1 || fitsKernels(*lines))
			return {};
		Value wide = in;
		wide.name += " wide";
		wide.type = ElementType::Int16;
		wide.quantization =
			Quantization{ in.quantization.channel(0).scale / stepsOf8Bits, 0 };
		wide.shape[2] *= lines->factor.x;
		Operator columns = operation;
		std::get<Enlarge>(columns.kind).factor.y = 1;
		lines->factor.x = 1;
		columns.outputs = operation.inputs = { model.add(std::move(wide)) };
		return { columns, operation };
	});
}

} /* namespace nvdla::compiler */
