/* SPDX-License-Identifier: MIT */
/*
 * Operands of SDP's units X1, X2 and Y: bias, PReLU, batch normalization, element-wise.
 *
 * The layout follows NVDLA's in-memory format document, "Bias Data Format" to "Element-Wise Data
 * Format"; Documentation/umd/layouts.md has it in pictures.
 */
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include <nvdla/core_geometry.h>
#include <nvdla/error.h>

#pragma GCC visibility push(default)

namespace nvdla
{

/**
 * \brief Operands that SDP reads from memory
 *
 * One operand per channel (PER_KERNEL: height and width are 1) or one per element of
 * the cube that flows through SDP (PER_POINT). An atom of operands belongs to an atom of
 * that cube: as many elements, each of \a components numbers of \a type.
 */
struct OperandDesc {
	/** SDP's PROC_PRECISION, which decides how many channels an atom has */
	DataType processing = DataType::Int8;
	/** Int8 (ONE_BYTE) or Int16 (TWO_BYTE) if processing is an integer, else Half */
	DataType type = DataType::Int16;
	/** 1 (bias, PReLU, one element-wise operand) or 2: operands of adder and multiplier
	 * alternate */
	uint32_t components = 1;
	uint32_t channels = 1;
	uint32_t height = 1;
	uint32_t width = 1;
	uint32_t lineStride = 0;    /**< bytes from line to line */
	uint32_t surfaceStride = 0; /**< bytes from surface to surface */

	/** \brief Describe operands per channel, one atom after the other */
	static OperandDesc perChannel(const CoreGeometry &geometry, DataType processing,
				      DataType type, uint32_t components, uint32_t channels);

	/**
	 * \brief Describe operands per element with the smallest possible strides
	 *
	 * A line is padded to geometry.atomBytes, except in a 1x1 cube, whose atoms SDP reads one
	 * after the other.
	 */
	static OperandDesc perElement(const CoreGeometry &geometry, DataType processing,
				      DataType type, uint32_t components, uint32_t channels,
				      uint32_t height, uint32_t width);

	/** \return number of elements of one component: channels * height * width */
	uint64_t elements() const { return uint64_t{ channels } * height * width; }
	/** \return bytes of an atom: one pixel of a surface */
	uint32_t atomBytes(const CoreGeometry &geometry) const;
	/** \return bytes of the whole surface, channels that fill the last atom included */
	uint64_t bytes(const CoreGeometry &geometry) const;
	/** \return "components x C x H x W type for processing", for messages */
	std::string describe() const;

	bool operator==(const OperandDesc &) const = default;
};

/**
 * \brief Pack operands in the layout that SDP reads
 *
 * \param[in] first elements() elements of desc.type in C, H, W order: bias, slope, or operand of
 * the adder (batch normalization: the mean, negated)
 * \param[in] second as many elements for the multiplier; empty unless desc.components is 2
 * \return desc.bytes() bytes; bytes without an operand are zero
 */
Result<std::vector<std::byte>> packOperands(const CoreGeometry &geometry, const OperandDesc &desc,
					    std::span<const std::byte> first,
					    std::span<const std::byte> second = {});

/** \brief Arguments of packOperands(); second is empty if there is one component */
struct Operands {
	std::vector<std::byte> first;
	std::vector<std::byte> second;
};

/** \brief The inverse of packOperands() \param[in] packed at least desc.bytes() bytes */
Result<Operands> unpackOperands(const CoreGeometry &geometry, const OperandDesc &desc,
				std::span<const std::byte> packed);

} /* namespace nvdla */

#pragma GCC visibility pop
