/* SPDX-License-Identifier: MIT */
#include "binding.h"

#include <algorithm>

#include <fmt/core.h>

namespace nvdla
{

namespace
{

constexpr const char *bindingTensor = "bind tensor";

/* Returns the reason why a buffer of the application cannot take the place of a tensor's memory;
 * empty if it can. */
std::string reasonAgainst(const Program &program, const Memory &memory, const TensorDesc &tensor)
{
	auto lies = [&](const TensorDesc &other) { return other.memory == tensor.memory; };
	const auto tensors = std::count_if(program.inputs.begin(), program.inputs.end(), lies) +
			     std::count_if(program.outputs.begin(), program.outputs.end(), lies);
	const bool input = std::any_of(program.inputs.begin(), program.inputs.end(), lies);

	if (tensor.isOpen())
		return "its size is known only after a run, so no buffer can be made for it; read "
		       "it with output()";
	if (tensors > 1)
		return fmt::format("memory_list id {} has {} tensors", memory.id, tensors);
	if (tensor.offset)
		return fmt::format("memory_list id {} has other data before it", memory.id);
	if (!memory.contents.empty())
		return fmt::format("memory_list id {} has contents from the loadable", memory.id);
	if (input && program.written.contains(memory.id))
		return "the network writes into this input";
	return {};
}

/* Returns the first difference between two layouts as text; empty if they are equal. */
std::string difference(const TensorDesc &theirs, const TensorDesc &ours)
{
	auto shape = [](const TensorDesc &desc) {
		return fmt::format("{} x {} x {} x {} {}", desc.n, desc.c, desc.h, desc.w,
				   dataTypeName(desc.type));
	};
	const struct {
		const char *name;
		uint64_t theirs;
		uint64_t ours;
	} numbers[] = {
		{ "pixel format", static_cast<uint64_t>(theirs.format),
		  static_cast<uint64_t>(ours.format) },
		{ "line stride", theirs.lineStride, ours.lineStride },
		{ "surface stride", theirs.surfaceStride, ours.surfaceStride },
		{ "line stride of the second plane", theirs.lineStrideUv, ours.lineStrideUv },
		{ "size", theirs.size, ours.size },
	};

	if (shape(theirs) != shape(ours))
		return fmt::format("it holds {}, the tensor is {}", shape(theirs), shape(ours));
	for (const auto &number : numbers) {
		if (number.theirs != number.ours)
			return fmt::format("its {} is {}, the tensor's {}", number.name,
					   number.theirs, number.ours);
	}
	if (!theirs.quantization.none() && !ours.quantization.none() &&
	    theirs.quantization != ours.quantization)
		return "its elements have another quantization than the tensor's";
	return {};
}

uint64_t wholeAtoms(uint64_t bytes, uint32_t atomBytes)
{
	return (bytes + atomBytes - 1) / atomBytes * atomBytes;
}

} /* namespace */

Result<void> checkBinding(const Program &program, const Loadable &loadable, const Device &device,
			  const TensorDesc &tensor, const TensorPlace &place,
			  const std::string &where)
{
	const Memory &memory = *loadable.memory(tensor.memory);
	const uint32_t atom = device.info().atomBytes;
	const uint64_t size = place.buffer.size();

	if (auto reason = reasonAgainst(program, memory, tensor); !reason.empty())
		return fail(ErrorCode::Unsupported, bindingTensor, where, reason);
	if (!device.owns(place.buffer))
		return fail(ErrorCode::InvalidArgument, bindingTensor, where,
			    "the buffer is of another open device; export it and import it here");
	if (place.offset % atom)
		return fail(
			ErrorCode::InvalidArgument, bindingTensor, where,
			fmt::format("offset {} is not a multiple of {} bytes", place.offset, atom));
	if (place.offset > size || memory.size > size - place.offset)
		return fail(ErrorCode::InvalidArgument, bindingTensor, where,
			    fmt::format("needs {} bytes, the buffer has {} from offset {}",
					memory.size, size - std::min(size, place.offset),
					place.offset));
	if (place.layout) {
		if (auto differs = difference(*place.layout, tensor); !differs.empty())
			return fail(ErrorCode::InvalidArgument, bindingTensor, where, differs);
	}
	return {};
}

Result<void> checkOverlaps(const RequestState &request, const Program &program,
			   const Loadable &loadable, uint32_t atomBytes)
{
	auto end = [&](const auto &bound) {
		return bound.second.offset +
		       wholeAtoms(loadable.memory(bound.first)->size, atomBytes);
	};

	for (auto one = request.bound.begin(); one != request.bound.end(); ++one) {
		for (auto other = std::next(one); other != request.bound.end(); ++other) {
			if (one->second.buffer.handle() != other->second.buffer.handle() ||
			    one->second.offset >= end(*other) || other->second.offset >= end(*one))
				continue;
			if (!program.written.contains(one->first) &&
			    !program.written.contains(other->first))
				continue;
			return fail(
				ErrorCode::InvalidArgument, "run network",
				fmt::format("memory_list ids {} and {}", one->first, other->first),
				"an output is bound to bytes that another tensor is bound to");
		}
	}
	return {};
}

/* Rounding up to whole atoms stays inside the buffer, because buffers consist of whole pages. */
MemoryPlace memoryPlace(const TensorPlace &bound, const Memory &memory, uint32_t atomBytes)
{
	return { bound.buffer.handle(), bound.offset, wholeAtoms(memory.size, atomBytes) };
}

} /* namespace nvdla */
