/* SPDX-License-Identifier: MIT */
/*
 * A network of real-number operators, as importers leave it and passes change it.
 *
 * Tensors are values; how their integers stand for real numbers is part of a value's
 * description. What an operator computes is defined on real numbers; the result is what the
 * output's quantization makes of them. Documentation/compiler.md has the picture.
 */
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include <nvdla/element_function.h>
#include <nvdla/error.h>
#include <nvdla/operations.h>
#include <nvdla/quantization.h>

#include "base/number/channel_scaling.h"

namespace nvdla::compiler
{

enum class ElementType : uint8_t { Float32, Float16, Int8, UInt8, Int16, Int32, Int64, Bool };

/** \return "float32", "int8" and so on */
const char *elementTypeName(ElementType type);
/** \return bytes of an element */
size_t elementBytes(ElementType type);
/** \return whether the elements are real numbers themselves */
bool isFloat(ElementType type);

/** \brief Outermost first. Activations are N, H, W, C; convolution kernels are K, C, R, S */
using Extents = std::vector<uint32_t>;

/** \return number of elements; 1 of an empty list */
uint64_t elementCount(const Extents &shape);
/** \return "1 x 8 x 8 x 3" */
std::string toString(const Extents &shape);

/** \brief Index into Model::values */
using ValueId = size_t;

/** \brief A tensor */
struct Value {
	std::string name;
	ElementType type = ElementType::Float32;
	Extents shape;
	Extents shapeInFile; /**< where the file has the axes in another order */
	/** \brief Scales and zero points; several: one for each index along quantizedAxis */
	TensorQuantization quantization;
	uint32_t quantizedAxis = 0;
	/** \brief Elements of a constant, little endian, in the order of the shape */
	std::vector<std::byte> data;
	bool isConstant = false;
	/** \brief The first axis, if each of its samples is a cube of its own (a batch); else 1 */
	uint32_t batch = 1;

	/** \return the shape of what is in one cube */
	Extents cubeShape() const
	{
		Extents one = shape;

		if (batch > 1)
			one.front() = 1;
		return one;
	}
};

/** \brief Range that a fused activation limits real numbers to: ReLU6 is { 0, 6 } */
struct Clamp {
	double low = -std::numeric_limits<double>::infinity();
	double high = std::numeric_limits<double>::infinity();

	bool isNone() const { return *this == Clamp{}; }
	bool operator==(const Clamp &) const = default;
};

/** \brief Properties that all operators of a kind share; each kind states its own */
struct Traits {
	bool hasKernels = false; /**< the second input holds them */
	/** \brief Factors and sums that follow can be folded into kernels and bias */
	bool takesFactors = false;
	bool isRepeating = false; /**< the second input is broadcast to the result */
	/** \brief Only the order of the elements matters: any axes and batches are possible */
	bool countsElements = false;
	bool movesElements = false; /**< the result has elements of the input, unchanged */
	bool isOverLastAxis = false;
	bool writesParts = true; /**< the result may be a part of a larger surface */
};

/* Operators. Inputs are named in their order in Operator::inputs. */

/** \brief Inputs: x; kernels (constant, K x C/groups x R x S); bias (constant, K) or none */
struct Convolution {
	static constexpr Traits traits{ .hasKernels = true, .takesFactors = true };
	op::Axes stride;
	op::Axes dilation;
	op::Padding padding;
	uint32_t groups = 1;
	Clamp activation;
};

/**
 * \brief Inputs: x; kernels (constant, K x C x R x S); bias (constant, K) or none
 *
 * Each element of x adds the kernels, times that element, to the output from (y * stride.y -
 * padding.top, x * stride.x - padding.left) on.
 */
struct TransposedConvolution {
	static constexpr Traits traits{ .hasKernels = true, .writesParts = false };
	op::Axes stride;
	op::Padding padding; /**< lines and columns of the sums that are cut off */
	Clamp activation;
};

/** \brief Inputs: x, rows of C elements; weights (constant, K x C); bias (constant, K) or
 * none */
struct FullyConnected {
	static constexpr Traits traits{ .hasKernels = true,
					.takesFactors = true,
					.isOverLastAxis = true };
	Clamp activation;
};

/** \brief Inputs: two of one shape, or of shapes that are repeated to the output's */
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

/** \brief Windows; only elements inside the picture count, unless countPadding */
struct Pool {
	static constexpr Traits traits{};
	enum class Method : uint8_t { Average, Max, Min, Sum };
	Method method = Method::Max;
	op::Axes kernel;
	op::Axes stride;
	op::Padding padding;
	bool countPadding = false;
	Clamp activation;
	/** \brief The average is a mean of what the integers stand for; TFLite's kernels of
	 * windows divide the sum of the integers instead */
	bool ofReals = false;

