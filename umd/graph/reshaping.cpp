/* SPDX-License-Identifier: MIT */
/*
 * CDP, RUBIK and BDMA, and the operations of the CPU.
 */
#include <algorithm>
#include <optional>

#include <fmt/core.h>
#include <nvdla/weights.h>

#include "descriptors.h"
#include "lowering.h"

namespace nvdla::assembly
{

namespace
{

void needFeature(Lowering &lowering, const SurfaceState &surface)
{
	lowering.need(!surface.planar && isFeature(surface.desc.format) && surface.desc.n == 1,
		      "input", fmt::format("'{}' is no single feature surface", surface.desc.name));
}

Shape shapeOf(const SurfaceState &surface)
{
	return { surface.desc.c, surface.desc.h, surface.desc.w, surface.desc.n };
}

/* Lowers RUBIK's split and merge, which change the layout, not the elements. */
void reshape(Lowering &lowering, nvdla_rubik_mode mode, const std::string &input,
	     const std::string &output)
{
	SurfaceState &in = lowering.input("input", input);
	lowering.needEngine();
	if (lowering.failed())
		return;
	lowering.need(in.planar == (mode == NVDLA_RUBIK_MERGE), "input",
		      fmt::format("'{}' is {}", input, in.planar ? "planar" : "not planar"));
	SurfaceState &out = lowering.output(output, in.desc.type, shapeOf(in));
	if (lowering.failed())
		return;
	lowering.need(out.planar == (mode == NVDLA_RUBIK_SPLIT), "output",
		      fmt::format("'{}' has to be described as {}planar", output,
				  mode == NVDLA_RUBIK_SPLIT ? "" : "not "));
	lowering.node.operation.rubik.mode = mode;
	lowering.node.operation.rubik.precision = lowering.precision(in.desc.type, "input");
	lowering.node.surface.rubik.src_data = lowering.read("src_data", in);
	lowering.node.surface.rubik.dst_data = lowering.write("dst_data", out);
}

/* A surface as BDMA copies it: groups of lines that consist of whole atoms. */
struct Lines {
	uint32_t bytes;	 /* length of a line */
	uint32_t count;	 /* number of lines of a group */
	uint32_t groups; /* number of surfaces of a cube, or of planes */
};

Lines linesOf(const Lowering &lowering, const SurfaceState &surface)
{
	const TensorDesc &desc = surface.desc;
	const uint32_t atom = lowering.geometry().atomBytes;

	if (surface.planar)
		return { static_cast<uint32_t>(alignUp(desc.w * elementBytes(desc.type), atom)),
			 desc.h, desc.c };
	if (isFeature(desc.format))
		return { desc.w * atom, desc.h,
			 divideUp(desc.c, lowering.geometry().atomChannels(desc.type)) };
	const uint32_t line = desc.w * pixelFormatInfo(desc.format)->pixelBytes();
	return { static_cast<uint32_t>(alignUp(line, atom)), desc.h, 1 };
}

void copy(Lowering &lowering, const op::Copy::Transfer &transfer, nvdla_bdma_transfer &to)
{
	SurfaceState &in = lowering.input("input", transfer.input);
	if (lowering.failed())
		return;
	lowering.need(in.firstPixel == 0, "input",
		      fmt::format("'{}' begins {} pixels behind a multiple of {} bytes, which BDMA "
				  "copies",
				  transfer.input, in.firstPixel, lowering.geometry().atomBytes));
	lowering.need(in.desc.n == 1 && !in.desc.lineStrideUv, "input",
		      fmt::format("'{}' is a batch or has two planes", transfer.input));
	SurfaceState &out = lowering.output(transfer.output, in.desc.type, shapeOf(in));
	if (lowering.failed())
		return;
	lowering.need(out.planar == in.planar && out.desc.format == in.desc.format, "output",
		      fmt::format("'{}' and '{}' have different layouts", transfer.input,
				  transfer.output));
	const Lines lines = linesOf(lowering, in);
	const nvdla_data_cube src = lowering.read("src", in);
	const nvdla_data_cube dst = lowering.write("dst", out);
	auto &surface = lowering.node.surface.bdma;
	const bool first = surface.num_transfers == 0;
	lowering.need(first || (surface.src_type == src.type && surface.dst_type == dst.type),
		      "transfers", "lead from or to different kinds of memory");
	surface.src_type = static_cast<__u8>(src.type);
	surface.dst_type = static_cast<__u8>(dst.type);
	to = { src.address,  dst.address,	    lines.bytes,
	       lines.count,  in.desc.lineStride,    out.desc.lineStride,
	       lines.groups, in.desc.surfaceStride, out.desc.surfaceStride };
	surface.num_transfers++;
}

EmuBuffer emuBuffer(const nvdla_data_cube &cube, const TensorDesc &desc)
{
	return { static_cast<uint16_t>(cube.address),
		 0,
		 desc.type,
		 cube.width,
		 cube.height,
		 cube.channel,
		 cube.line_stride,
		 cube.surf_stride,
		 desc.format };
}

void needReachable(Lowering &lowering, const char *field, const SurfaceState &surface)
{
	lowering.need(surface.place != Place::Sram, field,
		      fmt::format("'{}' is in on-chip memory, which the CPU cannot reach",
				  surface.desc.name));
}

int8_t zeroOf(Lowering &lowering, const char *field, int32_t zero)
{
	lowering.need(zero >= INT8_MIN && zero <= INT8_MAX, field,
		      fmt::format("is {}; -128 to 127 are possible", zero));
	return static_cast<int8_t>(zero);
}

void lowerCpu(Lowering &lowering, const EmuOperation &operation, const std::string &input,
	      const std::string &output, DataType type, std::optional<Shape> shape = std::nullopt)
{
	lowering.node.cpu = true;
	SurfaceState &in = lowering.input("input", input);
	if (lowering.failed())
		return;
	needFeature(lowering, in);
	lowering.need(operation.outScale != 0.0f, "outScale", "is 0");
	SurfaceState &out = lowering.output(output, lowering.outputType(output, type, in.desc.type),
					    shape.value_or(shapeOf(in)));
	needReachable(lowering, "input", in);
	needReachable(lowering, "output", out);
	if (lowering.failed())
		return;
	EmuOperation &emu = lowering.node.emu;
	emu = operation;
	emu.src = emuBuffer(lowering.read("source", in), in.desc);
	emu.dst = emuBuffer(lowering.write("destination", out), out.desc);
}

/*
 * Shape of the output. RUBIK makes phases of equal width and of whole atoms; a described output may
 * leave out unwanted columns and channels at the end.
 */
Shape contracted(const Lowering &lowering, const op::Contract &op, const Shape &written,
		 DataType type)
{
	const auto declared = lowering.symbols().declared.find(op.output);
	const uint32_t spare = 2 * lowering.geometry().atomChannels(type);

	if (declared == lowering.symbols().declared.end())
		return written;
	const Surface &wanted = declared->second;
	Shape shape = written;
	if (wanted.c && wanted.c < written.c && wanted.c + spare > written.c)
		shape.c = wanted.c;
	if (wanted.w && wanted.w < written.w && wanted.w + op.stride.x > written.w)
		shape.w = wanted.w;
	return shape;
}

} /* namespace */

void lower(Lowering &lowering, const op::Normalization &op)
{
	SurfaceState &in = lowering.input("input", op.input);
	if (lowering.failed())
		return;
	needFeature(lowering, in);
	lowering.need(op.localSize == 3 || op.localSize == 5 || op.localSize == 7 ||
			      op.localSize == 9,
		      "localSize", fmt::format("is {}; 3, 5, 7 and 9 are possible", op.localSize));
	lowering.need(in.desc.type != DataType::Half ||
			      (op.in == Converter{} && op.out == Converter{}),
		      "converter", "is for integers: the core does not convert FP16");
	SurfaceState &out = lowering.output(op.output, in.desc.type, shapeOf(in));
	if (lowering.failed())
		return;

	nvdla_cdp_op_desc &cdp = lowering.node.operation.cdp;
	cdp.in_precision = lowering.precision(in.desc.type, "input");
	cdp.out_precision = cdp.in_precision;
	cdp.lut_index = lowering.lut(op.lut);
	cdp.in_cvt = descriptor(op.in);
	cdp.out_cvt = descriptor(op.out);
	lowering.node.operation.extended.nan_to_zero = op.nanToZero;
	cdp.local_size = static_cast<__u8>(op.localSize);
	cdp.bypass_sqsum = op.bypassSquareSum;
	cdp.bypass_out_mul = op.bypassMultiply;
	lowering.node.surface.cdp.src_data = lowering.read("src_data", in);
	lowering.node.surface.cdp.dst_data = lowering.write("dst_data", out);
}

void lower(Lowering &lowering, const op::Contract &op)
{
	SurfaceState &in = lowering.input("input", op.input);
	if (lowering.failed())
		return;
	needFeature(lowering, in);
	const uint32_t phases = op.stride.x * op.stride.y;
	lowering.needEngine();
	lowering.need(
		op.stride.x >= 1 && op.stride.x <= 32 && op.stride.y >= 1 && op.stride.y <= 32,
		"stride", fmt::format("{} x {}; 1 to 32 are possible", op.stride.x, op.stride.y));
	if (lowering.failed())
		return;
	const uint32_t channels = in.desc.c / phases;
	const uint32_t atom = lowering.geometry().atomChannels(in.desc.type);
	lowering.need(
		in.desc.c % phases == 0 && channels % atom == 0, "input",
		fmt::format("'{}' has {} channels, which are not {} groups of whole atoms of {}",
			    op.input, in.desc.c, phases, atom));
	const Shape written{ channels, in.desc.h * op.stride.y, in.desc.w * op.stride.x };
	SurfaceState &out =
		lowering.output(op.output, in.desc.type,
				contracted(lowering, op, written, in.desc.type), written.w);
	if (lowering.failed())
		return;
	const uint32_t columns = lowering.columnsInLine(out);
	lowering.need(written.w <= columns, "output",
		      fmt::format("{} columns are written, a line of '{}' has room for {}; "
				  "describe it with a larger lineStride",
				  written.w, op.output, columns));

	nvdla_rubik_op_desc &rubik = lowering.node.operation.rubik;
	rubik.mode = NVDLA_RUBIK_CONTRACT;
	rubik.precision = lowering.precision(in.desc.type, "input");
	rubik.stride_x = static_cast<__u8>(op.stride.x);
	rubik.stride_y = static_cast<__u8>(op.stride.y);
	lowering.node.surface.rubik.src_data =
		lowering.read("src_data", in, phases * (channels / atom));
	nvdla_data_cube &dst = lowering.node.surface.rubik.dst_data;
	dst = lowering.write("dst_data", out, channels / atom);
	dst.channel = static_cast<__u16>(channels);
	dst.width = static_cast<__u16>(written.w);
}

void lower(Lowering &lowering, const op::SplitPlanes &op)
{
	reshape(lowering, NVDLA_RUBIK_SPLIT, op.input, op.output);
}

void lower(Lowering &lowering, const op::MergePlanes &op)
{
	reshape(lowering, NVDLA_RUBIK_MERGE, op.input, op.output);
}

void lower(Lowering &lowering, const op::Copy &op)
{
	lowering.needEngine();
	if (!lowering.need(!op.transfers.empty() && op.transfers.size() <= NVDLA_BDMA_MAX_TRANSFERS,
			   "transfers",
			   fmt::format("are {}; 1 to {} are possible", op.transfers.size(),
				       NVDLA_BDMA_MAX_TRANSFERS)))
		return;
	for (size_t i = 0; i < op.transfers.size() && !lowering.failed(); i++)
		copy(lowering, op.transfers[i], lowering.node.surface.bdma.transfers[i]);
	lowering.node.operation.bdma.num_transfers = lowering.node.surface.bdma.num_transfers;
}

void lower(Lowering &lowering, const op::Softmax &op)
{
	EmuOperation emu;

	emu.type = EmuOpType::Softmax;
	emu.inScale = op.inScale;
	emu.outScale = op.outScale;
	emu.outZero = zeroOf(lowering, "outZero", op.outZero);
	lowerCpu(lowering, emu, op.input, op.output, op.type);
}

/* Powers become POWER operations, which other runtimes know, too. */
void lower(Lowering &lowering, const op::Unary &op)
{
	const bool isIdentity = op.function == ElementFunction::Identity;
	const bool isPower = op.inner == ElementFunction::Identity &&
			     (isIdentity || op.function == ElementFunction::Power);
	EmuOperation emu;

	emu.type = isPower ? EmuOpType::Power : EmuOpType::Function;
	emu.inScale = op.inScale;
	emu.outScale = op.outScale;
	emu.outZero = zeroOf(lowering, "outZero", op.outZero);
	emu.function = op.function;
	emu.inner = op.inner;
	emu.power = isIdentity ? 1.0f : op.parameter;
	emu.scale = op.scale;
	emu.shift = op.shift;
	lowerCpu(lowering, emu, op.input, op.output, op.type);
}

void lower(Lowering &lowering, const op::OverChannels &op)
{
	using Function = op::OverChannels::Function;
	const bool indices = op.function == Function::ArgMax;
	const std::pair<Function, EmuOpType> types[] = {
		{ Function::ArgMax, EmuOpType::ArgMax },
		{ Function::Normalize, EmuOpType::Normalize },
		{ Function::NormalizeTwice, EmuOpType::NormalizeTwice },
		{ Function::LocalResponse, EmuOpType::LocalResponse },
		{ Function::LogSoftmax, EmuOpType::LogSoftmax },
		{ Function::Standardize, EmuOpType::Standardize },
		{ Function::Largest, EmuOpType::Largest },
		{ Function::Smallest, EmuOpType::Smallest },
	};
	SurfaceState &in = lowering.input("input", op.input);
	EmuOperation emu;

	if (lowering.failed())
		return;
	for (const auto &[function, type] : types) {
		if (op.function == function)
			emu.type = type;
	}
	emu.inScale = op.inScale;
	emu.inZero = zeroOf(lowering, "inZero", op.inZero);
	emu.outScale = op.outScale;
	emu.outZero = zeroOf(lowering, "outZero", op.outZero);
	lowering.need(op.function != Function::LocalResponse ||
			      (op.window % 2 == 1 && op.window <= UINT8_MAX),
		      "window",
		      fmt::format("is {}; an odd number up to 255 is possible", op.window));
	emu.window = static_cast<uint8_t>(op.window);
	emu.power = op.power;
	emu.scale = op.scale;
	emu.shift = op.shift;
	lowerCpu(lowering, emu, op.input, op.output, indices ? DataType::Int16 : op.type,
		 Shape{ makesOneChannel(emu.type) ? 1 : in.desc.c, in.desc.h, in.desc.w, 1 });
}

void lower(Lowering &lowering, const op::Reshape &op)
{
	const auto declared = lowering.symbols().declared.find(op.output);
	SurfaceState &in = lowering.input("input", op.input);

	if (lowering.failed() ||
	    !lowering.need(declared != lowering.symbols().declared.end(), "output",
			   fmt::format("'{}' is not described", op.output)))
		return;
	const Surface &out = declared->second;
	lowering.need(uint64_t{ out.c } * out.h * out.w ==
			      uint64_t{ in.desc.c } * in.desc.h * in.desc.w,
		      "output",
		      fmt::format("'{}' has not as many elements as '{}'", op.output, op.input));
	lowering.need(out.type == DataType::Unknown || out.type == in.desc.type, "output",
		      fmt::format("'{}' has another type than '{}'", op.output, op.input));
	EmuOperation emu;
	emu.type = EmuOpType::Reshape;
	emu.axes = op.axes;
	lowerCpu(lowering, emu, op.input, op.output, in.desc.type, Shape{ out.c, out.h, out.w, 1 });
}

/* The packed weights are the output's bytes in order: lines of one surface without gaps. */
void lower(Lowering &lowering, const op::PackWeights &op)
{
	constexpr uint32_t mostColumns = 4096;
	const CoreGeometry &core = lowering.geometry();
	SurfaceState &in = lowering.input("input", op.input);

	if (lowering.failed())
		return;
	const TensorDesc &from = in.desc;
	const uint32_t pixels = from.h * from.w;
	const WeightDesc weights{ from.type, op.ofChannels ? from.c : pixels,
				  op.ofChannels ? pixels : from.c, op.lines, op.columns };
	for (const uint32_t extent : { op.lines, op.columns })
		lowering.need(extent >= 1 && extent <= maxKernelSize, "lines",
			      fmt::format("and columns are {} and {}; 1 to {} are possible",
					  op.lines, op.columns, maxKernelSize));
	lowering.need(op.zero == 0 || from.type != DataType::Half, "zero",
		      fmt::format("is {}, of FP16", op.zero));
	EmuOperation emu;
	emu.type = EmuOpType::PackWeights;
	emu.inZero = zeroOf(lowering, "zero", op.zero);
	emu.weights = { static_cast<uint16_t>(core.groupKernels(from.type)),
			static_cast<uint16_t>(core.macChannels), static_cast<uint16_t>(op.lines),
			static_cast<uint16_t>(op.columns), op.ofChannels };
	if (lowering.failed())
		return;
	const auto atoms = static_cast<uint32_t>(packedWeightBytes(core, weights) / core.atomBytes);
	const uint32_t lines = divideUp(atoms, mostColumns);
	lowerCpu(lowering, emu, op.input, op.output, from.type,
		 Shape{ core.atomChannels(from.type), lines, divideUp(atoms, lines), 1 });
}

} /* namespace nvdla::assembly */
