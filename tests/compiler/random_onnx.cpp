/* SPDX-License-Identifier: MIT */
#include <nvdla/half.h>

#include "random_onnx_generator.h"

namespace nvdla::test
{

Dims OnnxGenerator::anyShape()
{
	constexpr uint32_t extents[] = { 1, 2, 3, 3, 4, 4, 6, 8 };
	const uint32_t rank = chance(0.6) ? 4 : from(2, 3);
	/* A batch, seldom. */
	Dims shape{ chance(0.9) ? 1 : from(2, 4) };

	while (shape.size() < rank) {
		const bool again = shape.size() > 1 && chance(0.4);
		shape.push_back(again ? shape.back() : extents[from(0, 7)]);
	}
	return shape;
}

std::string OnnxGenerator::input(const Dims &shape)
{
	const std::string name = fresh("x");
	const double most = std::exp2(real(-5, 8));
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
		&OnnxGenerator::computedMatMul,
		&OnnxGenerator::convolution,
		&OnnxGenerator::recurrent,
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
	/* A few numbers may nearly cancel out, and leave less of a range than FP16 rounds. */
	constexpr int64_t leastElements = 6;
	Dims shape = anyShape();
	while (elementsIn(shape) < leastElements)
		shape = anyShape();
	input(shape);
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

RandomOnnx randomOnnx(std::mt19937_64 &random)
{
	return OnnxGenerator(random).makeFloat();
}

RandomOnnx randomQuantizedOnnx(std::mt19937_64 &random)
{
	return OnnxGenerator(random).makeQuantized();
}

} /* namespace nvdla::test */
