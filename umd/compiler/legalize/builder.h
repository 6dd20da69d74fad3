/* SPDX-License-Identifier: MIT */
/*
 * Builds a model's operators from the operators of a file, in any format.
 */
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <nvdla/error.h>

#include "base/io/printable.h"
#include "compiler/ir/model.h"
#include "compiler/rules.h"

namespace nvdla::compiler::legalize
{

/** \brief Maximum extent of an axis that an operator resizes */
inline constexpr int64_t mostOfAxis = 1 << 24;
/** \brief Maximum lines and columns of windows, of padding, and of results of windows */
inline constexpr uint32_t mostOfWindow = 1 << 16;

/** \brief Order of a value's axes: axis i of the value is the file's axis order[i] */
using AxisOrder = std::vector<uint32_t>;

/** \return the file's own order of \a rank axes */
AxisOrder asInFile(size_t rank);
/** \return the axes of \a order whose extent in \a shape is more than 1 */
AxisOrder severalOf(const Extents &shape, const AxisOrder &order);

/**
 * \brief A tensor of the file, and the value that holds its elements
 *
 * Values have their channels last, so their axes may be in another order than the file's. Constants
 * keep the file's order. A transposition only changes Tensor::order.
 */
struct Tensor {
	ValueId id = 0;
	Extents shape; /**< as the file has it */
	AxisOrder order;
	/**
	 * \brief If the last axis is flattened lines and columns: for each of its elements the
	 * index that it has in the file; empty if the indices are the same
	 */
	std::vector<uint32_t> places = {};
	/** \brief False if the shape is unknown; the tensor's readers are then unknown, too */
	bool isKnown = true;
	/** \brief Transpose that moves flattened elements to their indices in the file */
	Transpose unflattened = {};
};

/**
 * \return numbers of shape \a from, broadcast to shape \a to; none if the shapes do not allow that
 * or the result is too large
 */
std::vector<double> broadcast(const std::vector<double> &numbers, const Extents &from,
			      const Extents &to);
/** \return true if an unchecked shape has at most \a elements elements */
bool hasAtMost(const Extents &shape, uint64_t elements);
/** \return place of an axis in \a order */
uint32_t placeOf(const AxisOrder &order, uint32_t axis);
/** \return \a numbers[axis] for each of \a axes */
Extents sizesOf(const Extents &numbers, const AxisOrder &axes);
/** \return \a numbers, one for each axis of the file, in the order of the value's axes */
inline Extents inValueOrder(const Tensor &tensor, const Extents &numbers)
{
	return sizesOf(numbers, tensor.order);
}
/** \return a tensor like \a tensor, whose value has the shape \a shape */
Tensor withValueShape(Tensor tensor, const Extents &shape);
/** \return a tensor like \a tensor, with \a extent elements along an axis of the file */
Tensor withExtent(Tensor tensor, uint32_t axis, uint32_t extent);
/** \brief Bring the last axis of a constant into the order of a flattened tensor, Tensor::places */
void rearrange(Value &constant, const std::vector<uint32_t> &places);
/** \return the transpose that brings a value of shape \a shape into the axis order \a order */
Transpose turnedTo(const Tensor &tensor, const Extents &shape, const AxisOrder &order);

/** \brief Type and quantization of a result's elements */
struct ElementKind {
	ElementType type = ElementType::Float32;
	TensorQuantization quantization;

	bool operator==(const ElementKind &) const = default;
};

/** \brief Constants of an operator */
struct Weights {
	Value kernels;
	std::vector<Value> bias; /**< one, or none */
};

/** \brief A state of a model that is being built: values of its numbers before and after a run */
struct KeptValue {
	ValueId before = 0;
	ValueId after = 0;
	std::vector<float> first; /**< State::first */
};

/** \brief A model that is being built from a file */
struct Building {
	Model model;
	std::vector<KeptValue> states; /**< not yet among the model's inputs and outputs */
	uint64_t constantBytes = 0;    /**< of constants that are not in the file */
};

/**
 * \brief Appends the model's operators for an operator of a file
 *
 * The first rule that the operator breaks is thrown. Operators that were added before stay: the
 * caller removes them.
 */
class Builder : public Rules
{
public:
	/** \return an axis (or other index) below \a rank; a negative one counts from the end */
	uint32_t axis(int64_t axis, size_t rank, const std::string &field,
		      const char *what = "axis");
	/** \return usual order of values' axes: N, H, W, C of four; otherwise the file's */
	AxisOrder usualOrder(size_t rank) const;

	/** \return axes that a file names, each once */
	AxisOrder sortedAxes(const std::vector<int64_t> &axes, size_t rank);

	/** \brief The value of a tensor */
	const Value &value(const Tensor &tensor) const { return model().values[tensor.id]; }
	bool isConstant(const Tensor &tensor) const { return value(tensor).isConstant; }
	/** \brief Operator that writes a value; null for inputs and constants */
	Operator *writer(ValueId id) { return model().writer(id); }
	/** \brief State that a tensor is no constant */
	const Tensor &needComputed(const Tensor &tensor);

