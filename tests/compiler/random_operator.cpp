/* SPDX-License-Identifier: MIT */
#include "random_operator.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <functional>

#include <nvdla/data_type.h>

namespace nvdla::test
{

namespace
{

using namespace compiler;

template<typename T>
void store(std::vector<std::byte> &data, double number)
{
	const T element = static_cast<T>(number);
	const auto *bytes = reinterpret_cast<const std::byte *>(&element);

	data.insert(data.end(), bytes, bytes + sizeof(element));
}

class Generator
{
public:
	Generator(std::mt19937_64 &random, ElementType type, bool joins)
		: random_(random), type_(type), joins_(joins)
	{
	}

	RandomModel makeOne();
	RandomModel makeSeveral();

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
	bool isInteger() const { return !isFloat(type_); }
	IntegerLimits limits() const
	{
		return integerLimits(type_ == ElementType::Int8 ? 8U : 16U);
	}
	Quantization quantization();
	Clamp clamp();
	/* Shapes with four axes, no longer than these. */
	Extents picture(uint32_t longest = 12, uint32_t channels = 70);
	/* What there is already, in a network. */
	std::vector<ValueId> written(const std::function<bool(const Extents &)> &fits) const;
	std::string named(const std::string &name) const;
	ValueId tensor(const std::string &name, const Extents &shape, const Quantization &all);
	/* What was written before, or an input of the model. */
	ValueId input(const Extents &shape);
	ValueId freshInput(const Extents &shape);
	ValueId output(const Extents &shape, const Quantization &quantization);
	ValueId kernels(const Extents &shape);
	ValueId bias(uint32_t count, ValueId input, ValueId weights);
	void makeOperator();
	void finish(Kind kind, std::vector<ValueId> inputs, ValueId output);
	/* An output scale at which few sums are cut off. */
	Quantization forSums(ValueId input, ValueId weights);

	void convolution();
	void fullyConnected();
	void elementwise();
	void limit();
	void pool();
	void globalAverage();
	void pad();
	void concatenation();
	void slice();
	void unary();
	void transposedConvolution();
	void prelu();
	void enlarge();
	void transpose();
	void argMax();
	void normalize();
	void localResponse();
	void reshape();

