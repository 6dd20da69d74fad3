/* SPDX-License-Identifier: MIT */
/*
 * Reads each type of layer, with the meanings and defaults of Caffe's own layers.
 */
#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <optional>

#include <fmt/core.h>

#include "layer.h"

namespace nvdla::compiler::caffe
{

namespace
{

/* Lines and columns: one number for both or two, or those of each axis. */
template<typename Both>
Shape pairOf(const Both &both, int64_t usual, std::optional<uint32_t> lines,
	     std::optional<uint32_t> columns)
{
	return { lines.value_or(both.empty() ? usual : *both.begin()),
		 columns.value_or(both.empty() ? usual : *both.rbegin()) };
}

#define NVDLA_CAFFE_OPTIONAL(message, field)                                                       \
	((message).has_##field() ? std::optional((message).field()) : std::nullopt)

/* Windows of a convolution or pooling are attributes of the operator that was added last. */
template<typename Parameter>
Shape setWindows(LayerReader &reader, const Parameter &from)
{
	const Shape kernel = pairOf(from.kernel_size(), 0, NVDLA_CAFFE_OPTIONAL(from, kernel_h),
				    NVDLA_CAFFE_OPTIONAL(from, kernel_w));
	const Shape pad = pairOf(from.pad(), 0, NVDLA_CAFFE_OPTIONAL(from, pad_h),
				 NVDLA_CAFFE_OPTIONAL(from, pad_w));

	reader.need(kernel[0] > 0 && kernel[1] > 0, "kernel_size", "is missing");
	reader.support(from.kernel_size_size() <= 2 && from.pad_size() <= 2 &&
			       from.stride_size() <= 2,
		       "kernel_size", "pad or stride has more than two numbers");
	reader.set("kernel_shape", kernel)
		.set("pads", { pad[0], pad[1], pad[0], pad[1] })
		.set("strides", pairOf(from.stride(), 1, NVDLA_CAFFE_OPTIONAL(from, stride_h),
				       NVDLA_CAFFE_OPTIONAL(from, stride_w)));
	return kernel;
}

enum class Convolved { Plain, Depthwise, Transposed };

template<Convolved kind>
Tensors readConvolution(LayerReader &reader)
{
	const pb::ConvolutionParameter &from = reader.layer().convolution_param();
	const bool transposed = kind == Convolved::Transposed;
	const int64_t outputs = from.num_output();
	const int64_t groups =
		kind == Convolved::Depthwise && !from.has_group() ? outputs : from.group();
	Tensors operands = { reader.bottom() };

	reader.support(from.axis() == 1, "axis", "is not 1");
	reader.support(from.dilation_size() <= 2, "dilation", "has more than two numbers");
	if (!reader.need(outputs > 0 && groups > 0 && outputs % groups == 0, "num_output",
			 fmt::format("is {} in {} groups", outputs, groups)))
		return {};
	const Tensor made = reader.add(transposed ? "ConvTranspose" : "Conv", operands);
	const Shape kernel = setWindows(reader, from);
	reader.set("group", groups);
	if (from.dilation_size())
		reader.set("dilations", pairOf(from.dilation(), 1, {}, {}));
	reader.addInput(
		reader.constant(reader.numbersOf(reader.blob(0)),
				{ transposed ? -1 : outputs, transposed ? outputs / groups : -1,
				  kernel[0], kernel[1] }));
	if (from.bias_term())
		reader.addInput(reader.constant(reader.numbersOf(reader.blob(1)), { outputs }));
	return { made };
}

Tensors readInnerProduct(LayerReader &reader)
{
	const pb::InnerProductParameter &from = reader.layer().inner_product_param();
	const int64_t outputs = from.num_output();

	reader.support(from.axis() == 1, "axis", "is not 1");
	Tensor made = reader.add("Gemm", { reader.add("Flatten", { reader.bottom() }) });
	reader.set("transB", int64_t{ !from.transpose() });
	reader.addInput(
		reader.constant(reader.numbersOf(reader.blob(0)),
				from.transpose() ? Shape{ -1, outputs } : Shape{ outputs, -1 }));
	if (from.bias_term())
		reader.addInput(reader.constant(reader.numbersOf(reader.blob(1)), { outputs }));
	made.rank = 2;
	return { made };
}

/* A last window that is not full is one, and padding counts as far as it goes. */
Tensors readPooling(LayerReader &reader)
{
	const pb::PoolingParameter &from = reader.layer().pooling_param();
	const bool isMax = from.pool() == pb::PoolingParameter::MAX;

	reader.support(from.pool() != pb::PoolingParameter::STOCHASTIC, "pool",
		       "is STOCHASTIC; MAX and AVE are known");
	if (from.global_pooling())
		return { reader.add(isMax ? "GlobalMaxPool" : "GlobalAveragePool",
				    { reader.bottom() }) };
	const Tensor made = reader.add(isMax ? "MaxPool" : "AveragePool", { reader.bottom() });
	setWindows(reader, from);
	reader.set("ceil_mode", int64_t{ from.round_mode() == pb::PoolingParameter::CEIL });
	if (!isMax)
		reader.set("count_include_pad", int64_t{ 1 });
	return { made };
}

Tensors readLrn(LayerReader &reader)
{
	const pb::LrnParameter &from = reader.layer().lrn_param();
	const Tensor made = reader.add("LRN", { reader.bottom() });

	reader.support(from.norm_region() == pb::LrnParameter::ACROSS_CHANNELS, "norm_region",
		       "is WITHIN_CHANNEL; ACROSS_CHANNELS is known");
	reader.set("size", int64_t{ from.local_size() })
		.set("alpha", from.alpha())
		.set("beta", from.beta())
		.set("bias", from.k());
	return { made };
}

/* x * factor + sum; nothing where that is x. */
Tensor affine(LayerReader &reader, Tensor x, float factor, float sum)
{
	if (factor != 1)
		x = reader.add("Mul", { x, reader.constant(Numbers{ factor }, { 1 }) });
	if (sum != 0)
		x = reader.add("Add", { x, reader.constant(Numbers{ sum }, { 1 }) });
	return x;
}

Tensors readEltwise(LayerReader &reader)
{
	const pb::EltwiseParameter &from = reader.layer().eltwise_param();
	Tensors operands = reader.bottoms();

	if (from.operation() == pb::EltwiseParameter::MAX)
		return { reader.add("Max", operands) };
	if (from.operation() == pb::EltwiseParameter::PROD) {
		Tensor made = reader.bottom();
		for (size_t i = 1; i < operands.size(); i++)
			made = reader.add("Mul", { made, operands[i] });
		return { made };
	}
	const auto factors = static_cast<size_t>(from.coeff_size());
	if (!reader.need(!factors || factors == operands.size(), "coeff",
			 fmt::format("has {} numbers for {} bottoms", factors, operands.size())))
		return {};
	for (size_t i = 0; i < factors; i++)
		operands[i] = affine(reader, operands[i], from.coeff(static_cast<int>(i)), 0);
	return { reader.add("Sum", operands) };
}

Tensors readConcat(LayerReader &reader)
{
	const pb::ConcatParameter &from = reader.layer().concat_param();
	const Tensor made = reader.add("Concat", reader.bottoms());

	reader.set("axis", reader.axis(from.has_axis() ? from.axis() : from.concat_dim()));
	return { made };
}

/* An operand with axes from one on, and as many of one element behind them as it takes. */
Shape meeting(LayerReader &reader, Shape shape, int64_t axis)
{
	const auto size = static_cast<size_t>(axis) + shape.size();

	if (reader.need(size <= reader.bottom().rank, "axis",
			"leaves fewer axes than there are factors or sums"))
		shape.resize(reader.bottom().rank - static_cast<size_t>(axis), 1);
	return shape;
}

Tensor meeting(LayerReader &reader, const pb::Blob &blob, int64_t axis)
{
	const Shape shape(blob.shape().dim().begin(), blob.shape().dim().end());

	return reader.constant(reader.numbersOf(blob), meeting(reader, shape, axis));
}

/* Factors or sums are the second bottom, or else the first weights; then come Scale's sums. */
template<bool isScale>
Tensors readScale(LayerReader &reader)
{
	const pb::ScaleParameter &from =
		isScale ? reader.layer().scale_param() : reader.layer().bias_param();
	const int64_t axis = reader.axis(from.axis());
	const bool isComputed = reader.bottoms().size() > 1;
	Tensor operand;

	if (isComputed)
		operand = reader.add("Reshape",
				     { reader.bottom(1),
				       reader.constant(meeting(
					       reader, Shape(reader.bottom(1).rank, 0), axis)) });
	else
		operand = meeting(reader, reader.blob(0), axis);
	Tensor made = reader.add(isScale ? "Mul" : "Add", { reader.bottom(), operand });
	if (from.bias_term())
		made = reader.add("Add",
				  { made, meeting(reader, reader.blob(isComputed ? 0 : 1), axis) });
	return { made };
}

/* Weights are sums over samples of means and variances, and what to divide these by. */
Tensors readBatchNorm(LayerReader &reader)
{
	const pb::BatchNormParameter &from = reader.layer().batch_norm_param();
	const Numbers divisor = reader.numbersOf(reader.blob(2));
	const float factor = divisor.size() == 1 && divisor[0] != 0 ? 1 / divisor[0] : 0;
	Numbers means = reader.numbersOf(reader.blob(0));
	Numbers variances = reader.numbersOf(reader.blob(1));

	reader.support(from.use_global_stats(), "use_global_stats",
		       "is false: what the layer computes depends on the rest of a batch");
	for (Numbers *numbers : { &means, &variances })
		for (float &number : *numbers)
			number *= factor;
	Tensors operands = { reader.bottom() };
	for (const Numbers &numbers :
	     { Numbers(means.size(), 1), Numbers(means.size(), 0), means, variances })
		operands.push_back(reader.constant(numbers, { -1 }));
	const Tensor made = reader.add("BatchNormalization", operands);
	reader.set("epsilon", from.eps());
	return { made };
}

Tensors readPower(LayerReader &reader)
{
	const pb::PowerParameter &from = reader.layer().power_param();
	const Tensor x = affine(reader, reader.bottom(), from.scale(), from.shift());

	if (from.power() == 1)
		return { x };
	return { reader.add("Pow", { x, reader.constant(Numbers{ from.power() }, { 1 }) }) };
}

Tensors readRelu(LayerReader &reader)
{
	const float slope = reader.layer().relu_param().negative_slope();
	const Tensor made = reader.add(slope == 0 ? "Relu" : "LeakyRelu", { reader.bottom() });

	if (slope != 0)
		reader.set("alpha", slope);
	return { made };
}

Tensors readRelu6(LayerReader &reader)
{
	return { reader.add("Clip", { reader.bottom(), reader.constant(Numbers{ 0 }, {}),
				      reader.constant(Numbers{ 6 }, {}) }) };
}

Tensors readElu(LayerReader &reader)
{
	const Tensor made = reader.add("Elu", { reader.bottom() });

	reader.set("alpha", reader.layer().elu_param().alpha());
	return { made };
}

/* A slope for each channel, or one for all. */
Tensors readPrelu(LayerReader &reader)
{
	Shape shape(std::max<size_t>(reader.bottom().rank, 2) - 1, 1);

	shape[0] = -1;
	return { reader.add(
		"PRelu",
		{ reader.bottom(), reader.constant(reader.numbersOf(reader.blob(0)), shape) }) };
}

Tensors readSoftmax(LayerReader &reader)
{
	const Tensor made = reader.add("Softmax", { reader.bottom() });

	reader.set("axis", reader.axis(reader.layer().softmax_param().axis()));
	return { made };
}

/* Each top is the bottom. */
Tensors readSame(LayerReader &reader)
{
	return Tensors(static_cast<size_t>(reader.layer().top_size()), reader.bottom());
}

Tensors readFlatten(LayerReader &reader)
{
	const pb::FlattenParameter &from = reader.layer().flatten_param();
	Tensor made = reader.add("Flatten", { reader.bottom() });

	reader.support(from.axis() == 1 && from.end_axis() == -1, "axis",
		       "is not 1, or end_axis not -1");
	made.rank = 2;
	return { made };
}

Tensors readReshape(LayerReader &reader)
{
	const pb::ReshapeParameter &from = reader.layer().reshape_param();
	const Shape shape(from.shape().dim().begin(), from.shape().dim().end());

	reader.support(from.axis() == 0 && from.num_axes() == -1, "axis",
		       "is not 0, or num_axes not -1");
	Tensor made = reader.add("Reshape", { reader.bottom(), reader.constant(shape) });
	made.rank = shape.size();
	return { made };
}

/* Axes that are not named come behind, as they are. */
Tensors readPermute(LayerReader &reader)
{
	const auto &named = reader.layer().permute_param().order();
	const Tensor made = reader.add("Transpose", { reader.bottom() });
	Shape order(named.begin(), named.end());

	for (int64_t axis = 0; axis < static_cast<int64_t>(made.rank); axis++)
		if (std::ranges::find(order, axis) == order.end())
			order.push_back(axis);
	reader.set("perm", order);
	return { made };
}

Tensors readSlice(LayerReader &reader)
{
	const pb::SliceParameter &from = reader.layer().slice_param();
	const int64_t axis = reader.axis(from.has_axis() ? from.axis() : from.slice_dim());
	const auto tops = static_cast<size_t>(reader.layer().top_size());
	Shape points = { 0 };
	Tensors made;

	if (!from.slice_point_size()) {
		made = { reader.add("Split", { reader.bottom() }) };
		reader.set("axis", axis);
		while (made.size() < tops)
			made.push_back(reader.addOutput());
		return made;
	}
	points.insert(points.end(), from.slice_point().begin(), from.slice_point().end());
	points.push_back(std::numeric_limits<int32_t>::max());
	for (size_t i = 0; i + 1 < points.size(); i++)
		made.push_back(
			reader.add("Slice", { reader.bottom(), reader.constant(Shape{ points[i] }),
					      reader.constant(Shape{ points[i + 1] }),
					      reader.constant(Shape{ axis }) }));
	return made;
}

Tensors readArgMax(LayerReader &reader)
{
	const pb::ArgMaxParameter &from = reader.layer().argmax_param();
	const Tensor made = reader.add("ArgMax", { reader.bottom() });

	reader.support(from.has_axis(), "axis", "is missing");
	reader.support(!from.out_max_val() && from.top_k() == 1, "top_k",
		       "is not 1, or out_max_val is true");
	reader.set("axis", reader.axis(from.axis()));
	return { made };
}

/* Channels with a norm of one, times a factor each. */
Tensors readNormalize(LayerReader &reader)
{
	const Tensor made = reader.add("LpNormalization", { reader.bottom() });

	reader.set("axis", int64_t{ 1 }).set("p", int64_t{ 2 });
	reader.support(!reader.layer().norm_param().across_spatial(), "across_spatial",
		       "is not false");
	return { reader.add(
		"Mul", { made, reader.constant(reader.numbersOf(reader.blob(0)), { -1, 1, 1 }) }) };
}

/* a x + y, of networks that weigh their channels. */
Tensors readAxpy(LayerReader &reader)
{
	return { reader.add("Add", { reader.add("Mul", { reader.bottom(1), reader.bottom(0) }),
				     reader.bottom(2) }) };
}

Tensors readNothing(LayerReader & /*reader*/)
{
	return {};
}

} /* namespace */

Tensors readLayer(LayerReader &reader)
{
	/* Layers that are one operator without attributes. */
	static const std::map<std::string, const char *> operators = {
		{ "AbsVal", "Abs" },
		{ "Sigmoid", "Sigmoid" },
		{ "TanH", "Tanh" },
	};
	static const std::map<std::string, Tensors (*)(LayerReader &)> types = {
		{ "ArgMax", readArgMax },
		{ "Axpy", readAxpy },
		{ "BatchNorm", readBatchNorm },
		{ "Bias", readScale<false> },
		{ "Concat", readConcat },
		{ "Convolution", readConvolution<Convolved::Plain> },
		{ "ConvolutionDepthwise", readConvolution<Convolved::Depthwise> },
		{ "Deconvolution", readConvolution<Convolved::Transposed> },
		{ "DepthwiseConvolution", readConvolution<Convolved::Depthwise> },
		{ "Dropout", readSame },
		{ "ELU", readElu },
		{ "Eltwise", readEltwise },
		{ "Flatten", readFlatten },
		{ "InnerProduct", readInnerProduct },
		{ "LRN", readLrn },
		{ "Normalize", readNormalize },
		{ "PReLU", readPrelu },
		{ "Permute", readPermute },
		{ "Pooling", readPooling },
		{ "Power", readPower },
		{ "ReLU", readRelu },
		{ "ReLU6", readRelu6 },
		{ "Reshape", readReshape },
		{ "Scale", readScale<true> },
		{ "Silence", readNothing },
		{ "Slice", readSlice },
		{ "Softmax", readSoftmax },
		{ "Split", readSame },
	};
	const std::string &type = reader.layer().type();

	if (const auto found = types.find(type); found != types.end())
		return found->second(reader);
	const auto known = operators.find(type);
	Tensors made = { reader.add(known == operators.end() ? type : known->second,
				    reader.bottoms()) };
	while (made.size() < static_cast<size_t>(reader.layer().top_size()))
		made.push_back(reader.addOutput());
	return made;
}

} /* namespace nvdla::compiler::caffe */
