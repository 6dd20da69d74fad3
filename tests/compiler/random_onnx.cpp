/* SPDX-License-Identifier: MIT */
#include "random_onnx.h"

#include <algorithm>
#include <cmath>
#include <functional>

#include <fmt/core.h>
#include <fmt/ranges.h>
#include <nvdla/half.h>

namespace nvdla::test
{

namespace
{

using Dims = std::vector<int64_t>;

int64_t elementsIn(const Dims &shape)
{
	int64_t elements = 1;

	for (const int64_t extent : shape)
		elements *= extent;
	return elements;
}

struct Named {
	std::string name;
	Dims shape;
};

class OnnxGenerator
{
public:
	explicit OnnxGenerator(std::mt19937_64 &random) : random_(random) {}

	RandomOnnx makeFloat();
	RandomOnnx makeQuantized();

private:
	uint32_t from(uint32_t low, uint32_t high)
	{
		return std::uniform_int_distribution<uint32_t>(low, high)(random_);
	}
	double real(double low, double high)
	{
		return std::uniform_real_distribution<double>(low, high)(random_);
	}
	bool chance(double share) { return real(0, 1) < share; }
	/* Extents are often alike, so that an axis can be taken for another one. */
	Dims anyShape();
	std::string fresh(const std::string &what) { return what + std::to_string(next_++); }
	std::string input(const Dims &shape);
	std::string constant(const Dims &shape, double low, double high);
	/* A shape that can be repeated to this one: axes become 1, the first ones fall away. */
	Dims repeatable(Dims shape);
	onnx::Node *add(const std::string &type, std::vector<std::string> inputs,
			const Dims &shape);
	/* The last result as it is now. */
	const Named &x() const { return tensors_.back(); }
	size_t rank() const { return x().shape.size(); }
	int64_t pickAxis() { return from(0, static_cast<uint32_t>(rank()) - 1); }

	void move();
	void read();
	void transpose();
	void reshape();
	void flatten();
	void squeeze();
	void withConstant();
	void withLargerConstant();
	void withTensor();
	void several();
	void where();
	void prelu();
	void batchNormalization();
	void gemm();
	void matMul();
	void convolution();
	void reduce();
	void slice();
	void concatenation();
	void softmax();
	void normalization();
	void unary();
	void scale(const std::string &name, const std::vector<double> &scales);
	std::string quantizedConstant(const Dims &shape, int32_t type, double scale, bool each);

