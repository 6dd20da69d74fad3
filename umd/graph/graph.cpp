/* SPDX-License-Identifier: MIT */
#include <nvdla/graph.h>

#include <cstring>

#include "assembler.h"
#include "fixed_formats.h"
#include "graph_parts.h"
#include "strategy/chooser.h"

namespace nvdla
{

namespace
{

template<typename T>
std::vector<std::byte> bytesOf(std::span<const T> values)
{
	std::vector<std::byte> bytes(values.size_bytes());

	if (!bytes.empty())
		std::memcpy(bytes.data(), values.data(), bytes.size());
	return bytes;
}

} /* namespace */

Elements Elements::of(std::span<const int8_t> values)
{
	return { DataType::Int8, bytesOf(values) };
}

Elements Elements::of(std::span<const int16_t> values)
{
	return { DataType::Int16, bytesOf(values) };
}

Elements Elements::half(std::span<const float> values)
{
	return { DataType::Half, elementsFromFloat(DataType::Half, values) };
}

void Graph::input(Surface surface)
{
	inputs_.push_back(surface.name);
	surfaces_.push_back(std::move(surface));
}

void Graph::surface(Surface surface)
{
	surfaces_.push_back(std::move(surface));
}

void Graph::output(std::string name)
{
	outputs_.push_back(std::move(name));
}

void Graph::weights(GraphWeights weights)
{
	weights_.push_back(std::move(weights));
}

void Graph::operands(GraphOperands operands)
{
	operands_.push_back(std::move(operands));
}

void Graph::lut(std::string name, const Lut &tables)
{
	luts_.emplace_back(std::move(name), tables);
}

void Graph::add(op::Any operation)
{
	operations_.push_back(std::move(operation));
}

void Graph::order(GraphEdge edge)
{
	edges_.push_back(std::move(edge));
}

Result<Loadable> Graph::assemble(const AssembleOptions &options) const
{
	auto assembled = assembleWithMap(options);
	if (!assembled)
		return forward(assembled);
	return std::move(assembled->loadable);
}

Result<Assembly> Graph::assembleWithMap(const AssembleOptions &options) const
{
	return assembly::assemble(*this, options);
}

Result<Assembly> assembly::assemble(Graph graph, const AssembleOptions &options)
{
	auto formats = fixedFormats(graph);
	ChosenGraph chosen{ std::move(graph), {} };

	if (!formats)
		return forward(formats);
	if (options.strategy) {
		auto found =
			Chooser(std::move(chosen.graph), *options.strategy, options.core).run();
		if (!found)
			return forward(found);
		chosen = std::move(*found);
	}
	auto assembled = Assembler(chosen.graph, options).run(*formats);
	if (assembled)
		assembled->choices = std::move(chosen.layers);
	return assembled;
}

const std::string &operationName(const op::Any &operation)
{
	return std::visit([](const auto &any) -> const std::string & { return any.name; },
			  operation);
}

} /* namespace nvdla */