	std::mt19937_64 &random_;
	ElementType type_;
	bool joins_; /* operators read what others wrote */
	RandomModel made_;
};

Quantization Generator::quantization()
{
	if (!isInteger())
		return {};
	const auto scale = static_cast<double>(static_cast<float>(
		std::exp2(real(-9, 1)) / (type_ == ElementType::Int8 ? 1 : 256)));
	return { scale, type_ == ElementType::Int8 ? static_cast<int32_t>(from(0, 255)) - 128 : 0 };
}

Clamp Generator::clamp()
{
	const Clamp clamps[] = { {}, {}, { .low = 0 }, { 0, 6 }, { -1, 1 } };

	return clamps[from(0, 4)];
}

ValueId Generator::tensor(const std::string &name, const Extents &shape, const Quantization &all)
{
	Value value;

	value.name = name;
	value.type = type_;
	value.shape = shape;
	if (isInteger())
		value.quantization = all;
	made_.model.values.push_back(std::move(value));
	return made_.model.values.size() - 1;
}

std::string Generator::named(const std::string &name) const
{
	return joins_ ? name + std::to_string(made_.model.values.size()) : name;
}

std::vector<ValueId> Generator::written(const std::function<bool(const Extents &)> &fits) const
{
	std::vector<ValueId> found;

	for (ValueId id = 0; joins_ && id < made_.model.values.size(); id++) {
		const Value &value = made_.model.values[id];
		if (!value.isConstant && value.type == type_ && fits(value.shape))
			found.push_back(id);
	}
	return found;
}

Extents Generator::picture(uint32_t longest, uint32_t channels)
{
	const auto known = written([&](const Extents &shape) {
		return shape.size() == 4 && std::max(shape[1], shape[2]) <= longest &&
		       shape[3] <= channels;
	});

	/* The last ones more often: that makes chains. */
	if (!known.empty() && chance(0.9))
		return made_.model
			.values[chance(0.6) ? known.back() : known[from(0, known.size() - 1)]]
			.shape;
	return { 1, from(1, longest), from(1, longest), from(1, channels) };
}

ValueId Generator::input(const Extents &shape)
{
	const auto known = written([&](const Extents &other) { return other == shape; });

	return known.empty() || chance(0.1) ? freshInput(shape) : known[from(0, known.size() - 1)];
}

ValueId Generator::freshInput(const Extents &shape)
{
	const ValueId id = tensor("x" + std::to_string(made_.inputs.size()), shape, quantization());
	Numbers numbers;

	for (uint64_t i = 0; i < elementCount(shape); i++)
		numbers.push_back(isInteger()
					  ? std::round(real(static_cast<double>(limits().lowest),
							    static_cast<double>(limits().highest)))
					  : static_cast<double>(static_cast<float>(real(-4, 4))));
	made_.inputs.push_back(std::move(numbers));
	made_.model.inputs.push_back(id);
	return id;
}

ValueId Generator::output(const Extents &shape, const Quantization &all)
{
	return tensor(named("y"), shape, all);
}

/* Scales of kernels lie far apart, as they do in depthwise layers. */
ValueId Generator::kernels(const Extents &shape)
{
	Value value;

	/* Sums of a network's floats stay as large as what is summed. */
	const double steady =
		joins_ ? std::sqrt(shape[0] / static_cast<double>(elementCount(shape))) : 1;
	value.name = named("kernels");
	value.type = isInteger() ? ElementType::Int8 : ElementType::Float32;
	value.shape = shape;
	value.isConstant = true;
	for (uint64_t i = 0; i < elementCount(shape); i++) {
		if (isInteger())
			store<int8_t>(value.data, std::round(real(-127, 127)));
		else
			store<float>(value.data, real(-1, 1) * steady);
	}
	std::vector<Quantization> scales;
	const bool each = chance(0.7);
	for (uint32_t k = 0; k < (each ? shape[0] : 1); k++)
		scales.push_back(
			{ static_cast<double>(static_cast<float>(std::exp2(real(-12, -4)))), 0 });
	if (isInteger())
		value.quantization = TensorQuantization(scales);
	made_.model.values.push_back(std::move(value));
	return made_.model.values.size() - 1;
}

ValueId Generator::bias(uint32_t count, ValueId input, ValueId weights)
{
	Value value;

	value.name = named("bias");
	value.type = isInteger() ? ElementType::Int32 : ElementType::Float32;
	value.shape = { count };
	value.isConstant = true;
	for (uint32_t k = 0; k < count; k++) {
		if (isInteger())
			store<int32_t>(value.data, std::round(real(-20000, 20000)));
		else
			store<float>(value.data, real(-1, 1));
	}
	made_.model.values.push_back(std::move(value));
	return made_.model.values.size() - 1;
}

Quantization Generator::forSums(ValueId input, ValueId weights)
{
	Quantization result = quantization();
	const Value &kernel = made_.model.values[weights];
	double largest = 0;

	if (!isInteger())
		return {};
	for (const Quantization &one : kernel.quantization.values())
		largest = std::max(largest, one.scale);
	const auto size = static_cast<double>(elementCount(kernel.shape) / kernel.shape[0]);
	result.scale = static_cast<double>(
		static_cast<float>(made_.model.values[input].quantization.channel(0).scale *
				   largest * std::sqrt(size) * real(30, 120)));
	return result;
}

void Generator::finish(Kind kind, std::vector<ValueId> inputs, ValueId output)
{
	made_.model.operators.push_back({ made_.model.values[output].name,
					  "random",
					  std::move(kind),
					  std::move(inputs),
					  { output } });
	made_.model.outputs = { output };
}

void Generator::convolution()
{
	Convolution conv;
	const bool depthwise = chance(0.5);
	Extents x = picture();
	const uint32_t r = from(1, joins_ ? std::min(5U, x[1]) : 5);
	const uint32_t s = from(1, joins_ ? std::min(5U, x[2]) : 5);

	conv.stride = { from(1, 3), from(1, 3) };
	conv.dilation = { from(1, joins_ && 2 * s > x[2] ? 1 : 2),
			  from(1, joins_ && 2 * r > x[1] ? 1 : 2) };
	const uint32_t w = (s - 1) * conv.dilation.x + 1, h = (r - 1) * conv.dilation.y + 1;
	conv.padding = { from(0, w - 1), from(0, w - 1), from(0, h - 1), from(0, h - 1) };
	if (!joins_) {
		x[1] += h;
		x[2] += w;
	}
	conv.groups = depthwise ? x[3] : 1;
	conv.activation = clamp();
	const uint32_t k = depthwise ? x[3] * from(1, joins_ && x[3] > 35 ? 1 : 2) : from(1, 70);
	const ValueId in = input(x);
	const ValueId weights = kernels({ k, x[3] / conv.groups, r, s });
	std::vector<ValueId> inputs{ in, weights };
	if (chance(0.8))
		inputs.push_back(bias(k, in, weights));
	finish(conv, inputs,
	       output({ 1, (x[1] + conv.padding.top + conv.padding.bottom - h) / conv.stride.y + 1,
			(x[2] + conv.padding.left + conv.padding.right - w) / conv.stride.x + 1,
			k },
		      forSums(in, weights)));
}

void Generator::fullyConnected()
{
	const auto known = written([](const Extents &shape) { return shape.size() == 2; });
	const Extents x = known.empty() ? Extents{ from(1, 4), from(1, 200) }
					: made_.model.values[known.back()].shape;
	const uint32_t rows = x[0], c = x[1], k = from(1, 80);
	const ValueId in = input(x);
	const ValueId weights = kernels({ k, c });
	std::vector<ValueId> inputs{ in, weights };

	if (chance(0.8))
		inputs.push_back(bias(k, in, weights));
	finish(FullyConnected{ clamp() }, inputs, output({ rows, k }, forSums(in, weights)));
}

void Generator::elementwise()
{
	const Extents shape = picture();
	const Extents perChannel = { shape.back() };
	const ValueId a = input(chance(0.2) ? perChannel : shape);
	const ValueId b =
		input(made_.model.values[a].shape == shape && chance(0.2) ? perChannel : shape);
	const Quantization qa = made_.model.values[a].quantization.channel(0);
	const Quantization qb = made_.model.values[b].quantization.channel(0);
	Elementwise elementwise;
	Quantization out = quantization();

	/* Products of floats that were multiplied before become too large. */
	elementwise.function =
		static_cast<Elementwise::Function>(from(0, joins_ && !isInteger() ? 1 : 2));
	elementwise.activation = clamp();
	const bool product = elementwise.function == Elementwise::Function::Multiply;
	out.scale = static_cast<double>(
		static_cast<float>(product ? qa.scale * qb.scale * real(40, 200) *
						     (type_ == ElementType::Int16 ? 256 : 1)
					   : std::max(qa.scale, qb.scale) * real(0.7, 3)));
	finish(elementwise, { a, b }, output(shape, out));
}

/* A maximum or minimum with numbers for each channel, for each element, or one. */
void Generator::limit()
{
	const Extents x = picture();
	const Extents shapes[] = { { 1 }, { x[3] }, { x[1], x[2], x[3] } };
	const ValueId in = input(x);
	const Quantization all = made_.model.values[in].quantization.channel(0);
	const ValueId constant = tensor(named("limits"), shapes[from(0, 2)], all);
	Value &limits = made_.model.values[constant];

	limits.isConstant = true;
	for (uint64_t i = 0; i < elementCount(limits.shape); i++) {
		if (type_ == ElementType::Int8)
			store<int8_t>(limits.data, std::round(real(-128, 127)));
		else if (isInteger())
			store<int16_t>(limits.data, std::round(real(-32768, 32767)));
		else
			store<float>(limits.data, real(-4, 4));
	}
	Elementwise elementwise;
	elementwise.function =
		chance(0.5) ? Elementwise::Function::Maximum : Elementwise::Function::Minimum;
	finish(elementwise, { in, constant }, output(x, all));
}

void Generator::pool()
{
	Pool pool;
	Extents x = picture();

	pool.method = chance(0.5) ? Pool::Method::Max : Pool::Method::Average;
	/* In a network, sums of sums become too large. */
	if (!joins_ && chance(0.3))
		pool.method = Pool::Method::Sum;
	pool.kernel = { from(1, joins_ ? std::min(6U, x[2]) : 6),
			from(1, joins_ ? std::min(6U, x[1]) : 6) };
	pool.stride = { from(1, 3), from(1, 3) };
	if (!joins_) {
		x[1] += pool.kernel.y;
		x[2] += pool.kernel.x;
	}
	if (chance(0.5))
		pool.padding = { from(0, pool.kernel.x / 2), 0, from(0, pool.kernel.y / 2), 0 };
	pool.padding.right = pool.padding.left;
	pool.padding.bottom = pool.padding.top;
	pool.activation = clamp();
	const ValueId in = input(x);
	Quantization out = made_.model.values[in].quantization.channel(0);
	if (pool.method == Pool::Method::Sum)
		out.scale = static_cast<double>(static_cast<float>(out.scale * real(1, 8)));
	finish(pool, { in },
	       output({ 1, (x[1] + 2 * pool.padding.top - pool.kernel.y) / pool.stride.y + 1,
			(x[2] + 2 * pool.padding.left - pool.kernel.x) / pool.stride.x + 1, x[3] },
		      out));
}

void Generator::globalAverage()
{
	const Extents x = picture();
	const ValueId in = input(x);
	Quantization out = quantization();

	out.scale = static_cast<double>(static_cast<float>(
		made_.model.values[in].quantization.channel(0).scale * real(0.3, 1.5)));
	finish(GlobalAverage{}, { in }, output({ 1, x[3] }, out));
}

void Generator::pad()
{
	const Extents x = picture();
	const ValueId in = input(x);
	Pad pad{ { 0, from(0, 3), from(0, 3), from(0, 9) },
		 { 0, from(0, 3), from(0, 3), from(0, 40) },
		 0 };
	Extents y = x;

	for (size_t axis = 0; axis < y.size(); axis++)
		y[axis] += pad.before[axis] + pad.after[axis];
	finish(pad, { in }, output(y, made_.model.values[in].quantization.channel(0)));
}

void Generator::concatenation()
{
	const uint32_t axis = from(1, 3), parts = from(2, 4);
	const Extents first = picture();
	std::vector<ValueId> inputs;
	Extents y = first;

	y[axis] = 0;
	for (uint32_t i = 0; i < parts; i++) {
		Extents x = first;
		if (i > 0 || !joins_)
			x[axis] = axis == 3 && chance(0.4) ? 32 * from(1, 2) : from(1, 40);
		y[axis] += x[axis];
		inputs.push_back(i == 0 ? input(x) : freshInput(x));
	}
	/* As the format has it: the inputs' quantizations are the output's. */
	const Quantization all = made_.model.values[inputs.front()].quantization.channel(0);
	for (const ValueId id : inputs) {
		if (isInteger())
			made_.model.values[id].quantization = all;
	}
	finish(Concatenation{ axis, {} }, inputs, output(y, all));
}

void Generator::slice()
{
	const Extents x = picture();
	const ValueId in = input(x);
	Slice slice{ { 0, 0, 0, 0 }, { 1, 1, 1, 1 } };
	Extents y = x;

	for (size_t axis = 1; axis < 4; axis++) {
		slice.begin[axis] = from(0, x[axis] - 1);
		slice.stride[axis] = chance(0.3) ? from(1, 3) : 1;
		y[axis] = from(1, (x[axis] - 1 - slice.begin[axis]) / slice.stride[axis] + 1);
	}
	finish(slice, { in }, output(y, made_.model.values[in].quantization.channel(0)));
}

void Generator::unary()
{
	const Extents x = picture();
	const ValueId in = input(x);
	Unary unary;
	Quantization out = quantization();

	/* 16 bits and FP16: those that are not nearly linear have an error of the table's. */
	const Unary::Function exact[] = { Unary::Function::LeakyRelu, Unary::Function::Identity,
					  Unary::Function::Square };
	unary.function = type_ == ElementType::Int8
				 ? static_cast<Unary::Function>(
					   from(0, static_cast<uint32_t>(Unary::Function::Log)))
				 : exact[from(0, isInteger() ? 1 : 2)];
	unary.parameter = unary.function == Unary::Function::LeakyRelu ? real(0.05, 0.5) : 1;
	if (isInteger()) {
		const Quantization q = made_.model.values[in].quantization.channel(0);
		out.scale = static_cast<double>(static_cast<float>(q.scale * real(0.5, 2)));
	}
	finish(unary, { in }, output(x, out));
}

void Generator::transposedConvolution()
{
	TransposedConvolution conv;
	Extents x = picture(6, 40);
	if (!joins_)
		x = { 1, from(2, 6), from(2, 6), from(1, 40) };
	const uint32_t r = from(1, 5), s = from(1, 5), k = from(1, 40);

	conv.stride = { from(1, 3), from(1, 3) };
	conv.padding = { from(0, s / 2), from(0, s / 2), from(0, r / 2), from(0, r / 2) };
	/* Of one line or column there has to be something left. */
	if (x[1] == 1 || x[2] == 1)
		conv.padding = {};
	conv.activation = clamp();
	const ValueId in = input(x);
	const ValueId weights = kernels({ k, x[3], r, s });
	std::vector<ValueId> inputs{ in, weights };
	if (chance(0.8))
		inputs.push_back(bias(k, in, weights));
	finish(conv, inputs,
	       output({ 1, (x[1] - 1) * conv.stride.y + r - conv.padding.top - conv.padding.bottom,
			(x[2] - 1) * conv.stride.x + s - conv.padding.left - conv.padding.right,
			k },
		      forSums(in, weights)));
}

void Generator::prelu()
{
	const Extents x = picture();
	const ValueId in = input(x);
	Quantization out = quantization();
	Value slopes;

	slopes.name = named("slopes");
	slopes.shape = { x[3] };
	slopes.isConstant = true;
	for (uint32_t c = 0; c < x[3]; c++)
		store<float>(slopes.data, real(-0.5, 0.9));
	made_.model.values.push_back(std::move(slopes));
	const ValueId constant = made_.model.values.size() - 1;
	out.scale = static_cast<double>(static_cast<float>(
		made_.model.values[in].quantization.channel(0).scale * real(0.5, 2)));
	finish(PRelu{}, { in, constant }, output(x, out));
}

void Generator::enlarge()
{
	Extents x = picture(8, 40);
	if (!joins_)
		x = { 1, from(2, 8), from(2, 8), from(1, 40) };
	const ValueId in = input(x);
	Enlarge enlarge;

	enlarge.method = static_cast<Enlarge::Method>(from(0, 2));
	enlarge.factor = { from(1, 4), from(1, 4) };
	finish(enlarge, { in },
	       output({ 1, x[1] * enlarge.factor.y, x[2] * enlarge.factor.x, x[3] },
		      made_.model.values[in].quantization.channel(0)));
}

void Generator::transpose()
{
	Transpose transpose{ picture(), { 0, 1, 2, 3 } };
	const ValueId in = input(transpose.extents);
	Extents y;

	std::shuffle(transpose.order.begin() + 1, transpose.order.end(), random_);
	for (const uint32_t axis : transpose.order)
		y.push_back(transpose.extents[axis]);
	finish(transpose, { in }, output(y, made_.model.values[in].quantization.channel(0)));
}

void Generator::argMax()
{
	/* Of numbers that are nearly alike FP16 may choose another. */
	if (!isInteger()) {
		normalize();
		return;
	}
	const Extents x = picture();
	const ValueId in = input(x);
	const ValueId out = output({ 1, x[1], x[2] }, { 1, 0 });

	made_.model.values[out].type = ElementType::Int16;
	made_.model.values[out].quantization = Quantization{ 1, 0 };
	finish(ArgMax{}, { in }, out);
}

void Generator::normalize()
{
	const Extents x = picture();
	const ValueId in = input(x);
	const double scale = type_ == ElementType::Int16 ? 1.0 / 32768 : 1.0 / 128;

	finish(Normalization{}, { in }, output(x, { scale, 0 }));
}

void Generator::localResponse()
{
	const Extents x = picture();
	const ValueId in = input(x);
	const LocalResponse response{ 2 * from(0, 4) + 1, real(0.5, 2), real(0.01, 1),
				      real(0.5, 1) };

	finish(response, { in }, output(x, made_.model.values[in].quantization.channel(0)));
}

void Generator::reshape()
{
	const Extents x = picture();
	const ValueId in = input(x);

	finish(Reshape{}, { in },
	       output({ 1, static_cast<uint32_t>(elementCount(x)) },
		      made_.model.values[in].quantization.channel(0)));
}

void Generator::makeOperator()
{
	void (Generator::*const kinds[])() = {
		&Generator::convolution,
		&Generator::convolution,
		&Generator::fullyConnected,
		&Generator::elementwise,
		&Generator::pool,
		&Generator::globalAverage,
		&Generator::pad,
		&Generator::concatenation,
		&Generator::slice,
		&Generator::unary,
		&Generator::prelu,
		&Generator::enlarge,
		&Generator::transposedConvolution,
		&Generator::transpose,
		&Generator::argMax,
		&Generator::normalize,
		&Generator::localResponse,
		/* Alone, a reshape has nothing to compute. */
		joins_ ? &Generator::reshape : &Generator::limit,
	};

	(this->*kinds[from(0, std::size(kinds) - 1)])();
}

RandomModel Generator::makeOne()
{
	makeOperator();
	return std::move(made_);
}

RandomModel Generator::makeSeveral()
{
	Model &model = made_.model;

	for (uint32_t count = from(2, 7); count > 0; count--)
		makeOperator();
	model.outputs.clear();
	for (const Operator &operation : model.operators) {
		if (model.readers(operation.outputs.front()).empty())
			model.outputs.push_back(operation.outputs.front());
	}
	return std::move(made_);
}

} /* namespace */

RandomModel randomOperator(std::mt19937_64 &random, ElementType type)
{
	return Generator(random, type, false).makeOne();
}

RandomModel randomNetwork(std::mt19937_64 &random, ElementType type)
{
	return Generator(random, type, true).makeSeveral();
}

} /* namespace nvdla::test */
