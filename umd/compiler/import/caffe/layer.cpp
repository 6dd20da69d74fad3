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

/* A type may have several rows; the first whose \a when matches the layer's fields applies. */
struct Row {
	std::string types;
	std::string becomes = {};    /* ONNX operators, applied one after the other */
	std::string when = {};	     /* the message with the layer's fields, then field:value */
	std::string attributes = {}; /* of the last operator: name, name=field or name=number */
	void (*more)(Layer &layer) = nullptr; /* adds whatever a row cannot express */
};

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
	void become(const Row &row);

	Fields fields; /* parameters of the layer's type */
	const Tensors bottoms;
	Tensors tops;	     /* initially the bottoms */
	const size_t wanted; /* number of tops */

	/* A bottom; beyond their number an unnamed tensor, which ONNX takes as an absent input. */
	Tensor bottom(size_t index = 0) const
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
		return axis < 0 ? axis + rank : axis;
	}

	/* Numbers of lines and columns: a list of one (for both) or two numbers, or two fields. */
	Shape pair(const std::string &both, const std::string &each, int64_t usual)
	{
		Shape made = fields.list<int64_t>(both);
		support(made.size() <= 2, both, "has more than two numbers");
		made.resize(2, made.empty() ? usual : made.front());
		for (const auto &[at, field] :
		     { std::pair(0U, each + "_h"), std::pair(1U, each + "_w") })
			made[at] = fields.has(field) ? fields.integer(field) : made[at];
		return made;
	}

	/* The numbers of a blob of weights. */
	Numbers numbers(size_t blob)
	{
		need(blob < blobs_.size(), "weights",
		     fmt::format("are {} blobs in the .caffemodel, {} or more are needed",
				 blobs_.size(), blob + 1));
		const Numbers numbers = blobs_[blob].list<float>("data");
		return numbers.empty() ? blobs_[blob].list<float, double>("double_data") : numbers;
	}
	/* A blob of weights as a constant, by default in the blob's own shape. */
	Tensor weights(size_t blob, Shape shape = {})
	{
		const Numbers numbers = this->numbers(blob);
		if (shape.empty())
			shape = blobs_[blob].part("shape").list<int64_t>("dim");
		return constant(numbers, shape);
	}
	bool hasBias() const { return fields.printed("bias_term") == "true"; }

	/* A constant of the graph. An extent of -1 is computed from the number of elements. */
	template<typename T>
	Tensor constant(const std::vector<T> &numbers, Shape shape = { -1 })
	{
		auto left = static_cast<int64_t>(numbers.size());
		for (const int64_t extent : shape)
			if (extent != -1)
				left = extent > 0 && left % extent == 0 ? left / extent : 0;
		if (const auto open = std::ranges::find(shape, -1); open != shape.end())
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
	/* Append an operator on the top and one more operand; its result becomes the top. */
	void apply(const std::string &type, const Tensor &operand)
	{
		tops = { add(type, { tops.front(), operand }) };
	}
	/* Like apply(), with the operand's first axis aligned with \a axis of the top. */
	void applyAlong(const std::string &type, const Tensor &operand, int64_t axis)
	{
		const int64_t axes = static_cast<int64_t>(tops.front().rank) - axis;
		Shape shape(operand.rank); /* zeros: ONNX keeps these extents */
		need(axes >= std::ssize(shape), "axis",
		     "leaves fewer axes than there are factors or sums");
		shape.resize(static_cast<size_t>(axes), 1);
		apply(type, add("Reshape", { operand, constant(shape) }));
	}
	/* Append an operator on a tensor and a number, unless the number is the neutral element. */
	void applyNumber(Tensor &x, const char *type, float number, float neutral)
	{
		if (number != neutral)
			x = add(type, { x, constant(Numbers{ number }) });
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

/* Factors or summands are the second bottom, else the first blob; Scale's bias is the next one. */
template<bool isScale>
void addScale(Layer &layer)
{
	const int64_t axis = layer.axis("axis");
	const bool isComputed = layer.bottoms.size() > 1;

	layer.applyAlong(isScale ? "Mul" : "Add", isComputed ? layer.bottom(1) : layer.weights(0),
			 axis);
	if (layer.hasBias())
		layer.applyAlong("Add", layer.weights(isComputed ? 0 : 1), axis);
}

/* Weights of the operator that was added last, and a bias where the layer has one. */
void addWeights(Layer &layer, const Shape &shape)
{
	layer.addInput(layer.weights(0, shape));
	if (layer.hasBias())
		layer.addInput(layer.weights(1, { layer.fields.integer("num_output") }));
}

/* \return lines and columns of the kernel, which have to be given */
Shape addWindows(Layer &layer)
{
	const Shape kernel = layer.pair("kernel_size", "kernel", 0);
	const Shape pad = layer.pair("pad", "pad", 0);

	layer.set("kernel_shape", kernel);
	layer.set("pads", Shape{ pad[0], pad[1], pad[0], pad[1] });
	layer.set("strides", layer.pair("stride", "stride", 1));
	return kernel;
}

/* Windows of a pooling; with round_mode CEIL an incomplete last window counts. */
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

void addPower(Layer &layer)
{
	layer.applyNumber(layer.tops[0], "Mul", layer.fields.number("scale"), 1);
	layer.applyNumber(layer.tops[0], "Add", layer.fields.number("shift"), 0);
	layer.applyNumber(layer.tops[0], "Pow", layer.fields.number("power"), 1);
}

void addSum(Layer &layer)
{
	const auto factors = layer.fields.list<float>("coeff");

	layer.need(factors.empty() || factors.size() == layer.tops.size(), "coeff",
		   fmt::format("has {} numbers for {} bottoms", factors.size(), layer.tops.size()));
	for (size_t i = 0; i < factors.size(); i++)
		layer.applyNumber(layer.tops[i], "Mul", factors[i], 1);
	layer.tops = { layer.add("Sum", layer.tops) };
}

/* Blobs are sums of means and of variances over samples, and the number that divides both. */
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

/* Axes that the layer does not name follow the named ones, in ascending order. */
void addOrder(Layer &layer)
{
	Shape order = layer.fields.list<int64_t>("order");

	for (int64_t axis = 0; axis < static_cast<int64_t>(layer.bottom().rank); axis++)
		if (std::ranges::find(order, axis) == order.end())
			order.push_back(axis);
	layer.set("perm", order);
}

/* Slices of equal size, or between the layer's slice points. */
void addSlices(Layer &layer)
{
	const std::string axis = layer.fields.has("slice_dim") ? "slice_dim" : "axis";
	Shape points = layer.fields.list<int64_t>("slice_point");

	if (points.empty())
		return layer.become(
			{ .types = {}, .becomes = "Split", .attributes = "axis=" + axis });
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
		  l.tops = { l.add("Mul", { l.bottom(1), l.bottom(0) }) };
		  l.apply("Add", l.bottom(2));
	  } },
	{ "BatchNorm", "BatchNormalization", "batch_norm_param use_global_stats:true",
	  "epsilon=eps", addStatistics },
	{ "Bias", "", "bias_param", "", addScale<false> },
	{ "Concat", "Concat", "concat_param concat_dim:1", "axis" },
	{ "Concat", "Concat", "concat_param axis:1", "axis=concat_dim" },
	{ "ConvolutionDepthwise DepthwiseConvolution", "Conv", "convolution_param axis:1 group:1",
	  "group=num_output", addKernels<false> },
	{ "Convolution ConvolutionDepthwise DepthwiseConvolution", "Conv",
	  "convolution_param axis:1", "group", addKernels<false> },
	{ "Deconvolution", "ConvTranspose", "convolution_param axis:1", "group", addKernels<true> },
	{ "Dropout", "Identity" },
	{ "ELU", "Elu", "elu_param", "alpha" },
	{ "Eltwise", "Max", "eltwise_param operation:MAX" },
	{ "Eltwise", "", "eltwise_param operation:PROD", "",
	  [](Layer &l) {
		  for (size_t i = 1; i < l.bottoms.size(); i++)
			  l.apply("Mul", l.bottom(i));
	  } },
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
	  [](Layer &l) { l.applyAlong("Mul", l.weights(0), 1); } },
	{ "PReLU", "", "", "", [](Layer &l) { l.applyAlong("PRelu", l.weights(0), 1); } },
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
	{ "Reshape", "Reshape", "reshape_param axis:0 num_axes:-1", "",
	  [](Layer &l) {
		  const Shape shape = l.fields.part("shape").list<int64_t>("dim");
		  l.addInput(l.constant(shape));
		  l.tops[0].rank = shape.size();
	  } },
	{ "Scale", "", "scale_param", "", addScale<true> },
	{ "Sigmoid", "Sigmoid" },
	{ "Silence", "", "", "", [](Layer &l) { l.tops.clear(); } },
	{ "Slice", "", "slice_param", "", addSlices },
	{ "Softmax", "Softmax", "softmax_param", "axis" },
	{ "Split", "", "", "",
	  [](Layer &l) {
		  l.tops.clear();
		  while (l.tops.size() < l.wanted)
			  l.tops.push_back(l.add("Identity", { l.bottom() }));
	  } },
	{ "TanH", "Tanh" },
};

void Layer::become(const Row &row)
{
	need(!row.more || !bottoms.empty(), "bottom", "is missing");
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
		if (!std::ranges::count(wordsOf(row.types), type))
			continue;
		field.clear();
		for (const std::string &word : wordsOf(row.when)) {
			const size_t end = word.find(':');
			const std::string name = word.substr(0, end);
			if (end == word.npos) {
				fields = layer_.part(name);
			} else if (field.empty() && fields.printed(name) != word.substr(end + 1)) {
				field = name;
				why = fmt::format("is {}; {} is known", fields.printed(name),
						  word.substr(end + 1));
			}
		}
		if (field.empty())
			return become(row);
	}
	/* A type without rows becomes an operator that the importer of ONNX names as unknown. */
	support(field.empty(), field, why);
	become({ type, type });
}

} /* namespace */

Tensors readLayer(const Fields &layer, const std::vector<Fields> &blobs, const Tensors &bottoms,
		  schema::Graph &graph)
{
	Layer reader(layer, blobs, bottoms, graph);

	reader.read();
	return reader.tops;
}

} /* namespace nvdla::compiler::caffe */
