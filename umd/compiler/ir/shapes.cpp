/* SPDX-License-Identifier: MIT */
/*
 * Shapes and types of operators held against those of their values. What passes can be lowered
 * without looking at sizes again.
 */
#include <algorithm>

#include <fmt/core.h>

#include "model.h"

namespace nvdla::compiler
{

namespace
{

bool isActivation(ElementType type)
{
	return isFloat(type) || type == ElementType::Int8 || type == ElementType::UInt8 ||
	       type == ElementType::Int16;
}

class Checker
{
public:
	Checker(const Model &model, const Operator &operation)
		: model_(model), operation_(operation)
	{
	}

	Result<void> run();

	void operator()(const Convolution &conv);
	void operator()(const TransposedConvolution &conv);
	void operator()(const FullyConnected &);
	void operator()(const Elementwise &);
	void operator()(const Pool &pool);
	void operator()(const Reshape &);
	void operator()(const Pad &pad);
	void operator()(const Concatenation &concatenation);
	void operator()(const Slice &slice);
	void operator()(const Unary &) { expectShape(shape(0)); }
	void operator()(const PRelu &);
	void operator()(const Enlarge &enlarge);
	void operator()(const Softmax &) { expectShape(shape(0)); }
	void operator()(const Transpose &transpose);
	void operator()(const OverChannels &over);
	void operator()(const ChannelReduction &);
	void operator()(const Unknown &) {}

private:
	bool need(bool fulfilled, const std::string &why)
	{
		if (!fulfilled && !error_)
			error_ = Error{ ErrorCode::InvalidFile, "check model",
					fmt::format("{} '{}'", operation_.type, operation_.name),
					why };
		return fulfilled;
	}
	const Value &value(size_t input) const { return model_.values[operation_.inputs[input]]; }
	const Extents &shape(size_t input) const { return value(input).shape; }
	const Value &out() const { return model_.values[operation_.outputs.front()]; }
	void expectShape(const Extents &wanted)
	{
		need(out().shape == wanted, fmt::format("the output is {}, the operator makes {}",
							toString(out().shape), toString(wanted)));
	}
	bool needInputs(size_t least, size_t most)
	{
		const size_t count = operation_.inputs.size();
		return need(count >= least && count <= most,
			    fmt::format("has {} inputs, {} to {} are needed", count, least, most));
	}
	/* Whether an input can be broadcast to the output's shape: trailing axes are aligned. */
	bool repeats(size_t input) const
	{
		const Extents &x = shape(input), &y = out().shape;
		bool fits = x.size() <= y.size();
		for (size_t axis = 0; fits && axis < x.size(); axis++)
			fits = x[axis] == 1 || x[axis] == y[y.size() - x.size() + axis];
		return fits;
	}
	bool needPicture()
	{
		return need(shape(0).size() == 4,
			    fmt::format("the input is {}; it has to be batch x height x width x "
					"channels",
					toString(shape(0))));
	}
	/* Weights and bias of \a kernels kernels. */
	bool needConstants(size_t rank);
	void needQuantized(const Value &value);

