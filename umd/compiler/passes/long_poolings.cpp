/* SPDX-License-Identifier: MIT */
/*
 * Largest and least elements of windows that are longer than PDP's take several poolings. A pooling
 * of windows of a elements, whose results windows of b elements read, has windows of a + b - 1.
 * Where one window covers all of an axis, each pooling reads every element once instead.
 */
#include <algorithm>

#include <nvdla/core_geometry.h>

#include "passes.h"

namespace nvdla::compiler
{

namespace
{

/* A pooling along one axis. */
struct PoolingAxis {
	uint32_t size;
	uint32_t kernel;
	uint32_t stride;
	uint32_t before; /* padding */
	uint32_t after;

	bool isTooLong() const { return kernel > maxPoolingKernel; }
	bool isWhole() const { return kernel == size && before == 0 && after == 0; }
};

/*
 * Returns a pooling that can be the first of several along an axis, and changes the axis to what
 * remains. All windows have an element: as much of the padding is used as windows allow, so none of
 * the results that would lie beyond the last one is missed.
 */
PoolingAxis firstOf(PoolingAxis &rest)
{
	constexpr uint32_t most = maxPoolingKernel;
	PoolingAxis first{ rest.size, most, 1, 0, 0 };

	if (!rest.isTooLong())
		return { rest.size, 1, 1, 0, 0 };
	if (rest.isWhole()) {
		first.stride = most;
		first.after = (most - rest.size % most) % most;
		rest.size = rest.kernel = (rest.size + first.after) / most;
		return first;
	}
	first.before = std::min(rest.before, most - 1);
	first.after = std::min(rest.after, most - 1);
	rest.size += first.before + first.after - (most - 1);
	rest.kernel -= most - 1;
	rest.before -= first.before;
	rest.after -= first.after;
	return first;
}

Pool poolingOf(const Pool &like, const PoolingAxis &y, const PoolingAxis &x)
{
	return { .method = like.method,
		 .kernel = { x.kernel, y.kernel },
		 .stride = { x.stride, y.stride },
		 .padding = { x.before, x.after, y.before, y.after } };
}

/* The padding that the windows of \a out results reach. */
PoolingAxis axisOf(uint32_t in, uint32_t out, uint32_t kernel, uint32_t stride, uint32_t before)
{
	const uint32_t end = (out - 1) * stride + kernel;

	return { in, kernel, out > 1 ? stride : 1, before, end - std::min(end, before + in) };
}

} /* namespace */

void splitPoolings(const Operator &whole, Chain &chain)
{
	const auto *pool = std::get_if<Pool>(&whole.kind);
	if (!pool || !isExtreme(pool->method))
		return;
	const Extents in = chain.model.values[chain.last].shape;
	const ValueId result = whole.outputs.front();
	const Extents &out = chain.model.values[result].shape;
	PoolingAxis y = axisOf(in[1], out[1], pool->kernel.y, pool->stride.y, pool->padding.top);
	PoolingAxis x = axisOf(in[2], out[2], pool->kernel.x, pool->stride.x, pool->padding.left);

	while (y.isTooLong() || x.isTooLong()) {
		const PoolingAxis down = firstOf(y), across = firstOf(x);
		chain.add(poolingOf(*pool, down, across), " pooled", { 1, y.size, x.size, in[3] });
	}
	if (chain.operators.empty())
		return;
	Pool last = poolingOf(*pool, y, x);
	last.activation = pool->activation;
	chain.add(last, result);
}

} /* namespace nvdla::compiler */
