/* SPDX-License-Identifier: MIT */
/*
 * Reads each type of layer, with the meanings and defaults of Caffe's own layers.
 */
#include "net.h"

#include <limits>
#include <sstream>

namespace nvdla::compiler::caffe
{

/* A type may have several rows; the first whose \a when matches the layer's fields applies. */
struct Row {
	std::string types;	     /* types of layers, between spaces */
	std::string becomes = {};    /* ONNX operators, applied one after the other */
	std::string when = {};	     /* the layer's ..._param message; conditions field:value */
	std::string attributes = {}; /* of the last operator: name, name=field, name=field:value */
	void (*more)(Net &net) = nullptr; /* adds inputs and operators that a row cannot name */
};

namespace
{

std::vector<std::string> wordsOf(const std::string &text)
{
	std::istringstream words(text);

	return { std::istream_iterator<std::string>(words), {} };
}

/* Multiplies by the second bottom (\a type Mul) or adds it (Add). Without a second bottom, the
 * first blob of weights takes its place. The next blob is the bias of a Scale layer. */
void addScale(Net &net, const char *type)
{
	const int64_t axis = net.fields.integer("axis");
	const bool isComputed = net.bottoms.size() > 1;

	net.applyAlong(type, isComputed ? net.bottom(1) : net.weights(0), axis);
	if (net.hasBias())
		net.applyAlong("Add", net.weights(isComputed ? 0 : 1), axis);
}

/* Adds kernels or matrix, and the bias if there is one, to the last operator's inputs. isTurned:
 * the first axis of the weights counts the input's channels, not the output's. */
template<bool isTurned>
void addWeights(Net &net)
{
	const int64_t outputs = net.fields.integer("num_output");
	const int64_t groups = net.fields.has("group") ? net.fields.integer("group") : 1;
	Shape shape = net.pair("kernel_size");

	net.need(groups > 0 && outputs % groups == 0, "num_output",
		 fmt::format("is {} in {} groups", outputs, groups));
	shape.insert(shape.begin(), { isTurned ? -1 : outputs, isTurned ? outputs / groups : -1 });
	net.addInput(net.weights(0, shape));
	if (net.hasBias())
		net.addInput(net.weights(1, { outputs }));
}

void addPower(Net &net)
{
	net.applyNumber(net.tops[0], "Mul", net.fields.number("scale"), 1);
	net.applyNumber(net.tops[0], "Add", net.fields.number("shift"), 0);
	net.applyNumber(net.tops[0], "Pow", net.fields.number("power"), 1);
}

void addSum(Net &net)
{
	const auto factors = net.fields.list<float>("coeff");

	net.need(factors.empty() || factors.size() == net.tops.size(), "coeff",
		 fmt::format("has {} numbers for {} bottoms", factors.size(), net.tops.size()));
	for (size_t i = 0; i < factors.size(); i++)
		net.applyNumber(net.tops[i], "Mul", factors[i], 1);
	net.tops = { net.add("Sum", net.tops) };
}

/* The blobs of weights: a sum of means, a sum of variances, and the divisor of both */
void addStatistics(Net &net)
{
	const Numbers divisor = net.numbers(2);
	const float factor = divisor.size() == 1 && divisor[0] != 0 ? 1 / divisor[0] : 0;

	for (const float number : { 1.0F, 0.0F })
		net.addInput(net.constant(Numbers(net.numbers(0).size(), number)));
	for (Numbers numbers : { net.numbers(0), net.numbers(1) }) {
		for (float &number : numbers)
			number *= factor;
		net.addInput(net.constant(numbers));
	}
}

/* Axes that the layer does not name follow the named ones, in ascending order. */
void addOrder(Net &net)
{
	Shape order = net.fields.list<int64_t>("order");

	for (int64_t axis = 0; axis < static_cast<int64_t>(net.bottom().rank); axis++)
		if (!std::ranges::count(order, axis))
			order.push_back(axis);
	net.set("perm", order);
}

/* Slices of equal size, or between the layer's slice points. */
void addSlices(Net &net)
{
	const std::string axis = net.fields.has("slice_dim") ? "slice_dim" : "axis";
	Shape points = net.fields.list<int64_t>("slice_point");

	if (points.empty())
		return net.become(
			{ .types = {}, .becomes = "Split", .attributes = "axis=" + axis });
	net.tops.clear();
	points.insert(points.begin(), 0);
	points.push_back(std::numeric_limits<int32_t>::max());
	for (size_t i = 0; i + 1 < points.size(); i++)
		net.tops.push_back(
			net.add("Slice", { net.bottom(), net.constant(Shape{ points[i] }),
					   net.constant(Shape{ points[i + 1] }),
					   net.constant(Shape{ net.fields.integer(axis) }) }));
}

const std::string windows = "kernel_shape=kernel_size pads=pad strides=stride ";
const std::string kernels = windows + "dilations=dilation ";

const std::vector<Row> rows = {
	{ "AbsVal", "Abs" },
	{ "ArgMax", "ArgMax", "argmax_param out_max_val:false top_k:1", "axis",
	  [](Net &n) { n.support(n.fields.has("axis"), "axis", "is missing"); } },
	/* Bottoms a, x, y: a * x + y, with a factor a for each channel (squeeze-and-excitation) */
	{ "Axpy", "", "", "",
	  [](Net &n) {
		  n.tops = { n.add("Mul", { n.bottom(1), n.bottom(0) }) };
		  n.apply("Add", n.bottom(2));
	  } },
	{ "BatchNorm", "BatchNormalization", "batch_norm_param use_global_stats:true",
	  "epsilon=eps", addStatistics },
	{ "Bias", "", "bias_param", "", [](Net &n) { addScale(n, "Add"); } },
	{ "Concat", "Concat", "concat_param concat_dim:1", "axis" },
	{ "Concat", "Concat", "concat_param axis:1", "axis=concat_dim" },
	{ "ConvolutionDepthwise DepthwiseConvolution", "Conv", "convolution_param axis:1 group:1",
	  kernels + "group=num_output", addWeights<false> },
	{ "Convolution ConvolutionDepthwise DepthwiseConvolution", "Conv",
	  "convolution_param axis:1", kernels + "group", addWeights<false> },
	{ "Deconvolution", "ConvTranspose", "convolution_param axis:1", kernels + "group",
	  addWeights<true> },
	{ "Dropout", "Identity" },
	{ "ELU", "Elu", "elu_param", "alpha" },
	{ "Eltwise", "Max", "eltwise_param operation:MAX" },
	{ "Eltwise", "", "eltwise_param operation:PROD", "",
	  [](Net &n) {
		  for (size_t i = 1; i < n.bottoms.size(); i++)
			  n.apply("Mul", n.bottom(i));
	  } },
	{ "Eltwise", "", "eltwise_param", "", addSum },
	{ "Flatten", "Flatten", "flatten_param axis:1 end_axis:-1" },
	{ "InnerProduct", "Flatten Gemm", "inner_product_param axis:1 transpose:true", "",
	  addWeights<true> },
	{ "InnerProduct", "Flatten Gemm", "inner_product_param axis:1", "transB=transpose:false",
	  addWeights<false> },
	{ "LRN", "LRN", "lrn_param norm_region:ACROSS_CHANNELS",
	  "size=local_size alpha beta bias=k" },
	/* "axis=across_spatial:false" is true here, that is 1: the axis of the channels. */
	{ "Normalize", "LpNormalization", "norm_param across_spatial:false",
	  "axis=across_spatial:false", [](Net &n) { n.applyAlong("Mul", n.weights(0), 1); } },
	{ "PReLU", "", "", "", [](Net &n) { n.applyAlong("PRelu", n.weights(0), 1); } },
	{ "Permute", "Transpose", "permute_param", "", addOrder },
	{ "Pooling", "GlobalMaxPool", "pooling_param global_pooling:true pool:MAX" },
	{ "Pooling", "GlobalAveragePool", "pooling_param global_pooling:true pool:AVE" },
	/* With round_mode CEIL an incomplete last window counts. */
	{ "Pooling", "MaxPool", "pooling_param pool:MAX", windows + "ceil_mode=round_mode:CEIL" },
	{ "Pooling", "AveragePool", "pooling_param pool:AVE",
	  windows + "ceil_mode=round_mode:CEIL count_include_pad=pool:AVE" },
	{ "Power", "", "power_param", "", addPower },
	{ "ReLU", "Relu", "relu_param negative_slope:0" },
	{ "ReLU", "LeakyRelu", "relu_param", "alpha=negative_slope" },
	{ "ReLU6", "Clip", "", "",
	  [](Net &n) {
		  n.addInput(n.constant(Numbers{ 0 }, {}));
		  n.addInput(n.constant(Numbers{ 6 }, {}));
	  } },
	{ "Reshape", "Reshape", "reshape_param axis:0 num_axes:-1", "",
	  [](Net &n) {
		  const Shape shape = n.fields.part("shape").list<int64_t>("dim");
		  n.addInput(n.constant(shape));
		  n.tops[0].rank = shape.size();
	  } },
	{ "Scale", "", "scale_param", "", [](Net &n) { addScale(n, "Mul"); } },
	{ "Sigmoid", "Sigmoid" },
	{ "Silence", "", "", "", [](Net &n) { n.tops.clear(); } },
	{ "Slice", "", "slice_param", "", addSlices },
	{ "Softmax", "Softmax", "softmax_param", "axis" },
	{ "Split", "", "", "",
	  [](Net &n) {
		  n.tops.clear();
		  while (n.tops.size() < n.wanted)
			  n.tops.push_back(n.add("Identity", { n.bottom() }));
	  } },
	{ "TanH", "Tanh" },
};

} /* namespace */

void Net::setFrom(const std::string &name, const std::string &field)
{
	const bool isFlag = field.find(':') != field.npos;

	if (!isFlag && fields.isFloat(field))
		addAttribute(name, schema::ATTRIBUTE_FLOAT).set_f(fields.number(field));
	else if (isFlag || !fields.isList(field))
		addAttribute(name, schema::ATTRIBUTE_INT)
			.set_i(isFlag ? fields.match(field) : fields.integer(field));
	else if (const Shape one = pair(field); !one.empty())
		set(name, name == "pads" ? Shape{ one[0], one[1], one[0], one[1] } : one);
}

void Net::become(const Row &row)
{
	need(!row.more || !bottoms.empty(), "bottom", "is missing");
	for (const std::string &type : wordsOf(row.becomes))
		tops = { add(type, tops) };
	for (const std::string &word : wordsOf(row.attributes)) {
		const size_t end = word.find('=');
		setFrom(word.substr(0, end), word.substr(end + 1));
	}
	if (row.more)
		row.more(*this);
	while (!row.becomes.empty() && tops.size() < wanted)
		tops.push_back(addOutput(tops.front().rank));
}

void Net::become(const Fields &layer, const std::string &type)
{
	std::string wrong;

	for (const Row &row : rows) {
		if (!std::ranges::count(wordsOf(row.types), type))
			continue;
		wrong.clear();
		for (const std::string &word : wordsOf(row.when)) {
			if (word.ends_with("_param"))
				fields = layer.part(word);
			else if (wrong.empty() && !fields.match(word))
				wrong = word;
		}
		if (wrong.empty())
			return become(row);
	}
	if (const size_t end = wrong.find(':'); end != wrong.npos)
		support(false, wrong.substr(0, end),
			fmt::format("is {}; {} is known", fields.printed(wrong.substr(0, end)),
				    wrong.substr(end + 1)));
	/* A type without rows becomes an operator that the importer of ONNX names as unknown. */
	become({ type, type });
}

} /* namespace nvdla::compiler::caffe */
