/* SPDX-License-Identifier: MIT */
/*
 * Axes of a tensor made of parts of them, as both formats have it.
 */
#pragma once

#include <optional>
#include <vector>

#include "rules.h"

namespace nvdla::compiler
{

/** \brief Elements of an axis, from one on */
struct Part {
	uint32_t begin;
	uint32_t count;
};

/** \brief Of an axis; each is an operation, or more */
inline constexpr uint32_t mostParts = 64;

/**
 * \brief What stands before and behind an axis' elements: some of them
 * \param[in] mode edge, wrap, reflect, or symmetric, which is a reflection that repeats the edge
 * \return no parts if that is nothing, and after an error about \a field
 */
std::vector<Part> paddedParts(Rules &rules, const std::string &field, const std::string &mode,
			      uint32_t extent, uint32_t before, uint32_t after);

/** \return an axis again and again; no parts if that is once, and after an error about \a field */
std::vector<Part> repeatedParts(Rules &rules, const std::string &field, uint32_t extent,
				int64_t times);

/**
 * \return elements of an axis, by numbers of which negative ones count from its end; none after an
 * error about \a field
 */
std::vector<uint32_t> chosenElements(Rules &rules, const std::string &field, uint32_t extent,
				     const std::vector<int64_t> &numbers);

/**
 * \brief An axis that takes any elements of another one
 * \param[in] taken which, one for each of the output's
 * \return neighbours together; no parts if that is all of \a extent, and after an error about
 * \a field: there are too many
 */
std::vector<Part> takenParts(Rules &rules, const std::string &field, uint32_t extent,
			     const std::vector<uint32_t> &taken);

/** \brief Elements of padding */
struct Sides {
	uint32_t before = 0;
	uint32_t after = 0;
};

/** \return padding with which as many windows begin in \a in elements as strides do; an odd one
 * is at the end */
Sides samePadding(uint32_t in, uint32_t kernel, uint32_t stride, uint32_t dilation);

/** \brief An axis of a picture that becomes shorter by a whole factor */
struct Shrinking {
	uint32_t by = 1;
	uint32_t first = 0;  /**< of the input's elements, in the first one's place */
	uint32_t taps = 1;   /**< neighbours whose average each is */
	uint32_t extent = 0; /**< of the output */

	/** \return input elements from the first to the last that is used */
	uint32_t used() const { return (extent - 1) * by + taps; }
};

/** \brief Which elements a smaller picture takes */
enum class Shrink : uint8_t {
	First,	     /**< of each \a by the first */
	MiddleFloor, /**< that in their middle; of two the first */
	MiddleCeil,  /**< the second */
	Centers,     /**< the average of the two */
};

/** \return how \a extent elements are taken of an axis, one of \a by */
Shrinking shrinking(Shrink method, uint32_t by, uint32_t extent);

/** \brief How an axis becomes larger or smaller: some times as large, then each so many-th */
struct Ratio {
	uint32_t larger = 1;
	uint32_t smaller = 1;
};

/** \brief Of both */
inline constexpr uint32_t mostLarger = 32, mostSmaller = 8;

/** \return the least numbers that make \a wanted elements of \a extent; nothing if there are none
 */
std::optional<Ratio> ratioOf(uint32_t extent, uint32_t wanted);

/** \return whether a picture of that size is not too large to be on the way to another one */
bool mayBeOnTheWay(const Extents &shape, const Ratio &lines, const Ratio &columns);

/** \brief One of several operators that follow each other */
struct Step {
	Kind kind;
	Extents shape;	   /**< of its result: N, H, W, C */
	size_t copies = 1; /**< how often it reads what the one before it made */
};

/**
 * \brief A picture that becomes larger, bilinear, its first and last elements at the ends
 *
 * That is as if elements were a whole number of times as far apart, without what is behind the last
 * ones; a single line or column is copied.
 * \param[in] in, out N, H, W, C
 * \return at least one step; none if the number is not whole
 */
std::vector<Step> stretchingSteps(const Extents &in, const Extents &out);

/**
 * \brief A picture that becomes some times as large, then each so many-th element of that
 * \param[in] in, out N, H, W, C
 * \param[in] lines, columns what is taken of the larger picture
 */
std::vector<Step> resizingSteps(const Extents &in, const Extents &out, const Enlarge &larger,
				const Shrinking &lines, const Shrinking &columns);

/** \return numbers of a tensor for each element of a larger one; axes of one element are repeated,
 * and those that are missing in front. None if the shapes do not go together, or make too many */
std::vector<double> repeatedNumbers(const std::vector<double> &numbers, const Extents &from,
				    const Extents &to);

} /* namespace nvdla::compiler */