	/** \return whether the one window on \a picture is all of it */
	bool isWhole(const Extents &picture) const
	{
		return kernel.x == picture[2] && kernel.y == picture[1] && isNone(padding);
	}
};

/** \return the mean of lines and columns */
inline Pool wholeAverage(const Extents &picture)
{
	return { .method = Pool::Method::Average,
		 .kernel = { picture[2], picture[1] },
		 .ofReals = true };
}

/** \return whether the result is an element of the window, unchanged */
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

/** \brief Elements that stand for \a value around the input */
struct Pad {
	static constexpr Traits traits{ .movesElements = true };
	Extents before; /**< for each axis */
	Extents after;
	double value = 0;
};

/** \brief Inputs one behind the other along an axis */
struct Concatenation {
	static constexpr Traits traits{};
	uint32_t axis = 0;
	Clamp activation;
	/** \brief Convolutions that count in other steps turn their results into its integers, if
	 * they can; the numbers are the same */
	bool takesTurned = false;
};

/** \brief Every stride-th element from \a begin on; the output's shape says how many */
struct Slice {
	static constexpr Traits traits{ .movesElements = true, .writesParts = false };
	Extents begin;
	Extents stride;
};

/** \brief A function of each element: of shift + scale * inner(x) */
struct Unary {
	static constexpr Traits traits{};
	using Function = ElementFunction;
	Function function = Function::Identity; /**< Identity: another type or quantization */
	double parameter = 0;			/**< of functions that have one */
	Clamp activation;
	Function inner = Function::Identity; /**< one without a parameter */
	double scale = 1;
	double shift = 0;

	/** \return the function of \a x, clamped, as it is where there is neither infinity nor NaN
	 */
	double operator()(double x) const;
	/** \return whether it makes nothing but another type or quantization */
	bool isConversion() const { return function == Function::Identity && activation.isNone(); }
	bool operator==(const Unary &) const = default;
};

/**
 * \brief x where it is positive, else x times a slope. Inputs: x; slopes, a constant that is
 * repeated to the shape of x
 */
struct PRelu {
	static constexpr Traits traits{ .isRepeating = true, .isOverLastAxis = true };
};

/** \brief The picture \a factor times as large */
struct Enlarge {
	static constexpr Traits traits{ .writesParts = false };
	enum class Method : uint8_t {
		Nearest,	/**< each element again and again */
		Linear,		/**< between elements; element i lies at i * factor */
		LinearOfCenters /**< the same, but their centers lie in the middle of factor */
	};
	Method method = Method::Nearest;
	op::Axes factor;
};

/** \brief Over the last axis, of beta * x */
struct Softmax {
	static constexpr Traits traits{ .isOverLastAxis = true, .writesParts = false };
	double beta = 1;
	bool isLogarithm = false; /**< logarithms of the softmax instead */
};

/**
 * \brief Elements in another order
 *
 * They are seen as an array of these extents, outermost axis first, whose axes are then in the
 * order \a order: axis i of the result is axis order[i]. The output counts the result's elements.
 */
struct Transpose {
	static constexpr Traits traits{ .countsElements = true,
					.movesElements = true,
					.writesParts = false };
	Extents extents;
	std::vector<uint32_t> order;
};

/** \return the transpose of a batch that transposes each of its samples as \a one does */
Transpose ofSamples(uint32_t samples, Transpose one);

/** \brief A function of all numbers of the last axis. ArgMax leaves one element of it, or none of
 * the axis */
struct OverChannels {
	static constexpr Traits traits{ .isOverLastAxis = true, .writesParts = false };
	using Function = op::OverChannels::Function;
	Function function = Function::ArgMax;
	uint32_t window = 0; /**< this and the next ones: of LocalResponse */
	double power = 1;
	double scale = 1;
	double shift = 0; /**< also of Standardize */
};

/** \brief Reduces the last axis to one element */
struct ChannelReduction {
	static constexpr Traits traits{ .isOverLastAxis = true };
	Pool::Method method = Pool::Method::Average;
};

/** \brief An operator that an importer does not know; an error only if something needs it */
struct Unknown {
	static constexpr Traits traits{ .countsElements = true };
	Error why;
	/** \brief It is unknown only because the shape of an input is not known */
	bool follows = false;
	/** \brief Another operator does its work and does not read its result */
	bool isFolded = false;
};

using Kind = std::variant<Convolution, TransposedConvolution, FullyConnected, Elementwise, Pool,
			  Reshape, Pad, Concatenation, Slice, Unary, PRelu, Enlarge, Softmax,
			  Transpose, OverChannels, ChannelReduction, Unknown>;

/** \return whether \a kind is one of these kinds */
template<typename... Kinds>
bool isAny(const Kind &kind)
{
	return (std::holds_alternative<Kinds>(kind) || ...);
}

/**
 * \return whether the CPU computes it as a function of all channels; such steps take integers and
 * make real numbers, or the other way round, without a conversion
 */
bool isOverChannels(const Kind &kind);
/** \return the activation of an operator; nullptr of one that has none */
const Clamp *activationOf(const Kind &kind);
Clamp *activationOf(Kind &kind);
inline const Traits &traitsOf(const Kind &kind)
{
	return std::visit([](const auto &one) -> const Traits & { return one.traits; }, kind);
}
/** \return whether the second input of an operator are kernels */
inline bool hasKernels(const Kind &kind)
{
	return traitsOf(kind).hasKernels;
}

struct Operator {
	std::string name; /**< for people: that of the first output */
	std::string type; /**< the name that the model's format has for it */
	Kind kind;
	std::vector<ValueId> inputs;
	std::vector<ValueId> outputs;
	size_t index = 0; /**< among the operators of the file; one of these may become several */
};

/** \brief Operators are in an order in which they can be carried out */
struct Model {
	/** \brief A deque, so that references to values outlive the addition of others */
	std::deque<Value> values;
	std::vector<Operator> operators;
	std::vector<ValueId> inputs;
	std::vector<ValueId> outputs;
	/** \brief Order of the elements of each of them in the file; without: N, H, W, C */
	std::vector<ElementOrder> inputOrders;
	std::vector<ElementOrder> outputOrders;
	/** \brief The name of each of them in the file; none: that of its value */
	std::vector<std::string> inputNames;
	std::vector<std::string> outputNames;
	/** \brief The shape that each of them has in the file; none: that of its value */
	std::vector<Extents> inputShapes;
	std::vector<Extents> outputShapes;
	/** \brief Number of times that the file format's kernels round an 8-bit result */
	ScaleRounding roundingOf8Bits = ScaleRounding::Twice;

