/* SPDX-License-Identifier: MIT */
/*
 * Checks shapes and types of operators against those of their values. Sizes of operators that pass
 * are not checked again when they are lowered.
 */
#include <algorithm>

#include <fmt/core.h>

#include "compiler/rules.h"
#include "model.h"

namespace nvdla::compiler
{

namespace
{

constexpr const char *checking = "check model";

/* Files need not name anything. */
Error invalid(const std::string &name, const std::string &why)
{
	return { ErrorCode::InvalidFile, checking, name.empty() ? "what has no name" : name, why };
}

bool isActivation(ElementType type)
{
	return isFloat(type) || type == ElementType::Int8 || type == ElementType::UInt8 ||
	       type == ElementType::Int16;
}

/* The shape of an operator's result; nothing if the operator cannot take its inputs. */
using Made = std::optional<Extents>;

class Checker
{
public:
	Checker(const Model &model, const Operator &operation)
		: model_(model), operation_(operation)
	{
	}

	void run();

	Made operator()(const Convolution &conv);
	Made operator()(const TransposedConvolution &conv);
	Made operator()(const FullyConnected &);
	Made operator()(const Product &product);
	Made operator()(const Elementwise &)
	{
		return repeats(0) && repeats(1) ? out().shape : Made();
	}
	Made operator()(const Pool &pool);
	Made operator()(const Reshape &) { return counted(shape(0)); }
	Made operator()(const Pad &pad);
	Made operator()(const Concatenation &concatenation);
	Made operator()(const Slice &slice);
	Made operator()(const Unary &) { return shape(0); }
	Made operator()(const PRelu &);
	Made operator()(const Enlarge &enlarge);
	Made operator()(const Softmax &) { return shape(0); }
	Made operator()(const Transpose &transpose);
	Made operator()(const OverChannels &over);
	Made operator()(const ChannelReduction &) { return withOneChannel(); }
	Made operator()(const Unknown &) { return {}; }

private:
	void need(bool fulfilled, const std::string &why,
		  ErrorCode code = ErrorCode::InvalidFile) const
	{
		if (!fulfilled)
			refuse(code, checking,
			       fmt::format("{} '{}'", operation_.type, operation_.name), why);
	}
	/* As need(), for models that are valid but not supported. */
	void support(bool fulfilled, const std::string &why) const
	{
		need(fulfilled, why, ErrorCode::Unsupported);
	}
	const Value &value(size_t input) const { return model_.values[operation_.inputs[input]]; }
	const Extents &shape(size_t input) const { return value(input).shape; }
	const Value &out() const { return model_.values[operation_.outputs.front()]; }
	bool isPicture() const { return shape(0).size() == 4; }
	/* The output's shape, if it has as many elements as this one. */
	Made counted(const Extents &shape) const
	{
		return elementCount(out().shape) == elementCount(shape) ? out().shape : Made();
	}
	Made withOneChannel() const
	{
		Extents made = shape(0);
		if (made.empty())
			return {};
		made.back() = 1;
		return made;
	}
	/* Whether an input can be broadcast to the output's shape. */
	bool repeats(size_t input) const
	{
		return broadcastShape(shape(input), out().shape) == out().shape;
	}
	/* Check weights of that many axes, and the bias. */
	void needConstants(size_t rank) const;
	void needBias(uint32_t kernels) const;
	void needQuantized(const Value &value) const;

