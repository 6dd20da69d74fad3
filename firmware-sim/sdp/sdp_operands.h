/* SPDX-License-Identifier: MIT */
/*
 * Operands of SDP's stages: read from memory or a register, widened to 32 bits.
 */
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "core/memory.h"
#include "core/raw_vector.h"
#include "sdp/sdp_datapath.h"
#include "sdp/sdp_op.h"

namespace nvdla::sim
{

/**
 * \brief Operands of one stage, loaded run by run
 *
 * Per-kernel operands are repeated for each of the SdpOp::atomsOfVector() atoms that the SIMD code
 * processes together.
 *
 * Per-kernel operands are read once per surface, as BRDMA, NRDMA and ERDMA do; all batches share
 * them. Each thread's stream of an operation reads them again, so only countPerKernel() counts
 * these reads. Layout: memory formats document, from "Bias Data Format" on.
 */
class SdpOperands
{
public:
	/** \param stage and \param memory must outlive this object */
	SdpOperands(const SdpOp &op, const SdpStage &stage, bool isY, MemoryPort &memory);

	/** \brief Load the operands of \a count atoms of a line of the operation's cube */
	void load(uint32_t surface, uint32_t y, uint32_t x, uint32_t count);

	/** \brief Count the per-kernel operands as read, if they are read from memory */
	void countPerKernel();

	/** \brief Operands of the run that was loaded last; valid until the next load() */
	const SdpOperandRun &alu() const { return alu_; }
	const SdpOperandRun &mul() const { return mul_; }

private:
	/** \return bytes of a surface's per-kernel operands */
	size_t perKernelBytes() const { return size_t{ lanes_ } * stage_.read.elementBytes(); }
	void loadPerKernel(uint32_t surface);
	void readElements(uint32_t surface, uint32_t y, uint32_t x, uint32_t count);
	void unpack();
	SdpOperandRun unpackOne(const SdpOperand &operand, bool isAlu, RawVector<int32_t> &values);
	int32_t singleOf(int32_t half) const;
	int shiftOf(bool isAlu) const;
	void convert(const SdpOperand &operand, bool isAlu, std::span<int32_t> values) const;
	void prepareRegister(const SdpOperand &operand, bool isAlu, RawVector<int32_t> &values,
			     SdpOperandRun &run);

	const SdpStage &stage_;
	MemoryPort &memory_;
	const Precision precision_;
	const bool isY_;
	const bool nanToZero_;
	const uint32_t lanes_;
	const uint32_t vectorLanes_; /**< numbers in atomsOfVector() atoms */
	const uint32_t surfaces_;
	std::optional<ReadRange> perKernel_; /**< per-kernel operands, if read from memory */
	/** Surface whose per-kernel operands are loaded; UINT32_MAX if none is */
	uint32_t surface_ = UINT32_MAX;

	std::span<const std::byte> raw_; /**< bytes of the run that was read last */
	std::vector<std::byte> buffer_;
	std::vector<std::byte> one_; /**< ALU's or multiplier's half of pairs in memory */
	RawVector<int32_t> aluValues_;
	RawVector<int32_t> mulValues_;
	SdpOperandRun alu_;
	SdpOperandRun mul_;
};

} /* namespace nvdla::sim */
