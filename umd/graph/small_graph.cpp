/* SPDX-License-Identifier: MIT */
#include "small_graph.h"

#include <algorithm>

#include <fmt/core.h>

#include "graph_parts.h"
#include "lowering.h"
#include "operation_names.h"

namespace nvdla::assembly
{

namespace
{

/* Makes the surface or part a whole surface, in memory that the application can access. */
Surface reachable(Surface surface)
{
	surface.place = Place::Memory;
	surface.within.clear();
	surface.atChannel = surface.atLine = surface.atColumn = surface.atBatch = 0;
	surface.lineStep = 1;
	surface.lineStride = surface.surfaceStride = 0;
	if (surface.turned) {
		surface.turned = false;
		surface.c = surface.h = surface.w = 0; /* open: the operation determines it */
	}
	return surface;
}

template<typename T>
const T *find(const std::vector<T> &all, const std::string &name)
{
	const auto found = std::ranges::find(all, name, &T::name);

	return found == all.end() ? nullptr : &*found;
}

} /* namespace */

bool SmallGraph::take(const std::string &name)
{
	if (written_.contains(name) || !taken_.insert(name).second)
		return true;
	if (const auto *operands = find(GraphParts::operands(from_), name)) {
		graph.operands(*operands);
		return true;
	}
	if (const auto *weights = find(GraphParts::weights(from_), name)) {
		graph.weights(*weights);
		return weights->packed.empty() || take(weights->packed);
	}
	for (const auto &[lut, tables] : GraphParts::luts(from_)) {
		if (lut != name)
			continue;
		graph.lut(lut, tables);
		return true;
	}
	const auto shape = shapes_.find(name);
	if (shape == shapes_.end())
		return false;
	Surface surface = reachable(shape->second);
	/* The pixel format is a property of the whole input, and strategies may have changed it. */
	const Surface *whole = find(GraphParts::surfaces(from_), name);
	while (whole && !whole->within.empty())
		whole = find(GraphParts::surfaces(from_), whole->within);
	if (whole && whole->mayBePixels)
		surface.format = whole->format;
	graph.input(std::move(surface));
	return true;
}

/* Describes a surface that the operations write. A surface that an operation also reads keeps its
 * place, so that a stream stays a stream; other surfaces become outputs of the small graph. */
void SmallGraph::describe(const std::string &name, const std::vector<op::Any> &operations)
{
	const Surface *declared = find(GraphParts::surfaces(from_), name);
	const bool read = std::ranges::any_of(operations,
					      [&](const op::Any &any) { return reads(any, name); });

	if (declared) {
		Surface surface = reachable(*declared);
		if (read)
			surface.place = declared->place;
		graph.surface(std::move(surface));
	}
	if (!read)
		graph.output(name);
}

std::optional<std::string> SmallGraph::add(const std::vector<op::Any> &operations)
{
	for (const op::Any &operation : operations) {
		const OperationNames names = namesOf(operation);
		for (const std::string &name : names.reads) {
			if (!take(name))
				return name;
		}
		graph.add(operation);
		written_.insert(names.writes.begin(), names.writes.end());
	}
	for (const std::string &name : written_)
		describe(name, operations);
	return std::nullopt;
}

} /* namespace nvdla::assembly */

namespace nvdla
{

Result<void> Graph::supports(const op::Any &operation, const CoreGeometry &core) const
{
	std::map<std::string, Surface> shapes;
	std::vector<op::Any> operations{ operation };

	for (const Surface &surface : surfaces_) {
		if (!surface.h || !surface.w)
			continue;
		shapes[surface.name] = surface;
		if (surface.turned) {
			const assembly::Shape seen = assembly::turned(surface, surface.type, core);
			shapes[surface.name] = { .name = surface.name,
						 .type = surface.type,
						 .c = seen.c,
						 .h = seen.h,
						 .w = seen.w };
		}
	}
	/* Add an SDP operation that takes the stream, without which no convolution can run. */
	auto takeStream = [&](const auto &conv) {
		if constexpr (requires { conv.weights; })
			operations.emplace_back(op::Sdp{ .name = conv.name + " SDP",
							 .input = conv.output,
							 .output = conv.output + " result" });
	};
	std::visit(takeStream, operation);
	assembly::SmallGraph small(*this, shapes);
	if (const auto missing = small.add(operations))
		return fail(ErrorCode::InvalidArgument, assembly::what,
			    fmt::format("operation '{}'", operationName(operation)),
			    fmt::format("'{}' is no constant of the graph, and no surface that is "
					"described with its shape",
					*missing));
	auto loadable = small.graph.assemble({ .core = core });
	return loadable ? Result<void>() : forward(loadable);
}

} /* namespace nvdla */
