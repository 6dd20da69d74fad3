/* SPDX-License-Identifier: MIT */
#include <cmath>
#include <optional>

#include <fmt/core.h>
#include <nvdla/task.h>

#include "base/io/guarded.h"
#include "base/number/element_functions.h"
#include "emu_descriptors.h"
#include "task_lists.h"

namespace nvdla
{

namespace
{

constexpr const char *takingEmuTask = "take EMU task from loadable";

/*
 * Places of the members of an operation (the union of POWER and SOFTMAX) and of a buffer: a stride
 * and offsets, in bytes.
 */
struct EmuLayout {
	size_t operationStride;
	std::optional<size_t> scales; /* offset of input and output scale, if present */
	size_t parameters;	      /* offset of power, scale, shift; or of the axis */
	std::optional<size_t> bufferOffset;
	size_t bufferFormat; /* offset of format, width, height, channel */
	size_t bufferLine;   /* offset of line and surface stride */
};

constexpr EmuLayout currentLayout{
	sizeof(EmuOperationDesc),	   offsetof(EmuOperationDesc, in_scale),
	offsetof(EmuOperationDesc, power), offsetof(EmuBufferDesc, offset),
	offsetof(EmuBufferDesc, format),   offsetof(EmuBufferDesc, line_stride),
};
constexpr EmuLayout legacyLayout{
	sizeof(EmuLegacyOperationDesc),		 std::nullopt,
	offsetof(EmuLegacyOperationDesc, power), std::nullopt,
	offsetof(EmuLegacyBufferDesc, format),	 offsetof(EmuLegacyBufferDesc, line_stride),
};

template<typename T>
T field(std::span<const std::byte> bytes, size_t offset)
{
	return element<T>(bytes.subspan(offset), 0);
}

std::optional<DataType> dataType(unsigned format, bool legacy)
{
	if (legacy) {
		switch (format) {
		case 0:
			return DataType::Int8;
		case 1:
			return DataType::Int16;
		case 2:
			return DataType::Half;
		}
		return std::nullopt;
	}
	switch (format) {
	case EmuFormatInt8:
	case EmuFormatInt8SmallAtoms:
		return DataType::Int8;
	case EmuFormatInt16:
		return DataType::Int16;
	case EmuFormatHalf:
		return DataType::Half;
	}
	return std::nullopt;
}

class EmuReader
{
public:
	EmuReader(const TaskLists &lists, const EmuLayout &layout)
		: lists_(lists), layout_(layout), legacy_(!layout.bufferOffset)
	{
	}