	std::mt19937_64 &random_;
	OnnxBuilder builder_{ 17 };
	std::vector<Named> tensors_; /* computed, and inputs */
	std::vector<std::string> made_;
	std::vector<std::string> read_;
	RandomOnnx result_;
	int next_ = 0;
};

Dims OnnxGenerator::anyShape()
{
	constexpr uint32_t extents[] = { 1, 2, 3, 3, 4, 4, 6, 8 };
	const uint32_t rank = chance(0.6) ? 4 : from(2, 3);
	Dims shape{ 1 };

	while (shape.size() < rank) {
		const bool again = shape.size() > 1 && chance(0.4);
		shape.push_back(again ? shape.back() : extents[from(0, 7)]);
	}
	return shape;
}

std::string OnnxGenerator::input(const Dims &shape)
{
	const std::string name = fresh("x");
	const double most = std::exp2(real(-3, 5));
	Numbers numbers;

	for (int64_t i = 0; i < elementsIn(shape); i++)
		numbers.push_back(static_cast<double>(
			halfToFloat(floatToHalf(static_cast<float>(real(-most, most))))));
	builder_.input(name, shape);
	result_.inputs.push_back(std::move(numbers));
	tensors_.push_back({ name, shape });
	return name;
}

std::string OnnxGenerator::constant(const Dims &shape, double low, double high)
{
	const std::string name = fresh("c");
	std::vector<float> numbers;

	for (int64_t i = 0; i < elementsIn(shape); i++)
		numbers.push_back(static_cast<float>(real(low, high)));
	builder_.floats(name, shape, numbers);
	return name;
}

Dims OnnxGenerator::repeatable(Dims shape)
{
	shape.erase(shape.begin(), shape.begin() + from(0, static_cast<uint32_t>(shape.size())));
	for (int64_t &extent : shape)
		extent = chance(0.4) ? 1 : extent;
	return shape;
}

onnx::Node *OnnxGenerator::add(const std::string &type, std::vector<std::string> inputs,
			       const Dims &shape)
{
	const std::string name = fresh("y");

	read_.insert(read_.end(), inputs.begin(), inputs.end());
	onnx::Node *node = builder_.node(type, inputs, name);
	result_.description += fmt::format("{}({}) -> [{}]; ", type, fmt::join(inputs, ", "),
					   fmt::join(shape, ", "));
	tensors_.push_back({ name, shape });
	made_.push_back(name);
	return node;
}

void OnnxGenerator::transpose()
{
	const Named in = x();
	Dims order, shape;

	for (size_t axis = 0; axis < in.shape.size(); axis++)
		order.push_back(static_cast<int64_t>(axis));
	std::shuffle(order.begin() + (chance(0.8) ? 1 : 0), order.end(), random_);
	for (const int64_t axis : order)
		shape.push_back(in.shape[static_cast<size_t>(axis)]);
	OnnxBuilder::setList(add("Transpose", { in.name }, shape), "perm", order);
}

/* Factors of the number of elements, at random. */
void OnnxGenerator::reshape()
{
	const Named in = x();
	const uint32_t axes = from(1, 4);
	int64_t rest = elementsIn(in.shape);
	Dims shape;

	if (axes > 1)
		shape.push_back(1);
	while (shape.size() + 1 < axes) {
		std::vector<int64_t> divisors;
		for (int64_t i = 1; i <= rest; i++)
			if (rest % i == 0)
				divisors.push_back(i);
		shape.push_back(divisors[from(0, static_cast<uint32_t>(divisors.size()) - 1)]);
		rest /= shape.back();
	}
	shape.push_back(rest);
	const std::string wanted = fresh("shape");
	builder_.list(wanted, shape);
	add("Reshape", { in.name, wanted }, shape);
}

void OnnxGenerator::flatten()
{
	const Named in = x();
	const auto axis = static_cast<ptrdiff_t>(chance(0.8) ? 1 : from(0, rank()));
	const auto middle = in.shape.begin() + std::min<ptrdiff_t>(axis, in.shape.size());

	OnnxBuilder::setInteger(add("Flatten", { in.name },
				    { elementsIn({ in.shape.begin(), middle }),
				      elementsIn({ middle, in.shape.end() }) }),
				"axis", middle - in.shape.begin());
}

void OnnxGenerator::squeeze()
{
	const Named in = x();
	Dims shape = in.shape;
	const auto one = std::find(shape.begin(), shape.end(), 1);
	const std::string axes = fresh("axes");

	if (in.shape.size() > 2 && one != shape.end() && chance(0.5)) {
		builder_.list(axes, { one - shape.begin() });
		shape.erase(one);
		add("Squeeze", { in.name, axes }, shape);
	} else if (in.shape.size() < 4) {
		const auto axis = static_cast<int64_t>(from(0, rank()));
		builder_.list(axes, { axis });
		shape.insert(shape.begin() + axis, 1);
		add("Unsqueeze", { in.name, axes }, shape);
	}
}

void OnnxGenerator::withConstant()
{
	const char *types[] = { "Add", "Sub", "Mul", "Div", "Max", "Min" };
	const Named in = x();
	const std::string type = types[from(0, 5)];
	const bool isFirst = type != "Div" && chance(0.3);
	const std::string number = type == "Div" ? constant(repeatable(in.shape), 0.5, 2)
						 : constant(repeatable(in.shape), -2, 2);

	add(type, isFirst ? std::vector{ number, in.name } : std::vector{ in.name, number },
	    in.shape);
}

/* Axes of one element are repeated for the constant. */
void OnnxGenerator::withLargerConstant()
{
	const Named in = x();
	Dims shape = in.shape, large = in.shape;

	if (chance(0.3) && rank() < 4)
		shape.insert(shape.begin(), 1);
	large = shape;
	for (size_t axis = 1; axis < large.size(); axis++)
		large[axis] = large[axis] == 1 ? from(1, 4) : chance(0.3) ? 1 : large[axis];
	for (size_t axis = 0; axis < shape.size(); axis++)
		shape[axis] = std::max(shape[axis], large[axis]);
	add(chance(0.5) ? "Add" : "Mul", { in.name, constant(large, -2, 2) }, shape);
}

/* With a tensor from before, or a new input, whose axes may be repeated. */
void OnnxGenerator::withTensor()
{
	const char *types[] = { "Add", "Sub", "Mul", "Max", "Min" };
	const Named in = x();
	std::vector<std::string> known;
	std::string other;

	for (const Named &one : tensors_)
		if (one.shape == in.shape)
			known.push_back(one.name);
	if (known.size() > 1 && chance(0.6)) {
		other = known[from(0, static_cast<uint32_t>(known.size()) - 2)];
	} else {
		Dims shape = repeatable(in.shape);
		if (shape.empty())
			shape = { 1 };
		other = input(shape);
	}
	const bool turned = chance(0.5);
	add(types[from(0, 4)], { turned ? other : in.name, turned ? in.name : other }, in.shape);
}

void OnnxGenerator::several()
{
	const char *types[] = { "Sum", "Max", "Min", "Mean" };
	const Named in = x();
	std::vector<std::string> inputs{ in.name };

	for (const Named &one : tensors_)
		if (one.shape == in.shape && inputs.size() < 3)
			inputs.push_back(one.name);
	std::shuffle(inputs.begin(), inputs.end(), random_);
	add(types[from(0, 3)], inputs, in.shape);
}

void OnnxGenerator::where()
{
	const Named in = x();
	const Dims shape = repeatable(in.shape);
	const std::string condition = fresh("condition");
	std::vector<int32_t> mask;

	for (int64_t i = 0; i < elementsIn(shape); i++)
		mask.push_back(static_cast<int32_t>(from(0, 1)));
	builder_.integers(condition, shape, mask, onnx::BOOL);
	const std::string other = constant(repeatable(in.shape), -2, 2);
	const bool turned = chance(0.5);
	add("Where", { condition, turned ? other : in.name, turned ? in.name : other }, in.shape);
}

void OnnxGenerator::prelu()
{
	const Named in = x();

	add("PRelu", { in.name, constant(repeatable(in.shape), -0.5, 0.9) }, in.shape);
}

void OnnxGenerator::batchNormalization()
{
	const Named in = x();

	if (rank() < 2)
		return;
	const Dims channels{ in.shape[1] };
	const std::string scales = constant(channels, 0.5, 2), shifts = constant(channels, -1, 1);
	const std::string means = constant(channels, -1, 1);
	add("BatchNormalization", { in.name, scales, shifts, means, constant(channels, 0.5, 2) },
	    in.shape);
}

void OnnxGenerator::gemm()
{
	const Named in = x();

	if (rank() != 2)
		return;
	const int64_t m = in.shape[0], k = in.shape[1], n = from(1, 5);
	const bool transposed = chance(0.5);
	std::vector<std::string> inputs{ in.name, constant(transposed ? Dims{ n, k } : Dims{ k, n },
							   -1, 1) };
	if (chance(0.8)) {
		const Dims shape = repeatable({ m, n });
		inputs.push_back(chance(0.8) || shape.empty() ? constant(shape, -2, 2)
							      : input(shape));
	}
	const double alpha = chance(0.5) ? 1 : real(0.5, 2), beta = chance(0.5) ? 1 : real(0.5, 2);
	onnx::Node *node = add("Gemm", inputs, { m, n });
	OnnxBuilder::setInteger(node, "transB", transposed);
	OnnxBuilder::setReal(node, "alpha", static_cast<float>(alpha));
	OnnxBuilder::setReal(node, "beta", static_cast<float>(beta));
}

void OnnxGenerator::matMul()
{
	const Named in = x();
	Dims shape = in.shape;

	if (rank() < 2)
		return;
	shape.back() = from(1, 5);
	add("MatMul", { in.name, constant({ in.shape.back(), shape.back() }, -1, 1) }, shape);
}

void OnnxGenerator::convolution()
{
	const Named in = x();

	if (rank() < 3)
		return;
	const int64_t kernels = from(1, 5);
	Dims weights{ kernels, in.shape[1] }, shape{ in.shape[0], kernels };
	for (size_t axis = 2; axis < in.shape.size(); axis++) {
		weights.push_back(from(1, std::min<uint32_t>(3, in.shape[axis])));
		shape.push_back(in.shape[axis] - weights.back() + 1);
	}
	std::vector<std::string> inputs{ in.name, constant(weights, -1, 1) };
	if (chance(0.7))
		inputs.push_back(constant({ kernels }, -2, 2));
	add("Conv", inputs, shape);
}

void OnnxGenerator::reduce()
{
	const char *types[] = { "ReduceMean", "ReduceMax", "ReduceMin" };
	const Named in = x();
	const auto axis = static_cast<size_t>(pickAxis());
	const bool keeps = chance(0.5) || in.shape.size() < 2;
	Dims shape = in.shape;

	shape[axis] = 1;
	if (!keeps)
		shape.erase(shape.begin() + static_cast<ptrdiff_t>(axis));
	onnx::Node *node = add(types[from(0, 2)], { in.name }, shape);
	OnnxBuilder::setList(node, "axes", { static_cast<int64_t>(axis) });
	OnnxBuilder::setInteger(node, "keepdims", keeps);
}

void OnnxGenerator::slice()
{
	const Named in = x();
	const auto axis = static_cast<size_t>(pickAxis());
	const uint32_t extent = static_cast<uint32_t>(in.shape[axis]);
	const uint32_t begin = from(0, extent - 1), end = from(begin + 1, extent);
	Dims shape = in.shape;
	const std::string starts = fresh("list"), ends = fresh("list"), axes = fresh("list");

	builder_.list(starts, { begin });
	builder_.list(ends, { end });
	builder_.list(axes, { static_cast<int64_t>(axis) });
	shape[axis] = end - begin;
	add("Slice", { in.name, starts, ends, axes }, shape);
}

void OnnxGenerator::concatenation()
{
	const Named in = x();
	const auto axis = static_cast<size_t>(pickAxis());
	std::vector<std::string> inputs{ in.name };
	Dims shape = in.shape;

	if (axis == 0)
		return;
	for (const Named &one : tensors_)
		if (one.shape == in.shape && one.name != in.name && inputs.size() < 3)
			inputs.push_back(one.name);
	std::shuffle(inputs.begin(), inputs.end(), random_);
	shape[axis] *= static_cast<int64_t>(inputs.size());
	OnnxBuilder::setInteger(add("Concat", inputs, shape), "axis", static_cast<int64_t>(axis));
}

void OnnxGenerator::softmax()
{
	const Named in = x();

	OnnxBuilder::setInteger(add("Softmax", { in.name }, in.shape), "axis", pickAxis());
}

/* An epsilon that is large beside what rounding changes where numbers are nearly alike. */
void OnnxGenerator::normalization()
{
	const Named in = x();
	const bool ofLayer = chance(0.6) || rank() != 4;
	onnx::Node *node;

	if (ofLayer) {
		const int64_t axis = pickAxis();
		const Dims rows(in.shape.begin() + axis, in.shape.end());
		const std::string scales = constant(rows, 0.5, 2);
		node = add("LayerNormalization", { in.name, scales, constant(rows, -1, 1) },
			   in.shape);
		OnnxBuilder::setInteger(node, "axis", axis);
	} else {
		const Dims channels{ in.shape[1] };
		const std::string scales = constant(channels, 0.5, 2);
		node = add("InstanceNormalization", { in.name, scales, constant(channels, -1, 1) },
			   in.shape);
	}
	OnnxBuilder::setReal(node, "epsilon", 1);
}

void OnnxGenerator::unary()
{
	const char *types[] = { "Relu", "Neg", "LeakyRelu", "Abs", "Identity" };
	const Named in = x();

	add(types[from(0, 4)], { in.name }, in.shape);
}

void OnnxGenerator::move()
{
	void (OnnxGenerator::*const kinds[])() = { &OnnxGenerator::transpose,
						   &OnnxGenerator::transpose,
						   &OnnxGenerator::reshape, &OnnxGenerator::flatten,
						   &OnnxGenerator::squeeze };

	(this->*kinds[from(0, std::size(kinds) - 1)])();
}

void OnnxGenerator::read()
{
	void (OnnxGenerator::*const kinds[])() = {
		&OnnxGenerator::withConstant,
		&OnnxGenerator::withConstant,
		&OnnxGenerator::withTensor,
		&OnnxGenerator::withLargerConstant,
		&OnnxGenerator::several,
		&OnnxGenerator::where,
		&OnnxGenerator::prelu,
		&OnnxGenerator::prelu,
		&OnnxGenerator::batchNormalization,
		&OnnxGenerator::batchNormalization,
		&OnnxGenerator::gemm,
		&OnnxGenerator::gemm,
		&OnnxGenerator::matMul,
		&OnnxGenerator::convolution,
		&OnnxGenerator::reduce,
		&OnnxGenerator::slice,
		&OnnxGenerator::concatenation,
		&OnnxGenerator::softmax,
		&OnnxGenerator::normalization,
		&OnnxGenerator::unary,
	};

	(this->*kinds[from(0, std::size(kinds) - 1)])();
}

RandomOnnx OnnxGenerator::makeFloat()
{
	/* Constants that nothing reads: a model has any number of values. */
	for (uint32_t unused = from(0, 16); unused > 0; unused--)
		constant({ 1 }, 0, 1);
	input(anyShape());
	for (uint32_t more = from(1, 3); more > 0 || made_.empty(); more -= more > 0) {
		if (chance(0.6))
			move();
		read();
	}
	const bool all = chance(0.2);
	for (const std::string &name : made_) {
		if (!all && std::ranges::count(read_, name))
			continue;
		builder_.output(name);
		result_.steps.push_back(0);
	}
	/* Constants and results may be outputs, again and again. */
	if (chance(0.05)) {
		builder_.output(constant({ 2, 3 }, -1, 1));
		result_.steps.push_back(0);
	}
	result_.file = builder_.file();
	return std::move(result_);
}

void OnnxGenerator::scale(const std::string &name, const std::vector<double> &scales)
{
	builder_.floats(name,
			scales.size() == 1 ? Dims{} : Dims{ static_cast<int64_t>(scales.size()) },
			{ scales.begin(), scales.end() });
}

/* A constant behind a DequantizeLinear; with a scale for each element of the first axis, or one. */
std::string OnnxGenerator::quantizedConstant(const Dims &shape, int32_t type, double scale,
					     bool each)
{
	const std::string name = fresh("q"), scales = name + " scale", made = name + " real";
	const int32_t most = type == onnx::INT8 ? 127 : 20000;
	std::vector<int32_t> numbers;
	std::vector<double> all;

	for (int64_t i = 0; i < elementsIn(shape); i++)
		numbers.push_back(static_cast<int32_t>(std::lround(real(-most, most))));
	builder_.integers(name, shape, numbers, type);
	for (int64_t k = 0; k < (each ? shape[0] : 1); k++)
		all.push_back(scale * real(0.5, 2));
	this->scale(scales, all);
	onnx::Node *node = builder_.node("DequantizeLinear", { name, scales }, made);
	OnnxBuilder::setInteger(node, "axis", 0);
	return made;
}

RandomOnnx OnnxGenerator::makeQuantized()
{
	const bool isProduct = chance(0.4);
	const double step = std::exp2(real(-8, -2)), weight = std::exp2(real(-10, -6));
	const int32_t zero = static_cast<int32_t>(from(0, 255)) - 128;
	Dims shape =
		isProduct ? Dims{ 1, from(1, 40) } : Dims{ 1, from(1, 8), from(1, 6), from(1, 6) };
	const std::string real = input(shape);
	const int64_t kernels = from(1, 20);
	const Dims weights =
		isProduct ? Dims{ kernels, shape[1] } : Dims{ kernels, shape[1], 1, 1 };
	const auto terms = static_cast<double>(shape[1]);

	for (double &number : result_.inputs.front())
		number = static_cast<double>(
			static_cast<float>(step * (std::round(this->real(-128, 127)) - zero)));
	scale("s", { step });
	builder_.integers("z", {}, { zero });
	builder_.node("QuantizeLinear", { real, "s", "z" }, "q");
	builder_.node("DequantizeLinear", { "q", "s", "z" }, "d");
	/* A bias as large as the sums, whatever its integers are. */
	const int32_t type = chance(0.5) ? onnx::INT8 : onnx::INT32;
	const double sums = step * 60 * weight * 70 * std::sqrt(terms);
	std::vector<std::string> inputs{ "d", quantizedConstant(weights, onnx::INT8, weight,
								chance(0.5)) };
	inputs.push_back(quantizedConstant({ kernels }, type,
					   sums / (type == onnx::INT8 ? 100 : 15000), chance(0.5)));
	onnx::Node *node = builder_.node(isProduct ? "Gemm" : "Conv", inputs, "sum");
	if (isProduct)
		OnnxBuilder::setInteger(node, "transB", 1);
	const double made = static_cast<double>(static_cast<float>(sums / this->real(20, 60)));
	scale("t", { made });
	builder_.integers("u", {}, { static_cast<int32_t>(from(0, 100)) - 50 });
	builder_.node("QuantizeLinear", { "sum", "t", "u" }, "r");
	builder_.node("DequantizeLinear", { "r", "t", "u" }, "y");
	builder_.output("y");
	result_.steps.push_back(made);
	result_.description = fmt::format("{} of [{}] with {} kernels", isProduct ? "Gemm" : "Conv",
					  fmt::join(shape, ", "), kernels);
	result_.file = builder_.file();
	return std::move(result_);
}

} /* namespace */

RandomOnnx randomOnnx(std::mt19937_64 &random)
{
	return OnnxGenerator(random).makeFloat();
}

RandomOnnx randomQuantizedOnnx(std::mt19937_64 &random)
{
	return OnnxGenerator(random).makeQuantized();
}

} /* namespace nvdla::test */
