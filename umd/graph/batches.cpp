/* SPDX-License-Identifier: MIT */
/* Operations on a batch that are lowered separately for each cube (sample) of the batch. */
#include <fmt/core.h>

#include "expansion.h"

namespace nvdla::assembly
{

namespace
{

/* The SDP operation for one cube of a batch; if operands are a batch, too, it reads their cube. */
op::Sdp sdpOfCube(Symbols &symbols, const op::Sdp &sdp, const Surface &cube)
{
	op::Sdp one = sdp;

	for (std::optional<op::SdpUnit> *unit : { &one.x1, &one.x2, &one.y }) {
		const auto surface =
			*unit ? symbols.surfaces.find((*unit)->operands) : symbols.surfaces.end();
		if (surface != symbols.surfaces.end() && surface->second.desc.n > 1)
			(*unit)->operands = describePart(symbols, { .name = surface->first },
							 fmt::format("cube {}", cube.atBatch),
							 { .atBatch = cube.atBatch });
	}
	one.type = cube.type;
	one.output = cube.name;
	return one;
}

} /* namespace */

Result<void> Expansion::addCubes(const op::Any &producer, const op::Sdp &sdp, const Surface &whole)
{
	for (uint32_t i = 0; i < whole.n; i++) {
		const std::string name = fmt::format("cube {}", i);
		op::Any one = producer;
		auto take = [&](auto &any) {
			if constexpr (requires { any.weights; }) {
				any.input = describePart(symbols_, { .name = any.input }, name,
							 { .atBatch = i });
				any.output = fmt::format("{} [{}]", any.output, name);
			}
		};
		std::visit(take, one);
		Surface cube{ .type = whole.type, .c = whole.c, .h = whole.h, .w = whole.w };
		cube.atBatch = i;
		cube.name = describePart(symbols_, whole, name, cube);
		if (auto added = addDivided(one, sdpOfCube(symbols_, sdp, cube)); !added)
			return added;
	}
	return {};
}

} /* namespace nvdla::assembly */
