/* SPDX-License-Identifier: MIT */
/*
 * A TensorFlow Lite file that is read where it lies.
 */
#pragma once

#include <cstddef>
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

/** \brief The failed action, in errors */
inline constexpr const char *reading = "read TFLite model";

/** \brief A file whose tables all lie inside it */
class File
{
public:
	/** \return a copy of the bytes; InvalidFile if they are no such file */
	static Result<File> open(std::span<const std::byte> bytes);

	const fb::Model &model() const { return *fb::GetModel(aligned_.data()); }

private:
	explicit File(std::span<const std::byte> bytes);

	/* Scalars are read where they lie, so the file has to lie as its writer aligned it. */
	std::vector<std::max_align_t> aligned_;
};

/** \return the numbers of a vector that a file may lack */
inline std::vector<int32_t> numbersOf(const flatbuffers::Vector<int32_t> *numbers)
{
	return numbers ? std::vector<int32_t>(numbers->begin(), numbers->end())
		       : std::vector<int32_t>();
}
/** \return the type of a tensor's elements; nothing if nothing computes with it */
std::optional<ElementType> elementTypeOf(fb::TensorType type);
/** \return what computes an operator; CUSTOM has a name of its own */
fb::BuiltinOperator builtinCode(const fb::OperatorCode &code);
/** \return what people call an operator: "CONV_2D", "custom operator 'Name'" */
std::string typeName(const fb::OperatorCode &code);

/**
 * \brief Put the elements of a sparse constant where they belong, zeros elsewhere
 * \param[in] elements those that the file has, of \a bytes each
 * \param[in] shape of the whole constant
 * \return the bytes of all elements; InvalidFile if the places do not lie in the shape
 */
Result<std::vector<std::byte>> densified(const fb::SparsityParameters &sparsity,
					 std::span<const std::byte> elements, size_t bytes,
					 const Extents &shape, const std::string &where);

} /* namespace nvdla::compiler::tflite */
