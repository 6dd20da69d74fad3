/* SPDX-License-Identifier: MIT */
/*
 * Operators that move elements. Many only change the order of axes (Tensor::order), not the value.
 */
#include <algorithm>

#include <fmt/core.h>

#include "compiler/ir/walk.h"
#include "legalize.h"

namespace nvdla::compiler::legalize
{

namespace
{

/* Returns an order of all axes in which those of more than one element have the order \a several:
 * if possible, the usual order. */
AxisOrder orderOf(const Builder &builder, const Extents &shape, const AxisOrder &several)
{
	const AxisOrder usual = builder.usualOrder(shape.size());
	AxisOrder order;

	if (severalOf(shape, usual) == several)
		return usual;
	for (uint32_t axis = 0; axis < shape.size(); axis++) {
		if (shape[axis] == 1)
			order.push_back(axis);
	}
	order.insert(order.end(), several.begin(), several.end());
	return order;
}

/* Describes a flattened picture whose elements stay where they are, with Tensor::places. */
Tensor flattened(const Tensor &tensor, const Extents &shape)
{
	const Walk walk = compiler::transposed(tensor.shape, tensor.order);
	Tensor flat{ 0, shape, asInFile(shape.size()) };

	for (uint64_t i = 0; i < shape.back(); i++)
		flat.places.push_back(static_cast<uint32_t>(walk(i)));
	flat.unflattened = turnedTo(tensor, walk.shape, asInFile(tensor.shape.size()));
	return flat;
}

Tensor reshape(Builder &builder, const Tensor &tensor, const Extents &shape)
{
	const AxisOrder from = severalOf(tensor.shape, tensor.order);
	const AxisOrder to = severalOf(shape, asInFile(shape.size()));

	/* Case 1: the elements are in the file's order already. */
	if (std::is_sorted(from.begin(), from.end()))
		return builder.move(Reshape{}, tensor, { 0, shape, orderOf(builder, shape, to) });
	/* Case 2: the reshape only adds or removes axes of one element. */
	const AxisOrder old = severalOf(tensor.shape, asInFile(tensor.shape.size()));
	if (sizesOf(tensor.shape, old) == sizesOf(shape, to)) {
		AxisOrder several;
		for (const uint32_t axis : from)
			several.push_back(to[placeOf(old, axis)]);
		return builder.move(Reshape{}, tensor,
				    { 0, shape, orderOf(builder, shape, several) });
	}
	/* Case 3: the reshape flattens all axes, except for a batch in front. */
	const bool keepsBatch = to.size() == 2 && to.front() == 0 && shape[0] == tensor.shape[0] &&
				tensor.order.front() == 0;
	if ((to.size() == 1 || keepsBatch) && to.back() + 1 == shape.size())
		return builder.move(Reshape{}, tensor, flattened(tensor, shape));
	/* Otherwise the CPU brings the elements into the file's order first. */
	const Tensor inFile = builder.inOrder(tensor, asInFile(tensor.shape.size()));
	return builder.move(Reshape{}, inFile, { 0, shape, orderOf(builder, shape, to) });
}

/* Whether a value lies in memory as \a samples pictures of \a channels channels. Reshapes move
 * nothing in memory, so the shape before them decides. */
bool arePictures(const Model &model, ValueId id, uint32_t samples, size_t channels)
{
	const Extents &shape = model.values[model.beforeReshapes(id)].shape;

	return !shape.empty() && shape.back() == channels &&
	       samples == (shape.size() == 4 ? shape.front() : 1);
}

/* Whether a flattened tensor lies in memory as a picture that, read channel by channel, has the
 * file's order. */
bool isFlatPicture(const Model &model, const Tensor &tensor)
{
	const auto &[extents, order] = tensor.unflattened;
	const Operator *writer = model.writer(tensor.id);

	/* An operator that writes or reads the flattened tensor may use another surface. */
	return order == AxisOrder{ 0, 3, 1, 2 } && writer && isAny<Reshape>(writer->kind) &&
	       model.readers(tensor.id).empty() &&
	       tensor.places.size() * extents.front() == elementCount(extents) &&
	       arePictures(model, tensor.id, extents.front(), extents.back());
}

} /* namespace */

Tensor Builder::reshaped(const Tensor &tensor, const Extents &shape)
{
	need(elementCount(shape) == elementCount(tensor.shape), "shape",
	     fmt::format("{} cannot become {}", toString(tensor.shape), toString(shape)));
	if (!isConstant(tensor))
		return reshape(*this, plain(tensor), shape);
	Value constant = value(tensor);
	support(constant.quantization.values().size() <= 1, "input 0",
		"is a constant with a scale for each channel");
	constant.shape = shape;
	return constantTensor(std::move(constant));
}

Tensor asOutput(Builder &builder, const Model &model, const Tensor &from, ElementOrder &order)
{
	const bool isFlat = isFlatPicture(model, from);
	const Tensor tensor = isFlat ? from : builder.plain(from);
	const AxisOrder inFile = asInFile(tensor.shape.size());
	const auto lies = [&](const AxisOrder &axes) {
		return severalOf(tensor.shape, tensor.order) == severalOf(tensor.shape, axes);
	};
	/* Nchw is for pictures whose first axis is the batch, and for flattened pictures. */
	const bool isBatch = inFile.size() == 4 && (tensor.shape[0] == 1 || tensor.order[0] == 0);
	const bool isPicture =
		isFlat || (isBatch && lies(builder.usualOrder(4)) &&
			   arePictures(model, tensor.id, tensor.shape[0], tensor.shape[1]));
	const bool asIs = !isFlat && (!isPicture || lies(inFile));

	order = asIs ? ElementOrder::Nhwc : ElementOrder::Nchw;
	return asIs && !lies(inFile) ? builder.inOrder(tensor, inFile) : tensor;
}

Tensor transposed(Builder &builder, const Tensor &from, const std::vector<int64_t> &perm)
{
	const Tensor tensor = builder.plain(from);
	const size_t rank = tensor.shape.size();
	Tensor result{ tensor.id, {}, {} };
	AxisOrder newName(rank), order;
	std::vector<bool> seen(rank);

	builder.need(perm.size() == rank, "perm", "does not name each axis");
	for (uint32_t to = 0; to < rank; to++) {
		const uint32_t axis = builder.axis(perm[to], rank, "perm");
		builder.need(!seen[axis], "perm", "names an axis twice");
		seen[axis] = true;
		newName[axis] = to;
		order.push_back(axis);
		result.shape.push_back(tensor.shape[axis]);
	}
	if (builder.isConstant(tensor) && rank)
		return builder.constantTensor(permuted(builder.value(tensor), order));
	for (const uint32_t axis : tensor.order)
		result.order.push_back(newName[axis]);
	return result;
}

Tensor concatenation(Builder &builder, const std::vector<Tensor> &tensors, int64_t along,
		     const Clamp &activation)
{
	builder.need(!tensors.empty(), "inputs", "are missing");
	const Tensor first = builder.plain(tensors.front());
	const uint32_t axis = builder.axis(along, first.shape.size(), "axis");
	Tensor all = withExtent(first, axis, 0);
	std::vector<ValueId> ids;
	bool alike = true;

	for (const Tensor &tensor : tensors) {
		builder.support(builder.isConstant(tensor) == builder.isConstant(first), "inputs",
				"are constants, some of them");
		builder.need(tensor.shape.size() == all.shape.size(), "inputs",
			     "have different axes");
		alike = alike && builder.same(tensor) == builder.same(first);
		ids.push_back(&tensor == &tensors.front()
				      ? first.id
				      : builder.inOrder(tensor, first.order).id);
		all.shape[axis] += tensor.shape[axis];
	}
	const ElementKind made = alike ? builder.joined(first) : builder.computed(first);
	if (ids.size() == 1 && activation.isNone() && made == builder.same(first))
		return first;
	return builder.make(Concatenation{ placeOf(first.order, axis), activation }, ids, made,
			    all);
}

Tensor stack(Builder &builder, const std::vector<Tensor> &tensors, int64_t along)
{
	std::vector<Tensor> parts;

	for (const Tensor &tensor : tensors)
		parts.push_back(unsqueezed(builder, tensor, { along }));
	return concatenation(builder, parts, along, {});
}

Tensor slice(Builder &builder, const Tensor &from, const Extents &begin, const Extents &stride,
	     const Extents &shape)
{
	Tensor like = builder.plain(from);
	const Tensor tensor = like;

	like.shape = shape;
	return builder.move(Slice{ inValueOrder(tensor, begin), inValueOrder(tensor, stride) },
			    tensor, like);
}

Tensor part(Builder &builder, const Tensor &from, uint32_t axis, const Part &part)
{
	const size_t rank = from.shape.size();

	if (part.begin == 0 && part.count == from.shape[axis])
		return builder.plain(from);
	return slice(builder, from, withExtent({ 0, Extents(rank, 0), {} }, axis, part.begin).shape,
		     Extents(rank, 1), withExtent(from, axis, part.count).shape);
}

std::vector<Tensor> split(Builder &builder, const Tensor &from, uint32_t axis,
			  const std::vector<int64_t> &sizes)
{
	const Tensor tensor = builder.plain(from);
	std::vector<Tensor> parts;
	uint32_t begin = 0;

	for (const int64_t size : sizes) {
		builder.need(size >= 1 && size + begin <= tensor.shape[axis], "split",
			     fmt::format("{} elements of {}", size, tensor.shape[axis]));
		parts.push_back(
			part(builder, tensor, axis, { begin, static_cast<uint32_t>(size) }));
		begin += static_cast<uint32_t>(size);
	}
	builder.need(begin == tensor.shape[axis], "split",
		     fmt::format("makes {} of more elements", begin));
	return parts;
}

Tensor ofParts(Builder &builder, Tensor tensor, const std::vector<std::vector<Part>> &axes)
{
	constexpr uint64_t mostElements = uint64_t{ 1 } << 28;

	for (uint32_t axis = 0; axis < axes.size(); axis++) {
		Tensor all = withExtent(tensor, axis, 0);
		std::vector<Tensor> parts;

		if (axes[axis].empty())
			continue;
		for (const Part &one : axes[axis])
			all.shape[axis] += one.count;
		builder.support(elementCount(all.shape) <= mostElements, "output",
				fmt::format("would be {}", toString(all.shape)));
		for (const Part &one : axes[axis])
			parts.push_back(part(builder, tensor, axis, one));
		tensor = concatenation(builder, parts, axis, {});
	}
	return tensor;
}

} /* namespace nvdla::compiler::legalize */
