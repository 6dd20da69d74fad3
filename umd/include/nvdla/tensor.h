/* SPDX-License-Identifier: MIT */
/*
 * Tensors: how elements lie in the memory that the core reads and writes.
 *
 * Names in quotes are sections of NVDLA's in-memory format document.
 */
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <nvdla/data_type.h>
#include <nvdla/error.h>
#include <nvdla/pixel_format.h>
#include <nvdla/quantization.h>

#pragma GCC visibility push(default)

namespace nvdla
{

/** \return the type of the elements from which packElements() makes pixels of a format */
constexpr DataType pixelElementType(const PixelFormatInfo &info)
{
	return info.kind == PixelKind::Int8   ? DataType::Int8
	       : info.kind == PixelKind::Half ? DataType::Half
					      : DataType::Int16;
}

/** \brief Order of the axes of plain elements; the last axis changes fastest */
enum class ElementOrder : uint8_t {
	Nchw,
	Nhwc,
};

/**
 * \brief Length of an open axis: an axis of an output whose length depends on the inputs' numbers
 * and differs from run to run
 */
inline constexpr uint32_t openAxis = UINT32_MAX;

/** \brief Conversion of pixels, 0 to 255, to numbers: (pixel - mean) / normalize */
struct PixelScaling {
	std::array<float, 4> mean{}; /**< subtracted first, per channel */
	float normalize = 1.0f;	     /**< divisor, applied after the subtraction */

	bool operator==(const PixelScaling &) const = default;
};

/** \brief Shape and axis order of a model's input or output, for the application's arrays */
struct TensorSignature {
	/** \brief Length of each axis in the model, or openAxis; any number of axes */
	std::vector<uint32_t> shape = {};
	ElementOrder order = ElementOrder::Nchw; /**< order of the axes of shape */
	/** \brief Integers are -128 to 127, though the tensor may hold them in 16 bits */
	bool is8Bits = false;
	/** \brief Conversion of the pictures that calibrated the input; nothing: unknown */
	std::optional<PixelScaling> pixels = {};

	/** \return true if an axis is open */
	bool isOpen() const { return std::ranges::count(shape, openAxis) != 0; }

	bool operator==(const TensorSignature &) const = default;
};

/**
 * \brief Shape and layout of a tensor in device memory
 *
 * Feature layout ("Feature Data Format"), with k channels in an atom: channel c of pixel (h, w)
 * lies at (c / k) * surfaceStride + h * lineStride + w * atomBytes + (c % k) * elementBytes. Pixel
 * layout ("Pixel Format"): pixel (h, w) lies at h * lineStride + w * pixelBytes, its channels at
 * the places of PixelFormatInfo::place. Semi-planar: Y as in pixel layout, V and U at surfaceStride
 * + h * lineStrideUv + w * 2 * elementBytes. A one-channel pixel format with more channels is
 * planar data (Rubik's): channel c is the plane at c * surfaceStride. Plain elements, which may
 * have any type, are laid out like planar data. The images of a batch follow each other at a
 * distance of size / n bytes.
 *
 * In the description of a tensor with open axes each of them counts as 1, in elements() and size
 * too. Request::outputDesc() has the lengths of a run.
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
	uint32_t surfaceStride = 0; /**< bytes from surface to surface, or from plane to plane */
	uint32_t lineStrideUv = 0;  /**< semi-planar: bytes from line to line of the second plane */
	uint64_t size = 0;	    /**< bytes of the whole tensor, with gaps and all images */
	uint16_t memory = 0;	    /**< id of the loadable's memory that has the tensor */
	uint64_t offset = 0;	    /**< bytes from the start of that memory */
	/**
	 * \brief Integers are unsigned, 0 to 255 or 65535: pixels that a convolution takes as
	 * unsigned
	 *
	 * A loadable stores this in the convolution (PIXEL_SIGN_OVERRIDE), not in the tensor. So it
	 * is set in Network::inputs(), but not in Loadable::inputs().
	 */
	bool isUnsigned = false;
	/** \brief Relation of elements to real numbers, which all conversions from numbers and
	 * pictures use */
	TensorQuantization quantization = {};
	/** \brief Signature of inputs and outputs; only if this project compiled the model */
	std::optional<TensorSignature> signature = {};

	/** \return the number of elements, n * c * h * w */
	uint64_t elements() const { return uint64_t{ n } * c * h * w; }

	/** \return true if the model's shape has an open axis; only plain outputs can have one */
	bool isOpen() const { return signature && signature->isOpen(); }

	/** \return the axis order of the model's arrays; N, C, H, W if there is no model */
	ElementOrder order() const { return signature ? signature->order : ElementOrder::Nchw; }

	/** \return name, shape in the model's order (else N C H W), type; of pictures the format */
	std::string describe() const;

	/** \return the smallest and the largest integer that an element of channel \a c can have */
	IntegerLimits limits(uint32_t c) const;

	/**
	 * \brief Check that the layout is known, that every element lies inside \a size, that the
	 * quantization is valid, that a signature's shape has as many elements as the tensor, and
	 * that only a plain tensor has an open axis
	 *
	 * Tensors of INT8, UINT8 and INT16 may have a quantization: one scale and zero point, or
	 * one for each channel. Scales are positive and finite, and zero points are integers that
	 * an element can have.
	 *
	 * The functions below call check() themselves.
	 */
	Result<void> check() const;

