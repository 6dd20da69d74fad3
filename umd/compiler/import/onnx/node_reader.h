/* SPDX-License-Identifier: MIT */
/*
 * One operator of an ONNX file, with checks of what it names.
 */
#pragma once

#include <map>
#include <string>

#include "compiler/import/import.h"
#include "compiler/import/parts.h"
#include "compiler/import/rules.h"
#include "onnx.pb.h"

namespace nvdla::compiler::onnx
{

namespace pb = nvdla::onnx;

/** \brief What did not succeed, in errors */
inline constexpr const char *reading = "read ONNX model";

/** \brief Elements that an axis may have in what changes its extent */
inline constexpr int64_t mostOfAxis = 1 << 24;
/** \brief Lines and columns of windows, of what is around them, and of what they make */
inline constexpr uint32_t mostOfWindow = 1 << 16;

/** \brief Axes of a value in terms of the file's: axis i of the value is the file's order[i] */
using AxisOrder = std::vector<uint32_t>;

/** \return N, H, W, C of N, C, H, W; of another number of axes: as they are */
AxisOrder channelsLast(size_t rank);
/** \return axes as they are */
AxisOrder asInFile(size_t rank);
/** \return the axes of \a shape that have more than one element, as \a order has them */
AxisOrder severalOf(const Extents &shape, const AxisOrder &order);

/**
 * \brief A tensor of the file: the value that holds it
 *
 * Values have their channels last, so their axes are in another order than the file's. Constants
 * are as in the file. Of a Transpose nothing is left but another order.
 */
struct FileTensor {
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
	/** \brief What brings flattened elements to their places */
	Transpose unflattened = {};
};

/** \brief A file that is being read */
struct Import {
	Model model;
	std::map<std::string, FileTensor> tensors;
	int64_t version = 0; /**< of the operators */
	uint64_t constantBytes = 0;
};

/** \return numbers for each axis of the file, as the value has its axes */
Extents inValueOrder(const FileTensor &tensor, const Extents &numbers);

/** \return what moves the elements of a value of that \a shape, so that its axes are in \a order */
Transpose turnedTo(const FileTensor &tensor, const Extents &shape, const AxisOrder &order);

/** \brief What the elements of a result are */
struct ElementKind {
	ElementType type = ElementType::Float32;
	TensorQuantization quantization;

	bool operator==(const ElementKind &) const = default;
};

/** \brief Reads an operator and appends what it becomes to a model */
class NodeReader : public Rules
{
public:
	NodeReader(Import &import, const pb::Node &node);

	/** \brief Version of the standard's operators */
	int64_t version() const { return import_.version; }
	/** \brief Whether two tensors of different shapes go together as attributes say */
	bool isBeforeBroadcasting() const { return version() > 0 && version() < 7; }

	/** \brief Attributes; \a usual if there is none of that name */
	int64_t integer(const std::string &name, int64_t usual) const;
	double number(const std::string &name, double usual) const;
	std::string text(const std::string &name, const std::string &usual) const;
	std::vector<int64_t> integers(const std::string &name) const;
	const pb::Attribute *attribute(const std::string &name) const;

	size_t inputs() const { return static_cast<size_t>(node_.input_size()); }
	size_t outputs() const { return static_cast<size_t>(node_.output_size()); }
	bool hasInput(size_t index) const;
	bool hasOutput(size_t index) const
	{
		return index < outputs() && !node_.output(static_cast<int>(index)).empty();
	}
	/** \brief A tensor; an empty one after an error */
	FileTensor input(size_t index);
	/** \brief Input 0, which has to be no constant */
	FileTensor computedInput();
	/** \brief The value of an input; an empty one after an error */
	const Value &value(const FileTensor &tensor) const;
	const Value &value(size_t index) { return value(input(index)); }
	bool isConstant(size_t index) { return value(index).isConstant; }
	/** \brief An input that has to be a constant, its axes as in the file */
	const Value &constant(size_t index);
	/** \brief The whole numbers of a constant input; none if it is not given */
	std::vector<int64_t> wholeNumbers(size_t index);
	/** \brief The one number of a constant input; \a usual if it is not given */
	double scalar(size_t index, double usual);
	/** \brief Whole numbers of an input, or of an attribute as older versions have them */
	std::vector<int64_t> list(size_t index, const std::string &name);

