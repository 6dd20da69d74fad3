/* SPDX-License-Identifier: MIT */
#include "sdp/sdp_operands.h"

#include <algorithm>
#include <cstring>

#include "arith/float.h"
#include "arith/integer.h"
#include "core/bring_ahead.h"
#include "sdp/sdp_fast.h"
#include "sdp/sdp_float.h"

namespace nvdla::sim
{

using namespace arith;

namespace
{

/** \brief Copy every second element of \a raw, from \a first on, to \a out */
template<size_t kBytes>
void copyEverySecond(std::span<const std::byte> raw, size_t first, std::span<std::byte> out)
{
	for (size_t i = 0; i < out.size(); i += kBytes)
		std::memcpy(&out[i], &raw[2 * i + first * kBytes], kBytes);
}

/** \return every second element of \a raw, of \a bytes bytes each, in \a buffer */
std::span<const std::byte> everySecond(std::span<const std::byte> raw, size_t bytes, size_t first,
				       std::vector<std::byte> &buffer)
{
	buffer.resize(raw.size() / 2);
	(bytes == 1 ? copyEverySecond<1> : copyEverySecond<2>)(raw, first, buffer);
	return buffer;
}

} /* namespace */

SdpOperands::SdpOperands(const SdpOp &op, const SdpStage &stage, bool isY, MemoryPort &memory)
	: stage_(stage), memory_(memory), precision_(op.proc), isY_(isY), nanToZero_(op.nanToZero),
	  lanes_(op.lanes()), vectorLanes_(lanes_ * op.atomsOfVector()), surfaces_(op.surfaces())
{
	if (stage.bypass)
		return;
	if (!stage.alu.bypass && !stage.alu.fromMemory)
		prepareRegister(stage.alu, true, aluValues_, alu_);
	if (!stage.mul.bypass && !stage.mul.fromMemory)
		prepareRegister(stage.mul, false, mulValues_, mul_);
	if (stage.readsOperands() && !stage.read.perElement) {
		perKernel_.emplace(memory, stage.read.cube.ram, stage.read.cube.address,
				   uint64_t{ surfaces_ } * perKernelBytes());
		bringNear(perKernel_->all());
	}
}

void SdpOperands::countPerKernel()
{
	if (perKernel_)
		perKernel_->count(surfaces_ * perKernelBytes());
}

void SdpOperands::prepareRegister(const SdpOperand &operand, bool isAlu, RawVector<int32_t> &values,
				  SdpOperandRun &run)
{
	values.assign(vectorLanes_, operand.value);
	/* Y's registers hold operands that are already converted. */
	if (!isY_ && precision_ == Precision::Fp16)
		std::ranges::fill(values, singleOf(operand.value));
	else if (!isY_)
		convert(operand, isAlu, values);
	run = { values.data(), 0 };
}

int32_t SdpOperands::singleOf(int32_t half) const
{
	const auto bits = static_cast<uint16_t>(half);

	return nanToZero_ && Fp16::isNan(bits) ? 0 : static_cast<int32_t>(fp16ToFp32(bits));
}

/* Left shift of the operands: only X's ALU has one. */
int SdpOperands::shiftOf(bool isAlu) const
{
	return !isY_ && isAlu ? stage_.aluShift : 0;
}

/* Convert integers from memory or a register of X for the arithmetic. */
void SdpOperands::convert(const SdpOperand &operand, bool isAlu, std::span<int32_t> values) const
{
	if (isY_ && !operand.converterBypass)
		convertSdpOperandsFast(operand.converter, values);
	const int shift = shiftOf(isAlu);
	if (shift)
		for (int32_t &value : values)
			value = static_cast<int32_t>(shiftLeftSaturate<32>(value, shift));
}

void SdpOperands::unpack()
{
	if (stage_.readsAlu())
		alu_ = unpackOne(stage_.alu, true, aluValues_);
	if (stage_.readsMul())
		mul_ = unpackOne(stage_.mul, false, mulValues_);
}

/* Unpack the operands of ALU or multiplier. If both are read, they alternate in memory. */
SdpOperandRun SdpOperands::unpackOne(const SdpOperand &operand, bool isAlu,
				     RawVector<int32_t> &values)
{
	const SdpOperandRead &read = stage_.read;
	const Precision width = read.twoBytes ? Precision::Int16 : Precision::Int8;
	const bool isFloat = precision_ == Precision::Fp16;
	const auto raw =
		read.alu && read.mul ? everySecond(raw_, elementBytes(width), !isAlu, one_) : raw_;

	values.resize(raw_.size() / read.elementBytes());
	if (isFloat && read.twoBytes && !nanToZero_) {
		widenSdpHalves(raw, values);
	} else if (isFloat) {
		widenSdpElements(raw, width, values);
		for (int32_t &value : values)
			value = singleOf(value);
	} else if (!isY_ && shiftOf(isAlu) <= 32 - 8 * static_cast<int>(elementBytes(width))) {
		widenSdpElements(raw, width, values, shiftOf(isAlu)); /* without saturation */
	} else {
		widenSdpElements(raw, width, values);
		convert(operand, isAlu, values);
	}
	if (read.perElement)
		return { values.data(), vectorLanes_ };
	values.resize(vectorLanes_);
	for (uint32_t lane = lanes_; lane < vectorLanes_; lane++)
		values[lane] = values[lane - lanes_];
	return { values.data(), 0 };
}

void SdpOperands::loadPerKernel(uint32_t surface)
{
	if (surface == surface_)
		return;
	surface_ = surface;
	const Traffic before = memory_.traffic(stage_.read.cube.ram);
	raw_ = perKernel_->view(uint64_t{ surface } * perKernelBytes(), perKernelBytes(), buffer_);
	memory_.countAs(stage_.read.cube.ram, before);
	unpack();
}

void SdpOperands::readElements(uint32_t surface, uint32_t y, uint32_t x, uint32_t count)
{
	const SdpOperandRead &read = stage_.read;
	const uint64_t positionBytes = uint64_t{ lanes_ } * read.elementBytes();
	const uint64_t address = read.cube.addressOf(surface, y, x * positionBytes);

	raw_ = memory_.view(read.cube.ram, address, count * positionBytes, buffer_);
}

void SdpOperands::load(uint32_t surface, uint32_t y, uint32_t x, uint32_t count)
{
	if (!stage_.readsOperands())
		return;
	if (!stage_.read.perElement) {
		loadPerKernel(surface);
		return;
	}
	readElements(surface, y, x, count);
	unpack();
}

} /* namespace nvdla::sim */
