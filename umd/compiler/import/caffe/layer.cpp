/* SPDX-License-Identifier: MIT */
/*
 * Reads each type of layer, with the meanings and defaults of Caffe's own layers.
 */
#include "layer.h"

#include <algorithm>
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
	std::string attributes = {}; /* of the last operator: name, name=field, name=field:value */
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

	/* Lines and columns: a number for both or for each, or two fields; empty: not given. */
	Shape pair(const std::string &field) const
	{
		const std::string each = field.substr(0, field.find("_size"));
		Shape made = fields.has(field) ? fields.list<int64_t>(field) : Shape{};
		if (fields.has(each + "_h") || fields.has(each + "_w"))
			made = { fields.integer(each + "_h"), fields.integer(each + "_w") };
		if (made.size() == 1)
			made.push_back(made[0]);
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
	bool hasBias() const { return fields.match("bias_term:true"); }

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
		return addOutput(type == "Flatten" ? 2 : operands.empty() ? 0 : operands[0].rank);
	}
	/* Append an operator on the top and one more operand; its result becomes the top. */
	void apply(const std::string &type, const Tensor &operand)
	{
		tops = { add(type, { tops.front(), operand }) };
	}
	/* Like apply(), with the operand's first axis aligned with \a axis of the top. */
	void applyAlong(const std::string &type, const Tensor &operand, int64_t axis)
	{
		const auto rank = static_cast<int64_t>(tops.front().rank);
		const int64_t axes = axis < 0 ? -axis : rank - axis; /* from this one on */
		Shape shape(operand.rank); /* zeros: ONNX keeps these extents */
		need(axes >= std::ssize(shape) && axes <= rank, "axis",
		     fmt::format("is {}, for {} axes of weights and {} of the bottom", axis,
				 shape.size(), rank));
		shape.resize(static_cast<size_t>(axes), 1);
		apply(type, add("Reshape", { operand, constant(shape) }));
	}
	/* Append an operator on a tensor and a number, unless the number is the neutral element. */
	void applyNumber(Tensor &x, const char *type, float number, float neutral)
	{
		if (number != neutral)
			x = add(type, { x, constant(Numbers{ number }) });
	}

	/* Operands and attributes of the operator that was appended last. */
	void addInput(const Tensor &tensor) { node_->add_input(tensor.name); }
	void set(const std::string &name, int64_t number)
	{
		addAttribute(name, schema::ATTRIBUTE_INT).set_i(number);
	}
	void set(const std::string &name, const Shape &numbers)
	{
		schema::Attribute &made = addAttribute(name, schema::ATTRIBUTE_INTS);
		made.mutable_ints()->Add(numbers.begin(), numbers.end());
	}

private:
	void setFrom(const std::string &name, const std::string &field);
	schema::Attribute &addAttribute(const std::string &name, schema::AttributeType type)
	{
		schema::Attribute &made = *node_->add_attribute();
		made.set_name(name);
		made.set_type(type);
		return made;
	}
	Tensor addOutput(size_t rank)
	{
		node_->add_output(unusedName());
		return { *node_->output().rbegin(), rank };
	}
	std::string unusedName() { return name_ + "/" + std::to_string(made_++); }

	const std::string name_;
	const Fields layer_;
	const std::vector<Fields> &blobs_;
	schema::Graph &graph_;
	schema::Node *node_ = nullptr;
	uint32_t made_ = 0;
};

/* Factors or summands are the second bottom, else the first blob; Scale's bias is the next one. */
void addScale(Layer &layer, const char *type)
{
	const int64_t axis = layer.fields.integer("axis");
	const bool isComputed = layer.bottoms.size() > 1;

	layer.applyAlong(type, isComputed ? layer.bottom(1) : layer.weights(0), axis);
	if (layer.hasBias())
		layer.applyAlong("Add", layer.weights(isComputed ? 0 : 1), axis);
}

