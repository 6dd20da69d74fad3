/* SPDX-License-Identifier: MIT */
#include "operation_text.h"

#include <cctype>

#include <fmt/core.h>

#include "base/io/printable.h"
#include "loadable/cubes.h"
#include "loadable/text/names.h"

namespace nvdla::inspect
{

namespace
{

/* Copies a member: members of packed descriptors cannot be bound to references. */
template<typename T>
unsigned number(T value)
{
	return static_cast<unsigned>(value);
}

std::string named(text::NameOf nameOf, uint64_t value)
{
	const std::string name = nameOf(value);
	return name.empty() ? fmt::format("{}?", value) : name;
}

std::string upper(std::string name)
{
	for (char &letter : name)
		letter = static_cast<char>(std::toupper(static_cast<unsigned char>(letter)));
	return name;
}

/* Returns ", NAME 2" or ", NAME 2x1"; nothing if both numbers are \a usual. */
std::string pairText(const char *name, unsigned x, unsigned y, unsigned usual)
{
	if (x == usual && y == usual)
		return "";
	return x == y ? fmt::format(", {} {}", name, x) : fmt::format(", {} {}x{}", name, x, y);
}

std::string padText(unsigned left, unsigned right, unsigned top, unsigned bottom)
{
	if (left == right && top == bottom)
		return pairText("pad", left, top, 0);
	return fmt::format(", pad {}+{}x{}+{}", left, right, top, bottom);
}

std::string convAction(const nvdla_conv_op_desc &op)
{
	const bool image = op.data_format != NVDLA_FORMAT_FEATURE;
	/* In image mode the kernel's columns are channels of a wider pixel. */
	const unsigned width = image && op.input_channel_csc ? number(op.kernel_channel_csc) /
								       number(op.input_channel_csc)
							     : number(op.kernel_width_csc);
	std::string action =
		fmt::format("{} {}x{}", image ? "image" : named(text::convModeName, op.conv_mode),
			    width, number(op.kernel_height_csc));

	action += pairText("stride", op.conv_stride_x, op.conv_stride_y, 1);
	action += pairText("dilation", op.dilation_x, op.dilation_y, 1);
	action += padText(op.pad_x_left, op.pad_x_right, op.pad_y_top, op.pad_y_bottom);
	if (image)
		action += ", " + named(text::formatName, op.data_format);
	if (op.weight_format == NVDLA_WEIGHT_COMPRESSED)
		action += ", compressed weights";
	return action;
}

std::string sdpUnitText(const nvdla_sdp_op &unit)
{
	const bool add = unit.type == NVDLA_SDP_OP_ADD || unit.type == NVDLA_SDP_OP_BOTH;
	const bool mul = unit.type == NVDLA_SDP_OP_MUL || unit.type == NVDLA_SDP_OP_BOTH;
	std::string text;

	auto append = [&](const std::string &word) { text += (text.empty() ? "" : " + ") + word; };
	switch (unit.mode) {
	case NVDLA_SDP_PER_POINT:
		if (mul)
			append("element-wise mul");
		if (add)
			append("element-wise " + named(text::aluTypeName, unit.alu_type));
		break;
	default: {
		const char *operand =
			unit.mode == NVDLA_SDP_PER_KERNEL ? "per channel" : "by a constant";
		if (mul)
			append(fmt::format("scale {}", operand));
		if (add && unit.alu_type == NVDLA_ALU_SUM && unit.mode == NVDLA_SDP_PER_KERNEL)
			append("bias");
		else if (add)
			append(fmt::format("{} {}", named(text::aluTypeName, unit.alu_type),
					   operand));
	}
	}
	if (unit.act != NVDLA_ACT_NONE)
		append(named(text::activationName, unit.act));
	return text;
}

std::string sdpAction(const nvdla_sdp_op_desc &op)
{
	std::string action;

	for (const nvdla_sdp_op *unit : { &op.x1_op, &op.x2_op, &op.y_op }) {
		const std::string text = unit->enable ? sdpUnitText(*unit) : "";
		if (!text.empty())
			action += (action.empty() ? "" : ", ") + text;
	}
	return action.empty() ? "copy" : action;
}

std::string pdpAction(const nvdla_pdp_op_desc &op)
{
	std::string action = fmt::format("{} {}x{}", named(text::poolModeName, op.pool_mode),
					 number(op.pool_width) + 1, number(op.pool_height) + 1);

	action += pairText("stride", op.stride_x, op.stride_y, 1);
	action += padText(op.pad_left, op.pad_right, op.pad_top, op.pad_bottom);
	if (op.split_num > 1)
		action += fmt::format(", in {} columns", number(op.split_num));
	return action;
}

std::string rubikAction(const nvdla_rubik_op_desc &op)
{
	std::string action = named(text::rubikModeName, op.mode);

	if (op.mode == NVDLA_RUBIK_CONTRACT)
		action += fmt::format(" {}x{}", number(op.stride_x), number(op.stride_y));
	return action;
}

std::string actionOf(unsigned type, const nvdla_operation_desc &op,
		     const nvdla_surface_desc &surface)
{
	switch (type) {
	case NVDLA_OP_BDMA:
		return fmt::format("copy, {} transfer{}", number(surface.bdma.num_transfers),
				   surface.bdma.num_transfers == 1 ? "" : "s");
	case NVDLA_OP_CONV:
		return convAction(op.conv);
	case NVDLA_OP_SDP:
		return sdpAction(op.sdp);
	case NVDLA_OP_PDP:
		return pdpAction(op.pdp);
	case NVDLA_OP_CDP:
		return fmt::format("across {} channels", number(op.cdp.local_size));
	case NVDLA_OP_RUBIK:
		return rubikAction(op.rubik);
	}
	return "";
}

std::string extendedText(const nvdla_extended_op_desc &op)
{
	std::string text;

	if (op.pixel_x_offset)
		text += fmt::format(", from pixel {}", number(op.pixel_x_offset));
	if (op.nan_to_zero)
		text += ", NaN to zero";
	return text;
}

std::string typesOf(unsigned type, const nvdla_operation_desc &op)
{
	auto both = [](unsigned src, unsigned dst) {
		const std::string from = named(text::precisionName, src);
		return src == dst ? from : from + " -> " + named(text::precisionName, dst);
	};

	switch (type) {
	case NVDLA_OP_CONV:
		return both(op.conv.in_precision, op.conv.out_precision);
	case NVDLA_OP_SDP:
		return both(op.sdp.src_precision, op.sdp.dst_precision);
	case NVDLA_OP_PDP:
		return both(op.pdp.precision, op.pdp.precision);
	case NVDLA_OP_CDP:
		return both(op.cdp.in_precision, op.cdp.out_precision);
	case NVDLA_OP_RUBIK:
		return both(op.rubik.precision, op.rubik.precision);
	}
	return "";
}

std::string shapeOf(const nvdla_data_cube &cube)
{
	return fmt::format("{}x{}x{}", number(cube.channel), number(cube.height),
			   number(cube.width));
}

/* Returns a memory and an offset in it, "@3+64", as the memory map shows them. */
std::string placeOf(const std::vector<TaskAddress> &addresses, int index, uint64_t offset)
{
	if (index < 0 || static_cast<size_t>(index) >= addresses.size())
		return fmt::format("no address {}", index);
	const TaskAddress &address = addresses[static_cast<size_t>(index)];
	return fmt::format("@{}+{}", address.memory, address.offset + offset);
}

std::string placeOf(const DlaTask &task, const nvdla_data_cube &cube)
{
	if (cube.type == NVDLA_MEM_HW)
		return "on the fly";
	/* -1: the operation is a comparison, which writes no output. */
	if (cube.address == -1)
		return "nowhere";
	return placeOf(task.addresses, cube.address, cube.offset);
}

std::string shapeOf(const EmuBuffer &cube)
{
	return fmt::format("{}x{}x{}", cube.c, cube.h, cube.w);
}

std::string functionText(const EmuOperation &operation)
{
	const auto name = [](ElementFunction function) {
		return named(text::elementFunctionName, static_cast<uint64_t>(function));
	};
	const std::string x = operation.inner == ElementFunction::Identity
				      ? "x"
				      : fmt::format("{} of x", name(operation.inner));
	const std::string text = fmt::format("{} of {} + {} {}", name(operation.function),
					     operation.shift, operation.scale, x);

	return operation.power == 0 ? text : fmt::format("{}, with {}", text, operation.power);
}

std::string actionOf(const EmuOperation &operation)
{
	switch (operation.type) {
	case EmuOpType::Power:
		return fmt::format("({} + {} x) ^ {}", operation.shift, operation.scale,
				   operation.power);
	case EmuOpType::Function:
		return functionText(operation);
	case EmuOpType::Reshape:
		return operation.axes.none() ? "in the order H, W, C" : "axes in another order";
	case EmuOpType::LocalResponse:
		return fmt::format("over {} channels", operation.window);
	case EmuOpType::Standardize:
		return fmt::format("over channels, {} added to variances", operation.shift);
	case EmuOpType::PackWeights:
		return operation.weights.ofChannels ? "channels are the kernels"
						    : "pixels are the kernels";
	case EmuOpType::Largest:
	case EmuOpType::Smallest:
		return "of channels";
	case EmuOpType::Softmax:
	case EmuOpType::ArgMax:
	case EmuOpType::Normalize:
	case EmuOpType::NormalizeTwice:
	case EmuOpType::LogSoftmax:
		return "over channels";
	}
	return {};
}

template<typename Task>
std::string layerOf(const Task &task, size_t index)
{
	return index < task.layers.size() ? printable(task.layers[index]) : std::string();
}

} /* namespace */

OperationText describeOperation(const DlaTask &task, size_t index)
{
	const unsigned type = task.graph[index].op_type;
	const nvdla_surface_desc &surface = task.surfaces[index];
	const CubePair cubes = cubesOf(type, surface);
	OperationText text;

	text.layer = layerOf(task, index);
	text.engine = upper(text::engineName(type));
	text.action = actionOf(type, task.operations[index], surface) +
		      extendedText(task.operations[index].extended);
	text.types = typesOf(type, task.operations[index]);
	if (cubes.src) {
		text.shape = shapeOf(*cubes.src) + " -> " + shapeOf(*cubes.dst);
		text.places = placeOf(task, *cubes.src) + " -> " + placeOf(task, *cubes.dst);
	} else {
		const nvdla_bdma_transfer &first = surface.bdma.transfers[0];
		text.shape = fmt::format("{} x {} x {} bytes", number(first.surf_repeat),
					 number(first.line_repeat), number(first.line_size));
		text.places = placeOf(task.addresses, first.src_address, 0) + " -> " +
			      placeOf(task.addresses, first.dst_address, 0);
	}
	return text;
}

OperationText describeOperation(const EmuTask &task, size_t index)
{
	const EmuOperation &operation = task.operations[index];
	const EmuBuffer &src = operation.src;
	const EmuBuffer &dst = operation.dst;
	OperationText text;

	text.layer = layerOf(task, index);
	text.engine = upper(text::emuOpName(static_cast<uint64_t>(operation.type)));
	text.action = actionOf(operation);
	text.shape = shapeOf(src) + " -> " + shapeOf(dst);
	text.types = dataTypeName(src.type);
	if (src.type != dst.type)
		text.types += std::string(" -> ") + dataTypeName(dst.type);
	text.places = placeOf(task.addresses, src.address, src.offset) + " -> " +
		      placeOf(task.addresses, dst.address, dst.offset);
	return text;
}

OperationText describeOperation(const HostTask &task)
{
	const TensorDesc none;
	const TensorDesc &from = task.inputs.empty() ? none : task.inputs.front();
	const TensorDesc &to = task.outputs.empty() ? none : task.outputs.front();
	const auto shape = [](const TensorDesc &desc) {
		return fmt::format("{}x{}x{}", desc.c, desc.h, desc.w);
	};
	OperationText text{ .engine = "HOST",
			    .action = "move",
			    .shape = shape(from) + " -> " + shape(to),
			    .types = dataTypeName(from.type),
			    .places = fmt::format("@{}+{} -> @{}+{}", from.memory, from.offset,
						  to.memory, to.offset),
			    .layer = {} };

	if (from.type != to.type)
		text.types += fmt::format(" -> {}", dataTypeName(to.type));
	if (!task.model.empty())
		text.action = fmt::format("{} operators by a library", task.layers.size());
	if (task.layers.size() == 1)
		text.layer = task.layers.front();
	return text;
}

std::string shapeBetween(const OperationText &first, const OperationText &last)
{
	const size_t from = first.shape.find(" -> ");
	const size_t to = last.shape.find(" -> ");

	if (from == std::string::npos || to == std::string::npos)
		return first.shape;
	return first.shape.substr(0, from) + last.shape.substr(to);
}

} /* namespace nvdla::inspect */
