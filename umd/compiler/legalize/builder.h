/* SPDX-License-Identifier: MIT */
/*
 * Builds a model's operators from those of a file, in any format.
 */
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <nvdla/error.h>

#include "compiler/ir/model.h"
#include "compiler/rules.h"

namespace nvdla::compiler::legalize
{

/** \brief Elements that an axis may have in what changes its extent */
inline constexpr int64_t mostOfAxis = 1 << 24;
/** \brief Lines and columns of windows, of what is around them, and of what they make */
inline constexpr uint32_t mostOfWindow = 1 << 16;

/** \brief Axes of a value in terms of the file's: axis i of the value is the file's order[i] */
using AxisOrder = std::vector<uint32_t>;

/** \return axes as they are */
AxisOrder asInFile(size_t rank);
/** \return those axes of \a order that have more than one element in \a shape */
AxisOrder severalOf(const Extents &shape, const AxisOrder &order);

/**
 * \brief A tensor of the file: the value that holds it
 *
 * Values have their channels last, so their axes may be in another order than the file's.
 * Constants are as in the file. Of a transposition nothing is left but another order.
 */
struct Tensor {
	ValueId id = 0;
	Extents shape; /**< as the file has it */
	AxisOrder order;
	/**
	 * \brief Flattened lines and columns, the last axis: the file's place of each element;
	 * none: their own
	 */
	std::vector<uint32_t> places = {};
	/** \brief False of results whose shape nobody knows: what reads them is not known, either
	 */
	bool isKnown = true;
	/** \brief Transpose that brings flattened elements to their places */
	Transpose unflattened = {};
};

/**
 * \return numbers of shape \a from, repeated along axes of one element to shape \a to; none if that
 * is impossible, or the result too large
 */
std::vector<double> broadcast(const std::vector<double> &numbers, const Extents &from,
			      const Extents &to);
/** \return whether a shape, of which a file may say anything, has no more elements than that */
bool hasAtMost(const Extents &shape, uint64_t elements);
/** \return numbers for each axis of the file, as the value has its axes */
Extents inValueOrder(const Tensor &tensor, const Extents &numbers);
/** \return a tensor like another one, whose value has that \a shape */
Tensor withValueShape(Tensor tensor, const Extents &shape);
/** \return a tensor like another one, with \a extent elements along an axis of the file */
Tensor withExtent(Tensor tensor, uint32_t axis, uint32_t extent);
/** \return what moves the elements of a value of that \a shape, so that its axes are in \a order */
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

/** \brief A model that is made of a file */
struct Building {
	Model model;
	uint64_t constantBytes = 0; /**< of those that were added to the file's */
};

/**
 * \brief Appends what an operator of a file becomes to a model
 *
 * The first rule that it breaks is kept. After it nothing more is added; tensors and values are
 * meaningless, but harmless.
 */
class Builder : public Rules
{
public:
	/** \brief \a axis counted from the front, held against \a rank; 0 after an error */
	uint32_t axis(int64_t axis, size_t rank, const std::string &field);
	/** \return how values have the file's axes: N, H, W, C of four, others as they are */
	AxisOrder usualOrder(size_t rank) const;

	/** \return axes that a file names, each once */
	AxisOrder sortedAxes(const std::vector<int64_t> &axes, size_t rank);

	/** \brief The value of a tensor; an empty one after an error */
	const Value &value(const Tensor &tensor) const;
	bool isConstant(const Tensor &tensor) const { return value(tensor).isConstant; }
	/** \brief What makes a value; null of inputs and constants */
	Operator *writer(ValueId id) { return model().writer(id); }
	/** \brief State that a tensor is no constant */
	const Tensor &needComputed(const Tensor &tensor);

