/* SPDX-License-Identifier: MIT */
#include "builder.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include <fmt/core.h>

#include "compiler/ir/walk.h"

namespace nvdla::compiler::legalize
{

AxisOrder asInFile(size_t rank)
{
	AxisOrder order(rank);

	std::iota(order.begin(), order.end(), 0u);
	return order;
}

AxisOrder severalOf(const Extents &shape, const AxisOrder &order)
{
	AxisOrder several;

	std::copy_if(order.begin(), order.end(), std::back_inserter(several),
		     [&](uint32_t axis) { return shape[axis] != 1; });
	return several;
}

std::vector<double> broadcast(const std::vector<double> &numbers, const Extents &from,
			      const Extents &to)
{
	constexpr uint64_t most = uint64_t{ 1 } << 26;
	std::vector<double> result;

	if (broadcastShape(from, to) != to || !hasAtMost(to, most) || !hasAtMost(from, most) ||
	    elementCount(from) != numbers.size())
		return {};
	const Walk walk = repeated(from, to);
	for (uint64_t i = 0; i < elementCount(to); i++)
		result.push_back(numbers[walk(i)]);
	return result;
}

bool hasAtMost(const Extents &shape, uint64_t elements)
{
	return std::ranges::all_of(shape, [&](uint32_t extent) {
		elements /= std::max(extent, 1U);
		return elements > 0;
	});
}

uint32_t placeOf(const AxisOrder &order, uint32_t axis)
{
	return static_cast<uint32_t>(std::ranges::find(order, axis) - order.begin());
}

Extents sizesOf(const Extents &numbers, const AxisOrder &axes)
{
	Extents ordered;

	for (const uint32_t axis : axes)
		ordered.push_back(numbers[axis]);
	return ordered;
}

Tensor withValueShape(Tensor tensor, const Extents &shape)
{
	for (size_t i = 0; i < tensor.order.size() && i < shape.size(); i++)
		tensor.shape[tensor.order[i]] = shape[i];
	return tensor;
}

Tensor withExtent(Tensor tensor, uint32_t axis, uint32_t extent)
{
	if (axis < tensor.shape.size())
		tensor.shape[axis] = extent;
	return tensor;
}

void rearrange(Value &constant, const std::vector<uint32_t> &places)
{
	const size_t bytes = elementBytes(constant.type), row = places.size() * bytes;
	std::vector<std::byte> made(constant.data.size());

	for (size_t at = 0; at < made.size(); at += row) {
		for (size_t i = 0; i < places.size(); i++)
			std::copy_n(&constant.data[at + places[i] * bytes], bytes,
				    &made[at + i * bytes]);
	}
	constant.data = std::move(made);
}

Transpose turnedTo(const Tensor &tensor, const Extents &shape, const AxisOrder &order)
{
	Transpose transpose{ shape, {} };

	for (const uint32_t axis : order)
		transpose.order.push_back(placeOf(tensor.order, axis));
	return transpose;
}

Builder::Builder(const char *what, Building &building, AxisOrder pictureOrder)
	: Rules(what), building_(building), pictureOrder_(std::move(pictureOrder)),
	  firstValue_(building.model.values.size()), firstOperator_(building.model.operators.size())
{
}

uint32_t Builder::axis(int64_t axis, size_t rank, const std::string &field, const char *what)
{
	const auto axes = static_cast<int64_t>(rank);

	need(axis >= -axes && axis < axes, field,
	     fmt::format("{} {}, the tensor has {}", what, axis, axes));
	return static_cast<uint32_t>(axis < 0 ? axis + axes : axis);
}

AxisOrder Builder::usualOrder(size_t rank) const
{
	return rank == pictureOrder_.size() ? pictureOrder_ : asInFile(rank);
}

AxisOrder Builder::sortedAxes(const std::vector<int64_t> &axes, size_t rank)
{
	AxisOrder sorted;

	for (const int64_t number : axes)
		sorted.push_back(axis(number, rank, "axes"));
	std::ranges::sort(sorted);
	sorted.erase(std::unique(sorted.begin(), sorted.end()), sorted.end());
	return sorted;
}

const Tensor &Builder::needComputed(const Tensor &tensor)
{
	support(!isConstant(tensor), fmt::format("input '{}'", value(tensor).name),
		"is a constant; put the operator's result into the model's file");
	return tensor;
}

Tensor Builder::inOrder(const Tensor &tensor, const AxisOrder &order)
{
	if (tensor.order == order && tensor.places.empty())
		return tensor;
	if (!tensor.places.empty())
		return inOrder(plain(tensor), order);
	const Value &from = value(tensor);
	support(order.size() == tensor.order.size(), fmt::format("input '{}'", from.name),
		fmt::format("is {}; as many axes as of the others are needed",
			    toString(tensor.shape)));
	const bool moves = severalOf(tensor.shape, tensor.order) != severalOf(tensor.shape, order);
	return addValue(from.name + " in order",
			moves ? Kind(turnedTo(tensor, from.shape, order)) : Reshape{},
			{ tensor.id }, same(tensor), { 0, tensor.shape, order });
}

Tensor Builder::withAxisLast(const Tensor &tensor, uint32_t axis)
{
	AxisOrder order = tensor.order;

	order.erase(std::find(order.begin(), order.end(), axis));
	order.push_back(axis);
	return inOrder(tensor, order);
}

Tensor Builder::arranged(const Tensor &tensor, const Tensor &like)
{
	const bool alike = !like.places.empty() && tensor.places == like.places;

	return alike ? tensor : inOrder(tensor, like.order);
}

Tensor Builder::plain(const Tensor &tensor)
{
	if (tensor.places.empty())
		return tensor;
	return addValue(value(tensor).name + " in order", tensor.unflattened, { tensor.id },
			same(tensor), { 0, tensor.shape, asInFile(tensor.shape.size()) });
}

Tensor Builder::picture(const Tensor &tensor)
{
	needComputed(tensor);
	support(tensor.shape.size() == 4, fmt::format("input '{}'", value(tensor).name),
		fmt::format("is {}; a picture of four axes is needed", toString(tensor.shape)));
	return inOrder(tensor, pictureOrder_);
}

Tensor Builder::pictureOrLine(const Tensor &tensor)
{
	if (tensor.shape.size() != 3 || isConstant(tensor))
		return picture(tensor);
	const uint32_t lines = pictureOrder_[1];
	AxisOrder order;
	for (const uint32_t axis : pictureOrder_) {
		if (axis != lines)
			order.push_back(axis > lines ? axis - 1 : axis);
	}
	const Tensor line = inOrder(tensor, order);
	Tensor like{ 0, tensor.shape, pictureOrder_ };
	like.shape.insert(like.shape.begin() + lines, 1);
	return addValue(value(tensor).name + " as line", Reshape{}, { line.id }, same(line), like);
}

Tensor Builder::asLineLike(const Tensor &tensor, const Tensor &picture)
{
	Extents shape = picture.shape;

	if (tensor.shape.size() != 3)
		return picture;
	shape.erase(shape.begin() + pictureOrder_[1]);
	return reshaped(picture, shape);
}

Extents Builder::together(const Extents &shape, const Extents &other) const
{
	const auto made = broadcastShape(shape, other);

	need(made && made->size() == shape.size(), "inputs",
	     fmt::format("of {} and {} do not go together: trailing axes have to be alike, or "
			 "of one element",
			 toString(shape), toString(other)));
	return made.value_or(Extents{});
}

void Builder::keep(const Tensor &state, const Tensor &after)
{
	const Tensor same = inOrder(reshaped(after, state.shape), state.order);

	building_.states.push_back(
		{ state.id, same.id, std::vector<float>(elementCount(state.shape)) });
}

ValueId Builder::addConstant(Value value)
{
	/* In bytes: a small file can make large constants, and each use of one adds a copy. */
	constexpr uint64_t most = uint64_t{ 1 } << 31;

	building_.constantBytes += value.data.size();
	support(building_.constantBytes <= most, "constants",
		"of the model have more bytes than this compiler takes");
	value.isConstant = true;
	return model().add(std::move(value));
}

Tensor Builder::constantTensor(Value constant)
{
	const Extents shape = constant.shape;

	return { addConstant(std::move(constant)), shape, asInFile(shape.size()) };
}

std::vector<ValueId> Builder::addWeights(Weights weights)
{
	const auto &values = model().values;
	/* Share kernels that the model has already: passes that change shared ones copy them. */
	const auto known = std::ranges::find(values, weights.kernels);
	std::vector<ValueId> ids{ known == values.end()
					  ? addConstant(std::move(weights.kernels))
					  : static_cast<ValueId>(known - values.begin()) };

	for (Value &one : weights.bias)
		ids.push_back(addConstant(std::move(one)));
	return ids;
}

ValueId Builder::addMeeting(const Tensor &tensor, Value value)
{
	const size_t rank = tensor.shape.size();

	together(tensor.shape, value.shape);
	if (value.shape.empty())
		return addConstant(std::move(value));
	if (!value.quantization.none())
		value.quantizedAxis += static_cast<uint32_t>(rank - value.shape.size());
	value.shape = withRank(std::move(value.shape), rank);
	if (!tensor.places.empty() && value.shape.back() != 1) {
		support(value.quantizedAxis + 1 < rank || value.quantization.values().size() <= 1,
			"inputs", "are flattened, and a constant with a scale for each element");
		rearrange(value, tensor.places);
	}
	return addConstant(permuted(value, tensor.order));
}

void Builder::needFloatResults()
{
	support(hasFloatResults(), "type",
		fmt::format("of the result is {}; float is known",
			    elementTypeName(results_ ? results_->type : ElementType::Float32)));
}

ElementKind Builder::real(const Tensor &tensor) const
{
	const Value &value = this->value(tensor);
	const bool isNumber =
		isFloat(value.type) || (value.isConstant && value.quantization.none());

	return { isNumber ? value.type : ElementType::Float32, {} };
}

Tensor Builder::addValue(const std::string &name, Kind kind, const std::vector<ValueId> &inputs,
			 const ElementKind &elements, const Tensor &like)
{
	Operator operation{ name, type_, std::move(kind), inputs, {} };
	Tensor made = like;
	Value value;

	const bool isConstant = std::ranges::all_of(
		inputs, [&](ValueId id) { return model().values[id].isConstant; });
	if (isConstant && like.order == asInFile(like.shape.size())) {
		auto constant = folded(operation, elements, like.shape);
		support(constant.has_value(), "inputs", "are constants, all of them");
		made.id = addConstant(std::move(*constant));
		return made;
	}
	value.name = name;
	value.type = elements.type;
	value.quantization = elements.quantization;
	value.shape = inValueOrder(like, like.shape);
	made.id = model().add(std::move(value));
	operation.outputs = { made.id };
	model().operators.push_back(std::move(operation));
	return made;
}

Tensor Builder::make(Kind kind, const std::vector<ValueId> &inputs, const ElementKind &elements,
		     const Tensor &like)
{
	return addValue(name_ + " before", std::move(kind), inputs, elements, like);
}

Tensor Builder::compute(Kind kind, const Tensor &x, const Tensor &like,
			const std::vector<ValueId> &others)
{
	std::vector<ValueId> inputs{ x.id };

	inputs.insert(inputs.end(), others.begin(), others.end());
	return make(std::move(kind), inputs, computed(x), like);
}

Tensor Builder::prepare(Kind kind, const Tensor &x, const Tensor &like,
			const std::vector<ValueId> &others)
{
	needFloatResults();
	return compute(std::move(kind), x, like, others);
}

Operator *Builder::newWriter(ValueId id)
{
	auto &all = model().operators;

	for (size_t i = all.size(); i-- > firstOperator_;) {
		if (all[i].outputs.front() == id)
			return &all[i];
	}
	return nullptr;
}

void Builder::becomes(ValueId id, ValueId other)
{
	auto &all = model().operators;

	for (size_t i = firstOperator_; i < all.size(); i++) {
		std::replace(all[i].inputs.begin(), all[i].inputs.end(), id, other);
		if (all[i].outputs.front() == id) {
			all[i].outputs.front() = other;
			all[i].name = model().values[other].name;
		}
	}
	if (id + 1 == model().values.size())
		model().values.pop_back();
}

} /* namespace nvdla::compiler::legalize */
