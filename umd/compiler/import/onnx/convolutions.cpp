/* SPDX-License-Identifier: MIT */
/*
 * Convolutions and matrix products.
 */
#include <algorithm>
#include <cmath>

#include <fmt/core.h>

#include "node_reader.h"

namespace nvdla::compiler::onnx
{

namespace
{

/* Two numbers of an attribute: of lines, of columns. */
op::Axes axesOf(NodeReader &reader, const std::string &name)
{
	std::vector<int64_t> numbers = reader.integers(name);

	if (numbers.empty())
		return { 1, 1 };
	if (numbers.size() == 1 && reader.isLine())
		numbers.insert(numbers.begin(), 1);
	for (const int64_t number : numbers)
		reader.need(number >= 1 && number <= mostOfWindow, name,
			    fmt::format("{} is not possible", number));
	reader.need(numbers.size() == 2, name,
		    fmt::format("has {} numbers for two axes", numbers.size()));
	if (reader.failed())
		return { 1, 1 };
	return { static_cast<uint32_t>(numbers[1]), static_cast<uint32_t>(numbers[0]) };
}

op::Padding paddingOf(NodeReader &reader, const FileTensor &picture, const Windows &windows)
{
	const std::string kind = reader.text("auto_pad", "NOTSET");
	std::vector<int64_t> pads = reader.integers("pads");

	if (pads.size() == 2 && reader.isLine())
		pads = { 0, pads[0], 0, pads[1] };
	if (kind == "VALID" || reader.failed())
		return {};
	if (kind == "SAME_UPPER" || kind == "SAME_LOWER") {
		Sides y = samePadding(picture.shape[2], windows.kernel.y, windows.stride.y,
				      windows.dilation.y);
		Sides x = samePadding(picture.shape[3], windows.kernel.x, windows.stride.x,
				      windows.dilation.x);
		if (kind == "SAME_LOWER") {
			std::swap(y.before, y.after);
			std::swap(x.before, x.after);
		}
		return { x.before, x.after, y.before, y.after };
	}
	if (pads.empty())
		return {};
	for (const int64_t pad : pads)
		reader.support(pad >= 0 && pad <= mostOfWindow, "pads",
			       fmt::format("{} is not possible", pad));
	reader.need(pads.size() == 4, "pads", fmt::format("are {} numbers", pads.size()));
	if (reader.failed())
		return {};
	return { static_cast<uint32_t>(pads[1]), static_cast<uint32_t>(pads[3]),
		 static_cast<uint32_t>(pads[0]), static_cast<uint32_t>(pads[2]) };
}

void readConv(NodeReader &reader)
{
	const FileTensor x = reader.pictureOrLine(0);
	const Value weights = kernelsOf(reader, 1);

	addConvolution(reader, x, weights, biasOf(reader, 2), reader.computed(x));
}

/* Numbers times a factor; the bias of Gemm has one. */
Value scaled(const Value &value, double factor)
{
	std::vector<double> numbers = realNumbers(value);

	for (double &number : numbers)
		number *= factor;
	return floatConstant(numbers, value.shape);
}

/* Whether C is one number for each column of the product. */
bool isBias(const Value &c, uint32_t columns)
{
	const uint64_t count = elementCount(c.shape);

	return c.isConstant && (count == 1 || (count == columns && c.shape.back() == columns));
}

/* Any other C, computed or constant, is added to the product. */
void addSum(NodeReader &reader, const Product &product, double beta, const ElementKind &elements)
{
	const FileTensor made =
		reader.addBetween(FullyConnected{}, product.inputs, elements, product.like);
	FileTensor c = reader.input(2);

	if (reader.failed())
		return;
	if (beta != 1 && reader.value(c).isConstant)
		c.id = reader.addConstant(scaled(reader.value(c), beta));
	else if (beta != 1)
		c = reader.addBetween(Elementwise{ Elementwise::Function::Multiply, {} },
				      { c.id, reader.addNumber(beta) }, reader.computed(c), c);
	addElementwise(reader, Elementwise::Function::Add, made, c, elements);
}

void readGemm(NodeReader &reader)
{
	const FileTensor x = reader.input(0);
	Value weights = reader.constant(1);
	const double alpha = reader.number("alpha", 1), beta = reader.number("beta", 1);
	const bool transposed = reader.integer("transB", 0) != 0;

	reader.support(reader.integer("transA", 0) == 0, "transA", "is not 0");
	if (reader.failed())
		return;
	if (alpha != 1) {
		reader.support(isFloat(weights.type), "alpha", "is not 1, of integers");
		weights = scaled(weights, alpha);
	}
	const bool hasC = reader.hasInput(2) && beta != 0;
	const uint32_t columns = weights.shape.size() == 2 ? weights.shape[transposed ? 0 : 1] : 0;
	if (hasC && !isBias(reader.value(2), columns)) {
		const Product product = productOf(reader, x, weights, transposed, {});
		if (!reader.failed())
			addSum(reader, product, beta, reader.computed(x));
		return;
	}
	std::vector<Value> bias = hasC ? biasOf(reader, 2) : std::vector<Value>{};
	if (!bias.empty() && beta != 1)
		bias.front() = scaled(bias.front(), beta);
	addProduct(reader, x, weights, transposed, bias, reader.computed(x));
}

void readMatMul(NodeReader &reader)
{
	const FileTensor x = reader.input(0);

	addProduct(reader, x, reader.constant(1), false, {}, reader.computed(x));
}

/* (x - mean) * scale / sqrt(variance + epsilon) + shift, as a product and a sum. */
void readBatchNormalization(NodeReader &reader)
{
	const FileTensor x = reader.input(0);
	const std::vector<double> scale = realNumbers(reader.constant(1));
	const std::vector<double> shift = realNumbers(reader.constant(2));
	const std::vector<double> mean = realNumbers(reader.constant(3));
	const std::vector<double> variance = realNumbers(reader.constant(4));
	const double epsilon = reader.number("epsilon", 1e-5);
	const size_t channels = x.shape.size() > 1 ? x.shape[1] : 0;
	std::vector<double> factors, sums;

	if (reader.failed() ||
	    !reader.need(scale.size() == channels && shift.size() == channels &&
				 mean.size() == channels && variance.size() == channels,
			 "scale", fmt::format("and others have not {} numbers", channels)))
		return;
	for (size_t c = 0; c < channels; c++) {
		const double factor = scale[c] / std::sqrt(variance[c] + epsilon);
		factors.push_back(factor);
		sums.push_back(shift[c] - mean[c] * factor);
	}
	const ElementKind elements = reader.computed(x);
	const FileTensor product =
		reader.addBetween(Elementwise{ Elementwise::Function::Multiply, {} },
				  { x.id, reader.addAlong(x, 1, factors) }, elements, x);
	reader.add(Elementwise{ Elementwise::Function::Add, {} },
		   { product.id, reader.addAlong(x, 1, sums) }, elements, x);
}

} /* namespace */

void addPicture(NodeReader &reader, Kind kind, std::vector<ValueId> inputs,
		const ElementKind &elements, const Extents &shape, const AxisOrder &order)
{
	if (!reader.isLine()) {
		reader.add(std::move(kind), std::move(inputs), elements, shape, order);
		return;
	}
	const FileTensor picture = reader.addBetween(std::move(kind), std::move(inputs), elements,
						     { 0, shape, order, {} });
	if (!reader.failed())
		addReshape(reader, picture, { shape[0], shape[1], shape[3] });
}

Value kernelsOf(NodeReader &reader, size_t index)
{
	Value kernels = reader.constant(index);

	if (kernels.shape.size() == 3 && reader.isLine())
		kernels.shape.insert(kernels.shape.begin() + 2, 1);
	return kernels;
}

std::vector<Value> biasOf(NodeReader &reader, size_t index)
{
	return reader.hasInput(index) ? std::vector<Value>{ reader.constant(index) }
				      : std::vector<Value>{};
}

Windows windows(NodeReader &reader, const FileTensor &picture, op::Axes kernel)
{
	Windows windows{ kernel, axesOf(reader, "strides"), axesOf(reader, "dilations"), {} };

	reader.need(kernel.x >= 1 && kernel.y >= 1 && kernel.x <= mostOfWindow &&
			    kernel.y <= mostOfWindow,
		    "kernel", fmt::format("is {} x {}", kernel.y, kernel.x));
	if (!reader.failed())
		windows.padding = paddingOf(reader, picture, windows);
	return windows;
}

Extents windowed(NodeReader &reader, const FileTensor &picture, const Windows &windows,
		 uint32_t channels)
{
	if (reader.failed())
		return {};
	const op::Padding &padding = windows.padding;
	const Extents shape{ picture.shape[0], channels,
			     windowsOf(picture.shape[2], padding.top, padding.bottom,
				       windows.kernel.y, windows.stride.y, windows.dilation.y),
			     windowsOf(picture.shape[3], padding.left, padding.right,
				       windows.kernel.x, windows.stride.x, windows.dilation.x) };
	reader.need(shape[2] && shape[3], "kernel",
		    fmt::format("of {} x {} does not fit into {}", windows.kernel.y,
				windows.kernel.x, toString(picture.shape)));
	return shape;
}

void addConvolution(NodeReader &reader, const FileTensor &picture, const Value &weights,
		    const std::vector<Value> &bias, const ElementKind &elements)
{
	const int64_t groups = reader.integer("group", 1);

	reader.support(weights.shape.size() == 4, "weights",
		       fmt::format("are {}; kernels with lines and columns are known",
				   toString(weights.shape)));
	reader.need(groups >= 1 && groups <= mostOfWindow, "group", fmt::format("is {}", groups));
	if (reader.failed())
		return;
	const Windows all = windows(reader, picture, { weights.shape[3], weights.shape[2] });
	const Extents shape = windowed(reader, picture, all, weights.shape[0]);
	if (reader.failed())
		return;
	std::vector<ValueId> inputs{ picture.id, reader.addConstant(weights) };
	for (const Value &one : bias)
		inputs.push_back(reader.addConstant(one));
	addPicture(
		reader,
		Convolution{
			all.stride, all.dilation, all.padding, static_cast<uint32_t>(groups), {} },
		std::move(inputs), elements, shape, picture.order);
}

Product productOf(NodeReader &reader, const FileTensor &rows, const Value &weights, bool transposed,
		  const std::vector<Value> &bias)
{
	if (reader.failed() ||
	    !reader.support(!reader.value(rows).isConstant && rows.shape.size() >= 2 &&
				    weights.shape.size() == 2,
			    "inputs", "are not computed rows and a constant matrix"))
		return {};
	const FileTensor x =
		rows.places.empty() ? reader.inOrder(rows, asInFile(rows.shape.size())) : rows;
	Value kernels = transposed ? weights : permuted(weights, { 1, 0 });
	const uint32_t columns = kernels.shape[1];
	if (reader.failed() ||
	    !reader.need(columns == x.shape.back(), "weights",
			 fmt::format("of {} do not go with {}", toString(weights.shape),
				     toString(x.shape))))
		return {};
	/* Elements of a flattened picture lie in another order. */
	const size_t size = elementBytes(kernels.type);
	const std::vector<std::byte> data = kernels.data;
	for (size_t k = 0; !x.places.empty() && k < kernels.shape[0]; k++) {
		for (size_t c = 0; c < columns; c++) {
			const auto *from = &data[(k * columns + x.places[c]) * size];
			std::copy(from, from + size, &kernels.data[(k * columns + c) * size]);
		}
	}
	Extents shape = x.shape;
	shape.back() = kernels.shape[0];
	Product product{ { x.id, reader.addConstant(std::move(kernels)) },
			 { 0, shape, asInFile(shape.size()) } };
	for (Value one : bias) {
		/* One number stands for all. */
		if (elementCount(one.shape) == 1 && (isFloat(one.type) || !one.quantization.none()))
			one = floatConstant(std::vector<double>(shape.back(), realNumbers(one)[0]),
					    { shape.back() });
		one.shape = { static_cast<uint32_t>(elementCount(one.shape)) };
		one.quantizedAxis = 0;
		product.inputs.push_back(reader.addConstant(std::move(one)));
	}
	return product;
}

void addProduct(NodeReader &reader, const FileTensor &rows, const Value &weights, bool transposed,
		const std::vector<Value> &bias, const ElementKind &elements)
{
	const Product product = productOf(reader, rows, weights, transposed, bias);

	reader.add(FullyConnected{}, product.inputs, elements, product.like);
}

const NodeTable convolutionNodes = {
	{ "BatchNormalization", readBatchNormalization },
	{ "Conv", readConv },
	{ "Gemm", readGemm },
	{ "MatMul", readMatMul },
};

} /* namespace nvdla::compiler::onnx */
