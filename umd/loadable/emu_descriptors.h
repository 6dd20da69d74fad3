/* SPDX-License-Identifier: MIT */
/*
 * Descriptors of a CPU task, as compilers write them: little endian, packed. Two layouts carry the
 * same version number, 0.0.1; the size of the operation list distinguishes them.
 */
#pragma once

#include <cstddef>
#include <cstdint>

namespace nvdla
{

/** \brief Types of elements, in the current layout; all but one have atoms of 32 bytes */
enum EmuFormat : uint16_t {
	EmuFormatInt8 = 0,
	EmuFormatInt8SmallAtoms = 1, /**< atoms of 8 bytes, for nv_small */
	EmuFormatInt16 = 2,
	EmuFormatHalf = 3,
};

/** \brief The axis of SOFTMAX: all channels of a pixel */
constexpr uint8_t emuAxisChannel = 1;

/** \brief Root of a task; the indices are positions in the task's address table */
struct EmuNetworkDesc {
	int16_t operation_desc_index;
	int16_t operation_buffer_desc_index;
	uint16_t num_operations;
} __attribute__((packed));

/**
 * \brief Extension: index in EmuOperationDesc::reserved of the output's zero point, -128 to 127
 *
 * Files of other compilers have no extensions: their reserved bytes are 0.
 */
constexpr size_t emuOutZero = 0;
/** \brief Extension: index in \a reserved of the input's zero point */
constexpr size_t emuInZero = 1;
/** \brief Extension: index in \a reserved of the number of channels in a LOCAL_RESPONSE's window */
constexpr size_t emuWindow = 2;
/** \brief Extension: index in \a reserved of a FUNCTION's ElementFunction */
constexpr size_t emuFunction = 2;
/** \brief Extension: index in \a reserved of a FUNCTION's ElementFunction before scale and shift */
constexpr size_t emuInnerFunction = 1;

/**
 * \brief Entry of the operation list
 *
 * POWER has three parameters; SOFTMAX has an axis in their first byte. All other operations are
 * extensions of this project: RESHAPE has the lengths of axes and their new order, or zeros if
 * it keeps the order; LOCAL_RESPONSE, STANDARDIZE and FUNCTION have the parameters of POWER;
 * PACK_WEIGHTS has an order of weights.
 */
struct EmuOperationDesc {
	uint8_t op_type;
	uint8_t reserved[3]; /**< bytes at emuOutZero and further indices; others are 0 */
	float in_scale;
	float out_scale;
	union {
		struct {
			float power;
			float scale;
			float shift;
		} __attribute__((packed)) power;
		uint8_t axis;
		uint16_t axes[6]; /**< RESHAPE: five lengths of axes, and the axes' order */
		struct {
			uint16_t group_kernels;
			uint16_t block_channels;
			uint16_t lines;
			uint16_t columns;
			uint16_t of_channels; /**< 0: each pixel is a kernel; 1: each channel is */
		} __attribute__((packed)) weights;
	};
} __attribute__((packed));
static_assert(sizeof(EmuOperationDesc) == 24);
/** \brief Index in \a axes of the axes' order, and bits of the order for each axis */
constexpr size_t emuAxesOrder = 5;
constexpr unsigned emuAxisBits = 3;

struct EmuLegacyOperationDesc {
	uint8_t op_type;
	union {
		struct {
			float power;
			float scale;
			float shift;
		} __attribute__((packed)) power;
		uint8_t axis;
	};
	uint8_t reserved[3];
} __attribute__((packed));
static_assert(sizeof(EmuLegacyOperationDesc) == 16);

/** \brief A cube: index in the address table; offset, size and strides are in bytes */
struct EmuBufferDesc {
	int16_t address;
	uint32_t offset;
	uint32_t size;
	uint16_t format;
	uint16_t width;
	uint16_t height;
	uint16_t channel;
	uint32_t line_stride;
	uint32_t surf_stride;
} __attribute__((packed));
static_assert(sizeof(EmuBufferDesc) == 26);

struct EmuLegacyBufferDesc {
	int16_t address;
	uint32_t size;
	uint16_t format;
	uint16_t width;
	uint16_t height;
	uint16_t channel;
	uint32_t line_stride;
	uint32_t surf_stride;
} __attribute__((packed));
static_assert(sizeof(EmuLegacyBufferDesc) == 22);

/** \brief Bytes of an entry of the buffer list, and offset of its second cube */
constexpr size_t emuBufferPairBytes = 512;
constexpr size_t emuSecondBuffer = 256;

/** \brief Entry of the buffer list: input and output of an operation */
template<typename Cube>
struct EmuBufferPair {
	Cube src_data;
	uint8_t padding[emuSecondBuffer - sizeof(Cube)];
	Cube dst_data;
	uint8_t padding_behind[emuBufferPairBytes - emuSecondBuffer - sizeof(Cube)];
} __attribute__((packed));
static_assert(sizeof(EmuBufferPair<EmuBufferDesc>) == emuBufferPairBytes);

/** \return true if an operation list of \a bytes has the current layout */
constexpr bool hasCurrentEmuLayout(size_t bytes, size_t operations)
{
	return bytes >= operations * sizeof(EmuOperationDesc);
}

} /* namespace nvdla */
