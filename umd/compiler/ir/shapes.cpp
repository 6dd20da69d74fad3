/* SPDX-License-Identifier: MIT */
/*
 * Checks operators against the types and shapes of their inputs and outputs. The lowering relies on
 * these checks and does not repeat them.
 */
#include <algorithm>

#include <fmt/core.h>

#include "base/io/printable.h"
#include "compiler/rules.h"
#include "model.h"

namespace nvdla::compiler
{

namespace
{

constexpr const char *checking = "check model";

/* In files, values and operators may have no name. */
Error invalid(const std::string &name, const std::string &why)
{
	return { ErrorCode::InvalidFile, checking, name.empty() ? "what has no name" : name, why };
}

/* Checks the rules for an operator, except for shapes that the folder legalize has computed. */
class Checker : private Rules
{
public:
	Checker(const Model &model, const Operator &operation)
		: Rules(checking), model_(model), operation_(operation)
	{
		setPart(fmt::format("{} {}", operation.type, inQuotes(operation.name)));
	}

	void run() const;

private:
	const Value &value(size_t input) const { return model_.values[operation_.inputs[input]]; }
	const Extents &shape(size_t input) const { return value(input).shape; }
	const Value &out() const { return model_.values[operation_.outputs.front()]; }
	/* Whether the operator can make the output's shape of the inputs' shapes. */
	bool fits() const;
	bool fitsSlice(const Slice &slice) const;
	void needKernels() const;
	void needQuantized(const Value &value) const;

	const Model &model_;
	const Operator &operation_;
};

bool Checker::fits() const
{
	const Kind &kind = operation_.kind;

	if (const auto *conv = std::get_if<Convolution>(&kind))
		return shape(1)[0] % conv->groups == 0 &&
		       uint64_t{ shape(1)[1] } * conv->groups == shape(0)[3];
	if (isAny<TransposedConvolution>(kind))
		return shape(1)[1] == shape(0)[3];
	if (const auto *concatenation = std::get_if<Concatenation>(&kind))
		return std::ranges::all_of(operation_.inputs, [&](ValueId id) {
			Extents one = model_.values[id].shape;
			one[concatenation->axis] = out().shape[concatenation->axis];
			return one == out().shape;
		});
	if (const auto *slice = std::get_if<Slice>(&kind))
		return fitsSlice(*slice);
	return !traitsOf(kind).isOverLastAxis || !shape(0).empty();
}

bool Checker::fitsSlice(const Slice &slice) const
{
	const Extents &x = shape(0), &y = out().shape;
	bool fits = y.size() == x.size();

	for (size_t axis = 0; fits && axis < x.size(); axis++)
		fits = y[axis] > 0 &&
		       slice.begin[axis] + uint64_t{ y[axis] - 1 } * slice.stride[axis] < x[axis];
	return fits;
}

void Checker::needKernels() const
{
	const Value &kernels = value(1);
	const auto quantizations = kernels.quantization.values();
	const size_t scales = quantizations.size();

	need(elementCount(kernels.shape) > 0, "weights", "have no elements");
	need(isFloat(kernels.type) || kernels.type == ElementType::Int8 ||
		     kernels.type == ElementType::UInt8 ||
		     (kernels.type == ElementType::Int16 && value(0).type == ElementType::Int16),
	     "weights",
	     fmt::format("are {}; int8, uint8 and float are known, and int16 for int16 inputs",
			 elementTypeName(kernels.type)));
	need(isFloat(value(0).type) || !isFloat(kernels.type), "weights",
	     "are float, the input is not");
	need(scales <= 1 || (kernels.quantizedAxis == 0 && scales == kernels.shape[0]), "weights",
	     fmt::format("have {} scales for {} kernels", scales, kernels.shape[0]));
	for (const Quantization &one : quantizations)
		need(one.zeroPoint >= -128 && one.zeroPoint <= 255, "weights",
		     fmt::format("have the zero point {}", one.zeroPoint));
}

/* Activations, unlike kernels, have one scale and one zero point for all channels. */
void Checker::needQuantized(const Value &value) const
{
	const auto values = value.quantization.values();

	if (value.isConstant)
		return;
	const std::string where = fmt::format("tensor '{}'", value.name);
	support(isFloat(value.type) || value.type == ElementType::Int8 ||
			value.type == ElementType::UInt8 || value.type == ElementType::Int16,
		"type",
		fmt::format("of '{}' is {}; int8, uint8, int16 and float are known", value.name,
			    elementTypeName(value.type)));
	need(elementCount(value.shape) > 0, where, "has no elements");
	if (isFloat(value.type))
		return;
	support(values.size() == 1, where,
		fmt::format("has {} scales; an activation has one", values.size()));
	const IntegerLimits limits =
		value.type == ElementType::UInt8
			? IntegerLimits{ 0, 255 }
			: integerLimits(value.type == ElementType::Int8 ? 8U : 16U);
	need(limits.saturate(int64_t{ values.front().zeroPoint }) == values.front().zeroPoint,
	     where,
	     fmt::format("has the zero point {}, which is no {}", values.front().zeroPoint,
			 elementTypeName(value.type)));
}

void Checker::run() const
{
	const Traits &traits = traitsOf(operation_.kind);

	for (const ValueId id : operation_.inputs)
		needQuantized(model_.values[id]);
	needQuantized(out());
	if (traits.hasKernels)
		needKernels();
	if (traits.isProduct && operation_.inputs.size() > 2) {
		const uint32_t kernels = traits.hasKernels ? shape(1)[0] : out().shape.back();
		need(elementCount(shape(2)) == kernels, "bias",
		     fmt::format("has not {} numbers", kernels));
	}
	need(fits(), "input 0",
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
	/* Drop constants of a wrong size: the loop above removed them from operators' inputs. */
	for (ValueId id = 0; id < values.size(); id++) {
		if (bytesError(values[id])) {
			values[id].isConstant = isThere[id] = false;
			values[id].data = {};
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