	const Model &model_;
	const Operator &operation_;
	std::optional<Error> error_;
};

bool Checker::needConstants(size_t rank)
{
	if (!needInputs(2, 3) ||
	    !need(value(1).isConstant && shape(1).size() == rank && elementCount(shape(1)) > 0,
		  fmt::format("the weights '{}' are no constant of {} axes", value(1).name, rank)))
		return false;
	const Quantization first = value(1).quantization.channel(0);
	const size_t scales = value(1).quantization.values().size();
	need(isFloat(value(1).type) || value(1).type == ElementType::Int8 ||
		     value(1).type == ElementType::UInt8,
	     fmt::format("the weights are {}; int8, uint8 and float are known",
			 elementTypeName(value(1).type)));
	need(isFloat(value(0).type) || !isFloat(value(1).type),
	     "the weights are float, the input is not");
	need(scales <= 1 || (value(1).quantizedAxis == 0 && scales == shape(1)[0]),
	     fmt::format("the weights have {} scales for {} kernels", scales, shape(1)[0]));
	need(first.zeroPoint >= -128 && first.zeroPoint <= 255,
	     fmt::format("the weights' zero point is {}", first.zeroPoint));
	if (operation_.inputs.size() > 2)
		need(value(2).isConstant && elementCount(shape(2)) == shape(1)[0],
		     fmt::format("the bias '{}' is no constant of {} numbers", value(2).name,
				 shape(1)[0]));
	return !error_;
}

void Checker::operator()(const Convolution &conv)
{
	if (!needConstants(4) || !needPicture())
		return;
	const Extents &x = shape(0), &w = shape(1);
	if (!need(conv.groups > 0 && w[0] % conv.groups == 0 &&
			  uint64_t{ w[1] } * conv.groups == x[3],
		  fmt::format("kernels of {} do not go with {} in {} groups", toString(w),
			      toString(x), conv.groups)))
		return;
	expectShape(windowed(x, { w[3], w[2] }, conv.stride, conv.dilation, conv.padding, w[0]));
}

void Checker::operator()(const TransposedConvolution &conv)
{
	if (!needConstants(4) || !needPicture())
		return;
	const Extents &x = shape(0), &w = shape(1);
	auto size = [](uint32_t in, uint32_t stride, uint32_t kernel, uint32_t cut) {
		const uint64_t sums = uint64_t{ in - 1 } * stride + kernel;
		return static_cast<uint32_t>(sums > cut ? sums - cut : 0);
	};
	need(w[1] == x[3],
	     fmt::format("kernels of {} do not go with {}", toString(w), toString(x)));
	expectShape({ shape(0)[0],
		      size(x[1], conv.stride.y, w[2], conv.padding.top + conv.padding.bottom),
		      size(x[2], conv.stride.x, w[3], conv.padding.left + conv.padding.right),
		      w[0] });
}

void Checker::operator()(const PRelu &)
{
	expectShape(shape(0));
	if (!needInputs(2, 2) || !need(!shape(0).empty(), "the input is one number"))
		return;
	need(value(1).isConstant && repeats(1),
	     fmt::format("the slopes '{}' are {}; they have to be a constant that can be repeated "
			 "to {}",
			 value(1).name, toString(shape(1)), toString(shape(0))));
}

void Checker::operator()(const Enlarge &enlarge)
{
	if (needPicture())
		expectShape({ shape(0)[0], shape(0)[1] * enlarge.factor.y,
			      shape(0)[2] * enlarge.factor.x, shape(0)[3] });
}

void Checker::operator()(const FullyConnected &)
{
	if (!needConstants(2))
		return;
	const Extents &w = shape(1);
	const uint64_t elements = elementCount(shape(0));
	need(elements % w[1] == 0 && elements / w[1] * w[0] == elementCount(out().shape),
	     fmt::format("weights of {} do not make {} of {}", toString(w), toString(out().shape),
			 toString(shape(0))));
}

void Checker::operator()(const Elementwise &)
{
	if (!needInputs(2, 2))
		return;
	for (const size_t input : { 0U, 1U })
		need(repeats(input), fmt::format("input {} is {}, the output {}", input,
						 toString(shape(input)), toString(out().shape)));
}

void Checker::operator()(const Pool &pool)
{
	if (!needInputs(1, 1) || !needPicture() ||
	    !need(pool.kernel.x > 0 && pool.kernel.y > 0, "windows are empty"))
		return;
	expectShape(
		windowed(shape(0), pool.kernel, pool.stride, { 1, 1 }, pool.padding, shape(0)[3]));
}

void Checker::operator()(const Reshape &)
{
	need(elementCount(out().shape) == elementCount(shape(0)),
	     fmt::format("{} cannot become {}", toString(shape(0)), toString(out().shape)));
}

void Checker::operator()(const Pad &pad)
{
	Extents padded = shape(0);

	if (!need(pad.before.size() == padded.size() && pad.after.size() == padded.size(),
		  "has not one padding for each axis"))
		return;
	for (size_t axis = 0; axis < padded.size(); axis++)
		padded[axis] += pad.before[axis] + pad.after[axis];
	expectShape(padded);
}

void Checker::operator()(const Concatenation &concatenation)
{
	Extents all = shape(0);
	const size_t axis = concatenation.axis;

	if (!need(axis < all.size(), fmt::format("axis {} of {}", axis, toString(all))))
		return;
	all[axis] = 0;
	for (size_t input = 0; input < operation_.inputs.size(); input++) {
		Extents one = shape(input);
		if (!need(one.size() == all.size(), "inputs have different axes"))
			return;
		all[axis] += one[axis];
		one[axis] = all[axis];
		need(one == all, fmt::format("input {} is {}", input, toString(shape(input))));
	}
	expectShape(all);
}

void Checker::operator()(const Slice &slice)
{
	const Extents &x = shape(0), &y = out().shape;

	if (!need(slice.begin.size() == x.size() && slice.stride.size() == x.size() &&
			  y.size() == x.size(),
		  "has not one begin, stride and size for each axis"))
		return;
	for (size_t axis = 0; axis < x.size(); axis++)
		need(y[axis] > 0 &&
			     slice.begin[axis] + uint64_t{ y[axis] - 1 } * slice.stride[axis] <
				     x[axis],
		     fmt::format("elements {}, every {}, {} of them, are not all in {}",
				 slice.begin[axis], slice.stride[axis], y[axis], x[axis]));
}

void Checker::operator()(const Transpose &transpose)
{
	std::vector<bool> seen(transpose.extents.size());

	for (const uint32_t axis : transpose.order)
		if (axis < seen.size())
			seen[axis] = true;
	need(transpose.order.size() == seen.size() &&
		     std::find(seen.begin(), seen.end(), false) == seen.end(),
	     "does not name each axis once");
	need(elementCount(transpose.extents) == elementCount(shape(0)) &&
		     elementCount(out().shape) == elementCount(shape(0)),
	     fmt::format("{}, seen as {}, becomes {}", toString(shape(0)),
			 toString(transpose.extents), toString(out().shape)));
}

void Checker::operator()(const OverChannels &over)
{
	const bool isOfWindow = over.function == OverChannels::Function::LocalResponse;

	need(!isOfWindow || (over.window % 2 == 1 && over.window <= UINT8_MAX),
	     fmt::format("the window has {} channels; an odd number up to 255 is possible",
			 over.window));
	if (over.function != OverChannels::Function::ArgMax)
		expectShape(shape(0));
	else if (need(!shape(0).empty(), "the input is one number"))
		need(elementCount(out().shape) * shape(0).back() == elementCount(shape(0)),
		     fmt::format("the output is {} of {}", toString(out().shape),
				 toString(shape(0))));
}

void Checker::operator()(const ChannelReduction &)
{
	Extents reduced = shape(0);

	if (!need(!reduced.empty(), "the input is one number"))
		return;
	reduced.back() = 1;
	expectShape(reduced);
}

/* Operands of a computation have one scale and one zero point. */
void Checker::needQuantized(const Value &value)
{
	const auto values = value.quantization.values();

	if (value.isConstant)
		return;
	need(isActivation(value.type),
	     fmt::format("'{}' is {}; int8, uint8, int16 and float are known", value.name,
			 elementTypeName(value.type)));
	need(elementCount(value.shape) > 0, fmt::format("'{}' has no elements", value.name));
	if (isFloat(value.type))
		return;
	if (!need(values.size() == 1, fmt::format("'{}' has {} scales; an activation has one",
						  value.name, values.size())))
		return;
	const IntegerLimits limits =
		value.type == ElementType::UInt8
			? IntegerLimits{ 0, 255 }
			: integerLimits(value.type == ElementType::Int8 ? 8U : 16U);
	need(limits.saturate(int64_t{ values.front().zeroPoint }) == values.front().zeroPoint,
	     fmt::format("'{}' has the zero point {}, which is no {}", value.name,
			 values.front().zeroPoint, elementTypeName(value.type)));
}

Result<void> Checker::run()
{
	if (isAny<Unknown>(operation_.kind))
		return {};
	if (need(!operation_.inputs.empty() && operation_.outputs.size() == 1,
		 "has no inputs, or not one output")) {
		for (const ValueId id : operation_.inputs)
			needQuantized(model_.values[id]);
		needQuantized(out());
		/* Ids are checked, so constants have their bytes. */
		if (!error_)
			std::visit([this](const auto &kind) { (*this)(kind); }, operation_.kind);
	}
	if (error_)
		return tl::unexpected<Error>(*error_);
	return {};
}

} /* namespace */

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

void Model::setAsideInvalid()
{
	std::vector<bool> isThere(values.size());

	for (ValueId id = 0; id < values.size(); id++)
		isThere[id] = values[id].isConstant;
	for (const ValueId id : inputs)
		if (id < values.size())
			isThere[id] = true;
	for (Operator &operation : operators) {
		std::optional<Error> error;
		const bool isKnown = !isAny<Unknown>(operation.kind);
		std::erase_if(operation.inputs, [&](ValueId id) {
			const bool there = id < values.size() && isThere[id];
			const auto other = there ? bytesError(values[id]) : std::nullopt;
			if (other && !error)
				error = other;
			if (!there && !error)
				error = Error{ ErrorCode::InvalidFile, "check model",
					       operation.name,
					       fmt::format("reads value {}, which nothing before "
							   "it writes",
							   id) };
			return !there || other;
		});
		if (isKnown && !error)
			if (auto checked = Checker(*this, operation).run(); !checked)
				error = checked.error();
		if (isKnown && error)
			operation.kind = Unknown{ *error };
		for (const ValueId id : operation.outputs)
			if (id < values.size())
				isThere[id] = true;
	}
	/* Nothing reads them any more. */
	for (Value &value : values) {
		if (bytesError(value)) {
			value.isConstant = false;
			value.data.clear();
		}
	}
}

} /* namespace nvdla::compiler */
