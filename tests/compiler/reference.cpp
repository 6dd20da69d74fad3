/* SPDX-License-Identifier: MIT */
#include "reference.h"

#include <cfloat>
#include <numeric>

#include "fixed_point.h"
#include "table_softmax.h"

namespace nvdla::test
{

namespace
{

using namespace compiler;

int64_t whole(double number)
{
	return static_cast<int64_t>(number);
}

IntegerLimits limitsOf(ElementType type)
{
	if (type == ElementType::UInt8)
		return { 0, 255 };
	return integerLimits(type == ElementType::Int8 ? 8U : 16U);
}

/* Of a value without axes, one element. */
Extents four(const Extents &shape)
{
	Extents result(shape);

	while (result.size() < 4)
		result.insert(result.begin(), 1);
	return result;
}

class Evaluator
{
public:
	Evaluator(const Model &model, const Operator &operation, std::vector<Numbers> &values,
		  Hybrid hybrid)
		: model_(model), operation_(operation), values_(values), hybrid_(hybrid),
		  out_(model.values[operation.outputs.front()]),
		  result_(values[operation.outputs.front()])
	{
		result_.assign(elementCount(out_.shape), 0);
	}

	void operator()(const Convolution &conv);
	void operator()(const TransposedConvolution &conv);
	void operator()(const FullyConnected &full);
	void operator()(const Elementwise &elementwise);
	void operator()(const Pool &pool);
	void operator()(const GlobalAverage &);
	void operator()(const Reshape &) { result_ = in(0); }
	void operator()(const Pad &pad);
	void operator()(const Concatenation &concatenation);
	void operator()(const Slice &slice);
	void operator()(const Unary &unary);
	void operator()(const PRelu &);
	void operator()(const Enlarge &enlarge);
	void operator()(const Softmax &softmax);
	void operator()(const Transpose &transpose);
	void operator()(const ArgMax &);
	void operator()(const Normalization &);
	void operator()(const LocalResponse &response);
	void operator()(const ChannelReduction &reduction);
	void operator()(const Standardization &standardization);
	void operator()(const Unknown &) {} /* what is not read may be */

private:
	const Value &value(size_t input) const { return model_.values[operation_.inputs[input]]; }
	const Numbers &in(size_t input) const { return values_[operation_.inputs[input]]; }
	bool isReal() const { return isFloat(value(0).type); }
	/* ONNX's operators are defined on real numbers; the nearest integer, halves to even. */
	bool roundsOnce() const { return model_.roundingOf8Bits == ScaleRounding::Once; }
	double nearest(double steps, const Clamp &activation) const
	{
		return saturate(whole(std::nearbyint(steps)) + zero(out_), activation);
	}
	double scale(const Value &value, uint32_t c = 0) const
	{
		return static_cast<float>(value.quantization.channel(c).scale);
	}
	int32_t zero(const Value &value, uint32_t c = 0) const
	{
		return value.quantization.channel(c).zeroPoint;
	}
	/* The input of a convolution or matrix product. */
	Numbers activations() const;
	/* Kernel k's sum, with bias, to an element of the output. */
	double finish(double sum, uint32_t k, const Clamp &activation) const;
	double saturate(int64_t number, const Clamp &activation) const;
	/* A real number as an element of the output. */
	double written(double number) const
	{
		return isFloat(out_.type)
			       ? number
			       : static_cast<double>(out_.quantization.channel(0).quantize(
					 number, limitsOf(out_.type)));
	}
	double bias(uint32_t k) const { return operation_.inputs.size() > 2 ? in(2)[k] : 0; }
	double real(size_t input, double number) const
	{
		return value(input).quantization.none()
			       ? number
			       : value(input).quantization.channel(0).real(number);
	}

