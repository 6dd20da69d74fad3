/* SPDX-License-Identifier: MIT */
/*
 * Convolutions, poolings, matrix products, and resizing of pictures.
 */
#include <algorithm>
#include <cmath>

#include <fmt/core.h>

#include "node_reader.h"

namespace nvdla::compiler::onnx
{

namespace
{

using legalize::mostOfWindow;
using legalize::Weights;

/* Returns numbers for lines and columns, alternating. If the input has only columns, \a usual is
 * added for the lines. */
std::vector<int64_t> ofBothAxes(NodeReader &reader, const std::string &name,
				std::vector<int64_t> numbers, int64_t usual, size_t count = 2)
{
	for (size_t at = 0; reader.isLine() && numbers.size() < count && at < numbers.size();
	     at += 2)
		numbers.insert(numbers.begin() + static_cast<ptrdiff_t>(at), usual);
	reader.need(numbers.empty() || numbers.size() == count, name,
		    fmt::format("has {} numbers for two axes", numbers.size()));
	for (const int64_t number : numbers)
		reader.support(number >= 0 && number <= mostOfWindow, name,
			       fmt::format("{} is not possible", number));
	return numbers;
}

op::Axes axesOf(NodeReader &reader, const std::string &name)
{
	const std::vector<int64_t> numbers = ofBothAxes(reader, name, reader.integers(name), 1);

	return numbers.empty() ? op::Axes{ 1, 1 }
			       : legalize::axesOf(reader, name, numbers[0], numbers[1]);
}

legalize::Windows windowsOf(NodeReader &reader)
{
	const Extents x = reader.input(0).shape;
	reader.support(
		x.size() == 4 || reader.isLine(), "input 0",
		fmt::format("is {}; batch, channels, lines and columns are needed", toString(x)));
	const std::string kind = reader.text("auto_pad", "NOTSET");
	const std::vector<int64_t> pads = ofBothAxes(reader, "pads", reader.integers("pads"), 0, 4);
	legalize::Windows windows{ axesOf(reader, "kernel_shape"),
				   axesOf(reader, "strides"),
				   axesOf(reader, "dilations"),
				   {} };

	windows.same = kind == "SAME_UPPER"   ? legalize::Same::Upper
		       : kind == "SAME_LOWER" ? legalize::Same::Lower
					      : legalize::Same::No;
	if (kind == "VALID" || windows.same != legalize::Same::No || pads.empty())
		return windows;
	windows.padding = { static_cast<uint32_t>(pads[1]), static_cast<uint32_t>(pads[3]),
			    static_cast<uint32_t>(pads[0]), static_cast<uint32_t>(pads[2]) };
	return windows;
}

Tensor readConv(NodeReader &reader)
{
	const legalize::Windows windows = windowsOf(reader);

	return legalize::convolution(reader, reader.input(0), windows,
				     { reader.constant(1), reader.biasOf(2) },
				     reader.integer("group", 1), {});
}

/*
 * Reads a FusedConv: a convolution, perhaps the addition of a tensor, and a function. ONNX Runtime
 * fuses these when it optimizes and saves a model.
 */
Tensor readFusedConv(NodeReader &reader)
{
	using Function = Unary::Function;
	constexpr size_t summand = 3;
	const auto *given = reader.attribute("activation_params");
	const auto parameter = [&](int index, double usual) {
		return given && index < given->floats_size() ? double{ given->floats(index) }
							     : usual;
	};
	const Unary function = reader.choice<Unary>(
		"activation", "Relu",
		{ { "Clip", { .activation = { parameter(0, -INFINITY), parameter(1, INFINITY) } } },
		  { "LeakyRelu", { Function::LeakyRelu, parameter(0, 0.01) } },
		  { "Relu", { .activation = { .low = 0 } } },
		  { "Sigmoid", { Function::Logistic } },
		  { "Tanh", { Function::Tanh } } });
	Tensor made = readConv(reader);

	if (reader.hasInput(summand))
		made = legalize::elementwise(reader, { Elementwise::Function::Add, {} }, made,
					     reader.input(summand));
	return legalize::unary(reader, made, function);
}

Tensor readConvTranspose(NodeReader &reader)
{
	const std::vector<int64_t> more =
		ofBothAxes(reader, "output_padding", reader.integers("output_padding"), 0);
	std::vector<int64_t> sizes = reader.integers("output_shape");
	Weights weights{ reader.constant(1), reader.biasOf(2) };
	legalize::AxisOrder order = legalize::asInFile(weights.kernels.shape.size());
	legalize::TransposedAxis axes[2];

	if (sizes.size() > 2)
		sizes.erase(sizes.begin(), sizes.end() - 2);
	sizes = ofBothAxes(reader, "output_shape", std::move(sizes), 1);
	reader.support(order.size() >= 3, "weights", "have neither lines nor columns");
	for (const size_t axis : { 0U, 1U }) {
		axes[axis].more = more.empty() ? 0 : more[axis];
		if (!sizes.empty())
			axes[axis].out = sizes[axis];
	}
	std::swap(order[0], order[1]);
	weights.kernels = permuted(weights.kernels, order);
	const legalize::Windows windows = windowsOf(reader);
	return legalize::transposedConvolution(reader, reader.input(0), windows, std::move(weights),
					       reader.integer("group", 1), axes[0], axes[1], {});
}

/* A matrix of an input, transposed if the attribute is not 0 */
Tensor turnedBy(NodeReader &reader, const std::string &attribute, size_t index)
{
	const Tensor tensor = reader.input(index);

	return reader.integer(attribute, 0) == 0 ? tensor
						 : legalize::transposed(reader, tensor, { 1, 0 });
}

/* A constant times a factor, such as beta of Gemm's bias. */
Value scaled(Value value, double factor)
{
	if (factor == 1)
		return value;
	std::vector<double> numbers = realNumbers(value);
	for (double &number : numbers)
		number *= factor;
	return floatConstant(numbers, value.shape);
}

/* Whether C, the third input of Gemm, has one number for each column of the product. */
bool isBias(const Value &c, uint32_t columns)
{
	const uint64_t count = elementCount(c.shape);

	return c.isConstant && (count == 1 || (count == columns && c.shape.back() == columns));
}

/* The product of a Gemm or MatMul, to which Gemm adds C */
Tensor readMatrices(NodeReader &reader, double alpha, std::vector<Value> bias)
{
	Tensor rows = turnedBy(reader, "transA", 0);

	if (reader.isConstant(1)) {
		Weights weights{ reader.constant(1), std::move(bias) };
		reader.support(weights.kernels.shape.size() == 2, "inputs",
			       "are not computed rows and a constant matrix");
		if (reader.integer("transB", 0) == 0)
			weights.kernels = permuted(weights.kernels, { 1, 0 });
		reader.support(alpha == 1 || isFloat(weights.kernels.type), "alpha",
			       "is not 1, of integers");
		weights.kernels = scaled(std::move(weights.kernels), alpha);
		return legalize::product(reader, rows, std::move(weights), {});
	}
	if (alpha != 1)
		rows = legalize::timesNumber(reader, reader.needComputed(rows), alpha, false);
	return legalize::product(reader, rows, turnedBy(reader, "transB", 1), std::move(bias), {});
}

Tensor readGemm(NodeReader &reader)
{
	const double beta = reader.number("beta", 1);
	const bool hasC = reader.hasInput(2) && beta != 0;
	const Extents shape = reader.input(1).shape;
	const bool hasBias =
		hasC && !shape.empty() &&
		isBias(reader.value(2),
		       reader.integer("transB", 0) != 0 ? shape.front() : shape.back());
	const Tensor made = readMatrices(reader, reader.number("alpha", 1),
					 hasBias ? std::vector{ scaled(reader.constant(2), beta) }
						 : std::vector<Value>{});

	if (!hasC || hasBias)
		return made;
	/* Any other C, computed or constant, is added to the product. */
	Tensor c = reader.input(2);
	reader.support(isFloat(reader.value(c).type) || !reader.value(c).quantization.none(),
		       "input 2", "is integers without a scale");
	if (beta != 1 && reader.isConstant(c))
		c.id = reader.addConstant(scaled(reader.value(c), beta));
	else if (beta != 1)
		c = legalize::timesNumber(reader, c, beta, false);
	return legalize::elementwise(reader, { Elementwise::Function::Add, {} }, made, c);
}

template<Pool::Method method>
Tensor readPool(NodeReader &reader)
{
	const legalize::Windows windows = windowsOf(reader);

	reader.support(reader.outputs() == 1, "outputs", "are indices, too");
	reader.need(reader.attribute("kernel_shape"), "kernel_shape", "is missing");
	return legalize::pool(reader, method, reader.input(0), windows,
			      { reader.integer("count_include_pad", 0) != 0,
				reader.integer("ceil_mode", 0) != 0,
				{} });
}

template<Pool::Method method>
Tensor readPoolAll(NodeReader &reader)
{
	return legalize::poolAll(reader, method, reader.input(0));
}

/* Reads how output positions map to input positions; versions of the operator differ in this. */
legalize::Resizing placesOf(NodeReader &reader)
{
	using legalize::Resizing;
	using legalize::Rounding;
	const bool old = reader.inputs() <= 2;
	Resizing how = reader.choice<Resizing>(
		"coordinate_transformation_mode", old ? "asymmetric" : "half_pixel",
		{
			{ "align_corners", { .corners = true } },
			{ "asymmetric", {} },
			{ "half_pixel", { .centers = true } },
			{ "pytorch_half_pixel", { .centers = true, .onlyIsFirst = true } },
		});

	how.isNearest = reader.choice<bool>("mode", "nearest",
					    { { "linear", false }, { "nearest", true } });
	how.rounding = reader.choice<Rounding>("nearest_mode", old ? "floor" : "round_prefer_floor",
					       { { "ceil", Rounding::Ceil },
						 { "floor", Rounding::Floor },
						 { "round_prefer_ceil", Rounding::HalfUp },
						 { "round_prefer_floor", Rounding::HalfDown } });
	reader.support(reader.integer("antialias", 0) == 0, "antialias",
		       "is set; pool before it instead");
	reader.choice<bool>("keep_aspect_ratio_policy", "stretch", { { "stretch", true } });
	return how;
}

/* The node's `axes`; all axes without that attribute. */
legalize::AxisOrder namedAxes(NodeReader &reader, size_t rank)
{
	legalize::AxisOrder axes;

	for (const int64_t axis : reader.integers("axes"))
		axes.push_back(reader.axis(axis, rank, "axes"));
	return axes.empty() ? legalize::asInFile(rank) : axes;
}

/* Reads the factors of lines and columns. */
void readFactors(NodeReader &reader, const Tensor &x, legalize::Resizing &how)
{
	constexpr double ofScales = 1e-4; /* relative error, because files round scales */
	const size_t scalesAt = reader.inputs() <= 2 ? 1 : 2;
	const legalize::AxisOrder axes = namedAxes(reader, x.shape.size());
	std::vector<double> given, factors(4, 1);

	if (const pb::Attribute *scales = reader.attribute("scales")) {
		given.assign(scales->floats().begin(), scales->floats().end());
		how.factorError = ofScales;
	} else if (reader.hasInput(scalesAt) && elementCount(reader.value(scalesAt).shape) > 0) {
		given = rawNumbers(reader.constant(scalesAt));
		how.factorError = ofScales;
	} else {
		for (const int64_t size : reader.wholeNumbers(3))
			given.push_back(given.size() < axes.size()
						? static_cast<double>(size) /
							  x.shape[axes[given.size()]]
						: 0);
	}
	reader.need(given.size() == axes.size(), "scales",
		    fmt::format("are {} numbers for {} axes", given.size(), axes.size()));
	reader.need(
		std::ranges::all_of(
			given, [](double factor) { return std::isfinite(factor) && factor > 0; }),
		"scales", "are not all finite and positive");
	for (size_t i = 0; i < axes.size(); i++)
		factors[axes[i]] = given[i];
	reader.support(factors[0] == 1 && factors[1] == 1, "scales", "of channels are not 1");
	how.factorY = factors[2];
	how.factorX = factors[3];
}

Tensor readResize(NodeReader &reader)
{
	const Tensor x = reader.picture(reader.input(0));
	legalize::Resizing how = placesOf(reader);

	readFactors(reader, x, how);
	return legalize::resize(reader, x, how);
}

} /* namespace */

const NodeTable windowNodes = {
	{ "AveragePool", readPool<Pool::Method::Average> },
	{ "Conv", readConv },
	{ "ConvTranspose", readConvTranspose },
	{ "Einsum",
	  [](NodeReader &r) {
		  r.support(r.inputs() == 2, "inputs",
			    fmt::format("are {}; two are known", r.inputs()));
		  return legalize::einsum(r, r.text("equation", ""), r.input(0), r.input(1));
	  } },
	{ "FusedConv", readFusedConv },
	{ "FusedMatMul", [](NodeReader &r) { return readMatrices(r, r.number("alpha", 1), {}); } },
	{ "Gemm", readGemm },
	{ "GlobalAveragePool", readPoolAll<Pool::Method::Average> },
	{ "GlobalMaxPool", readPoolAll<Pool::Method::Max> },
	{ "MatMul", [](NodeReader &r) { return readMatrices(r, 1, {}); } },
	{ "MaxPool", readPool<Pool::Method::Max> },
	{ "Resize", readResize },
	{ "Upsample", readResize },
};

} /* namespace nvdla::compiler::onnx */