	/** \brief A tensor whose axes are in this order; axes of one element may be moved */
	Tensor inOrder(const Tensor &tensor, const AxisOrder &order);
	/** \brief A tensor with an axis of the file's as its last one */
	Tensor withAxisLast(const Tensor &tensor, uint32_t axis);
	/** \brief A tensor whose elements lie as those of \a like do */
	Tensor arranged(const Tensor &tensor, const Tensor &like);
	/** \brief A tensor whose elements are at their own places: the CPU moves flattened ones */
	Tensor plain(const Tensor &tensor);
	/** \brief A computed picture: N, H, W, C */
	Tensor picture(const Tensor &tensor);
	/** \brief A picture; what has batch, channels and columns is one of a single line */
	Tensor pictureOrLine(const Tensor &tensor);
	/** \brief pictureOrLine() undone: without lines, if \a tensor has none */
	Tensor asLineLike(const Tensor &tensor, const Tensor &picture);
	/** \brief A tensor, computed or constant, in another shape */
	Tensor reshaped(const Tensor &tensor, const Extents &shape);

	ValueId addConstant(Value value);
	/** \brief The same, its axes as in the file */
	Tensor constantTensor(Value constant);
	/** \return kernels, and the bias if there is one */
	std::vector<ValueId> addWeights(Weights weights);
	/** \brief One real number, which combines with a tensor of any shape */
	ValueId addNumber(double number) { return addConstant(floatConstant({ number }, { 1 })); }
	/**
	 * \brief Add a constant that meets a computed tensor, its axes as the tensor's value has
	 * them
	 *
	 * Trailing axes go together, and have one element or as many as the other one. All
	 * constants for axes, channels or elements of a tensor come here, as only this knows where
	 * its elements are.
	 *
	 * \param[in] value as in the file
	 */
	ValueId addMeeting(const Tensor &tensor, Value value);
	/** \brief The same of one number for each element of an axis of the file */
	ValueId addAlong(const Tensor &tensor, uint32_t axis, const std::vector<double> &numbers);

	/** \brief Set the elements of the operator's results, if the file states them */
	void setResults(const ElementKind &elements) { results_ = elements; }
	/** \brief Whether results are real numbers: integers have no room for intermediate ones
	 */
	bool hasFloatResults() const { return !results_ || isFloat(results_->type); }
	void needFloatResults();
	/** \brief Float, of a tensor's width */
	ElementKind real(const Tensor &tensor) const;
	/** \brief Elements of a computed result: float, or as the file states */
	ElementKind computed(const Tensor &tensor) const
	{
		return results_ ? *results_ : real(tensor);
	}
	/** \brief Elements of a result that moves those of a tensor */
	ElementKind same(const Tensor &tensor) const;
	/** \brief The same, unless the file says something else */
	ElementKind joined(const Tensor &tensor) const
	{
		return results_ ? *results_ : same(tensor);
	}

	/** \brief Add an operator whose result has the shape of \a like */
	Tensor make(Kind kind, const std::vector<ValueId> &inputs, const ElementKind &elements,
		    const Tensor &like);
	/** \brief Add one that computes with \a x, of input x and others */
	Tensor compute(Kind kind, const Tensor &x, const Tensor &like,
		       const std::vector<ValueId> &others = {});
	/** \brief The same for an intermediate result; an error if the file states integers */
	Tensor prepare(Kind kind, const Tensor &x, const Tensor &like,
		       const std::vector<ValueId> &others = {});
	/** \brief Add one that moves elements of \a x */
	Tensor move(Kind kind, const Tensor &x, const Tensor &like)
	{
		return make(std::move(kind), { x.id }, same(x), like);
	}

	const std::string &type() const { return type_; }
	const std::string &name() const { return name_; }

protected:
	/**
	 * \param[in] what is done: read a model, of which format
	 * \param[in] pictureOrder how values have the four axes of a picture in the file
	 */
	Builder(const char *what, Building &building, AxisOrder pictureOrder);
	/** \brief Type and name of the operator */
	void setOperator(const std::string &type, const std::string &name)
	{
		type_ = type;
		name_ = name;
		setPart(fmt::format("{} '{}'", type, name));
	}
	/** \brief Whether this operator made a value */
	bool isNew(ValueId id) const { return id >= firstValue_; }
	/** \brief Writer of a value that this operator made; null for constants and other values */
	Operator *newWriter(ValueId id);
	/** \brief Replace a value that this operator made by another one, which exists already */
	void becomes(ValueId id, ValueId other);

	Model &model() { return building_.model; }
	const Model &model() const { return building_.model; }

private:
	/* The result of an operator on constants; nothing if that is not to be had here. */
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
	Value none_;
};

} /* namespace nvdla::compiler::legalize */
