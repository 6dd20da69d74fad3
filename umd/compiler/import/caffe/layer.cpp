/* SPDX-License-Identifier: MIT */
/*
 * Reads each type of layer, with the meanings and defaults of Caffe's own layers.
 */
#include "layer.h"

#include <algorithm>
#include <cctype>
#include <limits>
#include <sstream>
#include <utility>

#include "compiler/rules.h"

namespace nvdla::compiler::caffe
{

namespace
{

using Numbers = std::vector<float>;

std::vector<std::string> wordsOf(const std::string &text)
{
	std::istringstream words(text);

	return { std::istream_iterator<std::string>(words), {} };
}

class Layer;

/* Of several rows of a type, the first one counts whose fields are as it says. */
struct Row {
	std::string type;
	std::string becomes = {}; /* operators of ONNX, each of what is made by those before */
	std::string when = {}; /* the part that has the fields, and field:value as it has to be */
	std::string attributes = {}; /* of the last operator: name, name=field or name=number */
	void (*more)(Layer &layer) = nullptr; /* what else it has */
};

/* Keeps the first rule that is broken; what is made after it is meaningless, but harmless. */
class Layer : public Rules
{
public:
	Layer(const Fields &layer, const std::vector<Fields> &blobs, const Tensors &bottoms,
	      schema::Graph &graph)
		: Rules(reading), fields(layer), bottoms(bottoms), tops(bottoms),
		  wanted(layer.list<std::string>("top").size()), name_(layer.text("name")),
		  layer_(layer), blobs_(blobs), graph_(graph)
	{
		setPart(fmt::format("layer '{}' ({})", name_, layer.text("type")));
	}

	void read();
	/* Append the operators of a row. */
	void become(const Row &row);

	Fields fields; /* those of the layer's type */
	const Tensors bottoms;
	Tensors tops;	     /* at first the bottoms */
	const size_t wanted; /* number of tops */

	/* One that is missing has no name, which is how ONNX says that. */
	Tensor bottom(size_t index = 0)
	{
		return index < bottoms.size() ? bottoms[index] : Tensor{};
	}

	/* An axis of the first bottom, counted from the front. */
	int64_t axis(const std::string &field)
	{
		const auto rank = static_cast<int64_t>(bottom().rank);
		const int64_t axis = fields.integer(field);

		need(axis >= -rank && axis < rank, "axis",
		     fmt::format("is {}, the bottom has {} axes", axis, rank));
		return failed() ? 0 : axis < 0 ? axis + rank : axis;
	}

	/* Lines and columns: one number for both or two, or those of each axis. */
	Shape pair(const std::string &both, const std::string &each, int64_t usual)
	{
		Shape made = fields.list<int64_t>(both);

		support(made.size() <= 2, both, "has more than two numbers");
		made.resize(2, made.empty() ? usual : made.front());
		if (fields.has(each + "_h"))
			made[0] = fields.integer(each + "_h");
		if (fields.has(each + "_w"))
			made[1] = fields.integer(each + "_w");
		return made;
	}

	/* The numbers of a blob of weights; none after an error. */
	Numbers numbers(size_t blob)
	{
		if (!need(blob < blobs_.size(), "weights",
			  fmt::format("are {} blobs in the .caffemodel, {} or more are needed",
				      blobs_.size(), blob + 1)))
			return {};
		return blobs_[blob].has("double_data")
			       ? blobs_[blob].list<float, double>("double_data")
			       : blobs_[blob].list<float>("data");
	}
	/* As a constant; without a shape the blob's own counts. */
	Tensor weights(size_t blob, Shape shape = {})
	{
		const Numbers numbers = this->numbers(blob);

		if (shape.empty() && !failed())
			shape = blobs_[blob].part("shape").list<int64_t>("dim");
		return constant(numbers, shape);
	}

	/* A constant of the graph. The shape may have one -1 for what the numbers give. */
	template<typename T>
	Tensor constant(const std::vector<T> &numbers, Shape shape = { -1 })
	{
		const auto open = std::ranges::find(shape, -1);
		auto left = static_cast<int64_t>(numbers.size());

		if (open != shape.end())
			*open = 1;
		for (const int64_t extent : shape)
			left = extent > 0 && left % extent == 0 ? left / extent : 0;
		if (open != shape.end())
			*open = std::exchange(left, left > 0);
		need(left == 1, "weights",
		     fmt::format("are {} numbers, which do not fit the layer's sizes",
				 numbers.size()));
		schema::Tensor &tensor = *graph_.add_initializer();
		tensor.set_name(unusedName());
		tensor.set_data_type(std::is_same_v<T, float> ? schema::FLOAT : schema::INT64);
		tensor.mutable_dims()->Add(shape.begin(), shape.end());
		tensor.set_raw_data(numbers.data(), numbers.size() * sizeof(T));
		return { tensor.name(), shape.size() };
	}