	/**
	 * \brief Describe a feature tensor without gaps between lines and surfaces
	 * \param[in] format Feature or FeatureX8, as CoreGeometry::featureFormat()
	 */
	static TensorDesc packedFeature(std::string name, DataType type, uint32_t c, uint32_t h,
					uint32_t w, PixelFormat format = PixelFormat::Feature);

	/**
	 * \brief Describe a picture in a pixel format, with the smallest line strides that the core
	 * allows
	 *
	 * Lines of both planes start at multiples of 32 bytes, as the core wants pitch-linear
	 * pixels ("Alignment of Start Address and Stride"). The tensor has as many channels as the
	 * format.
	 */
	static TensorDesc image(std::string name, PixelFormat format, uint32_t h, uint32_t w);

	/**
	 * \brief Describe planar data, as Rubik splits and merges them: a plane per channel
	 *
	 * Lines and planes start at multiples of 64 bytes (programming guide, "Limitation",
	 * Rubik).
	 */
	static TensorDesc planar(std::string name, DataType type, uint32_t c, uint32_t h,
				 uint32_t w);

	/**
	 * \brief Describe a tensor of the host: elements one behind the other
	 * \param[in] shape the model's, of less than 2^32 bytes; its axes from the fourth on are
	 * combined in w, and an open axis counts as 1
	 */
	static TensorDesc plain(std::string name, DataType type,
				const std::vector<uint32_t> &shape);

	bool operator==(const TensorDesc &) const = default;
};

/**
 * \brief Put elements into the layout of a tensor
 *
 * In formats with channels of 10 bits, elements are Int16 numbers from 0 to 1023, and 0 to 3 for
 * the alpha channel of 2 bits. The core extends such a channel to 16 bits: it takes the 10 or 2
 * bits as the upper ones.
 *
 * \param[in] desc the tensor
 * \param[in] elements desc.elements() elements of desc.type in \a order
 * \param[out] out desc.size bytes; bytes that hold no element become zero
 * \return InvalidArgument with the given and the needed size if \a elements or \a out has another
 * size, or with the element that does not fit its bits
 */
Result<void> packElements(const TensorDesc &desc, std::span<const std::byte> elements,
			  std::span<std::byte> out, ElementOrder order = ElementOrder::Nchw);

/** \brief Like packElements(), but does not change bytes that hold no element */
Result<void> overwriteElements(const TensorDesc &desc, std::span<const std::byte> elements,
			       std::span<std::byte> tensor,
			       ElementOrder order = ElementOrder::Nchw);

/**
 * \brief Take the elements out of a tensor
 * \param[in] tensor desc.size bytes
 * \param[out] elements desc.elements() elements of desc.type in \a order
 */
Result<void> unpackElements(const TensorDesc &desc, std::span<const std::byte> tensor,
			    std::span<std::byte> elements, ElementOrder order = ElementOrder::Nchw);

/** \brief Take the elements out of a tensor of desc.size bytes, into new memory */
Result<std::vector<std::byte>> unpackElements(const TensorDesc &desc,
					      std::span<const std::byte> tensor,
					      ElementOrder order = ElementOrder::Nchw);

/**
 * \brief Convert numbers to elements, with desc.quantization
 *
 * Integers: Quantization::quantize(), saturated to desc.limits(). FP16 is rounded to the
 * nearest, ties to even.
 *
 * \param[in] values desc.elements() numbers in \a order
 * \return elements in the same order; InvalidArgument for another count and for errors that
 * TensorDesc::check() finds
 */
Result<std::vector<std::byte>> elementsFromFloat(const TensorDesc &desc,
						 std::span<const float> values,
						 ElementOrder order = ElementOrder::Nchw);

/**
 * \brief Convert elements to numbers, with desc.quantization
 * \param[in] elements desc.elements() elements in \a order, as unpackElements() gives them
 */
Result<std::vector<float>> elementsToFloat(const TensorDesc &desc,
					   std::span<const std::byte> elements,
					   ElementOrder order = ElementOrder::Nchw);

/**
 * \brief Put numbers into a tensor: elementsFromFloat() and packElements()
 * \param[out] out desc.size bytes; bytes that hold no element become zero, not the zero point
 */
Result<void> packFloat(const TensorDesc &desc, std::span<const float> values,
		       std::span<std::byte> out, ElementOrder order = ElementOrder::Nchw);

/** \brief Take numbers out of a tensor: unpackElements() and elementsToFloat() */
Result<std::vector<float>> unpackFloat(const TensorDesc &desc, std::span<const std::byte> tensor,
				       ElementOrder order = ElementOrder::Nchw);

/**
 * \brief Convert numbers to elements with a scale of 1 and a zero point of 0
 *
 * Integers are rounded to the nearest (halves away from zero) and saturated, a
 * NaN becomes 0; FP16 is rounded to the nearest, ties to even.
 */
std::vector<std::byte> elementsFromFloat(DataType type, std::span<const float> values);

/**
 * \brief Convert elements with a scale of 1 and a zero point of 0 to numbers, exactly; ignores
 * trailing bytes that are no element
 */
std::vector<float> elementsToFloat(DataType type, std::span<const std::byte> elements);

/**
 * \brief A transposition: elements are seen as an array, whose axes (the outermost first) are put
 * into another order
 *
 * Axis i of the result is axis order[i].
 */
struct AxisOrder {
	static constexpr size_t most = 5;
	/** \brief Lengths of the axes, then 0 for unused ones; if all are 0, the order is
	 * unchanged */
	std::array<uint16_t, most> extents{};
	std::array<uint8_t, most> order{};

	bool none() const { return extents[0] == 0; }
};

} /* namespace nvdla */

#pragma GCC visibility pop