	/** \brief A tensor whose axes are in this order; axes of one element may be moved */
	FileTensor inOrder(const FileTensor &tensor, const AxisOrder &order);
	/** \brief A tensor whose elements lie as those of \a like do */
	FileTensor arranged(const FileTensor &tensor, const FileTensor &like)
	{
		const bool alike = !like.places.empty() && tensor.places == like.places;
		return alike ? tensor : inOrder(tensor, like.order);
	}
	/** \brief A tensor whose elements are at their own places: the CPU moves flattened ones */
	FileTensor plain(const FileTensor &tensor);
	FileTensor plainInput(size_t index) { return plain(input(index)); }
	/** \brief A picture: N, H, W, C */
	FileTensor picture(size_t index);
	/** \brief A picture; what has batch, channels and columns is one of a single line */
	FileTensor pictureOrLine(size_t index);
	/** \brief Whether input 0 has batch, channels and columns, but no lines */
	bool isLine() { return input(0).shape.size() == 3; }

	ValueId addConstant(Value value);
	/** \brief One real number, which meets any tensor */
	ValueId addNumber(double number) { return addConstant(floatConstant({ number }, { 1 })); }
	/**
	 * \brief Add a constant that meets a computed tensor, its axes as the tensor's value has
	 * them
	 *
	 * As the standard broadcasts: trailing axes go together, and have one element or as many as
	 * the other one. All constants for axes, channels or elements of a tensor come here, as
	 * only this knows where its elements are.
	 *
	 * \param[in] value as in the file
	 */
	ValueId addMeeting(const FileTensor &tensor, Value value);
	/** \brief The same of one number for each element of an axis of the file */
	ValueId addAlong(const FileTensor &tensor, uint32_t axis,
			 const std::vector<double> &numbers);
	/** \brief Say what the integers of a tensor stand for; it cannot be something else already
	 */
	void quantize(const FileTensor &tensor, const TensorQuantization &quantization);
	/** \brief What the result of computing with a tensor is: float, of the same width */
	ElementKind computed(const FileTensor &tensor) const;
	/** \brief What the result of moving elements of a tensor is */
	ElementKind same(const FileTensor &tensor) const;

	/** \brief Add an operator that writes output \a output, whose \a shape is the file's */
	void add(Kind kind, std::vector<ValueId> inputs, const ElementKind &elements,
		 const Extents &shape, const AxisOrder &order, size_t output = 0);
	/** \brief An operator whose result has the shape of \a like */
	void add(Kind kind, std::vector<ValueId> inputs, const ElementKind &elements,
		 const FileTensor &like);
	/** \brief The same, to be read further on; after an error an empty one */
	FileTensor addBetween(Kind kind, std::vector<ValueId> inputs, const ElementKind &elements,
			      const FileTensor &like);
	/** \brief Say that the first output is a tensor that there is already */
	void alias(const FileTensor &tensor, size_t output = 0);
	/** \brief Say that the first output is a constant */
	void become(Value constant);

	const std::string &name() const { return name_; }
	/** \brief Whether the first error is that the shape of an input is not known */
	bool follows() const { return follows_; }

private:
	FileTensor addValue(const std::string &name, Kind kind, std::vector<ValueId> inputs,
			    const ElementKind &elements, const Extents &shape,
			    const AxisOrder &order);

