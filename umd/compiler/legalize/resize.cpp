/* SPDX-License-Identifier: MIT */
/*
 * Resizing of pictures: enlargement by a whole number, then every n-th element or averages.
 */
#include <algorithm>
#include <cmath>

#include <fmt/core.h>

#include "legalize.h"

namespace nvdla::compiler::legalize
{

namespace
{

/* Factor larger / smaller of an axis: it is enlarged, then every \a smaller-th element is taken. */
struct Ratio {
	uint32_t larger = 1;
	uint32_t smaller = 1;
};

/* Limits of Ratio's members, for lines as for columns */
constexpr uint32_t mostLarger = 32, mostSmaller = 8;

/* Elements taken from an axis: every \a by-th one, from \a first on. */
struct Shrinking {
	uint32_t by = 1;
	uint32_t first = 0;
	uint32_t taps = 1;   /* number of neighbours that are averaged into each element */
	uint32_t extent = 0; /* number of elements of the result */

	/* Number of input elements from the first used one to the last. */
	uint32_t used() const { return (extent - 1) * by + taps; }
};

std::optional<Ratio> ratioOf(uint32_t extent, uint32_t wanted, const Resizing &how, double factor)
{
	for (uint32_t smaller = 1; smaller <= mostSmaller; smaller++) {
		const double larger = std::round(factor * smaller);
		if (larger >= 1 && larger <= mostLarger &&
		    std::fabs(factor * smaller - larger) < how.factorError * larger &&
		    uint64_t{ extent } * static_cast<uint32_t>(larger) / smaller == wanted)
			return Ratio{ static_cast<uint32_t>(larger), smaller };
	}
	return std::nullopt;
}

/* Factor by which elements move apart if the first and the last elements of input and result
 * coincide; nothing if the factor is not a whole number. */
std::optional<uint32_t> stretching(uint32_t extent, uint32_t wanted)
{
	if (extent == wanted)
		return 1;
	if (extent < 2 || wanted < extent || (wanted - 1) % (extent - 1))
		return std::nullopt;
	return (wanted - 1) / (extent - 1);
}

/* Enlarges linearly for Resizing::corners; an axis of a single element is repeated. */
Tensor stretch(Builder &builder, Tensor x, const Extents &out)
{
	std::vector<std::vector<Part>> copies(x.shape.size());

	for (const size_t at : { 1U, 2U })
		if (const uint32_t axis = x.order[at];
		    x.shape[axis] == 1 && out[at] > 1 && out[at] <= mostParts)
			copies[axis].assign(out[at], { 0, 1 });
	x = ofParts(builder, x, copies);
	Extents shape = inValueOrder(x, x.shape);
	const auto y = stretching(shape[1], out[1]), c = stretching(shape[2], out[2]);
	builder.support(y && c, "scales",
			fmt::format("make {} of {}, whose elements are no whole numbers of "
				    "times as far apart",
				    toString(out), toString(shape)));
	shape[1] *= *y;
	shape[2] *= *c;
	if (*c > 1 || *y > 1)
		x = builder.compute(Enlarge{ Enlarge::Method::Linear, { *c, *y } }, x,
				    withValueShape(x, shape));
	/* Enlarging also makes elements behind the input's last line and column: cut these off. */
	return shape == out ? x
			    : builder.move(Slice{ { 0, 0, 0, 0 }, { 1, 1, 1, 1 } }, x,
					   withValueShape(x, out));
}

/* Chooses from each \a by elements the first, the middle one, or the middle two. */
Shrinking shrinking(const Resizing &how, uint32_t by, uint32_t extent)
{
	if (!how.centers || (how.onlyIsFirst && extent == 1))
		return { by, 0, 1, extent };
	if (how.isNearest && (how.rounding == Rounding::Ceil || how.rounding == Rounding::HalfUp))
		return { by, by / 2, 1, extent };
	return { by, (by - 1) / 2, how.isNearest || by % 2 ? 1U : 2U, extent };
}

/* Whether the rounding selects the same nearest elements as Enlarge for an integer factor. */
bool roundsAsEnlarge(const Resizing &how)
{
	return how.centers ? how.rounding == Rounding::HalfUp || how.rounding == Rounding::HalfDown
			   : how.rounding == Rounding::Floor;
}

/* Takes every n-th element of a picture, or the average of neighbours there. */
Tensor shrink(Builder &builder, const Tensor &x, const Extents &out, const Shrinking &lines,
	      const Shrinking &columns)
{
	const Extents begin{ 0, lines.first, columns.first, 0 };

	if (lines.taps == 1 && columns.taps == 1)
		return builder.move(Slice{ begin, { 1, lines.by, columns.by, 1 } }, x,
				    withValueShape(x, out));
	const Tensor used =
		builder.move(Slice{ begin, { 1, 1, 1, 1 } }, x,
			     withValueShape(x, { out[0], lines.used(), columns.used(), out[3] }));
	return builder.compute(Pool{ Pool::Method::Average,
				     { columns.taps, lines.taps },
				     { columns.by, lines.by },
				     {},
				     false,
				     {} },
			       used, withValueShape(x, out));
}

/* Resizes by a Ratio for each axis; nothing if the factors or the rounding do not permit that. */
std::optional<Tensor> scaled(Builder &builder, Tensor x, const Extents &out, const Resizing &how)
{
	const Extents in = inValueOrder(x, x.shape);
	const auto y = ratioOf(in[1], out[1], how, how.factorY);
	const auto c = ratioOf(in[2], out[2], how, how.factorX);

	if (!y || !c)
		return std::nullopt;
	const bool enlarges = y->larger > 1 || c->larger > 1;
	constexpr uint64_t most = uint64_t{ 1 } << 24; /* elements of the enlarged picture */
	const bool shrinks = y->smaller > 1 || c->smaller > 1;
	if (enlarges && ((how.isNearest && !roundsAsEnlarge(how)) ||
			 (shrinks && !hasAtMost(in, most / (y->larger * c->larger)))))
		return std::nullopt;
	if (enlarges) {
		const Enlarge larger{ how.isNearest ? Enlarge::Method::Nearest
				      : how.centers ? Enlarge::Method::LinearOfCenters
						    : Enlarge::Method::Linear,
				      { c->larger, y->larger } };
		const Tensor like =
			withValueShape(x, { in[0], in[1] * y->larger, in[2] * c->larger, in[3] });
		x = how.isNearest ? builder.move(larger, x, like)
				  : builder.compute(larger, x, like);
	}
	if (enlarges && !shrinks)
		return x;
	return shrink(builder, x, out, shrinking(how, y->smaller, out[1]),
		      shrinking(how, c->smaller, out[2]));
}

/* Position of output element \a i in an axis of the input, which has \a extent elements. */
double placeOf(const Resizing &how, double factor, uint32_t i, uint32_t extent, uint32_t wanted)
{
	const bool ends = how.corners && wanted > 1;

	if (how.inSinglePrecision) {
		const float scale =
			ends ? static_cast<float>(extent - 1) / static_cast<float>(wanted - 1)
			     : static_cast<float>(extent) / static_cast<float>(wanted);
		const float place = (static_cast<float>(i) + (how.centers ? 0.5f : 0.0f)) * scale;
		return double{ place } - (how.centers && !how.corners ? 0.5 : 0.0);
	}
	if (how.corners)
		return ends ? i * (extent - 1.0) / (wanted - 1) : 0;
	if (how.centers)
		return how.onlyIsFirst && wanted == 1 ? 0 : (i + 0.5) / factor - 0.5;
	return i / factor;
}

double rounded(Rounding rounding, double place)
{
	if (rounding == Rounding::Floor || rounding == Rounding::HalfUp)
		return std::floor(rounding == Rounding::HalfUp ? place + 0.5 : place);
	return std::ceil(rounding == Rounding::HalfDown ? place - 0.5 : place);
}

/* Resizes to nearest neighbours with any factors, as a concatenation of parts. */
Tensor takeNearest(Builder &builder, const Tensor &x, const Extents &out, const Resizing &how)
{
	std::vector<std::vector<Part>> axes(4);

	for (const size_t at : { 1U, 2U }) {
		const uint32_t axis = x.order[at], extent = x.shape[axis], wanted = out[at];
		std::vector<uint32_t> taken;
		for (uint32_t i = 0; i < wanted; i++) {
			const double place = placeOf(how, at == 1 ? how.factorY : how.factorX, i,
						     extent, wanted);
			taken.push_back(static_cast<uint32_t>(
				std::clamp(rounded(how.rounding, place), 0.0, extent - 1.0)));
		}
		axes[axis] = takenParts(builder, "scales", extent, taken);
	}
	return ofParts(builder, x, axes);
}

/* Extent of a resized axis, rounded down. 1e-6 makes up for inexact factors such as 1 / 3. */
uint32_t wantedOf(uint32_t extent, double factor)
{
	return static_cast<uint32_t>(
		std::floor(std::clamp(extent * factor + 1e-6, 0.0, double{ mostOfAxis })));
}

} /* namespace */

Tensor resize(Builder &builder, const Tensor &picture, const Resizing &how)
{
	const Extents in = inValueOrder(picture, picture.shape);
	const bool hasSizes = how.lines || how.columns;
	const Extents out{ in[0], hasSizes ? how.lines : wantedOf(in[1], how.factorY),
			   hasSizes ? how.columns : wantedOf(in[2], how.factorX), in[3] };
	for (const Extents &shape : { in, out })
		for (const size_t axis : { 1U, 2U })
			builder.support(shape[axis] > 0 && shape[axis] <= mostOfWindow, "scales",
					fmt::format("make {} of {}", toString(out), toString(in)));
	if (how.corners && !how.isNearest)
		return stretch(builder, picture, out);
	if (!how.corners) {
		if (const auto made = scaled(builder, picture, out, how))
			return *made;
	}
	builder.support(how.isNearest, "scales",
			fmt::format("make a size {} and {} times as large; up to {} / n times, n "
				    "up to {}, are known",
				    how.factorY, how.factorX, mostLarger, mostSmaller));
	return takeNearest(builder, picture, out, how);
}

} /* namespace nvdla::compiler::legalize */
