/* SPDX-License-Identifier: MIT */
/*
 * Moves elements into and out of a layout: readable reference code, and fast code.
 */
#pragma once

#include "layout.h"

namespace nvdla
{

/**
 * \brief Pack channels \a firstChannel to desc.c - 1 of all images, element by element
 *
 * This readable code handles every layout and order; tests compare all faster code with it. The
 * sizes of \a elements and \a tensor must be right; they are not checked.
 */
void packReference(const TensorDesc &desc, const Layout &layout, ElementOrder order,
		   std::span<const std::byte> elements, std::span<std::byte> tensor,
		   uint32_t firstChannel = 0);

/** \brief The inverse of packReference() */
void unpackReference(const TensorDesc &desc, const Layout &layout, ElementOrder order,
		     std::span<const std::byte> tensor, std::span<std::byte> elements,
		     uint32_t firstChannel = 0);

/**
 * \brief Pack as many channels as possible with faster code, which moves several elements at once
 * \return number of channels, from the first on, that were packed in each image; packReference()
 * has to pack the other channels
 */
uint32_t packFast(const TensorDesc &desc, const Layout &layout, ElementOrder order,
		  std::span<const std::byte> elements, std::span<std::byte> tensor);

/** \brief The inverse of packFast() */
uint32_t unpackFast(const TensorDesc &desc, const Layout &layout, ElementOrder order,
		    std::span<const std::byte> tensor, std::span<std::byte> elements);

/**
 * \brief packFast() for pictures: pixels with channels in any order, planes of channels, and words
 * with channels as bit fields
 * \return false, with nothing done, for other layouts and for too few pixels
 */
bool packPixels(const TensorDesc &desc, const Layout &layout, ElementOrder order,
		std::span<const std::byte> elements, std::span<std::byte> tensor);

/** \brief The inverse of packPixels() */
bool unpackPixels(const TensorDesc &desc, const Layout &layout, ElementOrder order,
		  std::span<const std::byte> tensor, std::span<std::byte> elements);

/** \return true if all elements surely fit the bit fields of their channels; false if they may
 * not */
bool pixelsFit(const TensorDesc &desc, const Layout &layout, ElementOrder order,
	       std::span<const std::byte> elements);

} /* namespace nvdla */
