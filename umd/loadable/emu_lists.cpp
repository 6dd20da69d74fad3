/* SPDX-License-Identifier: MIT */
#include "emu_lists.h"

#include <cstring>

#include "emu_descriptors.h"

namespace nvdla
{

namespace
{

uint16_t formatOf(const EmuBuffer &buffer)
{
	if (buffer.type == DataType::Half)
		return EmuFormatHalf;
	if (buffer.type == DataType::Int16)
		return EmuFormatInt16;
	return buffer.format == PixelFormat::FeatureX8 ? EmuFormatInt8SmallAtoms : EmuFormatInt8;
}

EmuOperationDesc describe(const EmuOperation &operation)
{
	EmuOperationDesc desc = {};

	desc.op_type = static_cast<uint8_t>(operation.type);
	desc.in_scale = operation.inScale;
	desc.out_scale = operation.outScale;
	desc.reserved[emuOutZero] = static_cast<uint8_t>(operation.outZero);
	desc.reserved[emuInZero] = static_cast<uint8_t>(operation.inZero);
	if (operation.type == EmuOpType::Function) {
		desc.reserved[emuFunction] = static_cast<uint8_t>(operation.function);
		desc.reserved[emuInnerFunction] = static_cast<uint8_t>(operation.inner);
	} else {
		desc.reserved[emuWindow] = operation.window;
	}
	if (operation.type == EmuOpType::Softmax)
		desc.axis = emuAxisChannel;
	else if (hasPower(operation.type))
		desc.power = { operation.power, operation.scale, operation.shift };
	else if (operation.type == EmuOpType::PackWeights)
		desc.weights = { operation.weights.groupKernels, operation.weights.blockChannels,
				 operation.weights.lines, operation.weights.columns,
				 operation.weights.ofChannels };
	for (size_t axis = 0; operation.type == EmuOpType::Reshape && axis < AxisOrder::most;
	     axis++) {
		desc.axes[axis] = operation.axes.extents[axis];
		desc.axes[emuAxesOrder] =
			static_cast<uint16_t>(desc.axes[emuAxesOrder] |
					      operation.axes.order[axis] << (emuAxisBits * axis));
	}
	return desc;
}

EmuBufferDesc describe(const EmuBuffer &buffer)
{
	const uint32_t atom =
		atomBytes(buffer.format) / static_cast<uint32_t>(elementBytes(buffer.type));
	const uint32_t surfaces = (buffer.c + atom - 1) / atom;

	return { static_cast<int16_t>(buffer.address),
		 static_cast<uint32_t>(buffer.offset),
		 surfaces * buffer.surfaceStride,
		 formatOf(buffer),
		 static_cast<uint16_t>(buffer.w),
		 static_cast<uint16_t>(buffer.h),
		 static_cast<uint16_t>(buffer.c),
		 buffer.lineStride,
		 buffer.surfaceStride };
}

template<typename T>
void append(std::vector<std::byte> &list, const T &entry)
{
	const size_t at = list.size();

	list.resize(at + sizeof(entry));
	std::memcpy(&list[at], &entry, sizeof(entry));
}

} /* namespace */

EmuLists emuLists(std::span<const EmuOperation> operations, int16_t operationIndex,
		  int16_t bufferIndex)
{
	EmuLists lists;

	append(lists.network, EmuNetworkDesc{ operationIndex, bufferIndex,
					      static_cast<uint16_t>(operations.size()) });
	for (const EmuOperation &operation : operations) {
		EmuBufferPair<EmuBufferDesc> pair = {};
		pair.src_data = describe(operation.src);
		pair.dst_data = describe(operation.dst);
		append(lists.operations, describe(operation));
		append(lists.buffers, pair);
	}
	return lists;
}

} /* namespace nvdla */
