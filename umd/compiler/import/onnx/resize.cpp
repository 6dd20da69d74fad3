/* SPDX-License-Identifier: MIT */
/*
 * Larger and smaller pictures.
 */
#include <algorithm>
#include <cmath>

#include <fmt/core.h>

#include "compiler/import/parts.h"
#include "node_reader.h"

namespace nvdla::compiler::onnx
{

namespace
{

/* How an operator, in its several versions, says where elements come from. */
struct Places {
	bool isNearest;
	bool centers;	  /* elements are wide, and their middles lie in one place */
	bool corners;	  /* first and last elements lie in one place */
	bool onlyIsFirst; /* and a single one lies where the first does */
	std::string rounding;
};

Places placesOf(NodeReader &reader)
{
	const bool old = reader.inputs() <= 2;
	const std::string mode = reader.text("mode", "nearest");
	const std::string places =
		reader.text("coordinate_transformation_mode", old ? "asymmetric" : "half_pixel");
	const bool centers = places == "half_pixel" || places == "pytorch_half_pixel";

	reader.support(mode == "nearest" || mode == "linear", "mode",
		       fmt::format("is {}; nearest and linear are known", mode));
	const bool corners = places == "align_corners";
	reader.support(
		centers || places == "asymmetric" || corners, "coordinate_transformation_mode",
		fmt::format("is {}; half_pixel, asymmetric and align_corners are known", places));
	reader.support(reader.integer("antialias", 0) == 0, "antialias",
		       "is set; pool before it instead");
	const std::string policy = reader.text("keep_aspect_ratio_policy", "stretch");
	reader.support(policy == "stretch", "keep_aspect_ratio_policy",
		       fmt::format("is {}; stretch is known", policy));
	return { mode == "nearest", centers, corners, places == "pytorch_half_pixel",
		 reader.text("nearest_mode", old ? "floor" : "round_prefer_floor") };
}

/* Axes that are named; without names all. */
std::vector<uint32_t> axesOf(NodeReader &reader, size_t rank)
{
	std::vector<uint32_t> axes;

	for (const int64_t axis : reader.integers("axes"))
		axes.push_back(reader.axis(axis, rank, "axes"));
	return axes.empty() ? asInFile(rank) : axes;
}

/* What each axis of the file's is multiplied by. */
std::vector<double> factorsOf(NodeReader &reader, const FileTensor &x)
{
	const size_t scalesAt = reader.inputs() <= 2 ? 1 : 2;
	const std::vector<uint32_t> axes = axesOf(reader, x.shape.size());
	std::vector<double> given, factors(4, 1);

	if (reader.failed())
		return factors;
	if (const pb::Attribute *scales = reader.attribute("scales"))
		given.assign(scales->floats().begin(), scales->floats().end());
	else if (reader.hasInput(scalesAt) && !reader.value(scalesAt).data.empty())
		given = rawNumbers(reader.constant(scalesAt));
	else
		for (const int64_t size : reader.wholeNumbers(3))
			given.push_back(given.size() < axes.size()
						? static_cast<double>(size) /
							  x.shape[axes[given.size()]]
						: 0);
	reader.need(reader.failed() || given.size() == axes.size(), "scales",
		    fmt::format("are {} numbers for {} axes", given.size(), axes.size()));
	reader.need(reader.failed() || std::ranges::all_of(given,
							   [](double factor) {
								   return std::isfinite(factor) &&
									  factor > 0;
							   }),
		    "scales", "are not all finite and positive");
	for (size_t i = 0; i < axes.size() && !reader.failed(); i++)
		factors[axes[i]] = given[i];
	reader.support(factors[0] == 1 && factors[1] == 1, "scales", "of channels are not 1");
	return factors;
}

/* A factor as a ratio of small numbers, if it is one. */
std::optional<Ratio> ratioOf(double factor)
{
	for (uint32_t smaller = 1; smaller <= mostSmaller; smaller++) {
		const double larger = std::round(factor * smaller);
		if (larger >= 1 && larger <= mostLarger &&
		    std::fabs(factor * smaller - larger) < 1e-4 * larger)
			return Ratio{ static_cast<uint32_t>(larger), smaller };
	}
	return std::nullopt;
}

/* What an axis becomes. */
uint32_t wantedOf(uint32_t extent, double factor)
{
	return static_cast<uint32_t>(
		std::floor(std::clamp(extent * factor + 1e-6, 0.0, double{ mostOfAxis })));
}

/* Operators one behind the other; of real numbers where they compute, or all of them. */
void addSteps(NodeReader &reader, FileTensor x, const std::vector<Step> &steps, bool allCompute)
{
	for (size_t i = 0; i < steps.size() && !reader.failed(); i++) {
		const auto &[kind, shape, copies] = steps[i];
		const auto *enlarge = std::get_if<Enlarge>(&kind);
		const bool moves = std::holds_alternative<Slice>(kind) ||
				   (enlarge && enlarge->method == Enlarge::Method::Nearest);
		const ElementKind elements =
			moves && !allCompute ? reader.same(x) : reader.computed(x);
		const std::vector<ValueId> inputs(copies, x.id);
		x.shape = { shape[0], shape[3], shape[1], shape[2] };
		if (i + 1 < steps.size())
			x = reader.addBetween(kind, inputs, elements, x);
		else
			reader.add(kind, inputs, elements, x);
	}
}

/* First and last elements stay at the ends. */
void stretch(NodeReader &reader, const FileTensor &x, const std::vector<double> &factors)
{
	const Extents out{ x.shape[0], x.shape[1], wantedOf(x.shape[2], factors[2]),
			   wantedOf(x.shape[3], factors[3]) };
	const std::vector<Step> steps =
		stretchingSteps(inValueOrder(x, x.shape), inValueOrder(x, out));

	reader.support(!steps.empty(), "scales",
		       fmt::format("make {} of {}, whose elements are no whole numbers of times as "
				   "far apart",
				   toString(out), toString(x.shape)));
	addSteps(reader, x, steps, true);
}

Shrink methodOf(const Places &places)
{
	if (!places.centers)
		return Shrink::First;
	if (!places.isNearest)
		return Shrink::Centers;
	return places.rounding.ends_with("ceil") ? Shrink::MiddleCeil : Shrink::MiddleFloor;
}

Enlarge::Method enlargingOf(const Places &places)
{
	if (places.isNearest)
		return Enlarge::Method::Nearest;
	return places.centers ? Enlarge::Method::LinearOfCenters : Enlarge::Method::Linear;
}

/* Of whole multiples, all other ways to round take other elements. */
bool roundsAsEnlarge(const Places &places)
{
	return places.centers ? places.rounding.starts_with("round") : places.rounding == "floor";
}

/* First some times as large, then each so many-th of that; false if that is not how it is done. */
bool resize(NodeReader &reader, const FileTensor &x, const std::vector<double> &factors,
	    const Places &places)
{
	const auto y = ratioOf(factors[2]), c = ratioOf(factors[3]);

	if (!y || !c)
		return false;
	const bool enlarges = y->larger > 1 || c->larger > 1;
	if (enlarges &&
	    ((places.isNearest && !roundsAsEnlarge(places)) || !mayBeOnTheWay(x.shape, *y, *c)))
		return false;
	auto shrunk = [&](uint32_t extent, const Ratio &ratio) {
		const uint32_t left = extent * ratio.larger / ratio.smaller;
		const bool isFirst = places.onlyIsFirst && left == 1;
		return shrinking(isFirst ? Shrink::First : methodOf(places), ratio.smaller, left);
	};
	const Shrinking lines = shrunk(x.shape[2], *y), columns = shrunk(x.shape[3], *c);
	if (!reader.need(lines.extent > 0 && columns.extent > 0, "scales", "leave nothing"))
		return true;
	const Extents out{ x.shape[0], lines.extent, columns.extent, x.shape[1] };
	addSteps(reader, x,
		 resizingSteps(inValueOrder(x, x.shape), out,
			       { enlargingOf(places), { c->larger, y->larger } }, lines, columns),
		 false);
	return true;
}

/* Which element of an axis each of the output's is. */
std::vector<uint32_t> nearest(uint32_t extent, uint32_t wanted, double factor, const Places &places)
{
	const double last = extent - 1.0;
	std::vector<uint32_t> taken;

	for (uint32_t i = 0; i < wanted; i++) {
		double place = i / factor;
		if (places.corners)
			place = wanted > 1 ? i * last / (wanted - 1) : 0;
		else if (places.centers)
			place = places.onlyIsFirst && wanted == 1 ? 0 : (i + 0.5) / factor - 0.5;
		const double element = places.rounding == "floor"  ? std::floor(place)
				       : places.rounding == "ceil" ? std::ceil(place)
				       : places.rounding == "round_prefer_ceil"
					       ? std::floor(place + 0.5)
					       : std::ceil(place - 0.5);
		taken.push_back(static_cast<uint32_t>(std::clamp(element, 0.0, last)));
	}
	return taken;
}

/* Put together of parts. */
void takeNearest(NodeReader &reader, const FileTensor &x, const std::vector<double> &factors,
		 const Places &places)
{
	std::vector<std::vector<Part>> axes(4);

	for (const size_t axis : { 2U, 3U }) {
		const uint32_t extent = x.shape[axis], wanted = wantedOf(extent, factors[axis]);
		if (!reader.support(extent > 0 && wanted > 0 && wanted <= mostOfWindow, "scales",
				    fmt::format("make {} of {} elements", wanted, extent)))
			return;
		axes[axis] = takenParts(reader, "scales", extent,
					nearest(extent, wanted, factors[axis], places));
	}
	addParts(reader, x, axes);
}

void readResize(NodeReader &reader)
{
	const FileTensor x = reader.picture(0);
	const Places places = placesOf(reader);
	const std::vector<double> factors = factorsOf(reader, x);

	if (reader.failed())
		return;
	if (places.corners && !places.isNearest) {
		stretch(reader, x, factors);
		return;
	}
	if (!places.corners && resize(reader, x, factors, places))
		return;
	if (places.isNearest)
		takeNearest(reader, x, factors, places);
	else
		reader.support(false, "scales",
			       fmt::format("make a size {} and {} times as large; up to {} / n "
					   "times, n up to {}, are known",
					   factors[2], factors[3], mostLarger, mostSmaller));
}

} /* namespace */

const NodeTable resizeNodes = {
	{ "Resize", readResize },
	{ "Upsample", readResize },
};

} /* namespace nvdla::compiler::onnx */
