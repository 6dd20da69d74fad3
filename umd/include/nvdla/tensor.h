/* SPDX-License-Identifier: MIT */
/*
 * Tensors: how elements lie in the memory that the core reads and writes.
 */
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include <nvdla/error.h>

namespace nvdla
{

/** \brief Type of one element; the values are those of loadables */
enum class DataType : uint8_t {
	Unknown = 0,
	Float = 1,
	Half = 2,
	Int16 = 3,
	Int8 = 4,
};

/**
 * \brief Memory layout of a tensor; the values are those of loadables
 *
 * 0 to 35 are the pixel formats of the table "Pixel formats and valid setting"
 * in the document "In-memory data formats"; only those are named that this
 * library packs.
 */
enum class PixelFormat : uint8_t {
	R8 = 0,
	R16 = 3,
	R16I = 4,
	R16F = 5,
	A16B16G16R16 = 6,
	A16B16G16R16F = 8,
	A8B8G8R8 = 12,
	Feature = 36,	/**< atoms of 32 bytes: 32 INT8 or 16 INT16/FP16 channels */
	FeatureX8 = 37, /**< atoms of 8 bytes, as nv_small has them */
};

/** \return bytes of an element, 0 for a type that tensors cannot have */
size_t elementBytes(DataType type);

/** \return "int8", "int16", "fp16", "fp32" or "unknown" */
const char *dataTypeName(DataType type);

/** \return name of a layout as in the format document, or "format <n>" */
std::string pixelFormatName(PixelFormat format);

/**
 * \brief Shape and layout of a tensor in device memory
 *
 * Feature layout ("Feature Data Format"): channel c of pixel (h, w) lies at
 * (c / atom) * surfaceStride + h * lineStride + w * atomBytes + (c % atom) *
 * elementBytes. Pixel layout: pixel (h, w) lies at h * lineStride + w *
 * pixelBytes, channel 0 first. The images of a batch follow each other at
 * size / n bytes.
 */
struct TensorDesc {
	std::string name;
	DataType type = DataType::Int8;
	PixelFormat format = PixelFormat::Feature;
	uint32_t n = 1;
	uint32_t c = 1;
	uint32_t h = 1;
	uint32_t w = 1;
	uint32_t lineStride = 0;    /**< bytes from line to line */
	uint32_t surfaceStride = 0; /**< bytes from surface to surface; feature only */
	uint64_t size = 0;	    /**< bytes of the whole tensor, gaps and all images included */
	uint16_t memory = 0;	    /**< id of the loadable's memory it lies in */
	uint64_t offset = 0;	    /**< bytes from the start of that memory */

	/** \return number of elements, n * c * h * w */
	uint64_t elements() const { return uint64_t{ n } * c * h * w; }

	/** \return "name n x c x h x w type layout", for messages */
	std::string describe() const;

	/**
	 * \brief Check that the layout is known and that every element lies inside \a size
	 *
	 * The functions below do this themselves.
	 */
	Result<void> check() const;

	/** \return a feature tensor whose lines and surfaces follow each other without gaps */
	static TensorDesc packedFeature(std::string name, DataType type, uint32_t c, uint32_t h,
					uint32_t w);

	bool operator==(const TensorDesc &) const = default;
};

/**
 * \brief Put elements into the layout of a tensor
 * \param[in] desc the tensor
 * \param[in] elements desc.elements() elements of desc.type in N, C, H, W order
 * \param[out] out desc.size bytes; whatever holds no element becomes zero
 * \return InvalidArgument with both sizes if one of them is wrong
 */
Result<void> packElements(const TensorDesc &desc, std::span<const std::byte> elements,
			  std::span<std::byte> out);

/** \brief As packElements(), but leave alone whatever holds no element */
Result<void> overwriteElements(const TensorDesc &desc, std::span<const std::byte> elements,
			       std::span<std::byte> tensor);

/** \brief Take the elements out of a tensor of desc.size bytes, in N, C, H, W order */
Result<std::vector<std::byte>> unpackElements(const TensorDesc &desc,
					      std::span<const std::byte> tensor);

/**
 * \brief Convert numbers to elements
 *
 * Integers are rounded to the nearest (halves away from zero) and saturated, a
 * NaN becomes 0; FP16 is rounded to the nearest, ties to even.
 */
std::vector<std::byte> elementsFromFloat(DataType type, std::span<const float> values);

/** \brief Convert elements to numbers, exactly; trailing bytes that are no element are ignored */
std::vector<float> elementsToFloat(DataType type, std::span<const std::byte> elements);

} /* namespace nvdla */
