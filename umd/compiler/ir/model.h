/* SPDX-License-Identifier: MIT */
/*
 * A network of operators on real numbers, which importers build and passes change.
 *
 * Tensors are values; a value's quantization says which real numbers its integers stand for.
 * Operators are defined on real numbers, and the output's quantization rounds their results.
 * Documentation/compiler.md describes the compiler's steps.
 */
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <limits>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include <nvdla/element_function.h>
#include <nvdla/error.h>
#include <nvdla/operations.h>
#include <nvdla/quantization.h>

#include "base/number/channel_scaling.h"
#include "compiler/ir/shared_bytes.h"

namespace nvdla::compiler
{

enum class ElementType : uint8_t { Float32, Float16, Int8, UInt8, Int16, Int32, Int64, Bool };

/** \return "float32", "int8" and so on */
const char *elementTypeName(ElementType type);
size_t elementBytes(ElementType type);
bool isFloat(ElementType type);

/** \brief Extents, outermost first: N, H, W, C of activations; K, C, R, S of convolution kernels */
using Extents = std::vector<uint32_t>;

/** \return number of elements; 1 of an empty list */
uint64_t elementCount(const Extents &shape);
/** \return "1 x 8 x 8 x 3", for instance; "scalar" for a shape without axes */
std::string toString(const Extents &shape);

/** \brief Maximum number of a tensor's elements; files with larger tensors are refused */
inline constexpr uint64_t mostInTensor = uint64_t{ 1 } << 31;

/** \brief Maximum number of a surface's channels, lines or columns: registers have 13 bits */
inline constexpr uint32_t mostOfSurface = 8192;

/** \return \a extents as a shape; nothing if one is negative or there are over \a most elements */
std::optional<Extents> shapeFrom(const std::vector<int64_t> &extents, uint64_t most = mostInTensor);

/**
 * \param[in] zeroPoints as many as scales; none: zeros
 * \return nothing if a scale is negative or infinite, or a zero point is no 8- or 16-bit integer
 */
std::optional<TensorQuantization> quantizationFrom(const std::vector<double> &scales,
						   const std::vector<int64_t> &zeroPoints);

/** \brief Index into Model::values */
using ValueId = size_t;

/** \brief A tensor */
struct Value {
	std::string name;
	ElementType type = ElementType::Float32;
	Extents shape;
	Extents shapeInFile; /**< the shape in the file's order of axes; empty: that is \a shape */
	const Extents &inFile() const { return shapeInFile.empty() ? shape : shapeInFile; }
	/** \brief One scale and zero point, or one pair for each index along quantizedAxis */
	TensorQuantization quantization;
	uint32_t quantizedAxis = 0;
	/** \brief Elements of a constant, little endian, in the order of the shape */
	SharedBytes data;
	bool isConstant = false;
	/** \brief Number of samples if the first axis is a batch, with a cube for each; else 1 */
	uint32_t batch = 1;

	/** \return the shape of one sample */
	Extents cubeShape() const
	{
		Extents one = shape;

		if (batch > 1)
			one.front() = 1;
		return one;
	}
	bool operator==(const Value &) const = default;
};

/** \brief Limits of a fused activation, as real numbers: { 0, 6 } for ReLU6 */
struct Clamp {
	double low = -std::numeric_limits<double>::infinity();
	double high = std::numeric_limits<double>::infinity();

	bool isNone() const { return *this == Clamp{}; }
	bool operator==(const Clamp &) const = default;
};

/** \brief Properties that all operators of a kind share */
struct Traits {
	bool hasKernels = false; /**< the second input holds kernels */
	bool isProduct = false;	 /**< the first two inputs are multiplied; a third one is a bias */
	/** \brief Constants that the next operator multiplies or adds fold into kernels and bias */
	bool takesFactors = false;
	bool isRepeating = false; /**< a smaller input is broadcast to the result's shape */
	/** \brief Axes do not matter, only the elements' order: any shape and batch is accepted */
	bool countsElements = false;
	bool movesElements = false;  /**< the result has elements of the input, unchanged */
	bool isOverLastAxis = false; /**< the operator works along the input's last axis */
	bool writesParts = true;     /**< the result may be a part of a larger surface */
};

/* Operators. Their comments list the inputs in the order of Operator::inputs. */

/** \brief Inputs: x; kernels (constant, K x C/groups x R x S); bias (constant, K) or none */
struct Convolution {
	static constexpr Traits traits{ .hasKernels = true,
					.isProduct = true,
					.takesFactors = true };
	op::Axes stride;
	op::Axes dilation;
	op::Padding padding;
	uint32_t groups = 1;
	Clamp activation;
};

/**
 * \brief Inputs: x; kernels (constant, K x C x R x S); bias (constant, K) or none
 *
 * Each element of x, at line i and column j, is multiplied by the kernels. The products are added
 * to the output from line i * stride.y - padding.top, column j * stride.x - padding.left on.
 */
struct TransposedConvolution {
	static constexpr Traits traits{ .hasKernels = true,
					.isProduct = true,
					.writesParts = false };
	op::Axes stride;
	op::Padding padding; /**< lines and columns of the sums that are cut off */
	Clamp activation;
};

/** \brief Inputs: x, rows of C elements; constant weights, K x C; constant bias, K, or none */
struct FullyConnected {
	static constexpr Traits traits{
		.hasKernels = true, .isProduct = true, .takesFactors = true, .isOverLastAxis = true
	};
	Clamp activation;
};

/** \brief A tensor seen as matrices, \a count for each sample; its last axis is their columns */
struct Matrices {
	uint32_t samples = 1;
	uint32_t count = 1; /**< number of matrices in each sample */
	uint32_t rows = 1;
	uint32_t columns = 1;
	bool areBeside = false;

