/* SPDX-License-Identifier: MIT */
/*
 * A TensorFlow Lite file in memory, read without unpacking.
 */
#pragma once

#include <cstddef>
#include <cstring>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <nvdla/error.h>

#include "compiler/ir/model.h"
#include "tflite_generated.h"

namespace nvdla::compiler::tflite
{

namespace fb = nvdla::tflite;

/** \brief The action that failed, for the errors of these functions */
inline constexpr const char *reading = "read TFLite model";

/** \brief A verified file: all of its tables lie inside its bytes */
class File
{
public:
	/** \brief Copy the bytes \throw BrokenRule if they are no such model */
	explicit File(std::span<const std::byte> bytes);

	const fb::Model &model() const { return *fb::GetModel(aligned_.data()); }

private:
	/* Scalars are read in place, so the buffer needs the alignment that the writer assumed. */
	std::vector<std::max_align_t> aligned_;
};

/** \return the numbers of an optional vector; none if the file lacks it */
template<typename T>
std::vector<T> numbersOf(const flatbuffers::Vector<T> *from)
{
	std::vector<T> numbers(from ? from->size() : 0);

	/* The numbers may be unaligned, because FlatBuffers checks only a vector's length. */
	if (!numbers.empty())
		std::memcpy(numbers.data(), from->Data(), numbers.size() * sizeof(T));
	return numbers;
}
/** \return the type of a tensor's elements; nothing if no operator supports it */
std::optional<ElementType> elementTypeOf(fb::TensorType type);
/** \return the number of a built-in operator; CUSTOM for operators with a name instead */
fb::BuiltinOperator builtinCode(const fb::OperatorCode &code);
/** \return true if an operator names, reads, assigns or initializes resource variables */
constexpr bool isOfVariable(fb::BuiltinOperator kind)
{
	using enum fb::BuiltinOperator;

	return kind == CALL_ONCE || kind == VAR_HANDLE || kind == READ_VARIABLE ||
	       kind == ASSIGN_VARIABLE;
}
/** \return an operator's name for people: "CONV_2D", "custom operator 'Name'" */
std::string typeName(const fb::OperatorCode &code);

/**
 * \brief Expand a sparse constant, with zeros for the elements that the file leaves out
 * \param[in] elements in the file, \a bytes each
 * \param[in] shape of the whole constant
 * \return the bytes of all elements; InvalidFile if an index is outside of the shape
 */
Result<std::vector<std::byte>> densified(const fb::SparsityParameters &sparsity,
					 std::span<const std::byte> elements, size_t bytes,
					 const Extents &shape, const std::string &where);

} /* namespace nvdla::compiler::tflite */