	/* Append an operator, whose result has as many axes as the first operand. */
	Tensor add(const std::string &type, const Tensors &operands)
	{
		node_ = graph_.add_node();
		node_->set_op_type(type);
		for (const Tensor &operand : operands)
			addInput(operand);
		return addOutput(type == "Flatten"  ? 2
				 : operands.empty() ? 0
						    : operands.front().rank);
	}
	/* Operands, results and attributes of the operator that was appended last. */
	void addInput(const Tensor &tensor) { node_->add_input(tensor.name); }
	Tensor addOutput(size_t rank)
	{
		node_->add_output(unusedName());
		return { *node_->output().rbegin(), rank };
	}
	template<typename T>
	void set(const std::string &name, const T &value)
	{
		schema::Attribute &to = *node_->add_attribute();

		to.set_name(name);
		if constexpr (std::is_same_v<T, Shape>) {
			to.set_type(schema::ATTRIBUTE_INTS);
			to.mutable_ints()->Add(value.begin(), value.end());
		} else if constexpr (std::is_same_v<T, float>) {
			to.set_type(schema::ATTRIBUTE_FLOAT);
			to.set_f(value);
		} else {
			to.set_type(schema::ATTRIBUTE_INT);
			to.set_i(value);
		}
	}

private:
	std::string unusedName() { return name_ + "/" + std::to_string(made_++); }