/* Kernels or a matrix, turned if its first axis counts channels of the bottom; perhaps a bias. */
template<bool isTurned>
void addWeights(Layer &layer)
{
	const int64_t outputs = layer.fields.integer("num_output");
	const int64_t groups = layer.fields.has("group") ? layer.fields.integer("group") : 1;
	Shape shape = layer.pair("kernel_size");

	layer.need(groups > 0 && outputs % groups == 0, "num_output",
		   fmt::format("is {} in {} groups", outputs, groups));
	shape.insert(shape.begin(), { isTurned ? -1 : outputs, isTurned ? outputs / groups : -1 });
	layer.addInput(layer.weights(0, shape));
	if (layer.hasBias())
		layer.addInput(layer.weights(1, { outputs }));
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

	for (const float number : { 1.0F, 0.0F })
		layer.addInput(layer.constant(Numbers(layer.numbers(0).size(), number)));
	for (Numbers numbers : { layer.numbers(0), layer.numbers(1) }) {
		for (float &number : numbers)
			number *= factor;
		layer.addInput(layer.constant(numbers));
	}
}

/* Axes that the layer does not name follow the named ones, in ascending order. */
void addOrder(Layer &layer)
{
	Shape order = layer.fields.list<int64_t>("order");

	for (int64_t axis = 0; axis < static_cast<int64_t>(layer.bottom().rank); axis++)
		if (!std::ranges::count(order, axis))
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

const std::string windows = "kernel_shape=kernel_size pads=pad strides=stride ";
const std::string kernels = windows + "dilations=dilation ";

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
	{ "Bias", "", "bias_param", "", [](Layer &l) { addScale(l, "Add"); } },
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
	  [](Layer &l) {
		  for (size_t i = 1; i < l.bottoms.size(); i++)
			  l.apply("Mul", l.bottom(i));
	  } },
	{ "Eltwise", "", "eltwise_param", "", addSum },
	{ "Flatten", "Flatten", "flatten_param axis:1 end_axis:-1" },
	{ "InnerProduct", "Flatten Gemm", "inner_product_param axis:1 transpose:true", "",
	  addWeights<true> },
	{ "InnerProduct", "Flatten Gemm", "inner_product_param axis:1", "transB=transpose:false",
	  addWeights<false> },
	{ "LRN", "LRN", "lrn_param norm_region:ACROSS_CHANNELS",
	  "size=local_size alpha beta bias=k" },
	{ "Normalize", "LpNormalization", "norm_param across_spatial:false", "",
	  [](Layer &l) {
		  l.set("axis", 1);
		  l.applyAlong("Mul", l.weights(0), 1);
	  } },
	{ "PReLU", "", "", "", [](Layer &l) { l.applyAlong("PRelu", l.weights(0), 1); } },
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
	{ "Scale", "", "scale_param", "", [](Layer &l) { addScale(l, "Mul"); } },
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

void Layer::setFrom(const std::string &name, const std::string &field)
{
	if (field.find(':') != field.npos)
		set(name, fields.match(field));
	else if (fields.isFloat(field))
		addAttribute(name, schema::ATTRIBUTE_FLOAT).set_f(fields.number(field));
	else if (!fields.isList(field))
		set(name, fields.integer(field));
	else if (const Shape one = pair(field); !one.empty())
		set(name, name == "pads" ? Shape{ one[0], one[1], one[0], one[1] } : one);
}

void Layer::become(const Row &row)
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

void Layer::read()
{
	const std::string type = layer_.text("type");
	std::string wrong;

	for (const Row &row : rows) {
		if (!std::ranges::count(wordsOf(row.types), type))
			continue;
		wrong.clear();
		for (const std::string &word : wordsOf(row.when)) {
			if (word.ends_with("_param"))
				fields = layer_.part(word);
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

} /* namespace */

Tensors readLayer(const Fields &layer, const std::vector<Fields> &blobs, const Tensors &bottoms,
		  schema::Graph &graph)
{
	Layer reader(layer, blobs, bottoms, graph);

	reader.read();
	return reader.tops;
}

} /* namespace nvdla::compiler::caffe */
