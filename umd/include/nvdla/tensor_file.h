/* SPDX-License-Identifier: MIT */
/* Files that hold tensors: .dimg of the first NVDLA runtime, .npy of numpy. */
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <nvdla/error.h>
#include <nvdla/tensor.h>

#pragma GCC visibility push(default)

namespace nvdla
{

/** \brief Surface format codes in .dimg files, as in the reference results of the first runtime */
enum class DimgFormat : uint32_t {
	Int8 = 40,
	Int16 = 41,
	Half = 42,
};

/** \brief A .dimg file: description of a tensor, and its elements in C, H, W order */
struct Dimg {
	DimgFormat format = DimgFormat::Int8;
	uint32_t width = 0;
	uint32_t height = 0;
	uint32_t channel = 0;
	uint32_t lineStride = 0;
	uint32_t surfaceStride = 0;
	uint32_t size = 0; /**< bytes of the tensor in the core's layout, with gaps; not those of \a
			      elements */
	std::vector<std::byte> elements;
};

/**
 * \brief Make a .dimg of a feature tensor
 * \param[in] elements as unpackElements() returns them
 */
Result<std::vector<std::byte>> encodeDimg(const TensorDesc &desc,
					  std::span<const std::byte> elements);
Result<Dimg> decodeDimg(std::span<const std::byte> bytes, const std::string &name);
Result<Dimg> readDimg(const std::string &path);

/**
 * \brief Make the elements of a tensor from a .dimg, as packElements() takes them
 * \param[in] desc the tensor that gets the elements, of any layout
 * \return InvalidArgument naming both values if type, channels, height, width or the number of
 * elements are not the tensor's
 */
Result<std::vector<std::byte>> elementsFromDimg(const TensorDesc &desc, const Dimg &dimg);

/** \brief An array of a .npy file, in C order */
struct NpyArray {
	std::vector<size_t> shape;
	/**
	 * \brief float32, float16, int64, int32, int16, int8 or bool
	 *
	 * Numbers of other types in the file, float64 and the other integers, are rounded to
	 * float32.
	 */
	DataType type = DataType::Float;
	std::vector<std::byte> elements;
	bool ofBytes = false; /**< the file has uint8; \a elements has these numbers as int16 */
};

Result<NpyArray> decodeNpy(std::span<const std::byte> bytes, const std::string &name);
Result<NpyArray> readNpy(const std::string &path);

/**
 * \brief Check that an array has the shape of a signature, or that of several samples one behind
 * the other
 *
 * Axes of length 1 may be left out or added.
 *
 * \param[in] name of the tensor, for errors
 * \return number of samples, 1 or more, which follow each other on the array's first axis;
 * InvalidArgument naming both shapes if they do not fit
 */
Result<size_t> countSamples(const std::string &name, const TensorSignature &signature,
			    std::span<const size_t> shape);

/**
 * \brief Make the elements of a tensor from an array
 *
 * The array has the shape and the order of the tensor's signature, as countSamples() checks it.
 * Without a signature, or with an \a order, its shape is N, C, H, W, or C, H, W for one image, or
 * the same with the channels last. It may then have fewer channels than the tensor; the missing
 * channels represent 0.
 *
 * An array of the tensor's type holds elements, which are copied. The same is true for uint8 if the
 * tensor holds unsigned bytes, and for int8 and uint8 if the signature has 8 bits (is8Bits); 128 is
 * subtracted from such uint8. An array of any other type holds numbers, which are quantized with
 * desc.quantization.
 *
 * \return elements in N, C, H, W order; InvalidArgument naming both shapes if they do not
 * match
 */
Result<std::vector<std::byte>> elementsFromNpy(const TensorDesc &desc, const NpyArray &array,
					       std::optional<ElementOrder> order = std::nullopt);

/**
 * \brief Make a .npy of numbers, float32
 * \param[in] values as many as \a shape says, in C order
 */
Result<std::vector<std::byte>> encodeNpy(std::span<const size_t> shape,
					 std::span<const float> values);
/** \brief Make a .npy of elements of a type that NpyArray can have, or UInt8 */
Result<std::vector<std::byte>> encodeNpy(std::span<const size_t> shape, DataType type,
					 std::span<const std::byte> elements);

} /* namespace nvdla */

#pragma GCC visibility pop
