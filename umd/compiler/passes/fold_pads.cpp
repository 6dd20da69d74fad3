/* SPDX-License-Identifier: MIT */
#include "passes.h"

#include <algorithm>

namespace nvdla::compiler
{

namespace
{

/* A larger output is refused where it is lowered. */
constexpr uint64_t mostElementsAround = uint64_t{ 1 } << 24;

/* Lines and columns of N, H, W, C alone. */
bool isPlane(const Pad &pad)
{
	return pad.value == 0 && pad.before.size() == 4 &&
	       pad.before[0] + pad.after[0] + pad.before[3] + pad.after[3] == 0;
}

op::Padding sum(const op::Padding &padding, const Pad &pad)
{
	return { padding.left + pad.before[2], padding.right + pad.after[2],
		 padding.top + pad.before[1], padding.bottom + pad.after[1] };
}

/* The core's padding is less than the kernel. */
bool isWithin(const op::Padding &padding, uint32_t w, uint32_t h)
{
	return std::max(padding.left, padding.right) < w &&
	       std::max(padding.top, padding.bottom) < h;
}

bool canPad(const Model &model, const Operator &operation, const Convolution &conv, const Pad &pad)
{
	const Extents &kernel = model.values[operation.inputs[1]].shape;

	return isWithin(sum(conv.padding, pad), (kernel[3] - 1) * conv.dilation.x + 1,
			(kernel[2] - 1) * conv.dilation.y + 1);
}

/* Zeros count in its windows, none of which goes beyond them. */
bool canPad(const Model &model, const Operator &operation, const Pool &pool, const Pad &pad)
{
	const op::Padding &own = pool.padding;
	const Extents &in = model.values[operation.inputs[0]].shape;
	const Extents &out = model.values[operation.outputs[0]].shape;
	auto isInside = [](uint32_t extent, uint32_t windows, uint32_t kernel, uint32_t stride,
			   uint32_t padding) {
		return uint64_t{ windows - 1 } * stride + kernel <= uint64_t{ extent } + padding;
	};

	return !isExtreme(pool.method) &&
	       (pool.countPadding || own.left + own.right + own.top + own.bottom == 0) &&
	       isWithin(sum(own, pad), pool.kernel.x, pool.kernel.y) &&
	       isInside(in[1], out[1], pool.kernel.y, pool.stride.y, own.top + own.bottom) &&
	       isInside(in[2], out[2], pool.kernel.x, pool.stride.x, own.left + own.right);
}

bool canPad(const Model &model, const Operator &operation, const Pad &pad)
{
	if (const auto *conv = std::get_if<Convolution>(&operation.kind))
		return canPad(model, operation, *conv, pad);
	if (const auto *pool = std::get_if<Pool>(&operation.kind))
		return canPad(model, operation, *pool, pad);
	return false;
}

void addPadding(Kind &kind, const Pad &pad)
{
	if (auto *conv = std::get_if<Convolution>(&kind)) {
		conv->padding = sum(conv->padding, pad);
		return;
	}
	auto &pool = std::get<Pool>(kind);
	pool.padding = sum(pool.padding, pad);
	pool.countPadding = true;
}

/*
 * A constant of the padded output's shape: the number of the padding around zeros. Without padding
 * of the batch axis it has one sample, for all samples of a batch.
 */
Value numbersAround(const Pad &pad, const Extents &shape)
{
	std::vector<double> numbers;
	const size_t first = shape.size() == 4 && pad.before[0] + pad.after[0] == 0 ? 1 : 0;
	const Extents each(shape.begin() + static_cast<ptrdiff_t>(first), shape.end());

	for (uint64_t i = 0; i < elementCount(each); i++) {
		uint64_t rest = i;
		bool isInside = true;
		for (size_t axis = each.size(); axis-- > 0;) {
			const uint64_t at = rest % each[axis];
			rest /= each[axis];
			isInside = isInside && at >= pad.before[first + axis] &&
				   at < each[axis] - pad.after[first + axis];
		}
		numbers.push_back(isInside ? 0 : pad.value);
	}
	return floatConstant(numbers, each);
}

} /* namespace */

void padWithZeros(Model &model)
{
	expandEach(model, [&](Operator &operation) -> std::vector<Operator> {
		auto *pad = std::get_if<Pad>(&operation.kind);
		const ValueId output = operation.outputs.front();
		if (!pad || pad->value == 0 ||
		    elementCount(model.values[output].shape) > mostElementsAround)
			return {};
		const ValueId numbers = model.add(numbersAround(*pad, model.values[output].shape));
		Value padded = model.values[output];
		padded.name += " in zeros";
		const ValueId between = model.add(std::move(padded));
		Operator sum = operation;
		sum.kind = Elementwise{ Elementwise::Function::Add, {} };
		sum.inputs = { between, numbers };
		pad->value = 0;
		operation.outputs = { between };
		return { operation, sum };
	});
}

void foldPads(Model &model)
{
	for (size_t i = 0; i < model.operators.size(); i++) {
		const Operator operation = model.operators[i];
		const auto *pad = std::get_if<Pad>(&operation.kind);
		const ValueId to = operation.outputs.front();
		const auto readers = model.readers(to);
		if (!pad || !isPlane(*pad) || readers.empty() || model.isOutput(to) ||
		    model.values[operation.inputs.front()].quantization !=
			    model.values[to].quantization ||
		    !std::all_of(readers.begin(), readers.end(), [&](size_t reader) {
			    return canPad(model, model.operators[reader], *pad);
		    }))
			continue;
		for (const size_t reader : readers) {
			addPadding(model.operators[reader].kind, *pad);
			model.operators[reader].inputs.front() = operation.inputs.front();
		}
		model.operators.erase(model.operators.begin() + static_cast<ptrdiff_t>(i));
		i--;
	}
}

} /* namespace nvdla::compiler */
