/* SPDX-License-Identifier: MIT */
/* Layout of a graph without cycles from top to bottom, for drawing. */
#pragma once

#include <cstddef>
#include <vector>

namespace nvdla::inspect
{

struct Point {
	double x = 0.0;
	double y = 0.0;
};

/** \brief A box to place; units are the caller's */
struct LayoutBox {
	double width = 0.0;
	double height = 0.0;
	Point centre; /**< result of layOut() */
};

struct LayoutEdge {
	size_t from = 0; /**< index of the box at which the edge begins; less than \a to */
	size_t to = 0;
	/** \brief Result: from the lower side of one box to the upper side of the other */
	std::vector<Point> route;
};

struct LayoutGaps {
	double between = 24.0;	/**< distance between adjacent boxes */
	double below = 36.0;	/**< distance between layers if an edge bends there as much */
	double straight = 10.0; /**< least distance between layers */
	double edge = 14.0;	/**< distance between a box and an edge that passes its layer */
};

/**
 * \brief Place boxes in layers below each other, with few crossings and straight long edges
 *
 * A box is one layer below the lowest box with an edge to it. The order in a layer is found by
 * barycentres (K. Sugiyama, S. Tagawa, M. Toda, "Methods for visual understanding of hierarchical
 * system structures", 1981); within that order, positions keep the squares of the edges' horizontal
 * extents small.
 *
 * \return the size of the whole picture; it begins at 0, 0
 */
Point layOut(std::vector<LayoutBox> &boxes, std::vector<LayoutEdge> &edges,
	     const LayoutGaps &gaps = {});

} /* namespace nvdla::inspect */
