/* SPDX-License-Identifier: MIT */
/*
 * Addresses of a tensor's elements, by the rules of NVDLA's document "In-memory data formats".
 */
#pragma once

#include <nvdla/tensor.h>

namespace nvdla
{

/** \brief A tensor's layout, reduced to the numbers for address arithmetic */
class Layout
{
public:
	/** \brief One channel: pixel (h, w) is at byte offset() + h * lineStride + w * pixelStep */
	struct Channel {
		uint64_t surface; /**< bytes from the image's start to the channel's surface or
				     plane */
		uint32_t inPixel; /**< bytes from the start of an atom or pixel to the channel */
		uint32_t lineStride;
		uint32_t pixelStep;
		uint32_t shift; /**< for packed words: lowest bit of the channel */
		uint32_t bits;	/**< for packed words: number of bits of the channel; 0 for other
				   layouts, in which channels are whole bytes */

		/** \return bytes from the image's start to the channel's first element */
		uint64_t offset() const { return surface + inPixel; }
	};

	/**
	 * \brief Compute the layout of a tensor, and check that all elements lie in the tensor's
	 * bytes
	 * \return Unsupported for a layout this library does not know,
	 * InvalidArgument for an impossible shape or stride
	 */
	static Result<Layout> of(const TensorDesc &desc);

	/** \return place of channel \a c; \a desc is the tensor passed to of() */
	Channel channel(const TensorDesc &desc, uint32_t c) const;

	/** \return number of adjacent channels in an atom or a pixel */
	uint32_t atomChannels() const { return atomChannels_; }
	/** \return bytes of an atom, or of a pixel of the first plane */
	uint32_t atomBytes() const { return atomBytes_; }
	/** \return true for feature cubes: channels are in surfaces of atoms */
	bool feature() const { return info_ == nullptr; }
	/** \return true if the channels after the first are in a plane of their own */
	bool twoPlanes() const { return info_ && info_->planes == 2; }
	/** \return true if channels are fields of 32-bit words */
	bool packed() const { return info_ && info_->kind == PixelKind::Packed10; }

private:
	Layout(uint32_t atomChannels, uint32_t atomBytes, const PixelFormatInfo *info)
		: atomChannels_(atomChannels), atomBytes_(atomBytes), info_(info)
	{
	}

	static Result<Layout> ofFeature(const TensorDesc &desc);
	static Result<Layout> ofPixels(const TensorDesc &desc);
	/** \return bytes of an image up to the end of its last element */
	uint64_t extent(const TensorDesc &desc) const;

	uint32_t atomChannels_;
	uint32_t atomBytes_;
	const PixelFormatInfo *info_;
};

} /* namespace nvdla */