	/** \brief The tensor transposed to this order; axes of one element may end up anywhere */
	Tensor inOrder(const Tensor &tensor, const AxisOrder &order);
	/** \brief The tensor, its value's last axis being the file's axis \a axis */
	Tensor withAxisLast(const Tensor &tensor, uint32_t axis);
	/** \brief The tensor with its elements in the order of those of \a like */
	Tensor arranged(const Tensor &tensor, const Tensor &like);
	/** \brief The tensor with its elements in the file's order: the CPU moves flattened ones */
	Tensor plain(const Tensor &tensor);
	/** \brief A computed picture: N, H, W, C */
	Tensor picture(const Tensor &tensor);
	/** \brief A picture; a tensor of batch, channels and columns gets a single line */
	Tensor pictureOrLine(const Tensor &tensor);
	/** \brief Reverse pictureOrLine(): remove the line from \a picture if \a tensor has none */
	Tensor asLineLike(const Tensor &tensor, const Tensor &picture);
	/** \brief A tensor, computed or constant, in another shape */
	Tensor reshaped(const Tensor &tensor, const Extents &shape);

	/** \return the shape of two tensors broadcast to each other; \a other has no more axes */
	Extents together(const Extents &shape, const Extents &other) const;
	ValueId addConstant(Value value);
	/** \brief A tensor of a constant in the file's axis order */
	Tensor constantTensor(Value constant);
	/** \return kernels, and the bias if there is one */
	std::vector<ValueId> addWeights(Weights weights);
	/** \brief A constant of one real number, which can be broadcast to any shape */
	ValueId addNumber(double number) { return addConstant(floatConstant({ number }, { 1 })); }
	/**
	 * \brief Add a constant operand of a computed tensor, in the axis order of the tensor's
	 * value
	 *
	 * Trailing axes are aligned; each has one element or as many as the tensor's. All constants
	 * for axes, channels or elements of a tensor are added here, the one place that knows the
	 * order of its elements.
	 *
	 * \param[in] value as in the file
	 */
	ValueId addMeeting(const Tensor &tensor, Value value);

	/** \brief Make a value without a writer a state. The first run reads zeros, each later one
	 * the \a after of the run before */
	void keep(const Tensor &state, const Tensor &after);

	/** \brief Set type and quantization of the operator's results, if the file states them */
	void setResults(const ElementKind &elements) { results_ = elements; }
	/** \brief Whether results are real numbers; integers would round intermediate results */
	bool hasFloatResults() const { return !results_ || isFloat(results_->type); }
	void needFloatResults();
	/** \brief Floating point of the width of a tensor's elements */
	ElementKind real(const Tensor &tensor) const;
	/** \brief Type and quantization of a computed result: the file's, or else floating point */
	ElementKind computed(const Tensor &tensor) const
	{
		return results_ ? *results_ : real(tensor);
	}
	/** \brief Type and quantization of a result that only moves a tensor's elements */
	ElementKind same(const Tensor &tensor) const
	{
		return { value(tensor).type, value(tensor).quantization };
	}
	/** \brief The file's type and quantization, or else those of \a tensor */
	ElementKind joined(const Tensor &tensor) const
	{
		return results_ ? *results_ : same(tensor);
	}

	/** \brief Add an operator whose result has the shape of \a like */
	Tensor make(Kind kind, const std::vector<ValueId> &inputs, const ElementKind &elements,
		    const Tensor &like);
	/** \brief Add an operator that computes with input \a x and others */
	Tensor compute(Kind kind, const Tensor &x, const Tensor &like,
		       const std::vector<ValueId> &others = {});
	/** \brief compute() for an intermediate result; an error if the file states integers */
	Tensor prepare(Kind kind, const Tensor &x, const Tensor &like,
		       const std::vector<ValueId> &others = {});
	/** \brief Add an operator that moves elements of \a x */
	Tensor move(Kind kind, const Tensor &x, const Tensor &like)
	{
		return make(std::move(kind), { x.id }, same(x), like);
	}

	const std::string &type() const { return type_; }
	const std::string &name() const { return name_; }

protected:
	/**
	 * \param[in] what action for errors, such as "read ONNX model"
	 * \param[in] pictureOrder order of a value's axes for a picture of the file
	 */
	Builder(const char *what, Building &building, AxisOrder pictureOrder);
	/** \brief Type and name of the operator */
	void setOperator(const std::string &type, const std::string &name)
	{
		type_ = type;
		name_ = name;
		setPart(fmt::format("{} {}", type, inQuotes(name)));
	}
	/** \brief Whether the value was added for this operator */
	bool isNew(ValueId id) const { return id >= firstValue_; }
	/** \brief Writer of a value that was added for this operator; null for all other values */
	Operator *newWriter(ValueId id);
	/** \brief Replace a value that was added for this operator by an older one */
	void becomes(ValueId id, ValueId other);

	Model &model() { return building_.model; }
	const Model &model() const { return building_.model; }

private:
	/* The result of an operator on constants; nothing if it cannot be computed here. */
	std::optional<Value> folded(const Operator &operation, const ElementKind &elements,
				    const Extents &shape) const;
	Tensor addValue(const std::string &name, Kind kind, const std::vector<ValueId> &inputs,
			const ElementKind &elements, const Tensor &like);

	Building &building_;
	AxisOrder pictureOrder_;
	std::string type_;
	std::string name_;
	std::optional<ElementKind> results_;
	size_t firstValue_;
	size_t firstOperator_;
};

} /* namespace nvdla::compiler::legalize */
