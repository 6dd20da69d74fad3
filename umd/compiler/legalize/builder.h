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

/** \brief Maximum extent of an axis that an operator resizes, and maximum padding of an axis */
inline constexpr int64_t mostOfAxis = 1 << 24;
/** \brief Maximum lines and columns of windows, of their padding and of their results */
inline constexpr uint32_t mostOfWindow = 1 << 16;

/** \brief Order of a value's axes: axis i of the value is the file's axis order[i] */
using AxisOrder = std::vector<uint32_t>;

/** \return the order 0, 1, ... of \a rank axes: the value has the file's order */
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
	Extents shape; /**< in the file's order of axes */
	AxisOrder order;
	/**
	 * \brief For each element of the last axis, its index in the file. Flattened pictures need
	 * this, because their values have the channels last; empty: the indices are the same
	 */
	std::vector<uint32_t> places = {};
	/** \brief False if the shape is unknown; the tensor's readers are then unknown, too */
	bool isKnown = true;
	/** \brief With places: Transpose that moves the elements to their indices in the file */
	Transpose unflattened = {};
};

/**
 * \return numbers of shape \a from, broadcast to shape \a to; none if the shapes do not allow that
 * or one of them has more than 2^26 elements
 */
std::vector<double> broadcast(const std::vector<double> &numbers, const Extents &from,
			      const Extents &to);
/** \return true if a shape, whose product may overflow, has at most \a elements elements */
bool hasAtMost(const Extents &shape, uint64_t elements);
/** \return index of \a axis in \a order */
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
/** \return a tensor like \a tensor, with \a extent elements along the file's axis \a axis */
Tensor withExtent(Tensor tensor, uint32_t axis, uint32_t extent);
/** \brief Bring the last axis of a constant into the order of a tensor with these Tensor::places */
void rearrange(Value &constant, const std::vector<uint32_t> &places);
/** \return the transpose of a value of shape \a shape from the order of \a tensor to \a order */
Transpose turnedTo(const Tensor &tensor, const Extents &shape, const AxisOrder &order);

/** \brief Type and quantization of a result's elements */
struct ElementKind {
	ElementType type = ElementType::Float32;
	TensorQuantization quantization;

	bool operator==(const ElementKind &) const = default;
};

/** \brief Constant kernels and bias of an operator */
struct Weights {
	Value kernels;
	std::vector<Value> bias; /**< one value, or none */
};

/** \brief A state of a model that is being built: numbers that are kept from run to run */
struct KeptValue {
	ValueId before = 0;	  /**< value that a run reads */
	ValueId after = 0;	  /**< value that a run leaves for the next one */
	std::vector<float> first; /**< numbers that the first run reads */
};

/** \brief A model that is being built from a file */
struct Building {
	Model model;
	std::vector<KeptValue> states; /**< states that are not yet among the model's own */
	uint64_t constantBytes = 0;    /**< total size of the constants that addConstant() added */
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
	/** \return an axis (or other index) below \a rank; a negative number counts from the end */
	uint32_t axis(int64_t axis, size_t rank, const std::string &field,
		      const char *what = "axis");
	/** \return usual order of a value's axes: N, H, W, C if rank is 4; otherwise the file's */
	AxisOrder usualOrder(size_t rank) const;

	/** \return the axes that a file names, in ascending order and without repetitions */
	AxisOrder sortedAxes(const std::vector<int64_t> &axes, size_t rank);

	const Value &value(const Tensor &tensor) const { return model().values[tensor.id]; }
	bool isConstant(const Tensor &tensor) const { return value(tensor).isConstant; }
	/** \brief Operator that writes a value; null for inputs and constants */
	Operator *writer(ValueId id) { return model().writer(id); }
	/** \brief Check that a tensor is no constant \return \a tensor */
	const Tensor &needComputed(const Tensor &tensor);