	const Model &model_;
	const Operator &operation_;
	std::vector<Numbers> &values_;
	const Hybrid hybrid_;
	const Value &out_;
	Numbers &result_;
};

double Evaluator::saturate(int64_t number, const Clamp &activation) const
{
	const IntegerLimits limits = limitsOf(out_.type);
	auto steps = [&](double bound, int64_t unlimited) -> int64_t {
		if (!std::isfinite(bound))
			return unlimited;
		const float q = static_cast<float>(bound) / static_cast<float>(scale(out_));
		return limits.saturate(zero(out_) + whole(std::floor(q + 0.5f)));
	};

	return static_cast<double>(std::clamp(number, steps(activation.low, limits.lowest),
					      steps(activation.high, limits.highest)));
}

double Evaluator::finish(double sum, uint32_t k, const Clamp &activation) const
{
	if (isReal()) {
		const Value &weights = value(1);
		const double factor = weights.quantization.none() ? 1 : scale(weights, k);
		return std::clamp(sum * factor + bias(k), activation.low, activation.high);
	}
	const double input = scale(value(0)), weights = scale(value(1), k), output = scale(out_);
	if (roundsOnce())
		return nearest((sum + bias(k)) * input * weights / output, activation);
	/* uint8's kernels round the first product to float32. */
	const double product = out_.type == ElementType::UInt8
				       ? static_cast<double>(static_cast<float>(input) *
							     static_cast<float>(weights))
				       : input * weights;
	const RealFactor factor = realFactor(product / output);
	const int64_t total = whole(sum + bias(k));
	const int64_t steps = out_.type == ElementType::Int16 ? multiplyWide(total, factor)
							      : multiply(total, factor);

	return saturate(steps + zero(out_), activation);
}

Numbers Evaluator::activations() const
{
	constexpr float most = 127;
	Numbers x = in(0);

	if (hybrid_ == Hybrid::Exact || !isReal() || isFloat(value(1).type))
		return x;
	float largest = 0;
	for (const double number : x)
		largest = std::max(largest, std::fabs(static_cast<float>(number)));
	if (largest == 0)
		return x;
	for (double &number : x)
		number = std::round(static_cast<float>(number) * (most / largest)) *
			 (largest / most);
	return x;
}

void Evaluator::operator()(const Convolution &conv)
{
	const Numbers input = activations();
	const Extents &x = value(0).shape, &w = value(1).shape, &y = out_.shape;
	const uint32_t kernels = w[0], channels = w[1], r = w[2], s = w[3];
	const uint32_t perGroup = kernels / conv.groups;
	const int32_t zeroX = isReal() ? 0 : zero(value(0));

	for (uint32_t oy = 0; oy < y[1]; oy++)
		for (uint32_t ox = 0; ox < y[2]; ox++)
			for (uint32_t k = 0; k < kernels; k++) {
				const int32_t zeroW = zero(value(1), k);
				double sum = 0;
				for (uint32_t c = 0; c < channels; c++)
					for (uint32_t i = 0; i < r * s; i++) {
						const int64_t iy =
							int64_t{ oy } * conv.stride.y +
							int64_t{ i / s } * conv.dilation.y -
							conv.padding.top;
						const int64_t ix =
							int64_t{ ox } * conv.stride.x +
							int64_t{ i % s } * conv.dilation.x -
							conv.padding.left;
						if (iy < 0 || ix < 0 || iy >= x[1] || ix >= x[2])
							continue;
						const size_t at = static_cast<size_t>(
							(iy * x[2] + ix) * x[3] +
							k / perGroup * channels + c);
						sum += (input[at] - zeroX) *
						       (in(1)[(size_t{ k } * channels + c) * r * s +
							      i] -
							zeroW);
					}
				result_[(size_t{ oy } * y[2] + ox) * kernels + k] =
					finish(sum, k, conv.activation);
			}
}

void Evaluator::operator()(const TransposedConvolution &conv)
{
	const Extents &x = value(0).shape, &w = value(1).shape, &y = out_.shape;
	const int32_t zeroX = isReal() ? 0 : zero(value(0));
	const size_t plane = size_t{ w[2] } * w[3];
	Numbers sums(result_.size(), 0);

	for (size_t i = 0; i < in(0).size(); i++)
		for (size_t j = 0; j < in(1).size(); j++) {
			const auto k = static_cast<uint32_t>(j / plane / w[1]);
			const int64_t oy = static_cast<int64_t>(i / x[3] / x[2] * conv.stride.y +
								j % plane / w[3]) -
					   conv.padding.top;
			const int64_t ox =
				static_cast<int64_t>(i / x[3] % x[2] * conv.stride.x + j % w[3]) -
				conv.padding.left;
			if (i % x[3] == j / plane % w[1] && oy >= 0 && ox >= 0 && oy < y[1] &&
			    ox < y[2])
				sums[static_cast<size_t>(oy * y[2] + ox) * w[0] + k] +=
					(in(0)[i] - zeroX) * (in(1)[j] - zero(value(1), k));
		}
	for (size_t i = 0; i < sums.size(); i++)
		result_[i] = finish(sums[i], static_cast<uint32_t>(i % w[0]), conv.activation);
}

void Evaluator::operator()(const FullyConnected &full)
{
	const uint32_t kernels = value(1).shape[0], channels = value(1).shape[1];
	const int32_t zeroX = isReal() ? 0 : zero(value(0));
	const Numbers input = activations();

	for (size_t row = 0; row < in(0).size() / channels; row++)
		for (uint32_t k = 0; k < kernels; k++) {
			double sum = 0;
			for (uint32_t c = 0; c < channels; c++)
				sum += (input[row * channels + c] - zeroX) *
				       (in(1)[size_t{ k } * channels + c] - zero(value(1), k));
			result_[row * kernels + k] = finish(sum, k, full.activation);
		}
}

void Evaluator::operator()(const Elementwise &elementwise)
{
	using Function = Elementwise::Function;
	const Extents shape = four(out_.shape);
	const Extents shapes[] = { four(value(0).shape), four(value(1).shape) };
	const int leftShift = out_.type == ElementType::Int16 ? 15 : 20;
	const double sa = scale(value(0)), sb = scale(value(1)), so = scale(out_);
	const double twice = 2 * std::max(sa, sb);
	const RealFactor fa = realFactor(sa / twice), fb = realFactor(sb / twice);
	const RealFactor fo = realFactor(twice / (std::ldexp(1, leftShift) * so));
	const RealFactor product = realFactor(sa * sb / so);

	for (size_t i = 0; i < result_.size(); i++) {
		size_t rest = i, at[2] = {}, step[2] = { 1, 1 };
		for (size_t axis = 4; axis-- > 0;) {
			const size_t index = rest % shape[axis];
			rest /= shape[axis];
			for (int j = 0; j < 2; j++) {
				at[j] += (shapes[j][axis] == 1 ? 0 : index) * step[j];
				step[j] *= shapes[j][axis];
			}
		}
		const double a = in(0)[at[0]], b = in(1)[at[1]];
		const bool largest = elementwise.function == Function::Maximum;
		if (elementwise.function == Function::Divide) {
			result_[i] = isReal() ? std::clamp(a / b, elementwise.activation.low,
							   elementwise.activation.high)
					      : nearest(real(0, a) / real(1, b) / so,
							elementwise.activation);
			continue;
		}
		if (isReal() || elementwise.function >= Function::Maximum) {
			const double y = elementwise.function == Function::Add	      ? a + b
					 : elementwise.function == Function::Subtract ? a - b
					 : elementwise.function == Function::Multiply ? a * b
					 : largest ? std::max(a, b)
						   : std::min(a, b);
			result_[i] = isReal() ? std::clamp(y, elementwise.activation.low,
							   elementwise.activation.high)
					      : y;
			continue;
		}
		const int64_t qa = whole(a) - zero(value(0)), qb = whole(b) - zero(value(1));
		if (roundsOnce()) {
			const double ra = static_cast<double>(qa) * sa / so,
				     rb = static_cast<double>(qb) * sb / so;
			const double y = elementwise.function == Function::Add ? ra + rb
					 : elementwise.function == Function::Subtract
						 ? ra - rb
						 : ra * rb * so;
			result_[i] = nearest(y, elementwise.activation);
			continue;
		}
		const int64_t one = int64_t{ 1 } << leftShift;
		int64_t steps;
		if (elementwise.function == Function::Multiply) {
			steps = multiply(qa * qb, product);
		} else {
			const int64_t second = multiply(qb * one, fb);
			steps = multiply(multiply(qa * one, fa) +
						 (elementwise.function == Function::Subtract
							  ? -second
							  : second),
					 fo);
		}
		result_[i] = saturate(steps + zero(out_), elementwise.activation);
	}
}

void Evaluator::operator()(const Pool &pool)
{
	const Extents &x = value(0).shape, &y = out_.shape;

	for (uint32_t oy = 0; oy < y[1]; oy++)
		for (uint32_t ox = 0; ox < y[2]; ox++)
			for (uint32_t c = 0; c < y[3]; c++) {
				double sum = 0, largest = -DBL_MAX;
				int64_t count = 0;
				for (uint32_t i = 0; i < pool.kernel.x * pool.kernel.y; i++) {
					const int64_t iy = int64_t{ oy } * pool.stride.y +
							   i / pool.kernel.x - pool.padding.top;
					const int64_t ix = int64_t{ ox } * pool.stride.x +
							   i % pool.kernel.x - pool.padding.left;
					if (iy < 0 || ix < 0 || iy >= x[1] || ix >= x[2])
						continue;
					const double element = in(0)[static_cast<size_t>(
						(iy * x[2] + ix) * x[3] + c)];
					sum += element;
					largest = std::max(largest, element);
					count++;
				}
				const auto divisor = static_cast<double>(
					pool.countPadding ? pool.kernel.x * pool.kernel.y : count);
				double &to = result_[(size_t{ oy } * y[2] + ox) * y[3] + c];
				if (pool.method == Pool::Method::Max)
					to = largest;
				else if (pool.method == Pool::Method::Sum)
					to = isReal() ? sum
						      : nearest((sum - static_cast<double>(count) *
									       zero(value(0))) *
									scale(value(0)) /
									scale(out_),
								pool.activation);
				else if (isReal())
					to = sum / divisor;
				else if (roundsOnce())
					to = nearest((sum -
						      static_cast<double>(count) * zero(value(0))) /
							     divisor * scale(value(0)) /
							     scale(out_),
						     pool.activation);
				else
					to = static_cast<double>(
						sum > 0 ? (whole(sum) + count / 2) / count
							: -((-whole(sum) + count / 2) / count));
				to = isReal() ? std::clamp(to, pool.activation.low,
							   pool.activation.high)
					      : saturate(whole(to), pool.activation);
			}
}

void Evaluator::operator()(const GlobalAverage &)
{
	const Extents &x = value(0).shape;
	const int64_t count = int64_t{ x[1] } * x[2];
	RealFactor factor = realFactor(scale(value(0)) / scale(out_));
	int shift = 0;
	while (count >> (shift + 1))
		shift++;
	shift = std::min({ shift, 32, 31 + factor.shift });
	factor = { factor.factor * (int64_t{ 1 } << shift) / count, factor.shift - shift };

	for (uint32_t c = 0; c < x[3]; c++) {
		double sum = 0;
		for (int64_t i = 0; i < count; i++)
			sum += in(0)[static_cast<size_t>(i) * x[3] + c];
		const double average = sum / static_cast<double>(count);
		result_[c] =
			isReal() ? average
			: roundsOnce()
				? nearest((average - zero(value(0))) * scale(value(0)) /
						  scale(out_),
					  {})
				: saturate(multiply(whole(sum) - zero(value(0)) * count, factor) +
						   zero(out_),
					   {});
	}
}

void Evaluator::operator()(const Pad &pad)
{
	const Extents x = four(value(0).shape), y = four(out_.shape);
	Extents before = pad.before;
	const double fill = out_.quantization.none()
				    ? pad.value
				    : std::round(out_.quantization.channel(0).steps(pad.value));

	while (before.size() < 4)
		before.insert(before.begin(), 0);
	std::fill(result_.begin(), result_.end(), fill);
	for (size_t i = 0; i < in(0).size(); i++) {
		size_t rest = i, at = 0, step = 1;
		for (size_t axis = 4; axis-- > 0;) {
			at += (rest % x[axis] + before[axis]) * step;
			rest /= x[axis];
			step *= y[axis];
		}
		result_[at] = in(0)[i];
	}
}

void Evaluator::operator()(const Concatenation &concatenation)
{
	const auto axis = static_cast<ptrdiff_t>(concatenation.axis);
	const size_t outer = std::accumulate(out_.shape.begin(), out_.shape.begin() + axis,
					     size_t{ 1 }, std::multiplies<>());
	const size_t row = result_.size() / outer;
	size_t at = 0;

	for (size_t input = 0; input < operation_.inputs.size(); input++) {
		const size_t part = in(input).size() / outer;
		for (size_t i = 0; i < in(input).size(); i++) {
			double number = in(input)[i];
			if (!isReal() && value(input).quantization != out_.quantization)
				number = saturate(
					whole(std::round(out_.quantization.channel(0).steps(
						real(input, number)))),
					{});
			result_[i / part * row + at + i % part] = number;
		}
		at += part;
	}
}

void Evaluator::operator()(const Slice &slice)
{
	const Extents x = four(value(0).shape), y = four(out_.shape);
	Extents begin = slice.begin, stride = slice.stride;

	while (begin.size() < 4) {
		begin.insert(begin.begin(), 0);
		stride.insert(stride.begin(), 1);
	}
	for (size_t i = 0; i < result_.size(); i++) {
		size_t rest = i, at = 0, step = 1;
		for (size_t axis = 4; axis-- > 0;) {
			at += (rest % y[axis] * stride[axis] + begin[axis]) * step;
			rest /= y[axis];
			step *= x[axis];
		}
		result_[i] = in(0)[at];
	}
}

void Evaluator::operator()(const Unary &unary)
{
	for (size_t i = 0; i < result_.size(); i++) {
		result_[i] = written(unary(real(0, in(0)[i])));
	}
}

void Evaluator::operator()(const PRelu &)
{
	const std::vector<double> slopes = realNumbers(value(1));

	for (size_t i = 0; i < result_.size(); i++) {
		const double x = real(0, in(0)[i]);
		result_[i] = written(x < 0 ? x * slopes[i % slopes.size()] : x);
	}
}

/* Where an output element lies among those of an axis of the input. */
double placeAmong(uint32_t at, uint32_t factor, uint32_t size, Enlarge::Method method)
{
	const double center = method == Enlarge::Method::LinearOfCenters ? 0.5 : 0;

	return std::clamp((at + center) / factor - center, 0.0, size - 1.0);
}

void Evaluator::operator()(const Enlarge &enlarge)
{
	const Extents &x = value(0).shape, &y = out_.shape;
	const bool nearest = enlarge.method == Enlarge::Method::Nearest;

	for (size_t i = 0; i < result_.size(); i++) {
		const auto c = static_cast<uint32_t>(i % y[3]);
		const double py = placeAmong(static_cast<uint32_t>(i / y[3] / y[2]),
					     enlarge.factor.y, x[1], enlarge.method);
		const double px = placeAmong(static_cast<uint32_t>(i / y[3] % y[2]),
					     enlarge.factor.x, x[2], enlarge.method);
		const auto line = static_cast<uint32_t>(py), column = static_cast<uint32_t>(px);
		auto at = [&](uint32_t h, uint32_t w) {
			h = std::min(h, x[1] - 1);
			w = std::min(w, x[2] - 1);
			return real(0, in(0)[(size_t{ h } * x[2] + w) * x[3] + c]);
		};
		const double dy = nearest ? 0 : py - line, dx = nearest ? 0 : px - column;
		result_[i] = written(
			(1 - dy) * ((1 - dx) * at(line, column) + dx * at(line, column + 1)) +
			dy * ((1 - dx) * at(line + 1, column) + dx * at(line + 1, column + 1)));
	}
}

void Evaluator::operator()(const Transpose &transpose)
{
	std::vector<size_t> strides(transpose.extents.size(), 1);

	for (size_t axis = strides.size(); axis-- > 1;)
		strides[axis - 1] = strides[axis] * transpose.extents[axis];
	for (size_t i = 0; i < result_.size(); i++) {
		size_t rest = i, from = 0;
		for (size_t axis = transpose.order.size(); axis-- > 0;) {
			const uint32_t old = transpose.order[axis];
			from += rest % transpose.extents[old] * strides[old];
			rest /= transpose.extents[old];
		}
		result_[i] = in(0)[from];
	}
}

void Evaluator::operator()(const ArgMax &)
{
	const uint32_t classes = value(0).shape.back();

	for (size_t row = 0; row < result_.size(); row++) {
		const auto begin = in(0).begin() + static_cast<ptrdiff_t>(row * classes);
		result_[row] =
			static_cast<double>(std::max_element(begin, begin + classes) - begin);
	}
}

void Evaluator::operator()(const Normalization &)
{
	const uint32_t channels = out_.shape.back();

	for (size_t row = 0; row < result_.size(); row += channels) {
		double squares = 0;
		for (size_t i = row; i < row + channels; i++)
			squares += std::pow(real(0, in(0)[i]), 2);
		for (size_t i = row; i < row + channels; i++)
			result_[i] =
				written(real(0, in(0)[i]) / std::max(std::sqrt(squares), 1e-6));
	}
}

void Evaluator::operator()(const LocalResponse &response)
{
	const int64_t channels = out_.shape.back(), radius = response.window / 2;

	for (int64_t i = 0; i < static_cast<int64_t>(result_.size()); i++) {
		double squares = 0;
		for (int64_t c = i % channels - radius; c <= i % channels + radius; c++)
			if (c >= 0 && c < channels)
				squares += std::pow(
					real(0, in(0)[static_cast<size_t>(i - i % channels + c)]),
					2);
		const auto at = static_cast<size_t>(i);
		result_[at] =
			written(real(0, in(0)[at]) *
				std::pow(response.bias + response.alpha * squares, -response.beta));
	}
}

void Evaluator::operator()(const ChannelReduction &reduction)
{
	const size_t channels = value(0).shape.back();

	for (size_t row = 0; row < result_.size(); row++) {
		double sum = 0, largest = -DBL_MAX;
		for (size_t c = 0; c < channels; c++) {
			sum += real(0, in(0)[row * channels + c]);
			largest = std::max(largest, real(0, in(0)[row * channels + c]));
		}
		result_[row] = written(reduction.method == Pool::Method::Max ? largest
				       : reduction.method == Pool::Method::Sum
					       ? sum
					       : sum / static_cast<double>(channels));
	}
}

void Evaluator::operator()(const Standardization &standardization)
{
	const size_t channels = out_.shape.back();

	for (size_t row = 0; row < result_.size(); row += channels) {
		double mean = 0, squares = 0;
		for (size_t i = row; i < row + channels; i++)
			mean += real(0, in(0)[i]) / static_cast<double>(channels);
		for (size_t i = row; i < row + channels; i++)
			squares += std::pow(real(0, in(0)[i]) - mean, 2);
		const double variance = squares / static_cast<double>(channels);
		for (size_t i = row; i < row + channels; i++)
			result_[i] = written((real(0, in(0)[i]) - mean) /
					     std::sqrt(variance + standardization.epsilon));
	}
}

void Evaluator::operator()(const Softmax &softmax)
{
	const uint32_t classes = out_.shape.back();

	for (size_t row = 0; row < result_.size(); row += classes) {
		const auto begin = in(0).begin() + static_cast<ptrdiff_t>(row);
		if (value(0).type == ElementType::Int16 && !softmax.isLogarithm) {
			const Numbers y = tableSoftmax(Numbers(begin, begin + classes),
						       scale(value(0)) * softmax.beta);
			std::copy(y.begin(), y.end(),
				  result_.begin() + static_cast<ptrdiff_t>(row));
			continue;
		}
		const double largest = *std::max_element(begin, begin + classes);
		Numbers powers;
		for (uint32_t c = 0; c < classes; c++)
			powers.push_back(std::exp((real(0, in(0)[row + c]) - real(0, largest)) *
						  softmax.beta));
		const double sum = std::accumulate(powers.begin(), powers.end(), 0.0);
		for (uint32_t c = 0; c < classes; c++) {
			const double distance =
				(real(0, in(0)[row + c]) - real(0, largest)) * softmax.beta;
			result_[row + c] = written(softmax.isLogarithm ? distance - std::log(sum)
								       : powers[c] / sum);
		}
	}
}

} /* namespace */

void evaluate(const Model &model, const Operator &operation, std::vector<Numbers> &values,
	      Hybrid hybrid)
{
	std::visit(Evaluator(model, operation, values, hybrid), operation.kind);
}

std::vector<Numbers> evaluate(const Model &model, const std::vector<Numbers> &inputs, Hybrid hybrid)
{
	std::vector<Numbers> values(model.values.size());

	for (ValueId id = 0; id < values.size(); id++) {
		/* Float16 behind DEQUANTIZE: numbers. Kernels of hybrid models keep their scales.
		 */
		if (model.values[id].isConstant)
			values[id] = rawNumbers(model.values[id]);
	}
	for (size_t i = 0; i < model.inputs.size(); i++)
		values[model.inputs[i]] = inputs[i];
	for (const Operator &operation : model.operators)
		evaluate(model, operation, values, hybrid);
	return values;
}

} /* namespace nvdla::test */
