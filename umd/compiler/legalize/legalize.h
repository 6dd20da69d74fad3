/* SPDX-License-Identifier: MIT */
/*
 * Operators as files have them, made of those that the compiler has. Axes are the file's. Each
 * function adds what it makes to the builder's model; it returns an empty tensor after an error.
 */
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "builder.h"

namespace nvdla::compiler::legalize
{

/* Elements: elements.cpp */

Tensor unary(Builder &builder, const Tensor &x, const Unary &function);
/** \brief outer * function(inner * x) */
Tensor scaledUnary(Builder &builder, double inner, const Tensor &x, const Unary &function,
		   double outer);
Tensor negative(Builder &builder, const Tensor &x);
/** \brief Numbers up to the threshold become 0; others stay (bias 0) or shrink by the threshold */
Tensor shrink(Builder &builder, const Tensor &x, double threshold, double bias);
/** \brief clamp(alpha * x + beta, 0, 1) */
Tensor hardSigmoid(Builder &builder, const Tensor &x, double alpha, double beta);
/** \brief A function of two tensors, aligned at their trailing axes; one may be constant */
Tensor elementwise(Builder &builder, const Elementwise &operation, Tensor a, Tensor b);
/** \brief a / b; by a constant it is a product */
Tensor quotient(Builder &builder, const Tensor &a, const Tensor &b, const Clamp &activation);
/** \brief A function applied to the first two tensors, then to that result and the third */
Tensor several(Builder &builder, Elementwise::Function function,
	       const std::vector<Tensor> &tensors);
Tensor mean(Builder &builder, const std::vector<Tensor> &tensors);
Tensor squaredDifference(Builder &builder, const Tensor &a, const Tensor &b);
/** \brief To a constant power: products, if that is all there is to do */
Tensor power(Builder &builder, const Tensor &x, double exponent);
/** \param[in] slopes are broadcast to x */
Tensor prelu(Builder &builder, const Tensor &x, const Value &slopes);
Tensor softmax(Builder &builder, const Tensor &x, uint32_t axis, const Softmax &function);
/** \brief a where a constant condition holds, else b */
Tensor select(Builder &builder, const Value &condition, const Tensor &a, const Tensor &b);

/* Places: layout.cpp, extents.cpp. Builder::reshaped() is one of them. */

/** \param[in] perm axis i of the result is axis perm[i] */
Tensor transposed(Builder &builder, const Tensor &tensor, const std::vector<int64_t> &perm);
Tensor concatenation(Builder &builder, const std::vector<Tensor> &tensors, int64_t axis,
		     const Clamp &activation);
/** \brief Side by side along an axis that they do not have */
Tensor stack(Builder &builder, const std::vector<Tensor> &tensors, int64_t axis);
/** \brief Every stride-th element from \a begin on; as many as \a shape says */
Tensor slice(Builder &builder, const Tensor &tensor, const Extents &begin, const Extents &stride,
	     const Extents &shape);

/** \brief Neighbouring elements of an axis */
struct Part {
	uint32_t begin;
	uint32_t count;
};
/** \brief Maximum number of an axis' parts; each is an operation, or more */
inline constexpr uint32_t mostParts = 64;
Tensor part(Builder &builder, const Tensor &tensor, uint32_t axis, const Part &part);
/** \brief One element of an axis, which falls away */
Tensor element(Builder &builder, const Tensor &tensor, uint32_t axis, uint32_t number);
/** \return a tensor for each size: elements of an axis, one behind the other */
std::vector<Tensor> split(Builder &builder, const Tensor &tensor, uint32_t axis,
			  const std::vector<int64_t> &sizes);
/** \brief Replace axes by parts of themselves, one behind the other; no parts: as it was */
Tensor ofParts(Builder &builder, Tensor tensor, const std::vector<std::vector<Part>> &axes);
/**
 * \brief An axis of \a extent elements that becomes any of them
 * \return neighbours together; no parts if that is all, and after an error about \a field
 */
std::vector<Part> takenParts(Builder &builder, const std::string &field, uint32_t extent,
			     const std::vector<uint32_t> &taken);

/** \param[in] field what the file calls the times, in errors */
Tensor tile(Builder &builder, const Tensor &tensor, const std::string &field,
	    const std::vector<int64_t> &times);
/** \brief Axes of one element are repeated; \a shape may lack those in front */
Tensor expand(Builder &builder, const Tensor &tensor, const std::vector<int64_t> &shape);
/** \param[in] indices along an axis; a single one, without an axis of its own, takes that away */
Tensor gather(Builder &builder, const Tensor &tensor, int64_t axis, const Value &indices);

struct Padding {
	std::string field;	     /**< what the file calls the numbers, in errors */
	std::string mode;	     /**< constant, reflect, symmetric, edge or wrap */
	std::vector<int64_t> before; /**< each axis */
	std::vector<int64_t> after;
	double value = 0;
};
Tensor pad(Builder &builder, const Tensor &tensor, const Padding &padding);

/* Channels: channels.cpp, normalizations.cpp */

/** \brief The index of the first of the largest; the axis has one element then */
Tensor argMax(Builder &builder, const Tensor &tensor, uint32_t axis, bool ofSmallest);
/** \brief The root of the sum of all squares of an axis becomes 1 */
Tensor withNormOfOne(Builder &builder, const Tensor &tensor, uint32_t axis);
/** \brief x / (bias + alpha * sum of squares of \a window channels around it) ^ beta */
Tensor localResponse(Builder &builder, const Tensor &picture, uint32_t window, double bias,
		     double alpha, double beta);
/** \param[in] blocksTogether the channels of a block are side by side, not those of an element */
Tensor depthToSpace(Builder &builder, const Tensor &picture, uint32_t block, bool blocksTogether);
Tensor spaceToDepth(Builder &builder, const Tensor &picture, uint32_t block);

/** \brief A tensor whose last axis is all that some axes of another one have */
struct Rows {
	Tensor turned;	/**< the other one, with these axes behind the others */
	Tensor rows;	/**< the same elements */
	Tensor reduced; /**< like rows, with one element of each */
	Tensor kept;	/**< that with all axes: those of the rows have one element */
};
/** \param[in] axes in the file's order, in which several are seen as one */
Rows rowsOf(Builder &builder, const Tensor &tensor, const AxisOrder &axes);

struct Reduction {
	AxisOrder axes;	   /**< sorted */
	bool keeps = true; /**< axes, with one element each */
};
/** \brief A function of each element before or behind a reduction; Identity: none */
struct Around {
	Unary before;
	Unary behind;
};
Tensor reduced(Builder &builder, const Tensor &tensor, const Reduction &over, Pool::Method method,
	       const Around &around);
Tensor logarithmOfExponentials(Builder &builder, const Tensor &tensor, const Reduction &over);

/** \brief Factors and summands that normalized numbers get; empty: none */
struct Scaling {
	std::vector<double> factors;
	std::vector<double> sums;
};
/** \brief (x - mean) * factor / sqrt(variance + epsilon) + sum, each along axis 1 */
Tensor batchNormalized(Builder &builder, const Tensor &x, const Scaling &scaling,
		       const std::vector<double> &mean, const std::vector<double> &variance,
		       double epsilon);
struct Normalized {
	Tensor tensor;
	Tensor mean;
	Tensor reciprocalWidth;
};
/** \param[in] first of the axes that are normalized as one */
Normalized layerNormalized(Builder &builder, const Tensor &x, uint32_t first,
			   const Scaling &scaling, double epsilon, bool wantsMoments);
/** \brief Normalize each channel by itself */
Tensor instanceNormalized(Builder &builder, const Tensor &pictureOrLine, const Scaling &scaling,
			  double epsilon);
/** \brief Normalize groups of adjacent channels, axis 1 */
Tensor groupNormalized(Builder &builder, const Tensor &picture, int64_t groups,
		       const Scaling &scaling, double epsilon);

/* Windows: windows.cpp, transposed.cpp, resize.cpp. A line is a picture without lines. */

/** \brief Padding for as many windows as there are strides in the picture, or not */
enum class Same : uint8_t {
	No,
	Upper, /**< an odd element is at the end */
	Lower
};
struct Windows {
	op::Axes kernel;
	op::Axes stride;
	op::Axes dilation;
	op::Padding padding;
	Same same = Same::No; /**< instead of these numbers */
};
/** \return numbers of lines and columns, held against what is possible */
op::Axes axesOf(Builder &builder, const std::string &field, int64_t y, int64_t x);

struct PoolRules {
	bool countsPadding = false;
	bool ceils = false; /**< a last window that is not full is one */
	Clamp activation;
};
Tensor pool(Builder &builder, Pool::Method method, const Tensor &pictureOrLine,
	    const Windows &windows, const PoolRules &rules);
/** \brief One window over all of it */
Tensor poolAll(Builder &builder, Pool::Method method, const Tensor &pictureOrLine);
/** \param[in] weights K x C/groups x R x S; of lines without R */
Tensor convolution(Builder &builder, const Tensor &pictureOrLine, const Windows &windows,
		   Weights weights, int64_t groups, const Clamp &activation);

/** \brief Elements that are so many apart are together, in a sample of their own */
struct Spread {
	std::vector<int64_t> block;  /**< lines, columns */
	std::vector<int64_t> around; /**< before and behind lines, then columns: zeros */
};
/**
 * \brief What a convolution of spread samples is when these are put together: a dilated one
 * \param[in] picture that was spread
 * \param[in] convolved the convolution of its samples
 * \param[in] crops of the result, as Spread::around
 */
Tensor dilated(Builder &builder, const Tensor &picture, const Operator &convolved,
	       const Spread &spread, const std::vector<int64_t> &crops);

/** \brief Output of a transposed convolution along an axis */
struct TransposedAxis {
	int64_t more = 0;	    /**< elements behind the sums */
	std::optional<int64_t> out; /**< elements; what is too much before and behind is cut off */
	bool moreBehind = false;    /**< of an odd number of these */
};
/** \param[in] weights K/groups x C x R x S; of lines without R */
Tensor transposedConvolution(Builder &builder, const Tensor &pictureOrLine, const Windows &windows,
			     Weights weights, int64_t groups, TransposedAxis lines,
			     TransposedAxis columns, const Clamp &activation);
/** \param[in] weights K x C, for rows of C elements */
Tensor product(Builder &builder, const Tensor &rows, Weights weights, const Clamp &activation);

enum class Rounding : uint8_t { Floor, Ceil, HalfUp, HalfDown };
/** \brief Mapping of a resized picture's elements to those of the input */
struct Resizing {
	bool isNearest = false;	  /**< or linear */
	bool centers = false;	  /**< elements are wide, and their middles lie in one place */
	bool corners = false;	  /**< first and last elements lie in one place */
	bool onlyIsFirst = false; /**< and a single one lies where the first does */
	bool inSinglePrecision = false; /**< places are computed */
	Rounding rounding = Rounding::Floor;
	uint32_t lines = 0; /**< of the result */
	uint32_t columns = 0;
	double factorY = 1;
	double factorX = 1;
	double factorError = 1e-9; /**< of factors, relative */
};
Tensor resize(Builder &builder, const Tensor &picture, const Resizing &how);

} /* namespace nvdla::compiler::legalize */
