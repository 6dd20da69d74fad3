/* SPDX-License-Identifier: MIT */
#include "file.h"

#include <algorithm>
#include <map>

#include <fmt/core.h>

#include "base/host/host_model.h"
#include "compiler/ir/walk.h"
#include "compiler/rules.h"

namespace nvdla::compiler::tflite
{

namespace
{

/* A loop over a sparse constant: over elements or blocks of an axis, or over a block's elements */
struct Level {
	uint32_t extent; /* number of steps in the dense constant */
	uint64_t step;	 /* distance of neighbours in the dense constant, in elements */
	bool isSparse;
	std::vector<uint32_t> segments; /* sparse: where in indices each outer entry begins */
	std::vector<uint32_t> indices;	/* sparse: which of the extent steps are in the file */
};

std::vector<uint32_t> indicesOf(fb::SparseIndexVector kind, const void *vector)
{
	const auto copyOf = [](const auto *values) {
		const auto numbers = numbersOf(values);
		return std::vector<uint32_t>(numbers.begin(), numbers.end());
	};

	if (vector && kind == fb::SparseIndexVector::Int32Vector)
		return copyOf(static_cast<const fb::Int32Vector *>(vector)->values());
	if (vector && kind == fb::SparseIndexVector::Uint16Vector)
		return copyOf(static_cast<const fb::Uint16Vector *>(vector)->values());
	if (vector && kind == fb::SparseIndexVector::Uint8Vector)
		return copyOf(static_cast<const fb::Uint8Vector *>(vector)->values());
	return {};
}

/* \return the levels, from the outermost one on; none if their axes are not those of the shape */
std::vector<Level> levelsOf(const fb::SparsityParameters &sparsity, const Extents &shape)
{
	const auto *order = sparsity.traversal_order(), *ofBlocks = sparsity.block_map();
	const auto *all = sparsity.dim_metadata();
	const size_t rank = shape.size(), blocks = ofBlocks ? ofBlocks->size() : 0;
	Extents axes, block(rank, 1);
	const std::vector<size_t> step = packedStrides(shape);
	std::vector<Level> levels;

	if (!order || !all || order->size() != all->size() || order->size() != rank + blocks)
		return {};
	for (flatbuffers::uoffset_t i = 0; i < order->size(); i++) {
		const auto axis = static_cast<uint32_t>(order->Get(i));
		const auto inner = static_cast<flatbuffers::uoffset_t>(axis - rank);
		const bool isInner = axis >= rank && inner < blocks;
		axes.push_back(isInner ? static_cast<uint32_t>(ofBlocks->Get(inner)) : axis);
		if (axes.back() >= rank)
			return {};
		if (isInner)
			block[axes.back()] = static_cast<uint32_t>(all->Get(i)->dense_size());
	}
	for (flatbuffers::uoffset_t i = 0; i < order->size(); i++) {
		const fb::DimensionMetadata &one = *all->Get(i);
		const uint32_t axis = axes[i], size = block[axis];
		const bool isInner = static_cast<uint32_t>(order->Get(i)) >= rank;
		const uint32_t extent = isInner ? size : shape[axis] / std::max(size, 1U);
		const bool isSparse = one.format() == fb::DimensionType::SPARSE_CSR;
		if (!isSparse && static_cast<uint32_t>(one.dense_size()) != extent)
			return {};
		levels.push_back({ extent, isInner ? step[axis] : step[axis] * size, isSparse,
				   indicesOf(one.array_segments_type(), one.array_segments()),
				   indicesOf(one.array_indices_type(), one.array_indices()) });
	}
	return levels;
}

/*
 * Returns the index in the dense constant of each element in the file; nothing if an index or list
 * is wrong. Below each entry of a level are entries of the next level: \a extent entries if that
 * level is dense, or the entries of its lists if it is sparse.
 */
std::optional<std::vector<uint64_t>> placesOf(const std::vector<Level> &levels, uint64_t most)
{
	std::vector<uint64_t> places{ 0 };

	for (const Level &level : levels) {
		std::vector<uint64_t> next;
		if (level.isSparse && level.segments.size() <= places.size())
			return std::nullopt;
		for (size_t at = 0; at < places.size(); at++) {
			const size_t begin = level.isSparse ? level.segments[at] : next.size();
			const size_t end =
				level.isSparse ? level.segments[at + 1] : begin + level.extent;
			if (begin != next.size() || begin > end || end > most ||
			    (level.isSparse && end > level.indices.size()))
				return std::nullopt;
			for (size_t i = begin; i < end; i++) {
				const size_t index = level.isSparse ? level.indices[i] : i - begin;
				if (index >= level.extent)
					return std::nullopt;
				next.push_back(places[at] + index * level.step);
			}
		}
		places = std::move(next);
	}
	return places;
}

} /* namespace */

File::File(std::span<const std::byte> bytes) : aligned_(bytes.size() / sizeof(std::max_align_t) + 1)
{
	constexpr flatbuffers::uoffset_t maxDepth = 16;
	constexpr flatbuffers::uoffset_t maxTables = 1u << 20;

	if (!isTfliteFile(bytes))
		refuse(ErrorCode::InvalidFile, reading, "file", "does not begin as a TFLite model");
	std::memcpy(aligned_.data(), bytes.data(), bytes.size());
	flatbuffers::Verifier verifier(reinterpret_cast<const uint8_t *>(aligned_.data()),
				       bytes.size(), maxDepth, maxTables);
	if (!fb::VerifyModelBuffer(verifier))
		refuse(ErrorCode::InvalidFile, reading, "file",
		       "is truncated, or tables lie outside of it");
}

std::optional<ElementType> elementTypeOf(fb::TensorType type)
{
	using enum fb::TensorType;
	static const std::map<fb::TensorType, ElementType> types = {
		{ FLOAT32, ElementType::Float32 }, { FLOAT16, ElementType::Float16 },
		{ INT8, ElementType::Int8 },	   { UINT8, ElementType::UInt8 },
		{ INT16, ElementType::Int16 },	   { INT32, ElementType::Int32 },
		{ INT64, ElementType::Int64 },	   { BOOL, ElementType::Bool },
	};
	const auto found = types.find(type);

	return found == types.end() ? std::nullopt : std::optional(found->second);
}

/* Old files have only the deprecated field; new codes, from 127 on, are only in the other one. */
fb::BuiltinOperator builtinCode(const fb::OperatorCode &code)
{
	return static_cast<fb::BuiltinOperator>(
		std::max<int32_t>(code.deprecated_builtin_code(), code.builtin_code()));
}

std::string typeName(const fb::OperatorCode &code)
{
	const fb::BuiltinOperator builtin = builtinCode(code);
	const std::string name = fb::EnumNameBuiltinOperator(builtin);

	if (code.custom_code())
		return fmt::format("custom operator '{}'", code.custom_code()->str());
	return name.empty() ? fmt::format("operator code {}", static_cast<int>(builtin)) : name;
}

Result<std::vector<std::byte>> densified(const fb::SparsityParameters &sparsity,
					 std::span<const std::byte> elements, size_t bytes,
					 const Extents &shape, const std::string &where)
{
	const uint64_t most = elementCount(shape);
	const std::vector<Level> levels = levelsOf(sparsity, shape);
	const auto places = placesOf(levels, most);
	std::vector<std::byte> dense(most * bytes);

	if (levels.empty() || !places || places->size() * bytes > elements.size() ||
	    std::ranges::any_of(*places, [&](uint64_t place) { return place >= most; }))
		return fail(ErrorCode::InvalidFile, reading, where,
			    "is sparse, and its elements do not lie in its shape");
	for (size_t i = 0; i < places->size(); i++)
		std::memcpy(&dense[(*places)[i] * bytes], &elements[i * bytes], bytes);
	return dense;
}

} /* namespace nvdla::compiler::tflite */
