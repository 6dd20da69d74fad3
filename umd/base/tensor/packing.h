/* SPDX-License-Identifier: MIT */
/*
 * Elements into and out of a layout: the readable way, and the fast one.
 */
#pragma once

#include "layout.h"

namespace nvdla
{

/**
 * \brief Channels first to desc.c - 1 of all images, element by element
 *
 * The definition of packing, for every layout and order; sizes must be right.
 */
void packReference(const TensorDesc &desc, const Layout &layout, ElementOrder order,
		   std::span<const std::byte> elements, std::span<std::byte> tensor,
		   uint32_t firstChannel = 0);

/** \brief The definition of unpacking, as packReference() */
void unpackReference(const TensorDesc &desc, const Layout &layout, ElementOrder order,
		     std::span<const std::byte> tensor, std::span<std::byte> elements,
		     uint32_t firstChannel = 0);

/**
 * \brief As many channels as can be moved by more than an element
 * \return how many channels of each image were done; the others are the reference's
 */
uint32_t packFast(const TensorDesc &desc, const Layout &layout, ElementOrder order,
		  std::span<const std::byte> elements, std::span<std::byte> tensor);

/** \brief The inverse of packFast() */
uint32_t unpackFast(const TensorDesc &desc, const Layout &layout, ElementOrder order,
		    std::span<const std::byte> tensor, std::span<std::byte> elements);

/**
 * \brief packFast() for pictures: channels of pixels in another order, planes, fields of words
 * \return false if the layout or so few pixels are not for it; nothing is done then
 */
bool packPixels(const TensorDesc &desc, const Layout &layout, ElementOrder order,
		std::span<const std::byte> elements, std::span<std::byte> tensor);

/** \brief The inverse of packPixels() */
bool unpackPixels(const TensorDesc &desc, const Layout &layout, ElementOrder order,
		  std::span<const std::byte> tensor, std::span<std::byte> elements);

/** \return true if all elements of a format with fields are sure to fit them */
bool pixelsFit(const TensorDesc &desc, const Layout &layout, ElementOrder order,
	       std::span<const std::byte> elements);

} /* namespace nvdla */