	const std::string name_;
	const Fields layer_;
	const std::vector<Fields> &blobs_;
	schema::Graph &graph_;
	schema::Node *node_ = nullptr;
	uint32_t made_ = 0;
};

/* An operand whose axes meet those of the bottom from one on, with axes of 1 behind them. */
Tensor meeting(Layer &layer, const Tensor &operand, int64_t axis)
{
	const int64_t behind = static_cast<int64_t>(layer.bottom().rank) - axis;
	Shape shape(operand.rank);

	if (layer.need(behind >= std::ssize(shape), "axis",
		       "leaves fewer axes than there are factors or sums"))
		shape.resize(static_cast<size_t>(behind), 1);
	return layer.add("Reshape", { operand, layer.constant(shape) });
}

/* Factors or sums are the second bottom, or else the first weights; then come Scale's sums. */
template<bool isScale>
void addScale(Layer &layer)
{
	const int64_t axis = layer.axis("axis");
	const bool isComputed = layer.bottoms.size() > 1;
	const Tensor operand = isComputed ? layer.bottoms[1] : layer.weights(0);

	layer.tops = { layer.add(isScale ? "Mul" : "Add",
				 { layer.bottom(), meeting(layer, operand, axis) }) };
	if (layer.fields.printed("bias_term") == "true")
		layer.tops = { layer.add(
			"Add", { layer.tops[0],
				 meeting(layer, layer.weights(isComputed ? 0 : 1), axis) }) };
}

/* Weights of the operator that was added last, and where the layer has one, a bias. */
void addWeights(Layer &layer, const Shape &shape)
{
	layer.addInput(layer.weights(0, shape));
	if (layer.fields.printed("bias_term") == "true")
		layer.addInput(layer.weights(1, { layer.fields.integer("num_output") }));
}

/* \return the kernel's lines and columns */
Shape addWindows(Layer &layer)
{
	const Shape kernel = layer.pair("kernel_size", "kernel", 0);
	const Shape pad = layer.pair("pad", "pad", 0);

	layer.need(kernel[0] > 0 && kernel[1] > 0, "kernel_size", "is missing");
	layer.set("kernel_shape", kernel);
	layer.set("pads", Shape{ pad[0], pad[1], pad[0], pad[1] });
	layer.set("strides", layer.pair("stride", "stride", 1));
	return kernel;
}

/* A last window that is not full is one, and padding counts as far as it goes. */
void addPooling(Layer &layer)
{
	addWindows(layer);
	layer.set("ceil_mode", layer.fields.printed("round_mode") == "CEIL");
}

template<bool isTransposed>
void addKernels(Layer &layer)
{
	const Shape kernel = addWindows(layer);
	const int64_t outputs = layer.fields.integer("num_output");
	const int64_t groups = std::max<int64_t>(layer.fields.integer("group"), 1);

	layer.need(outputs % groups == 0, "num_output",
		   fmt::format("is {} in {} groups", outputs, groups));
	layer.set("dilations", layer.pair("dilation", "dilation", 1));
	addWeights(layer, { isTransposed ? -1 : outputs, isTransposed ? outputs / groups : -1,
			    kernel[0], kernel[1] });
}

/* An operator with a number, where that changes something. */
void addWith(Layer &layer, Tensor &x, const char *type, float number, float neutral)
{
	if (number != neutral)
		x = layer.add(type, { x, layer.constant(Numbers{ number }) });
}

void addPower(Layer &layer)
{
	addWith(layer, layer.tops[0], "Mul", layer.fields.number("scale"), 1);
	addWith(layer, layer.tops[0], "Add", layer.fields.number("shift"), 0);
	addWith(layer, layer.tops[0], "Pow", layer.fields.number("power"), 1);
}

void addSum(Layer &layer)
{
	const auto factors = layer.fields.list<float>("coeff");

	layer.need(factors.empty() || factors.size() == layer.tops.size(), "coeff",
		   fmt::format("has {} numbers for {} bottoms", factors.size(), layer.tops.size()));
	for (size_t i = 0; i < factors.size() && !layer.failed(); i++)
		addWith(layer, layer.tops[i], "Mul", factors[i], 1);
	layer.tops = { layer.add("Sum", layer.tops) };
}

void addProduct(Layer &layer)
{
	layer.tops.resize(1);
	for (size_t i = 1; i < layer.bottoms.size(); i++)
		layer.tops = { layer.add("Mul", { layer.tops[0], layer.bottoms[i] }) };
}

/* Weights are sums over samples of means and variances, and what to divide these by. */
void addStatistics(Layer &layer)
{
	const Numbers divisor = layer.numbers(2);
	const float factor = divisor.size() == 1 && divisor[0] != 0 ? 1 / divisor[0] : 0;
	Numbers means = layer.numbers(0), variances = layer.numbers(1);

	for (Numbers *numbers : { &means, &variances })
		for (float &number : *numbers)
			number *= factor;
	for (const Numbers &numbers :
	     { Numbers(means.size(), 1), Numbers(means.size(), 0), means, variances })
		layer.addInput(layer.constant(numbers));
}

void addShape(Layer &layer)
{
	const Shape shape = layer.fields.part("shape").list<int64_t>("dim");

	layer.addInput(layer.constant(shape));
	layer.tops[0].rank = shape.size();
}

/* Axes that are not named come behind, as they are. */
void addOrder(Layer &layer)
{
	Shape order = layer.fields.list<int64_t>("order");

	for (int64_t axis = 0; axis < static_cast<int64_t>(layer.bottom().rank); axis++)
		if (std::ranges::find(order, axis) == order.end())
			order.push_back(axis);
	layer.set("perm", order);
}

/* Parts of one size, or from point to point. */
void addSlices(Layer &layer)
{
	const std::string axis = layer.fields.has("slice_dim") ? "slice_dim" : "axis";
	Shape points = layer.fields.list<int64_t>("slice_point");

	if (points.empty())
		return layer.become({ .becomes = "Split", .attributes = "axis=" + axis });
	layer.tops.clear();
	points.insert(points.begin(), 0);
	points.push_back(std::numeric_limits<int32_t>::max());
	for (size_t i = 0; i + 1 < points.size(); i++)
		layer.tops.push_back(layer.add(
			"Slice", { layer.bottom(), layer.constant(Shape{ points[i] }),
				   layer.constant(Shape{ points[i + 1] }),
				   layer.constant(Shape{ layer.fields.integer(axis) }) }));
}

const std::vector<Row> rows = {
	{ "AbsVal", "Abs" },
	{ "ArgMax", "ArgMax", "argmax_param out_max_val:false top_k:1", "axis",
	  [](Layer &l) { l.support(l.fields.has("axis"), "axis", "is missing"); } },
	/* a x + y, of networks that weigh their channels */
	{ "Axpy", "", "", "",
	  [](Layer &l) {
		  const Tensor weighed = l.add("Mul", { l.bottom(1), l.bottom(0) });
		  l.tops = { l.add("Add", { weighed, l.bottom(2) }) };
	  } },
	{ "BatchNorm", "BatchNormalization", "batch_norm_param use_global_stats:true",
	  "epsilon=eps", addStatistics },
	{ "Bias", "", "bias_param", "", addScale<false> },
	{ "Concat", "Concat", "concat_param concat_dim:1", "axis" },
	{ "Concat", "Concat", "concat_param axis:1", "axis=concat_dim" },
	{ "Convolution", "Conv", "convolution_param axis:1", "group", addKernels<false> },
	{ "ConvolutionDepthwise", "Conv", "convolution_param axis:1 group:1", "group=num_output",
	  addKernels<false> },
	{ "ConvolutionDepthwise", "Conv", "convolution_param axis:1", "group", addKernels<false> },
	{ "Deconvolution", "ConvTranspose", "convolution_param axis:1", "group", addKernels<true> },
	{ "DepthwiseConvolution", "Conv", "convolution_param axis:1 group:1", "group=num_output",
	  addKernels<false> },
	{ "DepthwiseConvolution", "Conv", "convolution_param axis:1", "group", addKernels<false> },
	{ "Dropout" },
	{ "ELU", "Elu", "elu_param", "alpha" },
	{ "Eltwise", "Max", "eltwise_param operation:MAX" },
	{ "Eltwise", "", "eltwise_param operation:PROD", "", addProduct },
	{ "Eltwise", "", "eltwise_param", "", addSum },
	{ "Flatten", "Flatten", "flatten_param axis:1 end_axis:-1" },
	{ "InnerProduct", "Flatten Gemm", "inner_product_param axis:1 transpose:true", "",
	  [](Layer &l) {
		  addWeights(l, { -1, l.fields.integer("num_output") });
	  } },
	{ "InnerProduct", "Flatten Gemm", "inner_product_param axis:1", "transB=1",
	  [](Layer &l) {
		  addWeights(l, { l.fields.integer("num_output"), -1 });
	  } },
	{ "LRN", "LRN", "lrn_param norm_region:ACROSS_CHANNELS",
	  "size=local_size alpha beta bias=k" },
	{ "Normalize", "LpNormalization", "norm_param across_spatial:false", "axis=1 p=2",
	  [](Layer &l) {
		  l.tops = { l.add("Mul", { l.tops[0], meeting(l, l.weights(0), 1) }) };
	  } },
	{ "PReLU", "", "", "",
	  [](Layer &l) {
		  l.tops = { l.add("PRelu", { l.bottom(), meeting(l, l.weights(0), 1) }) };
	  } },
	{ "Permute", "Transpose", "permute_param", "", addOrder },
	{ "Pooling", "GlobalMaxPool", "pooling_param global_pooling:true pool:MAX" },
	{ "Pooling", "GlobalAveragePool", "pooling_param global_pooling:true pool:AVE" },
	{ "Pooling", "MaxPool", "pooling_param pool:MAX", "", addPooling },
	{ "Pooling", "AveragePool", "pooling_param pool:AVE", "count_include_pad=1", addPooling },
	{ "Power", "", "power_param", "", addPower },
	{ "ReLU", "Relu", "relu_param negative_slope:0" },
	{ "ReLU", "LeakyRelu", "relu_param", "alpha=negative_slope" },
	{ "ReLU6", "Clip", "", "",
	  [](Layer &l) {
		  l.addInput(l.constant(Numbers{ 0 }, {}));
		  l.addInput(l.constant(Numbers{ 6 }, {}));
	  } },
	{ "Reshape", "Reshape", "reshape_param axis:0 num_axes:-1", "", addShape },
	{ "Scale", "", "scale_param", "", addScale<true> },
	{ "Sigmoid", "Sigmoid" },
	{ "Silence", "", "", "", [](Layer &l) { l.tops.clear(); } },
	{ "Slice", "", "slice_param", "", addSlices },
	{ "Softmax", "Softmax", "softmax_param", "axis" },
	{ "Split", "", "", "", [](Layer &l) { l.tops.assign(l.wanted, l.bottom()); } },
	{ "TanH", "Tanh" },
};

void Layer::become(const Row &row)
{
	if (row.more && !need(!bottoms.empty(), "bottom", "is missing"))
		return;
	for (const std::string &type : wordsOf(row.becomes))
		tops = { add(type, tops) };
	for (const std::string &word : wordsOf(row.attributes)) {
		const size_t end = word.find('=');
		const std::string name = word.substr(0, end), from = word.substr(end + 1);
		if (std::isdigit(from.front()))
			set(name, std::stoi(from));
		else if (fields.isFloat(from))
			set(name, fields.number(from));
		else
			set(name, name == "axis" ? axis(from) : fields.integer(from));
	}
	if (row.more)
		row.more(*this);
	while (!row.becomes.empty() && tops.size() < wanted)
		tops.push_back(addOutput(tops.front().rank));
}

void Layer::read()
{
	const std::string type = layer_.text("type");
	std::string field, why;

	for (const Row &row : rows) {
		if (row.type != type)
			continue;
		field.clear();
		for (const std::string &word : wordsOf(row.when)) {
			const size_t end = word.find(':');
			if (end == word.npos)
				fields = layer_.part(word);
			else if (field.empty() &&
				 fields.printed(word.substr(0, end)) != word.substr(end + 1)) {
				field = word.substr(0, end);
				why = fmt::format("is {}; {} is known", fields.printed(field),
						  word.substr(end + 1));
			}
		}
		if (field.empty())
			return become(row);
	}
	if (support(field.empty(), field, why))
		become({ type, type });
}

} /* namespace */

Result<Tensors> readLayer(const Fields &layer, const std::vector<Fields> &blobs,
			  const Tensors &bottoms, schema::Graph &graph)
{
	Layer reader(layer, blobs, bottoms, graph);

	reader.read();
	return reader.result().map([&] { return reader.tops; });
}

} /* namespace nvdla::compiler::caffe */
