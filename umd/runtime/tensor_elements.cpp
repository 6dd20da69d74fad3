/* SPDX-License-Identifier: MIT */
#include "tensor_elements.h"

#include <optional>

#include "runtime/program.h"

namespace nvdla
{

namespace
{

/* Returns whether the byte at \a offset from \a address lies in \a tensor. */
bool startsIn(const TensorDesc &tensor, const TaskAddress &address, uint64_t offset)
{
	const uint64_t start = address.offset + offset;

	return address.memory == tensor.memory && start >= tensor.offset &&
	       start < tensor.offset + tensor.size;
}

/* Returns whether all convolutions of a task read the pixels of \a input as unsigned; nothing if
 * none reads them. */
std::optional<bool> readAsUnsigned(const DlaTask &task, const TensorDesc &input)
{
	std::optional<bool> all;

	for (size_t i = 0; i < task.graph.size(); i++) {
		if (task.graph[i].op_type != NVDLA_OP_CONV)
			continue;
		const nvdla_conv_op_desc &op = task.operations[i].conv;
		const nvdla_data_cube &cube = task.surfaces[i].conv.src_data;
		if (op.data_format >= NVDLA_FORMAT_FEATURE || cube.address < 0 ||
		    static_cast<size_t>(cube.address) >= task.addresses.size())
			continue;
		if (startsIn(input, task.addresses[static_cast<size_t>(cube.address)], cube.offset))
			all = all.value_or(true) && !op.pixel_override;
	}
	return all;
}

void takeSigns(const std::vector<AnyTask> &tasks, TensorDesc &input)
{
	std::optional<bool> all;

	if (input.type != DataType::Int8 && input.type != DataType::Int16)
		return;
	for (const AnyTask &task : tasks) {
		const auto *dla = std::get_if<DlaTask>(&task);
		const auto one = dla ? readAsUnsigned(*dla, input) : std::nullopt;
		if (one)
			all = all.value_or(true) && *one;
	}
	input.isUnsigned = all.value_or(false);
}

void takeScales(const AnyTask &task, TensorDesc &output)
{
	if (writtenMemories(task).contains(output.memory))
		output.quantization = {};
	const auto *emu = std::get_if<EmuTask>(&task);
	if (!emu)
		return;
	for (const EmuOperation &operation : emu->operations) {
		const TaskAddress &to = emu->addresses[operation.dst.address];
		TensorDesc scaled = output;
		scaled.quantization = Quantization{ operation.outScale, operation.outZero };
		if (to.memory == output.memory &&
		    to.offset + operation.dst.offset == output.offset && scaled.check())
			output.quantization = std::move(scaled.quantization);
	}
}

} /* namespace */

void describeElements(NetworkParts &parts)
{
	/* Outputs whose quantization is in the file keep it. */
	std::vector<bool> described;
	for (const TensorDesc &output : parts.outputs)
		described.push_back(!output.quantization.none());
	for (TensorDesc &input : parts.inputs)
		takeSigns(parts.tasks, input);
	for (const AnyTask &task : parts.tasks) {
		for (size_t i = 0; i < parts.outputs.size(); i++) {
			if (!described[i])
				takeScales(task, parts.outputs[i]);
		}
	}
}

} /* namespace nvdla */