	Import &import_;
	const pb::Node &node_;
	std::string name_;
	bool follows_ = false;
	Value none_;
};

/** \brief Elements of a constant; the file's size bounds all but those of ConstantOfShape */
inline constexpr uint64_t maxConstant = uint64_t{ 1 } << 28;

/** \brief The elements of a constant of the file */
Result<Value> readConstant(const pb::Tensor &tensor);
/** \return a constant of whole numbers along one axis */
Value wholeConstant(const std::vector<int64_t> &numbers);

/** \brief Carry out an operator all of whose inputs are constants; false: not known */
bool foldConstants(NodeReader &reader, const std::string &type);

/** \brief How an operator is read */
using ReadNode = void (*)(NodeReader &reader);

/** \brief How the operators of a family are read, by their names in the standard */
using NodeTable = std::map<std::string, ReadNode>;

extern const NodeTable channelNodes;
extern const NodeTable convolutionNodes;
extern const NodeTable elementNodes;
extern const NodeTable extentNodes;
extern const NodeTable layoutNodes;
extern const NodeTable normalizationNodes;
extern const NodeTable poolingNodes;
extern const NodeTable quantizedNodes;
extern const NodeTable reductionNodes;
extern const NodeTable resizeNodes;
extern const NodeTable selectNodes;
extern const NodeTable transposedNodes;

/* What families share. */

/** \brief An operator that makes a picture of input 0; it has no lines if that has none */
void addPicture(NodeReader &reader, Kind kind, std::vector<ValueId> inputs,
		const ElementKind &elements, const Extents &shape, const AxisOrder &order);
/** \brief Stride, dilation and padding, and what an output's height and width become */
struct Windows {
	op::Axes kernel;
	op::Axes stride;
	op::Axes dilation;
	op::Padding padding;
};
Windows windows(NodeReader &reader, const FileTensor &picture, op::Axes kernel);
/** \return constant kernels with lines; those of one axis have one */
Value kernelsOf(NodeReader &reader, size_t index);
/** \return the file's shape of what \a windows make of \a picture, with \a channels */
Extents windowed(NodeReader &reader, const FileTensor &picture, const Windows &windows,
		 uint32_t channels);

/** \brief A constant input, if it is given: as addConvolution() and addProduct() want a bias */
std::vector<Value> biasOf(NodeReader &reader, size_t index);
/** \brief A convolution; weights K x C x R x S; \a bias is empty if there is none */
void addConvolution(NodeReader &reader, const FileTensor &picture, const Value &weights,
		    const std::vector<Value> &bias, const ElementKind &elements);
/** \brief A product that is not in the model yet */
struct Product {
	std::vector<ValueId> inputs; /**< of a FullyConnected */
	FileTensor like;	     /**< its result */
};
/** \return a product with constant weights C x K, or K x C if \a transposed */
Product productOf(NodeReader &reader, const FileTensor &rows, const Value &weights, bool transposed,
		  const std::vector<Value> &bias);
/** \brief Add a product */
void addProduct(NodeReader &reader, const FileTensor &rows, const Value &weights, bool transposed,
		const std::vector<Value> &bias, const ElementKind &elements);
/** \brief A function of two tensors, one of which may be constant */
void addElementwise(NodeReader &reader, Elementwise::Function function, FileTensor a, FileTensor b,
		    const ElementKind &elements);
void addPool(NodeReader &reader, Pool::Method method, const FileTensor &picture,
	     const ElementKind &elements);
void addGlobalAverage(NodeReader &reader, const FileTensor &picture, const ElementKind &elements);
void addConcatenation(NodeReader &reader, const std::vector<FileTensor> &tensors,
		      const ElementKind &elements);
void addReshape(NodeReader &reader, const FileTensor &tensor, const Extents &shape);
/** \return a tensor, computed or constant, in another shape, to be read further on */
FileTensor reshaped(NodeReader &reader, const FileTensor &tensor, const Extents &shape);

/** \brief A tensor each of whose axes is parts of it, one behind the other; none: as it is */
void addParts(NodeReader &reader, FileTensor tensor, const std::vector<std::vector<Part>> &axes);

/** \return the quantization of scale and zero point, two constant inputs; the second may lack */
TensorQuantization quantizationOf(NodeReader &reader, size_t scale, size_t zeroPoint);

/** \brief A tensor whose last axis is all that some axes of another one have */
struct Rows {
	FileTensor turned;  /**< the other one, with these axes behind the others */
	FileTensor rows;    /**< the same elements */
	FileTensor reduced; /**< like rows, with one element of each */
	FileTensor kept;    /**< that with all axes: those of the rows have one element */
};
/** \param[in] axes in the file's order, in which several are seen as one */
Rows rowsOf(NodeReader &reader, const FileTensor &tensor, const AxisOrder &axes);
/** \brief Input 0, with an axis of the file's as its last one */
FileTensor withAxisLast(NodeReader &reader, uint32_t axis);
/** \brief A function that makes one element of an axis; it falls away if it is not kept */
void addReduced(NodeReader &reader, Kind kind, const FileTensor &x, uint32_t axis,
		const ElementKind &elements);

} /* namespace nvdla::compiler::onnx */
