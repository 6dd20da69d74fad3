/* SPDX-License-Identifier: MIT */
#include "lowering.h"

#include <algorithm>

#include <fmt/core.h>

namespace nvdla::assembly
{

Lowering::Lowering(Plan &plan, Symbols &symbols, const char *kind, const std::string &name,
		   nvdla_op_type type, const std::string &piece)
	: plan_(plan), symbols_(symbols)
{
	node.name = name;
	node.kind = kind;
	node.type = type;
	node.piece = piece;
}

/* Checks that the core has the node's engine. Not called for operations of the CPU: they need no
 * engine, though their type is BDMA. */
void Lowering::needEngine()
{
	static constexpr const char *engines[] = { "BDMA", "CONV", "SDP", "PDP", "CDP", "RUBIK" };

	need(geometry().engines >> node.type & 1, engines[node.type],
	     fmt::format("is an engine that {} has not", geometry().name));
}

bool Lowering::need(bool fulfilled, const std::string &field, const std::string &why)
{
	if (!fulfilled && !error_)
		error_ = Error{ ErrorCode::InvalidArgument, what,
				fmt::format("{}, {}", where(node), field), why };
	return fulfilled;
}

SurfaceState &Lowering::input(const std::string &field, const std::string &name)
{
	const auto declared = symbols_.declared.find(name);
	const auto entry = symbols_.surfaces.find(name);

	need(!symbols_.divided.contains(name), field,
	     fmt::format("'{}' is the stream of a convolution that is made in several layers; "
			 "one SDP operation can take it",
			 name));
	if (entry == symbols_.surfaces.end() && declared != symbols_.declared.end() &&
	    !declared->second.within.empty())
		return readPart(field, declared->second);
	if (!need(entry != symbols_.surfaces.end(), field,
		  fmt::format("nothing before it writes a surface '{}'", name)))
		return dummy_;
	need(entry->second.missing == 0, field,
	     fmt::format("{} elements of '{}' are not written yet", entry->second.missing, name));
	if (entry->second.place == Place::Stream)
		takeStream(field, entry->second);
	return entry->second;
}

/* Streams lead from convolutions to SDP and from SDP to PDP, each to one operation. */
void Lowering::takeStream(const std::string &field, SurfaceState &surface)
{
	const Node &producer = plan_.nodes[static_cast<size_t>(surface.producer)];
	const bool fits = (producer.type == NVDLA_OP_CONV && node.type == NVDLA_OP_SDP) ||
			  (producer.type == NVDLA_OP_SDP && node.type == NVDLA_OP_PDP);

	need(fits && !node.cpu, field,
	     fmt::format("'{}' is the stream of {}, which only {} can take", surface.desc.name,
			 where(producer),
			 producer.type == NVDLA_OP_CONV ? "an SDP operation" : "a pooling"));
	need(surface.taker == none, field,
	     fmt::format("the stream '{}' is taken by another operation already",
			 surface.desc.name));
	surface.taker = self();
	node.producer = surface.producer;
}

DataType Lowering::outputType(const std::string &name, DataType wanted, DataType fallback) const
{
	const auto declared = symbols_.declared.find(name);

	if (wanted != DataType::Unknown)
		return wanted;
	if (declared != symbols_.declared.end() && declared->second.type != DataType::Unknown)
		return declared->second.type;
	return fallback;
}

Surface Lowering::describe(const std::string &name, DataType type, const Shape &shape)
{
	const auto declared = symbols_.declared.find(name);
	Surface surface;

	need(!name.empty(), "output", "has no name");
	need(!symbols_.surfaces.contains(name), "output",
	     fmt::format("'{}' is an input of the graph, or written by another operation", name));
	if (declared != symbols_.declared.end())
		surface = declared->second;
	const bool shaped = surface.c || surface.h || surface.w || surface.turned;
	const Shape described = surface.turned
					? turned(surface, type, geometry())
					: Shape{ surface.c, surface.h, surface.w, surface.n };
	need(!shaped || described == shape, "output",
	     fmt::format("'{}' was described as {}, the operation makes {}", name,
			 toString(described), toString(shape)));
	need(surface.type == DataType::Unknown || surface.type == type, "output",
	     fmt::format("'{}' was described as {}, the operation makes {}", name,
			 dataTypeName(surface.type), dataTypeName(type)));
	surface.name = name;
	surface.type = type;
	if (surface.turned)
		return surface;
	surface.c = shape.c;
	surface.h = shape.h;
	surface.w = shape.w;
	surface.n = shape.n;
	return surface;
}

bool Lowering::isOutput(const std::string &name) const
{
	return std::find(symbols_.outputs.begin(), symbols_.outputs.end(), name) !=
	       symbols_.outputs.end();
}

void Lowering::checkPlace(const Surface &surface)
{
	need(!isOutput(surface.name) || surface.place != Place::Stream, "output",
	     fmt::format("the stream '{}' cannot be an output of the graph", surface.name));
	need(!isOutput(surface.name) || surface.place != Place::Sram, "output",
	     fmt::format("'{}' is in on-chip memory, which the application cannot reach",
			 surface.name));
	need(surface.place != Place::Stream || node.type == NVDLA_OP_CONV ||
		     node.type == NVDLA_OP_SDP,
	     "output",
	     fmt::format("only convolutions and SDP make streams, not '{}'", surface.name));
}

SurfaceState &Lowering::output(const std::string &name, DataType type, const Shape &shape,
			       uint32_t columns)
{
	Surface surface = describe(name, type, shape);

	if (node.type == NVDLA_OP_CONV && !node.cpu)
		surface.place = Place::Stream;
	if (!surface.lineStride && columns > shape.w)
		surface.lineStride = columns * geometry().atomBytes;
	checkPlace(surface);
	if (failed())
		return dummy_;
	if (!surface.within.empty())
		return writePart(surface);
	auto desc = layOut(surface, geometry());
	if (!need(bool(desc), "output", desc ? "" : fmt::format("'{}' {}", name, desc.error().why)))
		return dummy_;

	return addSurface(surface, *desc,
			  isOutput(name) ? RegionKind::Output : RegionKind::Intermediate);
}

/* Returns the region's index. With too many regions it is wrong, but need() has noted an error. */
int Lowering::addRegion(Region region)
{
	if (need(plan_.regions.size() < maxRegions, "output", tooManyRegions()))
		plan_.regions.push_back(std::move(region));
	return static_cast<int>(plan_.regions.size()) - 1;
}

SurfaceState &Lowering::addSurface(const Surface &surface, const TensorDesc &desc, RegionKind kind)
{
	SurfaceState &state = symbols_.surfaces[surface.name];

	state.desc = desc;
	state.planar = surface.planar;
	state.place = surface.place;
	state.producer = self();
	if (state.place == Place::Stream)
		return state;
	Region region;
	region.name = surface.name;
	region.kind = kind;
	region.domain = state.place == Place::Sram ? MemoryDomain::Sram : MemoryDomain::System;
	region.mayBeOnChip = state.place == Place::Auto && kind == RegionKind::Intermediate;
	region.bytes = desc.size;
	region.window.shape = { desc.c, desc.h, desc.w, desc.n };
	state.region = addRegion(std::move(region));
	return state;
}

bool Lowering::producerIsWinograd() const
{
	return node.producer != none &&
	       plan_.nodes[static_cast<size_t>(node.producer)].operation.conv.conv_mode ==
		       NVDLA_CONV_MODE_WINOGRAD;
}

int16_t Lowering::lut(const std::string &name)
{
	const auto entry = symbols_.luts.find(name);

	if (!need(entry != symbols_.luts.end(), "lut",
		  name.empty() ? std::string("is needed, none is named")
			       : fmt::format("the graph has no look-up table '{}'", name)))
		return -1;
	node.lut = entry->second;
	return static_cast<int16_t>(entry->second);
}

uint8_t precisionOf(DataType type)
{
	switch (type) {
	case DataType::Int16:
		return NVDLA_PRECISION_INT16;
	case DataType::Half:
		return NVDLA_PRECISION_FP16;
	default:
		return NVDLA_PRECISION_INT8;
	}
}

uint8_t Lowering::precision(DataType type, const std::string &field)
{
	need(geometry().has(type), field,
	     fmt::format("is {}; {} computes with {}", dataTypeName(type), geometry().name,
			 geometry().typeNames()));
	return precisionOf(type);
}

Result<void> Lowering::result() const
{
	if (error_)
		return tl::unexpected<Error>(*error_);
	return {};
}

Result<void> Lowering::finish()
{
	if (error_)
		return result();
	plan_.nodes.push_back(std::move(node));
	return {};
}

} /* namespace nvdla::assembly */
