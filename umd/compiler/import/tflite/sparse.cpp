/* SPDX-License-Identifier: MIT */
#include "sparse.h"

#include <cstring>

namespace nvdla::compiler::tflite
{

namespace
{

/* One axis that is gone through: one of the shape, or one of the blocks that it is divided into. */
struct Level {
	uint32_t axis = 0;    /* of the shape */
	bool isInner = false; /* it counts elements in a block, otherwise blocks or elements */
	uint32_t extent = 0;
	bool isSparse = false;
	std::vector<uint32_t> segments;
	std::vector<uint32_t> indices;
};

template<typename Vector>
std::vector<uint32_t> numbersOf(const Vector *vector)
{
	std::vector<uint32_t> numbers;

	for (flatbuffers::uoffset_t i = 0;
	     vector && vector->values() && i < vector->values()->size(); i++)
		numbers.push_back(static_cast<uint32_t>(vector->values()->Get(i)));
	return numbers;
}

std::vector<uint32_t> numbersOf(fb::SparseIndexVector kind, const void *vector)
{
	switch (kind) {
	case fb::SparseIndexVector::Int32Vector:
		return numbersOf(static_cast<const fb::Int32Vector *>(vector));
	case fb::SparseIndexVector::Uint16Vector:
		return numbersOf(static_cast<const fb::Uint16Vector *>(vector));
	case fb::SparseIndexVector::Uint8Vector:
		return numbersOf(static_cast<const fb::Uint8Vector *>(vector));
	default:
		return {};
	}
}

class Densifier
{
public:
	Densifier(std::span<const std::byte> elements, size_t bytes, const Extents &shape)
		: elements_(elements), bytes_(bytes), shape_(shape), blocks_(shape.size(), 1),
		  places_(shape.size()), dense_(elementCount(shape) * bytes)
	{
	}

	bool addLevels(const fb::SparsityParameters &sparsity);
	bool place(size_t level, size_t position);
	std::vector<std::byte> take() { return std::move(dense_); }

private:
	bool put(size_t position);

	std::span<const std::byte> elements_;
	size_t bytes_;
	const Extents &shape_;
	std::vector<Level> levels_;
	Extents blocks_; /* elements in a block, along each axis */
	Extents places_; /* of the element at hand, along each axis */
	std::vector<std::byte> dense_;
	uint64_t steps_ = 0;
};

/* \return false if the axes are not those of the shape */
bool Densifier::addLevels(const fb::SparsityParameters &sparsity)
{
	const auto *order = sparsity.traversal_order();
	const auto *levels = sparsity.dim_metadata();
	const size_t rank = shape_.size();
	const size_t numBlocks = sparsity.block_map() ? sparsity.block_map()->size() : 0;

	if (!order || !levels || order->size() != levels->size() ||
	    order->size() != rank + numBlocks)
		return false;
	for (flatbuffers::uoffset_t i = 0; i < order->size(); i++) {
		const fb::DimensionMetadata &from = *levels->Get(i);
		const auto axis = static_cast<uint32_t>(order->Get(i));
		Level level;
		level.isInner = axis >= rank && axis < rank + numBlocks;
		level.axis = level.isInner
				     ? static_cast<uint32_t>(sparsity.block_map()->Get(
					       static_cast<flatbuffers::uoffset_t>(axis - rank)))
				     : axis;
		level.isSparse = from.format() == fb::DimensionType::SPARSE_CSR;
		level.extent = static_cast<uint32_t>(from.dense_size());
		level.segments = numbersOf(from.array_segments_type(), from.array_segments());
		level.indices = numbersOf(from.array_indices_type(), from.array_indices());
		if (level.axis >= rank || (level.isInner && level.isSparse) ||
		    level.extent > elementCount(shape_))
			return false;
		if (level.isInner)
			blocks_[level.axis] = level.extent;
		levels_.push_back(std::move(level));
	}
	return true;
}

bool Densifier::put(size_t position)
{
	size_t index = 0;

	for (size_t axis = 0; axis < shape_.size(); axis++) {
		if (places_[axis] >= shape_[axis])
			return false;
		index = index * shape_[axis] + places_[axis];
	}
	if ((position + 1) * bytes_ > elements_.size())
		return false;
	std::memcpy(&dense_[index * bytes_], &elements_[position * bytes_], bytes_);
	return true;
}

/* \return false if an element lies outside the shape, or is not there */
bool Densifier::place(size_t depth, size_t position)
{
	/* Lists of a damaged file may name the same elements again and again. */
	if (++steps_ > (elementCount(shape_) + 1) * (levels_.size() + 1))
		return false;
	if (depth == levels_.size())
		return put(position);
	const Level &level = levels_[depth];
	const uint32_t step = level.isInner ? 1 : blocks_[level.axis];
	const uint32_t before = places_[level.axis];
	size_t begin = position * level.extent, end = begin + level.extent;
	bool isInside = true;

	if (level.isSparse) {
		if (position + 1 >= level.segments.size())
			return false;
		begin = level.segments[position];
		end = level.segments[position + 1];
		if (begin > end || end > level.indices.size())
			return false;
	}
	for (size_t i = begin; i < end && isInside; i++) {
		const size_t index = level.isSparse ? level.indices[i] : i - begin;
		isInside = index < shape_[level.axis];
		places_[level.axis] = before + static_cast<uint32_t>(index) * step;
		isInside = isInside && place(depth + 1, i);
	}
	places_[level.axis] = before;
	return isInside;
}

} /* namespace */

Result<std::vector<std::byte>> densified(const fb::SparsityParameters &sparsity,
					 std::span<const std::byte> elements, size_t bytes,
					 const Extents &shape, const std::string &where)
{
	Densifier densifier(elements, bytes, shape);

	if (!densifier.addLevels(sparsity) || !densifier.place(0, 0))
		return fail(ErrorCode::InvalidFile, reading, where,
			    "is sparse, and its elements do not lie in its shape");
	return densifier.take();
}

} /* namespace nvdla::compiler::tflite */
