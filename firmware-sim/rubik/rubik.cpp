/* SPDX-License-Identifier: MIT */
#include "rubik/rubik.h"

#include <algorithm>
#include <cstring>
#include <vector>

#include <nvdla/hw/registers.h>

#include "core/fields.h"
#include "core/geometry.h"

namespace nvdla::sim
{

namespace
{

uint32_t roundUpToAtom(uint32_t bytes)
{
	return (bytes + atomBytes - 1) / atomBytes * atomBytes;
}

/* \return cycles of contract. Writes are the limit: eleven cycles for eight words of 64 bytes, and
 * one more for each line. */
uint64_t contractCycles(const RubikOp &op)
{
	const uint64_t lines = uint64_t{ op.height } * op.strideY;
	const uint32_t planes = nvFull.surfaces(op.precision, op.outChannels);
	const uint64_t words =
		wordsOfLines(64, op.dst, uint64_t{ op.width } * op.strideX * atomBytes, lines,
			     op.dstLineStride, planes, op.dstSurfaceStride);

	return nvFullTiming.move.contract + words * 11 / 8 + lines * planes;
}

/*
 * Merge reads blocks of 64 bytes from lines of planes, for all channels of an atom. At the same
 * time the atoms of the previous blocks are written, two a cycle.
 */
uint64_t mergeCycles(const RubikOp &op)
{
	const uint32_t piece = 64 / elementBytes(op.precision);
	const uint32_t atom = atomBytes / elementBytes(op.precision);
	const uint64_t whole = op.width / piece;
	const uint64_t rest = (op.width % piece + 1) / 2;
	const uint64_t last = rest ? rest : piece / 2;
	uint64_t cycles = nvFullTiming.move.merge + std::min(op.channels, atom);

	for (uint32_t first = 0; first < op.channels; first += atom) {
		const uint64_t reads = std::min(op.channels - first, atom);
		cycles += op.height * whole * std::max<uint64_t>(piece / 2, reads);
		cycles += rest ? op.height * std::max(rest, reads) : 0;
		/* There is nothing left to read while the last block is written. */
		if (op.channels - first <= atom)
			cycles -= std::max(last, reads) - last;
	}
	return cycles;
}

uint64_t duration(const RubikOp &op)
{
	const uint64_t pieces = (op.width * elementBytes(op.precision) + 63) / 64;
	const uint64_t pixels = uint64_t{ op.width } * op.height;

	switch (op.mode) {
	case RubikMode::Contract:
		return contractCycles(op);
	case RubikMode::Split:
		return nvFullTiming.move.split + 3 * pieces * op.height * op.outChannels +
		       pixels * nvFull.surfaces(op.precision, op.outChannels) * 3 / 10;
	case RubikMode::Merge:
		return mergeCycles(op);
	}
	return 0;
}

void decodeStrides(const RegisterView &rubik, RubikOp &op)
{
	op.srcLineStride = rubik[NVDLA_RBK_D_DAIN_LINE_STRIDE];
	op.srcSurfaceStride = rubik[NVDLA_RBK_D_DAIN_SURF_STRIDE];
	op.srcPlaneStride = rubik[NVDLA_RBK_D_DAIN_PLANAR_STRIDE];
	op.dstLineStride = rubik[NVDLA_RBK_D_DAOUT_LINE_STRIDE];
	op.dstSurfaceStride = rubik[NVDLA_RBK_D_DAOUT_SURF_STRIDE];
	op.dstPlaneStride = rubik[NVDLA_RBK_D_DAOUT_PLANAR_STRIDE];
	op.groupStride = rubik[NVDLA_RBK_D_CONTRACT_STRIDE_0];
	op.blockStride = rubik[NVDLA_RBK_D_CONTRACT_STRIDE_1];
	op.strideX = COUNT(rubik, RBK_D_DECONV_STRIDE, DECONV_X_STRIDE);
	op.strideY = COUNT(rubik, RBK_D_DECONV_STRIDE, DECONV_Y_STRIDE);
}

/*
 * The input has one group of surfaces for each (sy, sx), sx varying first; a group has as many
 * surfaces as the output. Pixel (x, y) of a group becomes output pixel (x * strideX + sx,
 * y * strideY + sy).
 */
void contract(const RubikOp &op, MemoryPort &port)
{
	const uint32_t outSurfaces = nvFull.surfaces(op.precision, op.outChannels);
	std::vector<std::byte> in(size_t{ op.width } * atomBytes);
	std::vector<std::byte> out(in.size() * op.strideX);

	for (uint32_t surface = 0; surface < outSurfaces; surface++) {
		for (uint32_t line = 0; line < op.height * op.strideY; line++) {
			if (port.cancelled())
				return;
			const uint32_t y = line / op.strideY;
			const uint32_t sy = line % op.strideY;
			for (uint32_t sx = 0; sx < op.strideX; sx++) {
				const uint64_t group = sy * op.strideX + sx;
				port.read(op.srcType,
					  op.src + group * op.groupStride +
						  uint64_t{ surface } * op.srcSurfaceStride +
						  uint64_t{ y } * op.srcLineStride,
					  in);
				const std::byte *from = in.data();
				std::byte *to = out.data() + size_t{ sx } * atomBytes;
				for (size_t x = 0; x < op.width; x++)
					std::copy_n(from + x * atomBytes, atomBytes,
						    to + x * op.strideX * atomBytes);
			}
			port.write(op.dstType,
				   op.dst + uint64_t{ surface } * op.dstSurfaceStride +
					   uint64_t{ y } * op.blockStride +
					   uint64_t{ sy } * op.dstLineStride,
				   out);
		}
	}
}

/* Copies elements: sources are \a fromStep bytes apart, destinations \a toStep bytes. */
void copyElements(const RubikOp &op, const std::byte *from, size_t fromStep, std::byte *to,
		  size_t toStep)
{
	if (op.precision == Precision::Int8) {
		for (size_t x = 0; x < op.width; x++)
			to[x * toStep] = from[x * fromStep];
		return;
	}
	for (size_t x = 0; x < op.width; x++)
		std::memcpy(to + x * toStep, from + x * fromStep, sizeof(uint16_t));
}

/* Lines of planes are written as whole atoms; zeroes fill up the last atom. */
void split(const RubikOp &op, MemoryPort &port)
{
	const uint32_t perAtom = atomChannels(op.precision);
	const uint32_t bytes = elementBytes(op.precision);
	std::vector<std::byte> atoms(size_t{ op.width } * atomBytes);
	std::vector<std::byte> line(roundUpToAtom(op.width * bytes));

	for (uint32_t surface = 0; surface < nvFull.surfaces(op.precision, op.outChannels);
	     surface++) {
		const uint32_t first = surface * perAtom;
		const uint32_t end = std::min(first + perAtom, op.outChannels);

		for (uint32_t y = 0; y < op.height && !port.cancelled(); y++) {
			port.read(op.srcType,
				  op.src + uint64_t{ surface } * op.srcSurfaceStride +
					  uint64_t{ y } * op.srcLineStride,
				  atoms);
			for (uint32_t plane = first; plane < end; plane++) {
				copyElements(op, &atoms[(plane - first) * bytes], atomBytes,
					     line.data(), bytes);
				port.write(op.dstType,
					   op.dst + uint64_t{ plane } * op.dstPlaneStride +
						   uint64_t{ y } * op.dstLineStride,
					   line);
			}
		}
	}
}

/* Channels of the last surface for which there is no plane become zero. */
void merge(const RubikOp &op, MemoryPort &port)
{
	const uint32_t perAtom = atomChannels(op.precision);
	const uint32_t bytes = elementBytes(op.precision);
	std::vector<std::byte> line(roundUpToAtom(op.width * bytes));
	std::vector<std::byte> atoms(size_t{ op.width } * atomBytes);

	for (uint32_t surface = 0; surface < nvFull.surfaces(op.precision, op.channels);
	     surface++) {
		const uint32_t first = surface * perAtom;
		const uint32_t end = std::min(first + perAtom, op.channels);

		std::ranges::fill(atoms, std::byte{ 0 });
		for (uint32_t y = 0; y < op.height && !port.cancelled(); y++) {
			for (uint32_t plane = first; plane < end; plane++) {
				port.read(op.srcType,
					  op.src + uint64_t{ plane } * op.srcPlaneStride +
						  uint64_t{ y } * op.srcLineStride,
					  line);
				copyElements(op, line.data(), bytes,
					     &atoms[(plane - first) * bytes], atomBytes);
			}
			port.write(op.dstType,
				   op.dst + uint64_t{ surface } * op.dstSurfaceStride +
					   uint64_t{ y } * op.dstLineStride,
				   atoms);
		}
	}
}

} /* namespace */

RubikOp decodeRubik(const RegisterView &rubik)
{
	RubikOp op = {};
	const uint32_t mode = FIELD(rubik, RBK_D_MISC_CFG, RUBIK_MODE);
	const uint32_t precision = FIELD(rubik, RBK_D_MISC_CFG, IN_PRECISION);
	if (mode > NVDLA_RBK_D_MISC_CFG__RUBIK_MODE__MERGE)
		op.guestError = "D_MISC_CFG.RUBIK_MODE is not a mode";
	else if (precision > NVDLA_RBK_D_MISC_CFG__IN_PRECISION__FP16)
		op.guestError = "D_MISC_CFG.IN_PRECISION is not a precision";
	if (!op.guestError.empty())
		return op;

	op.mode = static_cast<RubikMode>(mode);
	op.precision = static_cast<Precision>(precision);
	op.srcType = static_cast<RamType>(rubik[NVDLA_RBK_D_DAIN_RAM_TYPE]);
	op.dstType = static_cast<RamType>(rubik[NVDLA_RBK_D_DAOUT_RAM_TYPE]);
	op.width = COUNT(rubik, RBK_D_DATAIN_SIZE_0, DATAIN_WIDTH);
	op.height = COUNT(rubik, RBK_D_DATAIN_SIZE_0, DATAIN_HEIGHT);
	op.channels = rubik[NVDLA_RBK_D_DATAIN_SIZE_1] + 1;
	op.outChannels = rubik[NVDLA_RBK_D_DATAOUT_SIZE_1] + 1;
	op.src = rubik.address64(NVDLA_RBK_D_DAIN_ADDR_HIGH, NVDLA_RBK_D_DAIN_ADDR_LOW);
	op.dst = rubik.address64(NVDLA_RBK_D_DAOUT_ADDR_HIGH, NVDLA_RBK_D_DAOUT_ADDR_LOW);
	decodeStrides(rubik, op);
	return op;
}

MoveWork rubikWork(const RubikOp &op)
{
	const uint64_t positions = uint64_t{ op.width } * op.height;
	const uint64_t planeBytes =
		uint64_t{ op.height } * roundUpToAtom(op.width * elementBytes(op.precision));
	MoveWork work = { .cycles = duration(op) };
	uint64_t &reads = work.traffic.of(op.srcType).readBytes;
	uint64_t &writes = work.traffic.of(op.dstType).writeBytes;

	switch (op.mode) {
	case RubikMode::Contract:
		reads = writes = positions * op.strideX * op.strideY * atomBytes *
				 nvFull.surfaces(op.precision, op.outChannels);
		break;
	case RubikMode::Split:
		reads = positions * atomBytes * nvFull.surfaces(op.precision, op.outChannels);
		writes = planeBytes * op.outChannels;
		break;
	case RubikMode::Merge:
		reads = planeBytes * op.channels;
		writes = positions * atomBytes * nvFull.surfaces(op.precision, op.channels);
		break;
	}
	return work;
}

OperationResult run(const RubikOp &op, MemoryPort &port)
{
	OperationResult result;
	if (!op.guestError.empty())
		return hangingOperation(op.guestError);
	switch (op.mode) {
	case RubikMode::Contract:
		contract(op, port);
		break;
	case RubikMode::Split:
		split(op, port);
		break;
	case RubikMode::Merge:
		merge(op, port);
		break;
	}
	result.work.move = rubikWork(op);
	return result;
}

} /* namespace nvdla::sim */
