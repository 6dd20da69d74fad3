/* SPDX-License-Identifier: MIT */
#include "sdp/sdp_operands.h"

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

int16_t element(std::span<const std::byte> raw, size_t index, bool twoBytes)
{
	if (!twoBytes)
		return static_cast<int8_t>(raw[index]);
	return static_cast<int16_t>(static_cast<uint16_t>(raw[2 * index]) |
				    static_cast<uint16_t>(raw[2 * index + 1]) << 8);
}

/** To \a out every second number of 16 bits, from \a first on */
void everySecond(std::span<const std::byte> raw, size_t first, std::vector<std::byte> &out)
{
	constexpr size_t kBytes = sizeof(uint16_t);
	const size_t count = raw.size() / (2 * kBytes);

	out.resize(count * kBytes);
	for (size_t i = 0; i < count; i++)
		std::memcpy(&out[i * kBytes], &raw[(2 * i + first) * kBytes], kBytes);
}

} /* namespace */

int32_t sdpIntegerOperand(const SdpStage &stage, bool isY, bool isAlu, int16_t value)
{
	const SdpOperand &operand = isAlu ? stage.alu : stage.mul;

	if (isY)
		return operand.converterBypass
			       ? value
			       : static_cast<int32_t>(saturate<32>(operand.converter.apply(value)));
	if (isAlu)
		return static_cast<int32_t>(shiftLeftSaturate<32>(value, stage.aluShift));
	return value;
}

SdpOperands::SdpOperands(const SdpOp &op, const SdpStage &stage, bool isY, MemoryPort &memory)
	: stage_(stage), memory_(memory), precision_(op.proc), isY_(isY), nanToZero_(op.nanToZero),
	  lanes_(op.lanes())
{
	if (stage.bypass)
		return;
	if (!stage.alu.bypass && !stage.alu.fromMemory)
		prepareRegister(stage.alu, true, aluValues_, alu_);
	if (!stage.mul.bypass && !stage.mul.fromMemory)
		prepareRegister(stage.mul, false, mulValues_, mul_);
	if ((stage.readsAlu() || stage.readsMul()) && !stage.read.perElement) {
		perKernel_.emplace(memory, stage.read.cube.ram, stage.read.cube.address,
				   uint64_t{ op.surfaces() } * perKernelBytes());
		bringNear(perKernel_->all());
	}
}

void SdpOperands::share(SharedReads &reads, uint32_t stage)
{
	reads_ = &reads;
	stageIndex_ = stage;
}

void SdpOperands::prepareRegister(const SdpOperand &operand, bool isAlu,
				  std::vector<int32_t> &values, SdpOperandRun &run)
{
	/* Y's registers hold what its converters would give: they are used as they are. */
	const int32_t value =
		isY_ ? operand.value : prepare(operand, isAlu, static_cast<int16_t>(operand.value));

	values.assign(lanes_, value);
	run = { values.data(), 0 };
}

int32_t SdpOperands::prepare(const SdpOperand &operand, bool isAlu, int16_t value) const
{
	if (precision_ == Precision::Fp16) {
		const auto half = static_cast<uint16_t>(value);
		if (nanToZero_ && Fp16::isNan(half))
			return 0;
		return static_cast<int32_t>(fp16ToFp32(half));
	}
	return sdpIntegerOperand(stage_, isY_, isAlu, value);
}

/* Operands of every element are as many as the elements. */
bool SdpOperands::prepareAll(const SdpOperand &operand, bool isAlu, std::span<int32_t> values)
{
	const Precision width = stage_.read.twoBytes ? Precision::Int16 : Precision::Int8;

	if (precision_ == Precision::Fp16) {
		if (nanToZero_ || !stage_.read.twoBytes)
			return false;
		if (takeTurns())
			everySecond(raw_, !isAlu, one_);
		widenSdpHalves(takeTurns() ? one_ : raw_, values);
		return true;
	}
	/* As far as 16 bits cannot leave 32, no shift saturates. */
	constexpr uint32_t mostShift = 16;
	const bool shifts = !isY_ && isAlu && stage_.aluShift;
	if (shifts && stage_.aluShift > mostShift)
		return false;
	if (takeTurns())
		widenSdpPairs(raw_, width, !isAlu, values);
	else
		widenSdpElements(raw_, width, values);
	if (isY_ && !operand.converterBypass)
		convertSdpOperandsFast(operand.converter, values);
	if (shifts) {
		for (int32_t &value : values)
			value *= 1 << stage_.aluShift;
	}
	return true;
}

void SdpOperands::unpack()
{
	if (stage_.readsAlu())
		alu_ = unpackOne(stage_.alu, true, aluValues_);
	if (stage_.readsMul())
		mul_ = unpackOne(stage_.mul, false, mulValues_);
}

/* Where both are read, theirs take turns. */
SdpOperandRun SdpOperands::unpackOne(const SdpOperand &operand, bool isAlu,
				     std::vector<int32_t> &values)
{
	const SdpOperandRead &read = stage_.read;
	const auto place = [&](size_t i) { return takeTurns() ? 2 * i + !isAlu : i; };

	values.resize(raw_.size() / read.elementBytes());
	if (!prepareAll(operand, isAlu, values))
		for (size_t i = 0; i < values.size(); i++)
			values[i] = prepare(operand, isAlu, element(raw_, place(i), read.twoBytes));
	return { values.data(), read.perElement ? lanes_ : 0 };
}

void SdpOperands::loadPerKernel(uint32_t surface)
{
	if (surface == surface_)
		return;
	surface_ = surface;
	const Traffic before = memory_.traffic(stage_.read.cube.ram);
	raw_ = perKernel_->view(uint64_t{ surface } * perKernelBytes(), perKernelBytes(), buffer_);
	if (reads_ && !reads_->isFirst(stageIndex_, surface))
		memory_.countAs(stage_.read.cube.ram, before);
	unpack();
}

void SdpOperands::readElements(uint32_t surface, uint32_t y, uint32_t x, uint32_t count)
{
	const SdpOperandRead &read = stage_.read;
	const uint64_t positionBytes = uint64_t{ lanes_ } * read.elementBytes();
	const uint64_t address = read.cube.address + uint64_t{ surface } * read.cube.surfaceStride +
				 uint64_t{ y } * read.cube.lineStride + x * positionBytes;

	raw_ = memory_.view(read.cube.ram, address, count * positionBytes, buffer_);
}

bool SdpOperands::areBytes() const
{
	const SdpOperandRead &read = stage_.read;
	const bool twoBytes = precision_ != Precision::Int8;

	return !read.perElement || (!stage_.readsMul() && !read.mul && read.twoBytes == twoBytes);
}

const std::byte *SdpOperands::loadBytes(uint32_t surface, uint32_t y, uint32_t x, uint32_t count)
{
	if (!stage_.readsAlu() || !stage_.read.perElement) {
		load(surface, y, x, count);
		return nullptr;
	}
	readElements(surface, y, x, count);
	alu_ = { nullptr, lanes_ };
	return raw_.data();
}

void SdpOperands::makeNumbers()
{
	if (stage_.readsAlu() && stage_.read.perElement)
		unpack();
}

void SdpOperands::load(uint32_t surface, uint32_t y, uint32_t x, uint32_t count)
{
	if (!stage_.readsAlu() && !stage_.readsMul())
		return;
	if (!stage_.read.perElement) {
		loadPerKernel(surface);
		return;
	}
	readElements(surface, y, x, count);
	unpack();
}

} /* namespace nvdla::sim */