	/** \param[in] areBeside the last axis but one counts the matrices, and the axis before it
	 * their rows; otherwise the other way round */
	Matrices(const Extents &shape, bool areBeside);
	/** \return index of an element; a single sample or matrix stands for all (broadcast) */
	size_t at(size_t sample, size_t matrix, size_t row, size_t column) const
	{
		sample %= samples;
		matrix %= count;
		return ((areBeside ? (sample * rows + row) * count + matrix
				   : (sample * count + matrix) * rows + row)) *
			       columns +
		       column;
	}
};

/**
 * \brief Products of matrices that the model computes. Inputs: a, matrices of T x C; b, matrices of
 * K x C, or of C x K if \a ofChannels; bias (constant, K) or none
 */
struct Product {
	static constexpr Traits traits{ .isProduct = true,
					.isOverLastAxis = true,
					.writesParts = false };
	bool ofChannels = false;
	bool besideA = false; /**< Matrices::areBeside of a and the result */
	bool besideB = false; /**< Matrices::areBeside of b */
	Clamp activation;
};

/** \brief Inputs: two tensors, broadcast to the output's shape */
struct Elementwise {
	static constexpr Traits traits{ .isRepeating = true };
	enum class Function : uint8_t { Add, Subtract, Multiply, Maximum, Minimum, Divide };
	Function function = Function::Add;
	Clamp activation;

	/** \return the function of two numbers, without the activation */
	double operator()(double a, double b) const;
};

inline bool isNone(const op::Padding &padding)
{
	return !padding.left && !padding.right && !padding.top && !padding.bottom;
}

/** \brief Pooling; an average counts only elements inside the picture, unless countPadding */
struct Pool {
	static constexpr Traits traits{};
	enum class Method : uint8_t { Average, Max, Min, Sum };
	Method method = Method::Max;
	op::Axes kernel;
	op::Axes stride;
	op::Padding padding;
	bool countPadding = false;
	Clamp activation;
	/** \brief The average is that of the real numbers; TFLite's poolings divide the sum of the
	 * integers instead, zero points included */
	bool ofReals = false;

	/** \return true if a single window covers all of \a picture */
	bool isWhole(const Extents &picture) const
	{
		return kernel.x == picture[2] && kernel.y == picture[1] && isNone(padding);
	}
};

/** \return a pooling that averages all lines and columns of \a picture */
inline Pool wholeAverage(const Extents &picture)
{
	return { .method = Pool::Method::Average,
		 .kernel = { picture[2], picture[1] },
		 .ofReals = true };
}

/** \return true if the result is an unchanged element of the window */
inline bool isExtreme(Pool::Method method)
{
	return method == Pool::Method::Max || method == Pool::Method::Min;
}

/** \brief The same elements in the same order, in the output's shape */
struct Reshape {
	static constexpr Traits traits{ .countsElements = true,
					.movesElements = true,
					.writesParts = false };
};

/** \brief The input with elements of \a value around it */
struct Pad {
	static constexpr Traits traits{ .movesElements = true };
	Extents before; /**< number of added elements in front of each axis */
	Extents after;	/**< number of added elements behind each axis */
	double value = 0;
};

/** \brief The inputs concatenated along an axis */
struct Concatenation {
	static constexpr Traits traits{};
	uint32_t axis = 0;
	Clamp activation;
};

/** \brief Every stride-th element from \a begin on, as many as the output's shape has */
struct Slice {
	static constexpr Traits traits{ .movesElements = true, .writesParts = false };
	Extents begin;
	Extents stride;
};

/** \brief A function of shift + scale * inner(x), for each element x */
struct Unary {
	static constexpr Traits traits{};
	using Function = ElementFunction;
	Function function = Function::Identity; /**< Identity: converts type or quantization */
	double parameter = 0;			/**< parameter of \a function, if it has one */
	Clamp activation;
	Function inner = Function::Identity; /**< applied first; has no parameter */
	double scale = 1;
	double shift = 0;

