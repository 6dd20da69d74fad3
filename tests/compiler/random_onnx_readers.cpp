/* SPDX-License-Identifier: MIT */
/*
 * Random operators that read tensors by axes.
 */
#include "random_onnx_generator.h"

namespace nvdla::test
{

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

/* The other factor is an input, or the tensor itself with its last axes exchanged. Small numbers,
 * so that the product stays in FP16's range. */
void OnnxGenerator::computedMatMul()
{
	if (rank() < 2)
		return;
	add("Mul", { x().name, constant({ 1 }, 0.002, 0.01) }, x().shape);
	const Named in = x();
	Dims shape = in.shape, other = in.shape;

	std::swap(other.back(), other[other.size() - 2]);
	if (chance(0.3)) {
		Dims order;
		for (size_t axis = 0; axis < rank(); axis++)
			order.push_back(static_cast<int64_t>(axis));
		std::swap(order.back(), order[order.size() - 2]);
		OnnxBuilder::setList(add("Transpose", { in.name }, other), "perm", order);
		shape.back() = other.back();
		add("MatMul", { in.name, x().name }, shape);
		return;
	}
	shape.back() = other.back() = from(1, 5);
	for (size_t axis = 1; axis + 2 < other.size(); axis++)
		other[axis] = chance(0.3) ? 1 : other[axis];
	if (other.front() == 1 && chance(0.3))
		other.erase(other.begin(), other.end() - 2);
	const std::string right = input(other);
	add("MatMul", { in.name, right }, shape);
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

/* All states, or those behind the last step */
void OnnxGenerator::recurrent()
{
	const struct {
		const char *name;
		int64_t gates;
	} cells[] = { { "RNN", 1 }, { "GRU", 3 }, { "LSTM", 4 } };
	const char *directions[] = { "forward", "reverse", "bidirectional" };
	const Named in = x();

	if (rank() != 3)
		return;
	const auto &cell = cells[from(0, 2)];
	const uint32_t direction = from(0, 2);
	const int64_t both = direction == 2 ? 2 : 1, size = from(1, 40), rows = cell.gates * size;
	const Dims states{ both, in.shape[1], size };
	std::vector<std::string> inputs{ in.name, constant({ both, rows, in.shape[2] }, -1, 1),
					 constant({ both, rows, size }, -0.5, 0.5) };
	inputs.push_back(chance(0.8) ? constant({ both, 2 * rows }, -1, 1) : "");
	if (chance(0.5)) {
		inputs.insert(inputs.end(), { "", input(states) });
		if (cell.gates == 4)
			inputs.push_back(input(states));
	}
	const bool isLast = chance(0.4);
	const bool resetsProduct = chance(0.5);
	onnx::Node *node = add(cell.name, inputs,
			       isLast ? states : Dims{ in.shape[0], both, in.shape[1], size });
	if (isLast) {
		node->add_output(node->output(0));
		node->set_output(0, "");
	}
	OnnxBuilder::setInteger(node, "hidden_size", size);
	OnnxBuilder::setText(node, "direction", directions[direction]);
	if (cell.gates == 3)
		OnnxBuilder::setInteger(node, "linear_before_reset", resetsProduct);
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

void OnnxGenerator::normalization()
{
	const Named in = x();
	const bool ofLayer = chance(0.6) || rank() != 4;
	onnx::Node *node;

	if (ofLayer) {
		const int64_t axis = pickAxis();
		const Dims rows(in.shape.begin() + axis, in.shape.end());
		if (elementsIn(rows) == 1)
			return;
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

} /* namespace nvdla::test */