	Result<EmuOperation> operation(std::span<const std::byte> bytes, size_t index) const;
	Result<ElementFunction> function(std::span<const std::byte> bytes, size_t index,
					 size_t place) const;
	Result<EmuBuffer> buffer(std::span<const std::byte> bytes, const std::string &name) const;

private:
	const TaskLists &lists_;
	const EmuLayout &layout_;
	bool legacy_;
};

Result<ElementFunction> EmuReader::function(std::span<const std::byte> bytes, size_t index,
					    size_t place) const
{
	const unsigned code = field<uint8_t>(bytes, offsetof(EmuOperationDesc, reserved) + place);

	if (!findElementFunction(code))
		return fail(ErrorCode::Unsupported, takingEmuTask,
			    lists_.where(fmt::format("operation {} function", index)),
			    fmt::format("{} is none that this runtime knows", code));
	return static_cast<ElementFunction>(code);
}

Result<EmuOperation> EmuReader::operation(std::span<const std::byte> bytes, size_t index) const
{
	const unsigned type = field<uint8_t>(bytes, 0);
	EmuOperation operation;

	if (layout_.scales) {
		operation.inScale = field<float>(bytes, *layout_.scales);
		operation.outScale = field<float>(bytes, *layout_.scales + 4);
		operation.outZero =
			field<int8_t>(bytes, offsetof(EmuOperationDesc, reserved) + emuOutZero);
		operation.inZero =
			field<int8_t>(bytes, offsetof(EmuOperationDesc, reserved) + emuInZero);
		operation.window =
			field<uint8_t>(bytes, offsetof(EmuOperationDesc, reserved) + emuWindow);
		if (!std::isfinite(operation.inScale) || !std::isfinite(operation.outScale) ||
		    operation.outScale == 0.0f)
			return fail(ErrorCode::InvalidFile, takingEmuTask,
				    lists_.where(fmt::format("operation {} scales", index)),
				    fmt::format("{} and {} cannot be", operation.inScale,
						operation.outScale));
	}
	const bool known = type == static_cast<unsigned>(EmuOpType::Power) ||
			   (type <= static_cast<unsigned>(EmuOpType::PackWeights) && !legacy_);
	if (known && type == static_cast<unsigned>(EmuOpType::Function)) {
		auto one = function(bytes, index, emuFunction);
		auto inner = function(bytes, index, emuInnerFunction);
		if (!one || !inner)
			return forward(one ? inner : one);
		operation.function = *one;
		operation.inner = *inner;
		operation.inZero = 0;
	}
	if (known && hasPower(static_cast<EmuOpType>(type))) {
		operation.type = static_cast<EmuOpType>(type);
		operation.power = field<float>(bytes, layout_.parameters);
		operation.scale = field<float>(bytes, layout_.parameters + 4);
		operation.shift = field<float>(bytes, layout_.parameters + 8);
		return operation;
	}
	if (type == static_cast<unsigned>(EmuOpType::Softmax)) {
		const unsigned axis = field<uint8_t>(bytes, layout_.parameters);
		if (axis != emuAxisChannel)
			return fail(ErrorCode::Unsupported, takingEmuTask,
				    lists_.where(fmt::format("operation {} axis", index)),
				    fmt::format("softmax over axis {}, only channels (1) are known",
						axis));
		operation.type = EmuOpType::Softmax;
		return operation;
	}
	if (type == static_cast<unsigned>(EmuOpType::Reshape) && !legacy_) {
		operation.type = EmuOpType::Reshape;
		const size_t axes = offsetof(EmuOperationDesc, axes);
		const auto order = field<uint16_t>(bytes, axes + 2 * emuAxesOrder);
		for (size_t axis = 0; axis < AxisOrder::most; axis++) {
			operation.axes.extents[axis] = field<uint16_t>(bytes, axes + 2 * axis);
			operation.axes.order[axis] =
				order >> (emuAxisBits * axis) & ((1 << emuAxisBits) - 1);
		}
		return operation;
	}
	if (known && type == static_cast<unsigned>(EmuOpType::PackWeights))
		operation.weights = {
			field<uint16_t>(bytes, offsetof(EmuOperationDesc, weights.group_kernels)),
			field<uint16_t>(bytes, offsetof(EmuOperationDesc, weights.block_channels)),
			field<uint16_t>(bytes, offsetof(EmuOperationDesc, weights.lines)),
			field<uint16_t>(bytes, offsetof(EmuOperationDesc, weights.columns)),
			field<uint16_t>(bytes, offsetof(EmuOperationDesc, weights.of_channels)) != 0
		};
	if (known) {
		operation.type = static_cast<EmuOpType>(type);
		return operation;
	}
	return fail(ErrorCode::Unsupported, takingEmuTask,
		    lists_.where(fmt::format("operation {} type", index)),
		    fmt::format("{} is none of POWER (0), SOFTMAX (1), RESHAPE (2), ARG_MAX (3), "
				"NORMALIZE (4), LOCAL_RESPONSE (5), LOG_SOFTMAX (6), STANDARDIZE "
				"(7), LARGEST (8), FUNCTION (9), SMALLEST (10), NORMALIZE_TWICE "
				"(11), PACK_WEIGHTS (12)",
				type));
}

Result<EmuBuffer> EmuReader::buffer(std::span<const std::byte> bytes, const std::string &name) const
{
	const unsigned format = field<uint16_t>(bytes, layout_.bufferFormat);
	const int address = field<int16_t>(bytes, 0);
	const auto type = dataType(format, legacy_);
	EmuBuffer buffer;

	if (!type)
		return fail(ErrorCode::Unsupported, takingEmuTask, lists_.where(name + ".format"),
			    fmt::format("{} is not among int8, int16 and fp16", format));
	if (address < 0 || static_cast<size_t>(address) >= lists_.addressCount())
		return fail(ErrorCode::InvalidFile, takingEmuTask, lists_.where(name + ".address"),
			    fmt::format("index {} is not in the list of {}", address,
					lists_.addressCount()));
	buffer.address = static_cast<uint16_t>(address);
	buffer.offset = layout_.bufferOffset ? field<uint32_t>(bytes, *layout_.bufferOffset) : 0;
	buffer.type = *type;
	if (!legacy_ && format == EmuFormatInt8SmallAtoms)
		buffer.format = PixelFormat::FeatureX8;
	buffer.w = field<uint16_t>(bytes, layout_.bufferFormat + 2);
	buffer.h = field<uint16_t>(bytes, layout_.bufferFormat + 4);
	buffer.c = field<uint16_t>(bytes, layout_.bufferFormat + 6);
	buffer.lineStride = field<uint32_t>(bytes, layout_.bufferLine);
	buffer.surfaceStride = field<uint32_t>(bytes, layout_.bufferLine + 4);
	return buffer;
}

} /* namespace */

Result<EmuTask> emuTask(const Loadable &loadable, uint16_t id)
{
	return guarded("read task",
		       [&]() -> Result<EmuTask> { return emuTask(LoadableIndex(loadable), id); });
}

Result<EmuTask> emuTask(const LoadableIndex &index, uint16_t id)
{
	return guarded("read task", [&]() -> Result<EmuTask> {
		const Task *entry = index.task(id);
		if (!entry || entry->interface != Interface::Emu1)
			return fail(ErrorCode::InvalidArgument, takingEmuTask,
				    fmt::format("task {}", id), "is not a task for the CPU");

		const TaskLists lists(index, *entry);
		auto first = lists.find("network descriptor", 0, sizeof(EmuNetworkDesc));
		if (!first)
			return forward(first);
		const EmuNetworkDesc network = element<EmuNetworkDesc>(first->bytes, 0);
		const size_t count = network.num_operations;
		if (!count)
			return fail(ErrorCode::InvalidFile, takingEmuTask,
				    lists.where("num_operations"), "is 0");

		auto operations = lists.find("operation list", network.operation_desc_index,
					     count * legacyLayout.operationStride);
		if (!operations)
			return forward(operations);
		auto buffers = lists.find("buffer list", network.operation_buffer_desc_index,
					  count * emuBufferPairBytes);
		if (!buffers)
			return forward(buffers);

		const bool current = hasCurrentEmuLayout(operations->bytes.size(), count);
		const EmuLayout &layout = current ? currentLayout : legacyLayout;
		const EmuReader reader(lists, layout);

		EmuTask task;
		task.id = id;
		task.addresses = lists.addresses();
		auto layers = lists.layers(count);
		if (!layers)
			return forward(layers);
		task.layers = std::move(*layers);
		for (size_t i = 0; i < count; i++) {
			const auto pair =
				buffers->bytes.subspan(i * emuBufferPairBytes, emuBufferPairBytes);
			auto operation = reader.operation(
				operations->bytes.subspan(i * layout.operationStride), i);
			if (!operation)
				return forward(operation);
			auto src = reader.buffer(pair, fmt::format("operation {} source", i));
			if (!src)
				return forward(src);
			auto dst = reader.buffer(pair.subspan(emuSecondBuffer),
						 fmt::format("operation {} destination", i));
			if (!dst)
				return forward(dst);
			operation->src = *src;
			operation->dst = *dst;
			task.addresses[src->address].used = true;
			task.addresses[dst->address].used = true;
			task.operations.push_back(*operation);
		}
		return task;
	});
}

} /* namespace nvdla */