	/** \return the result for \a x, clamped; a finite number even at a pole */
	double operator()(double x) const;
	/** \return true if the operator only changes type or quantization */
	bool isConversion() const { return function == Function::Identity && activation.isNone(); }
	bool operator==(const Unary &) const = default;
};

/**
 * \brief x where x is positive, else x times a slope. Inputs: x; slopes, a constant that is
 * broadcast to the shape of x
 */
struct PRelu {
	static constexpr Traits traits{ .isRepeating = true, .isOverLastAxis = true };
};

/** \brief A picture with \a factor times as many lines and columns */
struct Enlarge {
	static constexpr Traits traits{ .writesParts = false };
	enum class Method : uint8_t {
		Nearest,	/**< each element is repeated */
		Linear,		/**< interpolation; element i of the input lies at i * factor */
		LinearOfCenters /**< Linear, but element i lies at the center of its outputs */
	};
	Method method = Method::Nearest;
	op::Axes factor;
};

/** \brief Softmax of beta * x over the last axis */
struct Softmax {
	static constexpr Traits traits{ .isOverLastAxis = true, .writesParts = false };
	double beta = 1;
	bool isLogarithm = false; /**< logarithms of the softmax instead */
};

/**
 * \brief Elements in another order
 *
 * The input's elements are seen as an array of shape \a extents, outermost axis first. Axis i of
 * the result is axis order[i] of that array. The output may have any shape with as many elements.
 */
struct Transpose {
	static constexpr Traits traits{ .countsElements = true,
					.movesElements = true,
					.writesParts = false };
	Extents extents;
	std::vector<uint32_t> order;
};

/** \return the transpose that applies \a one to each sample of a batch */
Transpose ofSamples(uint32_t samples, Transpose one);

/** \brief A function of all numbers of the last axis, which ArgMax reduces to one or removes */
struct OverChannels {
	static constexpr Traits traits{ .isOverLastAxis = true, .writesParts = false };
	using Function = op::OverChannels::Function;
	Function function = Function::ArgMax;
	uint32_t window = 0; /**< LocalResponse: number of channels that are squared and summed */
	double power = 1;    /**< LocalResponse: x / (shift + scale * sum of squares) ^ power */
	double scale = 1;
	double shift = 0; /**< LocalResponse: see power; Standardize: epsilon */
};

/** \brief Reduces the last axis to one element */
struct ChannelReduction {
	static constexpr Traits traits{ .isOverLastAxis = true };
	Pool::Method method = Pool::Method::Average;
};

/** \brief An operator that the importer cannot read; an error only if its result is needed */
struct Unknown {
	static constexpr Traits traits{ .countsElements = true };
	Error why;
	/** \brief The operator is unknown only because the shape of an input is unknown */
	bool follows = false;
	/** \brief Another operator includes this one's work and does not read its result */
	bool isFolded = false;
};

using Kind = std::variant<Convolution, TransposedConvolution, FullyConnected, Product, Elementwise,
			  Pool, Reshape, Pad, Concatenation, Slice, Unary, PRelu, Enlarge, Softmax,
			  Transpose, OverChannels, ChannelReduction, Unknown>;

/** \return true if \a kind is one of \a Kinds */
template<typename... Kinds>
bool isAny(const Kind &kind)
{
	return (std::holds_alternative<Kinds>(kind) || ...);
}

/**
 * \return true if the CPU computes the operator as a function of all channels: its input can be
 * integers and its output real numbers, or the other way round, without a conversion
 */
bool isOverChannels(const Kind &kind);
/** \return the activation of an operator; nullptr if its kind has none */
const Clamp *activationOf(const Kind &kind);
Clamp *activationOf(Kind &kind);
inline const Traits &traitsOf(const Kind &kind)
{
	return std::visit([](const auto &one) -> const Traits & { return one.traits; }, kind);
}
/** \return true if an operator's second input holds kernels */
inline bool hasKernels(const Kind &kind)
{
	return traitsOf(kind).hasKernels;
}

struct Operator {
	std::string name; /**< for errors and reports: the first output's name */
	std::string type; /**< the operator's name in the model's format */
	Kind kind;
	std::vector<ValueId> inputs;
	std::vector<ValueId> outputs;
	size_t index = 0; /**< index of the file's operator, which may have become several */
};

/** \brief An input or output of a network, as its file describes it */
struct TensorInFile {
	std::string name;
	Extents shape;
	ElementOrder order = ElementOrder::Nhwc; /**< Nchw: the value still has channels last */
};

/** \brief Numbers that a network keeps: a run's output is an input of the next run */
struct State {
	size_t input = 0;	  /**< index into Model::inputs */
	size_t output = 0;	  /**< index into Model::outputs */
	std::vector<float> first; /**< numbers that the first run reads, in the input's order */
};

/** \brief A network; each operator comes after those whose results it reads */
struct Model {
	/** \brief A deque, so that references to values outlive the addition of others */
	std::deque<Value> values;
	std::vector<Operator> operators;
	std::vector<ValueId> inputs;
	std::vector<ValueId> outputs;
	/** \brief Descriptions of the inputs; missing ones at the end are made from the values */
	std::vector<TensorInFile> inputsInFile;
	std::vector<TensorInFile> outputsInFile;
	std::vector<State> states; /**< inputs of states are the last ones of \a inputs */
	/** \brief Number of times that the runtime of the file's format rounds an 8-bit result */
	ScaleRounding roundingOf8Bits = ScaleRounding::Twice;

