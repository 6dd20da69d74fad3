/* SPDX-License-Identifier: MIT */
#include <algorithm>

#include <fmt/core.h>
#include <nvdla/operands.h>

#include "descriptors.h"
#include "lowering.h"

namespace nvdla::assembly
{

namespace
{

struct Unit {
	const op::SdpUnit &unit;
	const char *name; /**< "x1", "x2", "y" */
	bool isY;
	nvdla_sdp_op &op;
	nvdla_data_cube &cube;
	uint32_t n = 1; /**< cubes (samples) of a surface of operands */
};

uint8_t aluType(op::Alu alu)
{
	switch (alu) {
	case op::Alu::Max:
		return NVDLA_ALU_MAX;
	case op::Alu::Min:
		return NVDLA_ALU_MIN;
	case op::Alu::Sum:
		break;
	}
	return NVDLA_ALU_SUM;
}

uint8_t activation(op::Activation activation)
{
	switch (activation) {
	case op::Activation::None:
		return NVDLA_ACT_NONE;
	case op::Activation::Relu:
		return NVDLA_ACT_RELU;
	case op::Activation::PRelu:
		return NVDLA_ACT_PRELU;
	case op::Activation::LookUp:
		break;
	}
	return NVDLA_ACT_LUT;
}

/* Precision of SDP's stages: the input's type, except from INT16 to INT8, where it is INT8. */
DataType processingType(DataType in, DataType out)
{
	return in == DataType::Int16 && out == DataType::Int8 ? DataType::Int8 : in;
}

std::vector<std::byte> pack(Lowering &lowering, const Unit &unit, const OperandDesc &desc,
			    const GraphOperands &operands)
{
	const Elements &first = unit.unit.alu ? operands.alu : operands.mul;
	const Elements &second = operands.mul;
	auto packed = packOperands(lowering.geometry(), desc, first.bytes,
				   desc.components == 2 ? std::span<const std::byte>(second.bytes)
							: std::span<const std::byte>());

	if (!lowering.need(bool(packed), unit.name, packed ? "" : packed.error().why))
		return {};
	return *packed;
}

void useConstant(Lowering &lowering, const Unit &unit, const GraphOperands &operands,
		 const TensorDesc &in, DataType processing)
{
	const std::string field = fmt::format("{}.operands", unit.name);
	const bool perChannel = operands.h == 1 && operands.w == 1;
	const Elements &first = unit.unit.alu ? operands.alu : operands.mul;
	const uint64_t count = uint64_t{ operands.c } * operands.h * operands.w;

	lowering.need(!unit.unit.alu || operands.alu.count() == count, field,
		      fmt::format("'{}' has {} operands for the ALU, {} x {} x {} are needed",
				  operands.name, operands.alu.count(), operands.c, operands.h,
				  operands.w));
	lowering.need(
		!unit.unit.multiply || operands.mul.count() == count, field,
		fmt::format("'{}' has {} operands for the multiplier, {} x {} x {} are needed",
			    operands.name, operands.mul.count(), operands.c, operands.h,
			    operands.w));
	lowering.need(!unit.unit.alu || !unit.unit.multiply ||
			      operands.alu.type == operands.mul.type,
		      field, fmt::format("'{}' has operands of two types", operands.name));
	lowering.need(
		operands.c == in.c && (perChannel || (operands.h == in.h && operands.w == in.w)),
		field,
		fmt::format("'{}' has the shape {} x {} x {}; accepted are {} x {} x {}, as the "
			    "surface, and {} x 1 x 1",
			    operands.name, operands.c, operands.h, operands.w, in.c, in.h, in.w,
			    in.c));
	if (lowering.failed())
		return;

	const uint32_t components = unit.unit.alu && unit.unit.multiply ? 2 : 1;
	const OperandDesc desc =
		perChannel
			? OperandDesc::perChannel(lowering.geometry(), processing, first.type,
						  components, operands.c)
			: OperandDesc::perElement(lowering.geometry(), processing, first.type,
						  components, operands.c, operands.h, operands.w);
	const std::string key = fmt::format("{} {} {}", dataTypeName(processing), components,
					    unit.unit.alu ? "alu" : "mul");
	const int region = lowering.constant(operands, key,
					     [&] { return pack(lowering, unit, desc, operands); });
	if (lowering.failed())
		return;
	unit.op.mode = perChannel ? NVDLA_SDP_PER_KERNEL : NVDLA_SDP_PER_POINT;
	unit.op.precision = precisionOf(first.type);
	unit.cube = lowering.constantCube(fmt::format("{}_data", unit.name).c_str(), region);
	unit.cube.width = static_cast<__u16>(desc.width);
	unit.cube.height = static_cast<__u16>(desc.height);
	unit.cube.channel = static_cast<__u16>(desc.channels);
	unit.cube.line_stride = desc.lineStride;
	unit.cube.surf_stride = desc.surfaceStride;
}

void useSurface(Lowering &lowering, const Unit &unit, const TensorDesc &in, DataType processing)
{
	const std::string field = fmt::format("{}.operands", unit.name);
	SurfaceState &surface = lowering.input(field, unit.unit.operands);
	const TensorDesc &desc = surface.desc;

	lowering.need(!(unit.unit.alu && unit.unit.multiply), field,
		      fmt::format("the surface '{}' is for the ALU or the multiplier, not for both",
				  unit.unit.operands));
	lowering.need(surface.region != none, field,
		      fmt::format("'{}' is a stream, operands come from memory", desc.name));
	lowering.need(!surface.planar && isFeature(desc.format), field,
		      fmt::format("'{}' is no feature surface", desc.name));
	lowering.need(desc.type == processing, field,
		      fmt::format("'{}' is {}, SDP works in {}", desc.name, dataTypeName(desc.type),
				  dataTypeName(processing)));
	const bool alike = desc.h == in.h && desc.w == in.w;
	const bool perChannel = !alike && desc.h == 1 && desc.w == 1;
	lowering.need(desc.c == in.c && (alike || perChannel) && desc.n == unit.n, field,
		      fmt::format("'{}' has the shape {} x {} x {} x {}; accepted are {} x {} x "
				  "{}, as '{}', and {} x 1 x 1",
				  desc.name, desc.n, desc.c, desc.h, desc.w, in.c, in.h, in.w,
				  in.name, in.c));
	/* Per-channel operands have to be packed, because SDP reads one atom after the other. */
	lowering.need(!perChannel || desc.surfaceStride == lowering.geometry().atomBytes ||
			      desc.c <= lowering.geometry().atomChannels(desc.type),
		      field,
		      fmt::format("'{}' has a surface stride of {} bytes; one operand for each "
				  "channel needs one of {}",
				  desc.name, desc.surfaceStride, lowering.geometry().atomBytes));
	if (lowering.failed())
		return;
	unit.op.mode = perChannel ? NVDLA_SDP_PER_KERNEL : NVDLA_SDP_PER_POINT;
	unit.op.precision = lowering.precision(desc.type, field);
	unit.cube = lowering.read(fmt::format("{}_data", unit.name).c_str(), surface);
}

/*
 * The operand registers of X1 and X2 have 16 bits: an integer, or the bits of an FP16 number. The
 * operand registers of Y have 32 bits.
 */
void needOperand(Lowering &lowering, const Unit &unit, const char *field, int32_t operand,
		 DataType processing)
{
	const int32_t largest = processing == DataType::Half ? UINT16_MAX : INT16_MAX;

	lowering.need(unit.isY || (operand >= INT16_MIN && operand <= largest),
		      fmt::format("{}.{}", unit.name, field),
		      fmt::format("is {}; {} to {} are possible", operand, INT16_MIN, largest));
}

void lowerUnit(Lowering &lowering, const Unit &unit, const TensorDesc &in, DataType processing)
{
	const op::SdpUnit &from = unit.unit;
	nvdla_sdp_op &to = unit.op;

	lowering.need(!unit.isY || lowering.geometry().has(Capability::SdpY), unit.name,
		      fmt::format("is a unit that {} has not", lowering.geometry().name));
	lowering.need(from.activation != op::Activation::PRelu || (from.multiply && !from.alu),
		      unit.name, "PReLU needs the multiplier, and the ALU bypassed");
	lowering.need(from.activation != op::Activation::Relu || !unit.isY, unit.name,
		      "has no ReLU; X1 and X2 have");
	lowering.need(from.activation != op::Activation::LookUp || unit.isY, unit.name,
		      "has no look-up table; Y has");
	lowering.need(from.alu || from.multiply || from.operands.empty(), unit.name,
		      "has operands, but neither ALU nor multiplier work");
	lowering.need(from.mulOperands.empty(), fmt::format("{}.mulOperands", unit.name),
		      "are for x1; other units read one surface");
	if (lowering.failed())
		return;

	to.enable = 1;
	to.alu_type = aluType(from.alu.value_or(op::Alu::Sum));
	to.type = static_cast<__u8>((from.alu ? NVDLA_SDP_OP_ADD : 0) |
				    (from.multiply ? NVDLA_SDP_OP_MUL : 0));
	to.act = activation(from.activation);
	to.shift_value = from.aluShift;
	to.truncate = from.shift;
	to.precision = lowering.precision(processing, unit.name);
	lowering.need((unit.isY && processing != DataType::Half && !from.operands.empty()) ||
			      (!from.aluConverter && !from.mulConverter),
		      fmt::format("{}.converter", unit.name),
		      "only integers that Y reads from memory are converted");
	lowering.need(!unit.isY || !from.aluShift, fmt::format("{}.aluShift", unit.name),
		      "is for X1 and X2");
	if (from.aluConverter)
		to.alu_cvt = descriptor(*from.aluConverter);
	if (from.mulConverter)
		to.mul_cvt = descriptor(*from.mulConverter);
	/* FP16 operands pass the converter without being converted (programming guide, Limitation,
	 * SDP). */
	if (unit.isY && processing == DataType::Half && !from.operands.empty()) {
		to.alu_cvt.enable = 1;
		to.mul_cvt.enable = 1;
	}
	if (from.operands.empty()) {
		needOperand(lowering, unit, "aluOperand", from.aluOperand, processing);
		needOperand(lowering, unit, "mulOperand", from.mulOperand, processing);
		to.mode = NVDLA_SDP_PER_LAYER;
		to.alu_operand = from.aluOperand;
		to.mul_operand = from.mulOperand;
		return;
	}
	const auto constant = lowering.symbols().operands.find(from.operands);
	if (constant != lowering.symbols().operands.end())
		useConstant(lowering, unit, *constant->second, in, processing);
	else
		useSurface(lowering, unit, in, processing);
}

/* Between INT8 and INT16, SDP takes as many channels at a time as an atom of INT8 has. These are
 * two atoms of INT16. */
uint32_t surfaceMultiple(DataType type, DataType processing)
{
	return type == DataType::Int16 && processing == DataType::Int8 ? 2 : 1;
}

void checkTypes(Lowering &lowering, const op::Sdp &op, const SurfaceState &in, DataType out)
{
	lowering.need(in.desc.type != DataType::Half || op.converter == Converter{}, "converter",
		      fmt::format("'{}' is FP16, which the core does not convert; scale it by "
				  "multiplying",
				  op.input));
	const bool eightAndHalf = (in.desc.type == DataType::Int8 && out == DataType::Half) ||
				  (in.desc.type == DataType::Half && out == DataType::Int8);

	lowering.need(!eightAndHalf, "type",
		      fmt::format("SDP does not convert from {} to {}", dataTypeName(in.desc.type),
				  dataTypeName(out)));
	lowering.need(!in.planar && isFeature(in.desc.format), "input",
		      fmt::format("'{}' is no feature surface", op.input));
	lowering.need(
		in.desc.n == 1 || in.region == none, "input",
		fmt::format("'{}' is a batch of {}; batches have to be streams of a convolution",
			    op.input, in.desc.n));
}

constexpr uint32_t widestCube = 8192;

/*
 * SDP does not support batches when it reads operands. So a comparison treats a batch as one cube:
 * each line of this cube is a cube of the batch. For that, the cubes of the batch have to be packed
 * (programming guide, "Compare mode", "Batch mode").
 */
void needPacked(Lowering &lowering, const char *field, const TensorDesc &desc)
{
	const uint32_t atom = lowering.geometry().atomBytes;

	lowering.need(desc.lineStride == desc.w * atom &&
			      desc.surfaceStride == desc.h * desc.lineStride,
		      field,
		      fmt::format("'{}' is a batch with room between its lines or surfaces, which "
				  "would be compared, too; compare its cubes one by one",
				  desc.name));
	lowering.need(
		desc.size / desc.n <= uint64_t{ widestCube } * atom, field,
		fmt::format("a cube of the batch '{}' has more than {} atoms; compare them one "
			    "by one",
			    desc.name, widestCube));
}

void toOneCube(const Lowering &lowering, const TensorDesc &desc, nvdla_data_cube &cube)
{
	const uint64_t bytes = desc.size / desc.n;

	cube.width = static_cast<__u16>(bytes / lowering.geometry().atomBytes);
	cube.height = static_cast<__u16>(desc.n);
	cube.channel = static_cast<__u16>(lowering.geometry().atomChannels(desc.type));
	cube.line_stride = static_cast<__u32>(bytes);
	cube.surf_stride = static_cast<__u32>(desc.size);
}

} /* namespace */

void lower(Lowering &lowering, const op::Sdp &op)
{
	SurfaceState &in = lowering.input("input", op.input);
	if (lowering.failed())
		return;
	const DataType outType = lowering.outputType(op.output, op.type, in.desc.type);
	const DataType processing = processingType(in.desc.type, outType);
	checkTypes(lowering, op, in, outType);
	SurfaceState &out =
		lowering.output(op.output, outType, { in.desc.c, in.desc.h, in.desc.w, in.desc.n });
	if (lowering.failed())
		return;

	nvdla_sdp_op_desc &sdp = lowering.node.operation.sdp;
	nvdla_sdp_surface_desc &cubes = lowering.node.surface.sdp;
	sdp.src_precision = lowering.precision(in.desc.type, "input");
	sdp.dst_precision = lowering.precision(outType, "output");
	sdp.lut_index = -1;
	sdp.out_cvt = descriptor(op.converter);
	sdp.conv_mode =
		lowering.producerIsWinograd() ? NVDLA_CONV_MODE_WINOGRAD : NVDLA_CONV_MODE_DIRECT;
	lowering.node.operation.extended.nan_to_zero = op.nanToZero;
	sdp.batch_num = static_cast<__u8>(in.desc.n);
	sdp.batch_stride = in.desc.n > 1 ? static_cast<__u32>(out.desc.size / in.desc.n) : 0;
	cubes.src_data = lowering.read("src_data", in, surfaceMultiple(in.desc.type, processing));
	cubes.dst_data = lowering.write("dst_data", out, surfaceMultiple(outType, processing));

	if (op.x1)
		lowerUnit(lowering, { *op.x1, "x1", false, sdp.x1_op, cubes.x1_data }, in.desc,
			  processing);
	if (op.x2)
		lowerUnit(lowering, { *op.x2, "x2", false, sdp.x2_op, cubes.x2_data }, in.desc,
			  processing);
	if (op.y)
		lowerUnit(lowering, { *op.y, "y", true, sdp.y_op, cubes.y_data }, in.desc,
			  processing);
	if (op.y && op.y->activation == op::Activation::LookUp)
		sdp.lut_index = lowering.lut(op.lut);
}

/* Only Y's ALU is used, on two surfaces in memory (programming guide, "Compare mode"). */
void lower(Lowering &lowering, const op::Compare &op)
{
	SurfaceState &in = lowering.input("input", op.input);
	if (lowering.failed())
		return;
	const TensorDesc &desc = in.desc;
	lowering.need(in.region != none && !in.planar && isFeature(desc.format), "input",
		      fmt::format("'{}' is no feature surface in memory", op.input));
	lowering.need(!op.with.empty(), "with", "has no name");
	lowering.need(desc.n == 1 || !lowering.symbols().operands.contains(op.with), "with",
		      fmt::format("'{}' are constants, '{}' is a batch", op.with, op.input));
	if (desc.n > 1 && !lowering.failed()) {
		needPacked(lowering, "input", desc);
		needPacked(lowering, "with", lowering.input("with", op.with).desc);
	}
	/*
	 * A comparison includes the unused channels of the last atom. They are zero in constants,
	 * but arbitrary in surfaces that engines wrote.
	 */
	lowering.need(!lowering.symbols().operands.contains(op.with) ||
			      desc.c % lowering.geometry().atomChannels(desc.type) == 0,
		      "with",
		      fmt::format("'{}' are constants, but the {} channels of '{}' are not whole "
				  "atoms, all of which is compared",
				  op.with, desc.c, op.input));
	if (lowering.failed())
		return;
	nvdla_sdp_op_desc &sdp = lowering.node.operation.sdp;
	nvdla_sdp_surface_desc &cubes = lowering.node.surface.sdp;
	sdp.src_precision = lowering.precision(desc.type, "input");
	sdp.dst_precision = sdp.src_precision;
	sdp.lut_index = -1;
	sdp.out_cvt = descriptor(Converter{});
	sdp.conv_mode = NVDLA_CONV_MODE_DIRECT;
	sdp.batch_num = 1;
	cubes.src_data = lowering.read("src_data", in);
	if (desc.n > 1)
		toOneCube(lowering, desc, cubes.src_data);
	/* A comparison writes no output, but the descriptor needs its shape. */
	cubes.dst_data = cubes.src_data;
	cubes.dst_data.type = NVDLA_MEM_MC;
	cubes.dst_data.address = -1;
	lowerUnit(lowering,
		  { op::SdpUnit{ .alu = op::Alu::Sum, .operands = op.with }, "y", true, sdp.y_op,
		    cubes.y_data, desc.n },
		  desc, desc.type);
	if (desc.n > 1)
		toOneCube(lowering, desc, cubes.y_data);
	sdp.y_op.alu_type = NVDLA_ALU_EQL;
}

} /* namespace nvdla::assembly */
