/* SPDX-License-Identifier: MIT */
#include <cmath>
#include <optional>

#include <fmt/format.h>
#include <nvdla/task.h>

#include "task_lists.h"

namespace nvdla
{

namespace
{

constexpr const char *what = "take EMU task from loadable";

struct EmuNetwork {
	int16_t operationIndex;
	int16_t bufferIndex;
	uint16_t operations;
};

/*
 * Offsets inside an operation (the union of POWER and SOFTMAX) and inside a
 * buffer pair. Both layouts carry version 0.0.1.
 */
struct EmuLayout {
	size_t operationStride;
	std::optional<size_t> scales; /* input and output scale, if there are any */
	size_t parameters;	      /* power, scale, shift; or the axis */
	std::optional<size_t> bufferOffset;
	size_t bufferSize;
	size_t bufferFormat; /* followed by width, height, channel */
	size_t bufferLine;   /* followed by the surface stride */
};

constexpr EmuLayout currentLayout{ 24, 4, 12, 2, 6, 10, 18 };
constexpr EmuLayout legacyLayout{ 16, std::nullopt, 1, std::nullopt, 2, 6, 14 };

constexpr size_t bufferStride = 512;
constexpr size_t secondBuffer = 256;
constexpr unsigned softmaxAxisChannel = 1;

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
	case 0:
		return DataType::Int8;
	case 2:
		return DataType::Int16;
	case 3:
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
	Result<EmuBuffer> buffer(std::span<const std::byte> bytes, const std::string &name) const;

private:
	const TaskLists &lists_;
	const EmuLayout &layout_;
	bool legacy_;
};

Result<EmuOperation> EmuReader::operation(std::span<const std::byte> bytes, size_t index) const
{
	const unsigned type = field<uint8_t>(bytes, 0);
	EmuOperation operation;

	if (layout_.scales) {
		operation.inScale = field<float>(bytes, *layout_.scales);
		operation.outScale = field<float>(bytes, *layout_.scales + 4);
		if (!std::isfinite(operation.inScale) || !std::isfinite(operation.outScale) ||
		    operation.outScale == 0.0f)
			return fail(ErrorCode::InvalidFile, what,
				    lists_.where(fmt::format("operation {} scales", index)),
				    fmt::format("{} and {} cannot be", operation.inScale,
						operation.outScale));
	}
	if (type == static_cast<unsigned>(EmuOpType::Power)) {
		operation.type = EmuOpType::Power;
		operation.power = field<float>(bytes, layout_.parameters);
		operation.scale = field<float>(bytes, layout_.parameters + 4);
		operation.shift = field<float>(bytes, layout_.parameters + 8);
		return operation;
	}
	if (type == static_cast<unsigned>(EmuOpType::Softmax)) {
		const unsigned axis = field<uint8_t>(bytes, layout_.parameters);
		if (axis != softmaxAxisChannel)
			return fail(ErrorCode::Unsupported, what,
				    lists_.where(fmt::format("operation {} axis", index)),
				    fmt::format("softmax over axis {}, only channels (1) are known",
						axis));
		operation.type = EmuOpType::Softmax;
		return operation;
	}
	return fail(ErrorCode::Unsupported, what,
		    lists_.where(fmt::format("operation {} type", index)),
		    fmt::format("{} is neither POWER (0) nor SOFTMAX (1)", type));
}

Result<EmuBuffer> EmuReader::buffer(std::span<const std::byte> bytes, const std::string &name) const
{
	const unsigned format = field<uint16_t>(bytes, layout_.bufferFormat);
	const int address = field<int16_t>(bytes, 0);
	const auto type = dataType(format, legacy_);
	EmuBuffer buffer;

	if (!type)
		return fail(ErrorCode::Unsupported, what, lists_.where(name + ".format"),
			    fmt::format("{} is not among int8, int16 and fp16 with 32-byte atoms",
					format));
	if (address < 0 || static_cast<size_t>(address) >= lists_.addresses().size())
		return fail(ErrorCode::InvalidFile, what, lists_.where(name + ".address"),
			    fmt::format("index {} is not in the list of {}", address,
					lists_.addresses().size()));
	buffer.address = static_cast<uint16_t>(address);
	buffer.offset = layout_.bufferOffset ? field<uint32_t>(bytes, *layout_.bufferOffset) : 0;
	buffer.type = *type;
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
	const Task *entry = loadable.task(id);
	if (!entry || entry->interface != Interface::Emu1)
		return fail(ErrorCode::InvalidArgument, what, fmt::format("task {}", id),
			    "is not a task for the CPU");

	const TaskLists lists(loadable, *entry);
	auto first = lists.find("network descriptor", 0, sizeof(EmuNetwork));
	if (!first)
		return forward(first);
	const EmuNetwork network = element<EmuNetwork>(first->bytes, 0);
	const size_t count = network.operations;
	if (!count)
		return fail(ErrorCode::InvalidFile, what, lists.where("num_operations"), "is 0");

	auto operations = lists.find("operation list", network.operationIndex,
				     count * legacyLayout.operationStride);
	if (!operations)
		return forward(operations);
	auto buffers = lists.find("buffer list", network.bufferIndex, count * bufferStride);
	if (!buffers)
		return forward(buffers);

	const bool current = operations->bytes.size() >= count * currentLayout.operationStride;
	const EmuLayout &layout = current ? currentLayout : legacyLayout;
	const EmuReader reader(lists, layout);

	EmuTask task;
	task.id = id;
	task.addresses = lists.addresses();
	for (size_t i = 0; i < count; i++) {
		const auto pair = buffers->bytes.subspan(i * bufferStride, bufferStride);
		auto operation =
			reader.operation(operations->bytes.subspan(i * layout.operationStride), i);
		if (!operation)
			return forward(operation);
		auto src = reader.buffer(pair, fmt::format("operation {} source", i));
		if (!src)
			return forward(src);
		auto dst = reader.buffer(pair.subspan(secondBuffer),
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
}

} /* namespace nvdla */
