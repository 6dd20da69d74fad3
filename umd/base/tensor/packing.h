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
 * The reference for all other code that packs, for every layout and order. The sizes of \a elements
 * and \a tensor must be right; they are not checked.
 */
void packReference(const TensorDesc &desc, const Layout &layout, ElementOrder order,
		   std::span<const std::byte> elements, std::span<std::byte> tensor,
		   uint32_t firstChannel = 0);

/** \brief The inverse of packReference() */
void unpackReference(const TensorDesc &desc, const Layout &layout, ElementOrder order,
		     std::span<const std::byte> tensor, std::span<std::byte> elements,
		     uint32_t firstChannel = 0);

/**
 * \brief Move as many channels as possible by more than an element at once
 * \return number of channels done in each image; the reference has to do the others
 */
uint32_t packFast(const TensorDesc &desc, const Layout &layout, ElementOrder order,
		  std::span<const std::byte> elements, std::span<std::byte> tensor);

/** \brief The inverse of packFast() */
uint32_t unpackFast(const TensorDesc &desc, const Layout &layout, ElementOrder order,
		    std::span<const std::byte> tensor, std::span<std::byte> elements);

/**
 * \brief packFast() for pictures: channels of pixels in another order, planes, fields of words
 * \return false, with nothing done, for layouts that it cannot handle or too few pixels
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