	/** \brief Indices of the operators that read a value */
	std::vector<size_t> readers(ValueId value) const;
	/** \brief The operator that writes a value; nullptr for inputs and constants */
	const Operator *writer(ValueId value) const;
	Operator *writer(ValueId value);
	bool isOutput(ValueId value) const;
	bool isInput(ValueId value) const;
	/** \brief Whether a single operator reads a value, which is no output of the model */
	bool isReadOnce(ValueId value) const
	{
		return readers(value).size() == 1 && !isOutput(value);
	}
	/** \brief Add a value, which changes no id */
	ValueId add(Value value);
	/** \brief Add a copy of a value in another shape, with \a what appended to its name */
	ValueId addLike(ValueId like, const std::string &what, Extents shape);
	/**
	 * \brief One operator as a model: its inputs, in their order and each once, are the model's
	 *
	 * Constants stay constants. Values are numbered anew.
	 */
	Model alone(const Operator &operation) const { return alone({ &operation, 1 }); }
	/** \brief The same of several, in their order; what none of them reads is an output */
	Model alone(std::span<const Operator> some) const;

	/**
	 * \brief Hold operators, and shapes, types and parameters of each, against each other
	 *
	 * One that breaks a rule becomes Unknown, so that the others can be looked at; so does one
	 * that reads what nothing before it writes, or a constant with other bytes than its shape
	 * needs. Neither is among its inputs then.
	 *
	 * \return InvalidFile if inputs do not exist, or a value is written twice or never
	 */
	Result<void> setAsideInvalid();
};

/** \return what windows make of a picture; no lines or columns if none fits */
Extents windowed(const Extents &picture, const op::Axes &kernel, const op::Axes &stride,
		 const op::Axes &dilation, const op::Padding &padding, uint32_t channels);

/** \return what is wrong with a constant that has other bytes than its shape needs */
std::optional<Error> bytesError(const Value &value);
/** \return the elements of a constant, without their quantization */
std::vector<double> rawNumbers(const Value &constant);
/** \return the elements of a constant of integers, exactly; none if it is of another type */
std::vector<int64_t> wholeNumbers(const Value &constant);
/** \return the real numbers that a constant stands for */
std::vector<double> realNumbers(const Value &constant);
/** \brief A constant with axes in another order: axis i of the result is axis order[i] */
Value permuted(const Value &value, const std::vector<uint32_t> &order);
/** \return a constant of float32; \a numbers are in the order of the shape */
Value floatConstant(const std::vector<double> &numbers, const Extents &shape);

} /* namespace nvdla::compiler */
