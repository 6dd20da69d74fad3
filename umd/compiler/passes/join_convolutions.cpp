/* SPDX-License-Identifier: MIT */
/*
 * Joins convolutions of one input whose results are concatenated: stacked, their kernels are those
 * of one convolution. A maximum is pooled channel by channel, so a pooling behind a concatenation
 * may move before it, where convolutions can hand over their results on the fly.
 */
#include "passes.h"

#include <algorithm>
#include <cmath>

#include <nvdla/core_geometry.h>

#include "kernel_window.h"

namespace nvdla::compiler
{

namespace
{

/* Powers of two between the scales of one layer that cost none of them bits
 * (number/channel_scaling.h). */
constexpr int mostSpread = 10;

/* Elements along one axis that the taps of some kernels meet, relative to an output's place. */
struct Reach {
	int64_t first;
	int64_t last;
	uint32_t step;

	uint32_t taps() const { return static_cast<uint32_t>((last - first) / step) + 1; }
	bool isOneTap() const { return first == last; }
};

Reach reachOf(uint32_t taps, uint32_t dilation, uint32_t before)
{
	const int64_t first = -int64_t{ before };

	return { first, first + int64_t{ taps - 1 } * dilation, taps > 1 ? dilation : 1 };
}

/* Reach that meets the elements of both; nothing if its step differs from one of theirs. */
std::optional<Reach> both(const Reach &a, const Reach &b)
{
	const uint32_t step = a.isOneTap() ? b.step : a.step;
	const Reach all{ std::min(a.first, b.first), std::max(a.last, b.last), step };

	if ((!a.isOneTap() && !b.isOneTap() && a.step != b.step) || (a.first - b.first) % step ||
	    all.taps() > maxKernelSize)
		return std::nullopt;
	return all;
}

/* The padding behind an axis that this reach needs for outputs up to the last. */
uint32_t paddingBehind(const Reach &reach, uint32_t stride, uint32_t in, uint32_t out)
{
	const int64_t end = int64_t{ out - 1 } * stride + reach.last + 1;

	return static_cast<uint32_t>(std::max<int64_t>(end - in, 0));
}

/* A convolution's window on its input. */
struct Taps {
	Reach y;
	Reach x;
};

Taps tapsOf(const Model &model, const Operator &operation)
{
	const auto &conv = std::get<Convolution>(operation.kind);
	const Extents &kernels = model.values[operation.inputs[1]].shape;

	return { reachOf(kernels[2], conv.dilation.y, conv.padding.top),
		 reachOf(kernels[3], conv.dilation.x, conv.padding.left) };
}

std::optional<Taps> both(const Taps &a, const Taps &b)
{
	const auto y = both(a.y, b.y), x = both(a.x, b.x);

	return y && x ? std::optional(Taps{ *y, *x }) : std::nullopt;
}

/* The quantizations of all kernels; a single one if it is the same for all. */
TensorQuantization stacked(const std::vector<Value> &values)
{
	std::vector<Quantization> all;

	for (const Value &value : values) {
		for (uint32_t k = 0; k < value.shape.front() && !value.quantization.none(); k++)
			all.push_back(value.quantization.channel(k));
	}
	if (std::ranges::all_of(all, [&](const Quantization &one) { return one == all.front(); }))
		all.resize(std::min<size_t>(all.size(), 1));
	return TensorQuantization(std::move(all));
}

/* Constants one behind the other along their first axis, whose other axes are the same. */
Value stackedConstant(const std::vector<Value> &values)
{
	Value all = values.front();

	all.shape.front() = 0;
	all.data.clear();
	for (const Value &value : values) {
		all.shape.front() += value.shape.front();
		all.data.insert(all.data.end(), value.data.begin(), value.data.end());
	}
	all.quantization = stacked(values);
	all.quantizedAxis = 0;
	return all;
}

/* Whether constants of two operators can be concatenated along their first axis. */
bool areStackable(const Value &a, const Value &b)
{
	const auto isByFirstAxis = [](const Value &value) {
		return value.quantization.values().size() <= 1 || value.quantizedAxis == 0;
	};

	return a.isConstant && b.isConstant && a.type == b.type &&
	       a.quantization.none() == b.quantization.none() && isByFirstAxis(a) &&
	       isByFirstAxis(b);
}

/* Whether one layer can have the scales of all these kernels without losing bits. */
bool isOneScaling(const std::vector<const Value *> &kernels)
{
	int least = INT32_MAX, largest = INT32_MIN;

	for (const Value *value : kernels) {
		for (const Quantization &one : value->quantization.values()) {
			least = std::min(least, std::ilogb(one.scale));
			largest = std::max(largest, std::ilogb(one.scale));
		}
	}
	return largest == INT32_MIN || largest - least <= mostSpread;
}

/* Operator that writes a part of a concatenation, if it can be joined with others. */
const Operator *stackableWriter(const Model &model, const Operator &concatenation, ValueId part)
{
	const Operator *writer = model.writer(part);
	const Value &whole = model.values[concatenation.outputs.front()];
	const Value &value = model.values[part];
	const auto *conv = writer ? std::get_if<Convolution>(&writer->kind) : nullptr;
	const bool isOne =
		writer && ((conv && conv->groups == 1) || isAny<FullyConnected>(writer->kind));

	if (!isOne || !model.isReadOnce(part) ||
	    std::ranges::count(concatenation.inputs, part) != 1 || value.type != whole.type ||
	    value.quantization != whole.quantization)
		return nullptr;
	return writer;
}

bool areAlike(const Model &model, const Operator &a, const Operator &b)
{
	const auto *one = std::get_if<Convolution>(&a.kind);
	const auto *other = std::get_if<Convolution>(&b.kind);

	if (a.inputs.size() != b.inputs.size() || a.inputs.front() != b.inputs.front() ||
	    a.kind.index() != b.kind.index() || *activationOf(a.kind) != *activationOf(b.kind))
		return false;
	if (one && (one->stride.x != other->stride.x || one->stride.y != other->stride.y))
		return false;
	for (size_t i = 1; i < a.inputs.size(); i++) {
		if (!areStackable(model.values[a.inputs[i]], model.values[b.inputs[i]]))
			return false;
	}
	return true;
}

/* Zeros around smaller kernels may make many more elements than the file has. */
bool areTooMany(const std::vector<const Value *> &kernels, const Taps &taps)
{
	constexpr uint64_t most = uint64_t{ 1 } << 25;
	uint64_t channels = 0;

	for (const Value *value : kernels)
		channels += uint64_t{ value->shape[0] } * value->shape[1];
	return channels > most / (uint64_t{ taps.y.taps() } * taps.x.taps());
}

/* End of the run of writers from \a first on that one convolution can replace. */
size_t alikeFrom(const Model &model, const std::vector<const Operator *> &writers, size_t first)
{
	const Operator *one = writers[first];
	size_t end = first + 1;
	if (!one)
		return first;
	const bool hasWindow = isAny<Convolution>(one->kind);
	std::optional<Taps> taps;
	std::vector<const Value *> kernels{ &model.values[one->inputs[1]] };

	if (hasWindow)
		taps = tapsOf(model, *one);
	for (; end < writers.size() && writers[end]; end++) {
		if (!areAlike(model, *one, *writers[end]))
			break;
		kernels.push_back(&model.values[writers[end]->inputs[1]]);
		if (hasWindow)
			taps = both(*taps, tapsOf(model, *writers[end]));
		if ((hasWindow && (!taps || areTooMany(kernels, *taps))) || !isOneScaling(kernels))
			break;
	}
	return end;
}

/* Puts all kernels into one window, and returns the convolution with this window. */
Convolution stackWindows(const Model &model, const std::vector<const Operator *> &convs,
			 std::vector<Value> &kernels)
{
	Convolution joined = std::get<Convolution>(convs.front()->kind);
	const Extents &in = model.values[convs.front()->inputs.front()].shape;
	const Extents &out = model.values[convs.front()->outputs.front()].shape;
	Taps all = tapsOf(model, *convs.front());

	for (const Operator *conv : convs)
		all = *both(all, tapsOf(model, *conv));
	for (size_t i = 0; i < convs.size(); i++) {
		const Taps own = tapsOf(model, *convs[i]);
		const Place at{ (own.y.first - all.y.first) / all.y.step,
				(own.x.first - all.x.first) / all.x.step };
		kernels[i] = inWindow(kernels[i], { all.y.taps(), all.x.taps() }, at);
	}
	joined.dilation = { all.x.step, all.y.step };
	joined.padding = { static_cast<uint32_t>(-all.x.first),
			   paddingBehind(all.x, joined.stride.x, in[2], out[2]),
			   static_cast<uint32_t>(-all.y.first),
			   paddingBehind(all.y, joined.stride.y, in[1], out[1]) };
	return joined;
}

/* One operator that replaces \a writers; it writes \a whole. */
Operator joined(Model &model, const std::vector<const Operator *> &writers, ValueId whole)
{
	Operator all = *writers.front();
	std::vector<std::vector<Value>> constants(all.inputs.size());

	for (const Operator *writer : writers) {
		for (size_t i = 1; i < all.inputs.size(); i++)
			constants[i].push_back(model.values[writer->inputs[i]]);
	}
	if (isAny<Convolution>(all.kind))
		all.kind = stackWindows(model, writers, constants[1]);
	for (size_t i = 1; i < all.inputs.size(); i++)
		all.inputs[i] = model.add(stackedConstant(constants[i]));
	all.name = model.values[whole].name;
	all.outputs = { whole };
	return all;
}

/* The pooling that alone reads a concatenation of channels, if its parts can be pooled instead. */
const Operator *poolingBehind(const Model &model, const Operator &concatenation)
{
	const auto *kind = std::get_if<Concatenation>(&concatenation.kind);
	const ValueId whole = concatenation.outputs.front();
	const Value &value = model.values[whole];
	const auto readers = model.readers(whole);

	if (!kind || !kind->activation.isNone() || value.shape.size() != 4 || value.batch != 1 ||
	    kind->axis != 3 || model.isOutput(whole) || readers.size() != 1)
		return nullptr;
	const Operator &reader = model.operators[readers.front()];
	const auto *pool = std::get_if<Pool>(&reader.kind);
	const bool moves = pool && isExtreme(pool->method) && pool->activation.isNone() &&
			   model.values[reader.outputs.front()].quantization == value.quantization;
	/* Requantization keeps the order of integers, so the largest one stays the largest. */
	const auto isAlike = [&](ValueId part) {
		return !model.values[part].isConstant && model.values[part].type == value.type;
	};

	return moves && std::ranges::all_of(concatenation.inputs, isAlike) ? &reader : nullptr;
}

/* Whether a pooling could take a value from the convolution that writes it. */
bool isHandedOver(const Model &model, ValueId part)
{
	const Operator *writer = model.writer(part);

	return writer && isAny<Convolution>(writer->kind) && model.isReadOnce(part);
}

} /* namespace */

std::vector<JoinableParts> joinableParts(const Model &model, const Operator &concatenation)
{
	const auto *kind = std::get_if<Concatenation>(&concatenation.kind);
	std::vector<JoinableParts> found;
	std::vector<const Operator *> writers;

	if (!kind || !kind->activation.isNone() ||
	    kind->axis + 1 != model.values[concatenation.outputs.front()].shape.size())
		return {};
	for (const ValueId part : concatenation.inputs)
		writers.push_back(stackableWriter(model, concatenation, part));
	for (size_t first = 0; first < writers.size();) {
		const size_t end = alikeFrom(model, writers, first);
		const auto from = concatenation.inputs.begin();
		if (end > first + 1)
			found.push_back({ from + static_cast<ptrdiff_t>(first),
					  from + static_cast<ptrdiff_t>(end) });
		first = std::max(end, first + 1);
	}
	return found;
}

ValueId joinConvolutions(Model &model, ValueId concatenated, const JoinableParts &parts)
{
	std::vector<Operator> &all = model.operators;
	const Operator concatenation = *model.writer(concatenated);
	const bool isWhole = parts.size() == concatenation.inputs.size();
	std::vector<const Operator *> writers;
	std::vector<Operator> slices;
	Value whole = model.values[parts.front()];
	uint32_t channel = 0;

	for (const ValueId part : parts) {
		const Operator *writer = model.writer(part);
		const Extents &shape = model.values[part].shape;
		Slice slice{ Extents(shape.size(), 0), Extents(shape.size(), 1) };
		slice.begin.back() = channel;
		channel += shape.back();
		writers.push_back(writer);
		slices.push_back(
			{ writer->name, writer->type, slice, {}, { part }, writer->index });
	}
	whole.shape.back() = channel;
	const ValueId made = isWhole ? concatenated : model.add(std::move(whole));
	const Operator one = joined(model, writers, made);
	for (Operator &slice : slices)
		slice.inputs = { made };

	/* Insert at the first writer's place, where the shared input is computed already. */
	const auto first = std::ranges::find_if(
		all, [&](const Operator &each) { return std::ranges::count(writers, &each) > 0; });
	const auto place = static_cast<ptrdiff_t>(first - all.begin());
	std::erase_if(all, [&](const Operator &each) {
		return std::ranges::count(parts, each.outputs.front()) > 0 ||
		       (isWhole && each.outputs.front() == concatenated);
	});
	slices.insert(slices.begin(), one);
	all.insert(all.begin() + place, slices.begin(), slices.end());
	if (isWhole)
		return made;
	std::vector<ValueId> &inputs = model.writer(concatenated)->inputs;
	const auto at = std::ranges::find(inputs, parts.front());
	*at = made;
	inputs.erase(at + 1, at + static_cast<ptrdiff_t>(parts.size()));
	return made;
}

bool canPoolParts(const Model &model, const Operator &concatenation)
{
	return poolingBehind(model, concatenation) &&
	       std::ranges::any_of(concatenation.inputs,
				   [&](ValueId part) { return isHandedOver(model, part); });
}

ValueId poolParts(Model &model, ValueId concatenated)
{
	const Operator before = *model.writer(concatenated);
	const Operator pooling = *poolingBehind(model, before);
	const ValueId result = pooling.outputs.front();
	Operator behind = before;
	std::vector<Operator> moved;

	behind.outputs = { result };
	for (ValueId &part : behind.inputs) {
		Extents shape = model.values[result].shape;
		shape.back() = model.values[part].shape.back();
		const ValueId made = model.addLike(part, " pooled", std::move(shape));
		Operator one = pooling;
		one.inputs = { part };
		one.outputs = { made };
		moved.push_back(std::move(one));
		part = made;
	}
	moved.push_back(std::move(behind));
	const auto place =
		model.operators.begin() + (model.writer(result) - model.operators.data());
	model.operators.insert(model.operators.erase(place), moved.begin(), moved.end());
	return result;
}

} /* namespace nvdla::compiler */
