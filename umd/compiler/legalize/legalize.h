/* SPDX-License-Identifier: MIT */
/*
 * Translates operators of model files into operators of the compiler. Axes are numbered as in the
 * file. Each function adds operators to the builder's model, or throws BrokenRule.
 */
#pragma once

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include "builder.h"

namespace nvdla::compiler::legalize
{

/* Elements: elements.cpp */

Tensor unary(Builder &builder, const Tensor &x, const Unary &function);
/** \brief factor * function(x) */
Tensor scaledUnary(Builder &builder, const Tensor &x, const Unary &function, double factor);
/** \param[in] isLast whether the product is the result of the file's operator, or intermediate */
Tensor timesNumber(Builder &builder, const Tensor &x, double factor, bool isLast = true);
/** \brief Shrink: 0 if |x| <= threshold, else x moved towards 0 by \a bias */
Tensor shrink(Builder &builder, const Tensor &x, double threshold, double bias);
/** \brief clamp(alpha * x + beta, 0, 1) */
Tensor hardSigmoid(Builder &builder, const Tensor &x, double alpha, double beta);
/** \brief A function of two tensors, aligned at their trailing axes; one may be constant */
Tensor elementwise(Builder &builder, const Elementwise &operation, Tensor a, Tensor b);
/** \brief a / b: a product if b is constant, a function of b if a is a constant of one number */
Tensor quotient(Builder &builder, const Tensor &a, const Tensor &b, const Clamp &activation);
/** \brief A function of two tensors, then of its result and the third tensor, and so on; the
 * activation applies to the last result */
Tensor several(Builder &builder, const Elementwise &operation, const std::vector<Tensor> &tensors);
Tensor mean(Builder &builder, const std::vector<Tensor> &tensors);
Tensor squaredDifference(Builder &builder, const Tensor &a, const Tensor &b);
/** \brief x ^ exponent; exponents 1, 2 and (with float results) 3 need no power function */
Tensor power(Builder &builder, const Tensor &x, double exponent);
/** \param[in] slopes factors of the negative elements; they are broadcast to x */
Tensor prelu(Builder &builder, const Tensor &x, const Value &slopes);
/** \brief Elements of \a a where the constant condition is true, else of \a b */
Tensor select(Builder &builder, const Value &condition, const Tensor &a, const Tensor &b);

/* Operators that move elements: layout.cpp, extents.cpp. Builder::reshaped() is one, too. */

/**
 * \brief A tensor as an output of the model
 * \param[out] order Nchw: the file has a picture N, C, H, W, and the result has its channels last;
 * Nhwc: the result has the file's order of axes (a CPU step transposes it if necessary)
 */
Tensor asOutput(Builder &builder, const Model &model, const Tensor &tensor, ElementOrder &order);
/** \param[in] perm axis i of the result is axis perm[i] of \a tensor */
Tensor transposed(Builder &builder, const Tensor &tensor, const std::vector<int64_t> &perm);
Tensor concatenation(Builder &builder, const std::vector<Tensor> &tensors, int64_t axis,
		     const Clamp &activation);
/** \brief Concatenate tensors along a new axis */
Tensor stack(Builder &builder, const std::vector<Tensor> &tensors, int64_t axis);
/**
 * \param[in] shape one extent may be -1: it follows from the number of elements
 * \param[in] zeroKeeps an extent of 0 stands for the tensor's own extent of this axis
 */
Tensor reshaped(Builder &builder, const Tensor &tensor, const std::vector<int64_t> &shape,
		bool zeroKeeps);
/** \brief Flatten to two axes: all axes before \a axis, and all from \a axis on */
Tensor flattenedAt(Builder &builder, const Tensor &tensor, int64_t axis);
/** \param[in] axes to remove, each with one element; empty: all axes with one element */
Tensor squeezed(Builder &builder, const Tensor &tensor, const std::vector<int64_t> &axes);
/** \param[in] axes to add, each with one element; numbered as axes of the result */
Tensor unsqueezed(Builder &builder, const Tensor &tensor, const std::vector<int64_t> &axes);

/** \return the index \a at, clamped to 0..extent; a negative index counts from the axis' end */
inline int64_t placeWithin(int64_t at, int64_t extent)
{
	return std::clamp<int64_t>(at < 0 ? at + extent : at, 0, extent);
}
/** \brief A slice as files describe it: each list has one number for each sliced axis */
struct Cuts {
	std::vector<int64_t> starts;
	std::vector<int64_t> ends;  /**< the first indices behind the slice */
	std::vector<int64_t> axes;  /**< the sliced axes; empty: 0, 1, and so on */
	std::vector<int64_t> steps; /**< empty: all are 1 */
};
Tensor slice(Builder &builder, const Tensor &tensor, Cuts cuts);
/** \brief Every stride-th element from \a begin on, as many as \a shape has */
Tensor slice(Builder &builder, const Tensor &tensor, const Extents &begin, const Extents &stride,
	     const Extents &shape);

/** \brief A run of adjacent elements of an axis */
struct Part {
	uint32_t begin;
	uint32_t count;
};
/** \brief Maximum number of parts of an axis: each part takes at least one operation */
inline constexpr uint32_t mostParts = 64;
Tensor part(Builder &builder, const Tensor &tensor, uint32_t axis, const Part &part);
/** \return the tensor split along an axis, one part for each size */
std::vector<Tensor> split(Builder &builder, const Tensor &tensor, uint32_t axis,
			  const std::vector<int64_t> &sizes);
/** \brief Replace each axis by a concatenation of its parts; an axis without parts is unchanged */
Tensor ofParts(Builder &builder, Tensor tensor, const std::vector<std::vector<Part>> &axes);
/**
 * \brief Parts that pick elements of an axis of \a extent elements
 * \param[in] field the file's name for the indices \a taken, for errors
 * \return one part for each run of consecutive indices; none if they are the whole axis in order
 */
std::vector<Part> takenParts(Builder &builder, const std::string &field, uint32_t extent,
			     const std::vector<uint32_t> &taken);

/** \param[in] field the file's name of the repeat counts, for errors */
Tensor tile(Builder &builder, const Tensor &tensor, const std::string &field,
	    const std::vector<int64_t> &times);
/** \brief Broadcast to \a shape, which may lack leading axes */
Tensor expand(Builder &builder, const Tensor &tensor, const std::vector<int64_t> &shape);
/** \param[in] indices along an axis; a scalar index removes the axis */
Tensor gather(Builder &builder, const Tensor &tensor, int64_t axis, const Value &indices);

struct Padding {
	std::string field;	     /**< the file's name for before and after, for errors */
	std::string mode;	     /**< constant, reflect, symmetric, edge or wrap */
	std::vector<int64_t> before; /**< number of elements to add in front of each axis */
	std::vector<int64_t> after;  /**< number of elements to add behind each axis */
	double value = 0;	     /**< the added elements in mode constant */
	std::optional<std::vector<int64_t>> axes = {}; /**< axes to pad; nothing: all */
};
Tensor pad(Builder &builder, const Tensor &tensor, const Padding &padding);

/* Channels: channels.cpp, normalizations.cpp */

/** \brief Index of the first largest (or smallest) element; the axis keeps one element */
Tensor argMax(Builder &builder, const Tensor &tensor, uint32_t axis, bool ofSmallest);
/** \brief A function of all numbers along an axis: Softmax or OverChannels */
Tensor overAxis(Builder &builder, const Tensor &tensor, uint32_t axis, Kind function);
/** \param[in] blocksTogether ONNX's CRD: adjacent channels form a block; else DCR: a pixel */
Tensor depthToSpace(Builder &builder, const Tensor &picture, int64_t size, bool blocksTogether);
Tensor spaceToDepth(Builder &builder, const Tensor &picture, int64_t size);

/** \brief A tensor with several axes flattened to its last one, for reductions */
struct Rows {
	Tensor turned;	/**< the tensor, transposed so that the axes to flatten are last */
	Tensor rows;	/**< the same elements; the last axis is all the flattened axes */
	Tensor reduced; /**< shape and axes of a reduction's result: rows of one element */
	Tensor kept; /**< the same result in the tensor's axes: flattened axes have one element */
};
/** \param[in] axes to flatten, in the file's order */
Rows rowsOf(Builder &builder, const Tensor &tensor, const AxisOrder &axes);

struct Reduction {
	AxisOrder axes;	   /**< axes to reduce, in ascending order */
	bool keeps = true; /**< the result keeps the axes, with one element each */
};
/** \brief Functions of each element before and after a reduction; Identity: none */
struct Around {
	Unary before;
	Unary behind;
};
Tensor reduced(Builder &builder, const Tensor &tensor, const Reduction &over, Pool::Method method,
	       const Around &around);
Tensor logarithmOfExponentials(Builder &builder, const Tensor &tensor, const Reduction &over);

/** \brief Factors and summands behind a normalization, one for each index of an axis; or none */
struct Scaling {
	std::vector<double> factors;
	std::vector<double> sums;
};
/** \brief (x - mean) * factor / sqrt(variance + epsilon) + sum, for each channel (axis 1) */
Tensor batchNormalized(Builder &builder, const Tensor &x, const Scaling &scaling,
		       const std::vector<double> &mean, const std::vector<double> &variance,
		       double epsilon);
/** \param[in] first index of an axis; the axes from it to the last one are normalized together */
Tensor layerNormalized(Builder &builder, const Tensor &x, uint32_t first, const Scaling &scaling,
		       double epsilon);
/** \brief Normalize each channel by itself */
Tensor instanceNormalized(Builder &builder, const Tensor &pictureOrLine, const Scaling &scaling,
			  double epsilon);
/** \brief Normalize each group of adjacent channels by itself; the channels are axis 1 */
Tensor groupNormalized(Builder &builder, const Tensor &picture, int64_t groups,
		       const Scaling &scaling, double epsilon);

/* Windows: windows.cpp, transposed.cpp, resize.cpp. A "line" is a tensor N, C, W. */

/** \brief Whether padding is TensorFlow's SAME: as much as ceil(input / stride) windows need */
enum class Same : uint8_t {
	No,
	Upper, /**< an odd element of padding is at the end */
	Lower  /**< an odd element of padding is at the beginning */
};
struct Windows {
	op::Axes kernel;
	op::Axes stride;
	op::Axes dilation;
	op::Padding padding;
	Same same = Same::No; /**< Upper, Lower: padding follows from the extents */
};
/** \return \a y lines and \a x columns, which have to be 1 to mostOfWindow */
op::Axes axesOf(Builder &builder, const std::string &field, int64_t y, int64_t x);

struct PoolRules {
	bool countsPadding = false; /**< averages divide by the whole window, padding included */
	bool ceils = false;	    /**< a last window that fits only partly counts, too */
	Clamp activation;
};
Tensor pool(Builder &builder, Pool::Method method, const Tensor &pictureOrLine,
	    const Windows &windows, const PoolRules &rules);
/** \brief Pool with one window over the whole picture */
Tensor poolAll(Builder &builder, Pool::Method method, const Tensor &pictureOrLine);
/** \param[in] weights K x C/groups x R x S; without R if the input is a line */
Tensor convolution(Builder &builder, const Tensor &pictureOrLine, const Windows &windows,
		   Weights weights, int64_t groups, const Clamp &activation);

/**
 * \brief Dilated convolution, which files spell as space-to-batch, convolution, batch-to-space
 * \param[in] samples input of batch-to-space
 * \param[in] spreading the file's name for space-to-batch. The model has this operator as Unknown,
 * whose inputs are the picture, the block and its padding
 * \param[in] block lines and columns of batch-to-space's block: the dilation
 * \param[in] crops elements to cut off: lines at top and bottom, columns at left and right
 */
Tensor dilated(Builder &builder, const Tensor &samples, const std::string &spreading,
	       const std::vector<int64_t> &block, const std::vector<int64_t> &crops);

/** \brief Output of a transposed convolution along an axis */
struct TransposedAxis {
	int64_t more = 0;	    /**< number of elements to add at the end (output_padding) */
	std::optional<int64_t> out; /**< wanted number of elements: more are cut off at both ends */
	bool moreBehind = false;    /**< if an odd number is cut off, the end loses more */
};
/** \param[in] weights K/groups x C x R x S; without R if the input is a line */
Tensor transposedConvolution(Builder &builder, const Tensor &pictureOrLine, const Windows &windows,
			     Weights weights, int64_t groups, TransposedAxis lines,
			     TransposedAxis columns, const Clamp &activation);
/** \param[in] weights K x C, for rows of C elements */
Tensor product(Builder &builder, const Tensor &rows, Weights weights, const Clamp &activation);
/**
 * \brief Products of computed matrices, T x C times C x K; leading axes are broadcast
 * \param[in] bias one number for each of the K columns, or none
 */
Tensor product(Builder &builder, const Tensor &a, const Tensor &b, std::vector<Value> bias,
	       const Clamp &activation);
/** \brief Sums of products of two tensors, as "ij,jk->ik" names their axes: einsum.cpp */
Tensor einsum(Builder &builder, const std::string &text, const Tensor &a, const Tensor &b);

/* Recurrent cells: recurrent.cpp */

/** \brief A recurrent cell in one or two directions; each list begins with the first direction */
struct Recurrence {
	enum class Kind : uint8_t { Rnn, Gru, Lstm };
	Kind kind = Kind::Rnn;
	uint32_t size = 0;	 /**< number of elements of a state */
	uint32_t directions = 1; /**< 1 or 2; the second one reads the last input first */
	bool isReverse = false;	 /**< the first direction, too, reads the last input first */
	Unary gate, candidate, output;
	Clamp memory = {};	    /**< LSTM: limits of the cell state */
	bool resetsProduct = false; /**< GRU: reset multiplies the state's product, not the state */
	/** \brief Kernels for the input, gate by gate, in this order: input, output, forget,
	 * candidate (LSTM); update, reset, candidate (GRU); candidate (RNN) */
	std::vector<double> input;
	std::vector<double> recurrent; /**< kernels for the hidden state */
	std::vector<double> bias;
	std::vector<double> recurrentBias; /**< zeros; resetsProduct: except the candidate's */
};
uint32_t gatesOf(Recurrence::Kind kind);
/**
 * \brief Run a sequence through a recurrent cell
 * \param[in] x steps x batch x elements
 * \param[in] hidden, memory states before the first step, directions x batch x size; none: zeros
 * \return all hidden states, steps x directions x batch x size; the last ones, and of an LSTM the
 * last memory, both directions x batch x size
 */
std::vector<Tensor> recurrent(Builder &builder, const Tensor &x, const Recurrence &cell,
			      const std::optional<Tensor> &hidden,
			      const std::optional<Tensor> &memory);

/**
 * \brief Filters over the features of the last steps (SVDF): recurrent.cpp
 *
 * A filter's feature of a step is the product of the step's input with the filter's kernel. Each
 * filter sums its weighted features of the last steps. Each \a rank consecutive sums are added.
 *
 * \param[in] x one row of elements
 * \param[in] state features of the last steps, the newest one last: 1 x steps x 1 x filters
 * \param[in] features kernels, filters x elements
 * \param[in] times weights, filters x steps; bias, one for each \a rank filters
 */
Tensor filteredSteps(Builder &builder, const Tensor &x, const Tensor &state, Weights features,
		     Weights times, uint32_t rank, const Clamp &activation);

enum class Rounding : uint8_t { Floor, Ceil, HalfUp, HalfDown };
/** \brief Mapping of a resized picture's elements to those of the input */
struct Resizing {
	bool isNearest = false;		/**< nearest neighbour; false: linear interpolation */
	bool centers = false;		/**< half-pixel centers: element i lies at i + 1/2 */
	bool corners = false;		/**< first and last elements of both pictures coincide */
	bool onlyIsFirst = false;	/**< with centers: a single result is the input's first */
	bool inSinglePrecision = false; /**< positions are computed in float, as TFLite does */
	Rounding rounding = Rounding::Floor;
	uint32_t lines = 0; /**< lines of the result; lines and columns 0: from the factors */
	uint32_t columns = 0;
	double factorY = 1; /**< lines of the result divided by lines of the input */
	double factorX = 1;
	double factorError = 1e-9; /**< relative error that the factors may have */
};
Tensor resize(Builder &builder, const Tensor &picture, const Resizing &how);

} /* namespace nvdla::compiler::legalize */