	/** \brief Indices of the operators that read a value */
	std::vector<size_t> readers(ValueId value) const;
	/** \brief The operator that writes a value; nullptr for inputs and constants */
	const Operator *writer(ValueId value) const;
	Operator *writer(ValueId value);
	/** \brief The value from which a chain of reshapes makes \a value, or \a value itself */
	ValueId beforeReshapes(ValueId value) const;
	bool isOutput(ValueId value) const { return std::ranges::count(outputs, value) != 0; }
	bool isInput(ValueId value) const { return std::ranges::count(inputs, value) != 0; }
	/** \brief Number of inputs that the application gives: those before the states' */
	size_t givenInputs() const { return inputs.size() - states.size(); }
	/** \brief Whether a value is the input or output of a state */
	bool isOfState(ValueId value) const
	{
		return std::ranges::any_of(states, [&](const State &state) {
			return value == inputs[state.input] || value == outputs[state.output];
		});
	}
	/** \brief Whether a value is read by one operator alone, and is no output of the model */
	bool isReadOnce(ValueId value) const
	{
		return readers(value).size() == 1 && !isOutput(value);
	}
	/** \brief Add a value; the ids of others stay valid */
	ValueId add(Value value);
	/** \brief Add a copy of a value in another shape, with \a what appended to its name */
	ValueId addLike(ValueId like, const std::string &what, Extents shape);
	/**
	 * \brief A model of one operator; the model's inputs are the operator's, each once
	 *
	 * Constants stay constants. Values are numbered anew.
	 */
	Model alone(const Operator &operation) const;

	/**
	 * \brief Check the model's structure, and each operator's shapes, types and parameters
	 *
	 * An operator that breaks a rule becomes Unknown, so that the others can still be examined.
	 * An input is removed from its operator, which becomes Unknown, too, if no earlier operator
	 * writes the input, or if it is a constant whose size does not fit its shape.
	 *
	 * \return InvalidFile if an input or output does not exist, or a value is written twice
	 */
	Result<void> setAsideInvalid();
};

/** \return the shape with at least \a rank axes: axes of one element are put in front */
Extents withRank(Extents shape, size_t rank);
/**
 * \return the shape to which two tensors are broadcast, with trailing axes aligned; nothing if an
 * axis has two different extents that are not 1
 */
std::optional<Extents> broadcastShape(const Extents &a, const Extents &b);
/** \return an error if a constant's number of bytes does not fit its shape */
std::optional<Error> bytesError(const Value &value);
/** \return the elements of a constant as stored: their quantization is not applied */
std::vector<double> rawNumbers(Value constant);
/** \return the exact elements of an integer constant; none if the constant is of another type */
std::vector<int64_t> wholeNumbers(const Value &constant);
/** \return real numbers of a constant: of all elements, or of \a count from \a first on */
template<typename Number = double>
std::vector<Number> realNumbers(const Value &constant, size_t first = 0,
				size_t count = std::dynamic_extent);
/** \brief A transposed constant: axis i of the result is axis order[i] of \a value */
Value permuted(const Value &value, const std::vector<uint32_t> &order);
/** \return a float32 constant of \a numbers, which are in the order of \a shape */
Value floatConstant(const std::vector<double> &numbers, const Extents &shape);
/**
 * \brief Quantize \a numbers to 8 bits; a number between two integers becomes the even one
 * \param[in] value name, type, shape and quantization of the result
 */
Value quantizedConstant(const std::vector<double> &numbers, Value value);

} /* namespace nvdla::compiler */
