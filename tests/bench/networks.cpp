/* SPDX-License-Identifier: MIT */
#include "networks.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <random>
#include <utility>

namespace nvdla::bench
{

namespace
{

using namespace compiler;

constexpr uint32_t kPixels = 224;
constexpr uint32_t kClasses = 1000;
/* Activations of about one, weights of a layer of about one together. */
constexpr double kActivationScale = 1.0 / 32;
constexpr double kWeightSteps = 40;

class ResnetBuilder
{
public:
	explicit ResnetBuilder(ElementType type) : type_(type) {}

	Model build(Resnet which);

private:
	bool isInteger() const { return !isFloat(type_); }
	const Extents &shape(ValueId value) const { return model_.values[value].shape; }
	ValueId tensor(const Extents &shape);
	ValueId kernels(const Extents &shape);
	ValueId add(const char *type, Kind kind, std::vector<ValueId> inputs, const Extents &out);
	ValueId convolution(ValueId x, uint32_t kernels, uint32_t size, uint32_t stride,
			    bool relu = true);
	ValueId basicBlock(ValueId x, uint32_t channels, uint32_t stride);
	ValueId bottleneck(ValueId x, uint32_t channels, uint32_t stride);
	ValueId sum(ValueId a, ValueId b);

	ElementType type_;
	Model model_;
	std::mt19937 random_{ 1 };
};

constexpr Clamp kRelu = { .low = 0 };

ValueId ResnetBuilder::tensor(const Extents &shape)
{
	Value value;

	value.name = "t" + std::to_string(model_.values.size());
	value.type = type_;
	value.shape = shape;
	if (isInteger())
		value.quantization = Quantization{ kActivationScale, 0 };
	model_.values.push_back(std::move(value));
	return model_.values.size() - 1;
}

ValueId ResnetBuilder::kernels(const Extents &shape)
{
	const uint64_t count = elementCount(shape);
	const double size = std::sqrt(static_cast<double>(count) / shape[0] / 2);
	std::normal_distribution<float> normal;
	Value value;

	value.name = "w" + std::to_string(model_.values.size());
	value.type = type_;
	value.shape = shape;
	value.isConstant = true;
	std::vector<std::byte> elements(count * elementBytes(type_));
	for (uint64_t i = 0; i < count; i++) {
		const float number = normal(random_);
		if (isInteger()) {
			elements[i] = static_cast<std::byte>(static_cast<int>(
				std::clamp<double>(number * kWeightSteps, -127, 127)));
		} else {
			const auto element = static_cast<float>(number / size);
			std::memcpy(&elements[i * sizeof(element)], &element, sizeof(element));
		}
	}
	value.data = std::move(elements);
	if (isInteger())
		value.quantization = Quantization{ 1 / (size * kWeightSteps), 0 };
	model_.values.push_back(std::move(value));
	return model_.values.size() - 1;
}

ValueId ResnetBuilder::add(const char *type, Kind kind, std::vector<ValueId> inputs,
			   const Extents &out)
{
	const ValueId value = tensor(out);

	model_.operators.push_back(
		{ model_.values[value].name, type, std::move(kind), std::move(inputs), { value } });
	return value;
}

ValueId ResnetBuilder::convolution(ValueId x, uint32_t count, uint32_t size, uint32_t stride,
				   bool relu)
{
	const Extents in = shape(x);
	const uint32_t pad = size / 2;
	const ValueId weights = kernels({ count, in[3], size, size });
	Convolution conv;

	conv.stride = { stride, stride };
	conv.padding = { pad, pad, pad, pad };
	if (relu)
		conv.activation = kRelu;
	return add("Convolution", conv, { x, weights },
		   { 1, (in[1] + 2 * pad - size) / stride + 1,
		     (in[2] + 2 * pad - size) / stride + 1, count });
}

ValueId ResnetBuilder::sum(ValueId a, ValueId b)
{
	return add("Add", Elementwise{ Elementwise::Function::Add, kRelu }, { a, b },
		   Extents(shape(a)));
}

ValueId ResnetBuilder::basicBlock(ValueId x, uint32_t channels, uint32_t stride)
{
	const ValueId first = convolution(x, channels, 3, stride);
	const ValueId second = convolution(first, channels, 3, 1, false);

	if (stride == 1 && shape(x)[3] == channels)
		return sum(second, x);
	return sum(second, convolution(x, channels, 1, stride, false));
}

ValueId ResnetBuilder::bottleneck(ValueId x, uint32_t channels, uint32_t stride)
{
	const ValueId first = convolution(x, channels, 1, 1);
	const ValueId second = convolution(first, channels, 3, stride);
	const ValueId third = convolution(second, 4 * channels, 1, 1, false);

	if (stride == 1 && shape(x)[3] == 4 * channels)
		return sum(third, x);
	return sum(third, convolution(x, 4 * channels, 1, stride, false));
}

Model ResnetBuilder::build(Resnet which)
{
	constexpr uint32_t blocks[][4] = { { 2, 2, 2, 2 }, { 3, 4, 6, 3 } };
	const bool deep = which == Resnet::Layers50;
	ValueId x = tensor({ 1, kPixels, kPixels, 3 });

	model_.inputs = { x };
	x = convolution(x, 64, 7, 2);
	const Pool pool{ Pool::Method::Max, { 3, 3 }, { 2, 2 }, { 1, 1, 1, 1 }, false, {} };
	x = add("MaxPool", pool, { x }, { 1, shape(x)[1] / 2, shape(x)[2] / 2, 64 });
	for (uint32_t stage = 0; stage < 4; stage++) {
		for (uint32_t block = 0; block < blocks[deep][stage]; block++) {
			const uint32_t stride = stage > 0 && block == 0 ? 2 : 1;
			x = deep ? bottleneck(x, 64U << stage, stride)
				 : basicBlock(x, 64U << stage, stride);
		}
	}
	const uint32_t channels = shape(x)[3];
	x = add("GlobalAveragePool", wholeAverage(shape(x)), { x }, { 1, 1, 1, channels });
	x = add("Flatten", Reshape{}, { x }, { 1, channels });
	const ValueId weights = kernels({ kClasses, shape(x)[1] });
	x = add("FullyConnected", FullyConnected{}, { x, weights }, { 1, kClasses });
	model_.outputs = { x };
	return std::move(model_);
}

Result<ConvShape> shapeOf(const Model &model, const Operator &operation, const Convolution &conv)
{
	const Extents &in = model.values[operation.inputs[0]].shape;
	const Extents &kernels = model.values[operation.inputs[1]].shape;

	if (kernels[2] != kernels[3] || conv.stride.x != conv.stride.y || conv.dilation.x != 1 ||
	    conv.dilation.y != 1 || conv.padding.left != conv.padding.top ||
	    conv.padding.right != conv.padding.bottom)
		return fail(ErrorCode::Unsupported, "measure network", operation.name,
			    "the convolution is not square, or dilated");
	return ConvShape{ .name = "",
			  .width = in[2],
			  .height = in[1],
			  .channels = in[3],
			  .kernels = kernels[0],
			  .kernelSize = kernels[2],
			  .stride = conv.stride.x,
			  .padding = conv.padding.left,
			  .paddingBehind = conv.padding.right,
			  .groups = conv.groups };
}

ConvShape shapeOf(const Model &model, const Operator &operation)
{
	const Extents &weights = model.values[operation.inputs[1]].shape;
	const uint64_t elements = elementCount(model.values[operation.inputs[0]].shape);

	return { .name = "",
		 .width = static_cast<uint32_t>(elements / weights[1]),
		 .height = 1,
		 .channels = weights[1],
		 .kernels = weights[0] };
}

} /* namespace */

Model resnet(Resnet which, ElementType type)
{
	return ResnetBuilder(type).build(which);
}

Result<std::vector<ConvShape>> convolutionsOf(const Model &model)
{
	std::vector<ConvShape> shapes;

	for (const Operator &operation : model.operators) {
		if (const auto *conv = std::get_if<Convolution>(&operation.kind)) {
			auto shape = shapeOf(model, operation, *conv);
			if (!shape)
				return forward(shape);
			shapes.push_back(*shape);
		} else if (std::holds_alternative<FullyConnected>(operation.kind)) {
			shapes.push_back(shapeOf(model, operation));
		}
	}
	return shapes;
}

} /* namespace nvdla::bench */