	/** \brief The tensor with its axes in \a order; moving axes of one element costs nothing */
	Tensor inOrder(const Tensor &tensor, const AxisOrder &order);
	/** \brief The tensor, transposed so that the file's axis \a axis is its value's last one */
	Tensor withAxisLast(const Tensor &tensor, uint32_t axis);
	/** \brief The tensor in the order of \a like (Tensor::order); plain() unless their places
	 * (Tensor::places) are equal */
	Tensor arranged(const Tensor &tensor, const Tensor &like);
	/** \brief The tensor without Tensor::places: the CPU moves flattened pictures' elements */
	Tensor plain(const Tensor &tensor);
	/** \brief Check that a tensor is a computed picture, and bring its value into N, H, W, C */
	Tensor picture(const Tensor &tensor);
	/** \brief As picture(), but a tensor of batch, channels and columns gets a single line */
	Tensor pictureOrLine(const Tensor &tensor);
	/** \brief Reverse pictureOrLine(): remove the line from \a picture if \a tensor has none */
	Tensor asLineLike(const Tensor &tensor, const Tensor &picture);
	/** \brief A tensor, computed or constant, in another shape */
	Tensor reshaped(const Tensor &tensor, const Extents &shape);

	/** \return the shape of two broadcast tensors; \a other has no more axes than \a shape */
	Extents together(const Extents &shape, const Extents &other) const;
	ValueId addConstant(Value value);
	/** \brief A tensor of a constant in the file's axis order */
	Tensor constantTensor(Value constant);
	/** \return ids of the kernels and, if there is one, of the bias */
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

	/** \brief Make a value without a writer a state: the first run reads zeros there, each
	 * later run reads \a after as the previous run computed it */
	void keep(const Tensor &state, const Tensor &after);

	/** \brief Set the type and quantization that the file states for the operator's results */
	void setResults(const ElementKind &elements) { results_ = elements; }
	/** \brief Whether results are real numbers; integers would round intermediate results */
	bool hasFloatResults() const { return !results_ || isFloat(results_->type); }
	void needFloatResults();
	/** \brief Type of results computed from a tensor: its type, but float32 for integers */
	ElementKind real(const Tensor &tensor) const;
	/** \brief Type and quantization of a computed result: setResults(), or else real() */
	ElementKind computed(const Tensor &tensor) const
	{
		return results_ ? *results_ : real(tensor);
	}
	/** \brief Type and quantization of a result that only moves a tensor's elements */
	ElementKind same(const Tensor &tensor) const
	{
		return { value(tensor).type, value(tensor).quantization };
	}
	/** \brief Type and quantization that setResults() has set, or else those of \a tensor */
	ElementKind joined(const Tensor &tensor) const
	{
		return results_ ? *results_ : same(tensor);
	}

	/** \brief Add an operator whose result has the shape of \a like */
	Tensor make(Kind kind, const std::vector<ValueId> &inputs, const ElementKind &elements,
		    const Tensor &like);
	/** \brief Add an operator whose first input is \a x, with results of the kind computed() */
	Tensor compute(Kind kind, const Tensor &x, const Tensor &like,
		       const std::vector<ValueId> &others = {});
	/** \brief compute() for an intermediate result: refuses integers, which would round it */
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
	void setOperator(const std::string &type, const std::string &name)
	{
		type_ = type;
		name_ = name;
		setPart(fmt::format("{} {}", type, inQuotes(name)));
	}
	/** \brief Whether a value was added after this builder was made */
	bool isNew(ValueId id) const { return id >= firstValue_; }
	/** \brief Operator of this builder that writes a value; null if an older one does */
	Operator *newWriter(ValueId id);
	/** \brief Replace the value \a id, which this builder added, by the older value \a other */
	void becomes(ValueId id, ValueId other);

	Model &model() { return building_.model; }
	const Model &model() const { return building_.model; }

private:
	/* The result of an operator on constants; nothing if the compiler cannot compute it. */
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