	const Model &model_;
	const Operator &operation_;
};

void Checker::needConstants(size_t rank) const
{
	need(value(1).isConstant && shape(1).size() == rank && elementCount(shape(1)) > 0,
	     fmt::format("the weights '{}' are no constant of {} axes", value(1).name, rank));
	const auto quantizations = value(1).quantization.values();
	const size_t scales = quantizations.size();
	need(isFloat(value(1).type) || value(1).type == ElementType::Int8 ||
		     value(1).type == ElementType::UInt8,
	     fmt::format("the weights are {}; int8, uint8 and float are known",
			 elementTypeName(value(1).type)));
	need(isFloat(value(0).type) || !isFloat(value(1).type),
	     "the weights are float, the input is not");
	need(scales <= 1 || (value(1).quantizedAxis == 0 && scales == shape(1)[0]),
	     fmt::format("the weights have {} scales for {} kernels", scales, shape(1)[0]));
	for (const Quantization &one : quantizations)
		need(one.zeroPoint >= -128 && one.zeroPoint <= 255,
		     fmt::format("the weights' zero point is {}", one.zeroPoint));
	needBias(shape(1)[0]);
}

void Checker::needBias(uint32_t kernels) const
{
	if (operation_.inputs.size() > 2)
		need(value(2).isConstant && elementCount(shape(2)) == kernels,
		     fmt::format("the bias '{}' is no constant of {} numbers", value(2).name,
				 kernels));
}

Made Checker::operator()(const Convolution &conv)
{
	const Extents &x = shape(0), &w = shape(1);

	needConstants(4);
	if (!isPicture() || !conv.groups || w[0] % conv.groups != 0 ||
	    uint64_t{ w[1] } * conv.groups != x[3])
		return {};
	return windowed(x, { w[3], w[2] }, conv.stride, conv.dilation, conv.padding, w[0]);
}

Made Checker::operator()(const TransposedConvolution &conv)
{
	const Extents &x = shape(0), &w = shape(1);
	auto size = [](uint32_t in, uint32_t stride, uint32_t kernel, uint32_t cut) {
		const uint64_t sums = uint64_t{ in - 1 } * stride + kernel;
		return static_cast<uint32_t>(sums > cut ? sums - cut : 0);
	};

	needConstants(4);
	if (!isPicture() || w[1] != x[3])
		return {};
	return Extents{ x[0],
			size(x[1], conv.stride.y, w[2], conv.padding.top + conv.padding.bottom),
			size(x[2], conv.stride.x, w[3], conv.padding.left + conv.padding.right),
			w[0] };
}

Made Checker::operator()(const PRelu &)
{
	need(value(1).isConstant && !shape(0).empty(),
	     fmt::format("the slopes '{}' are no constant", value(1).name));
	return repeats(1) ? shape(0) : Made();
}

Made Checker::operator()(const Enlarge &enlarge)
{
	const Extents &x = shape(0);

	return isPicture() ? Extents{ x[0], x[1] * enlarge.factor.y, x[2] * enlarge.factor.x, x[3] }
			   : Made();
}

Made Checker::operator()(const FullyConnected &)
{
	const Extents &w = shape(1);
	const uint64_t elements = elementCount(shape(0));

	needConstants(2);
	return elements % w[1] == 0 && elements / w[1] * w[0] == elementCount(out().shape)
		       ? out().shape
		       : Made();
}

Made Checker::operator()(const Product &product)
{
	const Matrices a(shape(0), product.besideA), b(shape(1), product.besideB);
	const Matrices y(out().shape, product.besideA);
	const auto go = [](uint32_t one, uint32_t other, uint32_t made) {
		return made == std::max(one, other) &&
		       std::min(one, other) == (one == other ? one : 1);
	};
	const bool fits = a.columns == (product.ofChannels ? b.rows : b.columns) &&
			  y.columns == (product.ofChannels ? b.columns : b.rows) &&
			  y.rows == a.rows && go(a.samples, b.samples, y.samples) &&
			  go(a.count, b.count, y.count);

	need(!value(0).isConstant && !value(1).isConstant, "a factor is a constant");
	needBias(y.columns);
	return fits ? out().shape : Made();
}

Made Checker::operator()(const Pool &pool)
{
	return isPicture() && pool.kernel.x && pool.kernel.y
		       ? windowed(shape(0), pool.kernel, pool.stride, { 1, 1 }, pool.padding,
				  shape(0)[3])
		       : Made();
}

Made Checker::operator()(const Pad &pad)
{
	Extents padded = shape(0);

	if (pad.before.size() != padded.size() || pad.after.size() != padded.size())
		return {};
	for (size_t axis = 0; axis < padded.size(); axis++)
		padded[axis] += pad.before[axis] + pad.after[axis];
	return padded;
}

Made Checker::operator()(const Concatenation &concatenation)
{
	Extents all = shape(0);
	const size_t axis = concatenation.axis;

	if (axis >= all.size())
		return {};
	all[axis] = 0;
	for (size_t input = 0; input < operation_.inputs.size(); input++) {
		Extents one = shape(input);
		if (one.size() != all.size())
			return {};
		all[axis] += one[axis];
		one[axis] = all[axis];
		if (one != all)
			return {};
	}
	return all;
}

Made Checker::operator()(const Slice &slice)
{
	const Extents &x = shape(0), &y = out().shape;
	bool fits = slice.begin.size() == x.size() && slice.stride.size() == x.size() &&
		    y.size() == x.size();

	for (size_t axis = 0; fits && axis < x.size(); axis++)
		fits = y[axis] > 0 &&
		       slice.begin[axis] + uint64_t{ y[axis] - 1 } * slice.stride[axis] < x[axis];
	return fits ? y : Made();
}

Made Checker::operator()(const Transpose &transpose)
{
	std::vector<uint32_t> axes = transpose.order;

	std::ranges::sort(axes);
	for (uint32_t axis = 0; axis < axes.size(); axis++)
		if (axes[axis] != axis)
			return {};
	return axes.size() == transpose.extents.size() &&
			       elementCount(transpose.extents) == elementCount(shape(0))
		       ? counted(shape(0))
		       : Made();
}

Made Checker::operator()(const OverChannels &over)
{
	const bool isOfWindow = over.function == OverChannels::Function::LocalResponse;

	support(!isOfWindow || (over.window % 2 == 1 && over.window <= UINT8_MAX),
		fmt::format("the window has {} channels; an odd number up to 255 is possible",
			    over.window));
	if (over.function != OverChannels::Function::ArgMax)
		return shape(0);
	const Made one = withOneChannel();
	return one ? counted(*one) : one;
}

/* Operands of a computation have one scale and one zero point. */
void Checker::needQuantized(const Value &value) const
{
	const auto values = value.quantization.values();

	if (value.isConstant)
		return;
	support(isActivation(value.type),
		fmt::format("'{}' is {}; int8, uint8, int16 and float are known", value.name,
			    elementTypeName(value.type)));
	need(elementCount(value.shape) > 0, fmt::format("'{}' has no elements", value.name));
	if (isFloat(value.type))
		return;
	support(values.size() == 1, fmt::format("'{}' has {} scales; an activation has one",
						value.name, values.size()));
	const IntegerLimits limits =
		value.type == ElementType::UInt8
			? IntegerLimits{ 0, 255 }
			: integerLimits(value.type == ElementType::Int8 ? 8U : 16U);
	need(limits.saturate(int64_t{ values.front().zeroPoint }) == values.front().zeroPoint,
	     fmt::format("'{}' has the zero point {}, which is no {}", value.name,
			 values.front().zeroPoint, elementTypeName(value.type)));
}

void Checker::run()
{
	const Kind &kind = operation_.kind;
	const size_t count = operation_.inputs.size();
	const bool isProduct = traitsOf(kind).isProduct;
	const size_t least = isProduct || traitsOf(kind).isRepeating ? 2 : 1;
	const size_t most = isProduct ? 3 : isAny<Concatenation>(kind) ? count : least;

	need(count >= least && count <= most && operation_.outputs.size() == 1,
	     "has not the inputs of its kind, or not one output");
	for (const ValueId id : operation_.inputs)
		needQuantized(model_.values[id]);
	needQuantized(out());
	/* Ids are checked, so constants have their bytes. */
	const Made made = std::visit([this](const auto &one) { return (*this)(one); }, kind);
	need(made == out().shape,
	     fmt::format("of {} does not make {}", toString(shape(0)), toString(out().shape)));
}

} /* namespace */

Extents withRank(Extents shape, size_t rank)
{
	shape.insert(shape.begin(), rank - std::min(rank, shape.size()), 1);
	return shape;
}

std::optional<Extents> broadcastShape(const Extents &a, const Extents &b)
{
	const Extents other = withRank(b, a.size());
	Extents made = withRank(a, b.size());

	for (size_t axis = 0; axis < made.size(); axis++) {
		if (made[axis] == 1)
			made[axis] = other[axis];
		else if (other[axis] != 1 && other[axis] != made[axis])
			return std::nullopt;
	}
	return made;
}

Extents windowed(const Extents &picture, const op::Axes &kernel, const op::Axes &stride,
		 const op::Axes &dilation, const op::Padding &padding, uint32_t channels)
{
	const auto windowsOf = [](uint64_t padded, uint32_t taps, uint32_t step, uint32_t apart) {
		const uint64_t window = uint64_t{ taps - 1 } * apart + 1;
		return padded < window ? 0 : static_cast<uint32_t>((padded - window) / step + 1);
	};

	return { picture[0],
		 windowsOf(uint64_t{ picture[1] } + padding.top + padding.bottom, kernel.y,
			   stride.y, dilation.y),
		 windowsOf(uint64_t{ picture[2] } + padding.left + padding.right, kernel.x,
			   stride.x, dilation.x),
		 channels };
}

std::optional<Error> bytesError(const Value &value)
{
	const uint64_t bytes = elementCount(value.shape) * elementBytes(value.type);

	if (!value.isConstant || value.data.size() == bytes)
		return std::nullopt;
	return invalid(value.name,
		       fmt::format("has {} bytes, {} of {} need {}", value.data.size(),
				   toString(value.shape), elementTypeName(value.type), bytes));
}

Result<void> Model::setAsideInvalid()
{
	std::vector<bool> isThere(values.size());
	const auto isKnown = [&](ValueId id) { return id < values.size() && isThere[id]; };
	const auto wrong = [](const std::string &name, const char *what, ValueId id) {
		return invalid(name, fmt::format(fmt::runtime(what), id));
	};

	for (ValueId id = 0; id < values.size(); id++)
		isThere[id] = values[id].isConstant;
	for (const ValueId id : inputs) {
		if (id >= values.size())
			return tl::unexpected<Error>(wrong("inputs", "there is no value {}", id));
		isThere[id] = true;
	}
	for (Operator &operation : operators) {
		std::optional<Error> error;
		std::erase_if(operation.inputs, [&](ValueId id) {
			const auto other = isKnown(id) ? bytesError(values[id])
						       : wrong(operation.name,
							       "reads value {}, which nothing "
							       "before it writes",
							       id);
			error = error ? error : other;
			return other.has_value();
		});
		if (!isAny<Unknown>(operation.kind)) {
			const auto done = resultOf([&] {
				if (error)
					throw BrokenRule{ *error };
				Checker(*this, operation).run();
			});
			if (!done)
				operation.kind = Unknown{ done.error() };
		}
		for (const ValueId id : operation.outputs) {
			if (id >= values.size() || (isThere[id] && !bytesError(values[id])))
				return tl::unexpected<Error>(wrong(
					operation.name,
					"writes value {}, which is there already or cannot be",
					id));
			isThere[id] = true;
		}
	}
	/* No operator reads constants of a wrong size any more. */
	for (ValueId id = 0; id < values.size(); id++) {
		if (bytesError(values[id])) {
			values[id].isConstant = isThere[id] = false;
			values[id].data.clear();
		}
	}
	for (const ValueId id : outputs) {
		if (!isKnown(id))
			return tl::unexpected<Error>(
				wrong("outputs", "nothing writes value {}", id));
	}
	return {};
}

} /* namespace nvdla::compiler */
