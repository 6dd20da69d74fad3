/* SPDX-License-Identifier: MIT */
/*
 * One operation of the single point processor, as its registers describe it.
 */
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>

#include "arith/integer.h"
#include "core/cube.h"
#include "core/geometry.h"
#include "core/memory.h"
#include "core/register_view.h"
#include "core/stream.h"
#include "lut/lut.h"
#include "timing/work.h"

namespace nvdla::sim
{

/** \brief Operands that one of BRDMA, NRDMA and ERDMA reads for its stage */
struct SdpOperandRead {
	bool enabled = false;
	bool alu = false; /**< delivers ALU operands */
	bool mul = false; /**< delivers multiplier operands; with alu they are interleaved pairs */
	bool twoBytes = false;
	bool perElement = false; /**< false: one operand (or pair) for each channel, packed */
	FeatureCube cube;

	/** \return bytes that one element's operands take in memory */
	uint32_t elementBytes() const { return (twoBytes ? 2U : 1U) * (alu && mul ? 2U : 1U); }
};

/** \brief Operation of an ALU; values as in the registers */
enum class SdpAlu : uint8_t {
	Max = 0,
	Min = 1,
	Sum = 2,
	Equal = 3, /**< Y only: compare mode */
};

/** \brief One operand input of a stage */
struct SdpOperand {
	bool bypass = true; /**< the ALU or multiplier passes its input on */
	bool fromMemory = false;
	/** X: 16 bits (INT16 or FP16 bits). Y: 32 bits (INT32 or FP32 bits). */
	int32_t value = 0;
	/** Y only: converter of operands from memory; integer */
	bool converterBypass = true;
	arith::Converter converter;
};

/** \brief Stage X1 (BS), X2 (BN) or Y (EW) */
struct SdpStage {
	bool bypass = true;
	SdpAlu algorithm = SdpAlu::Max;
	SdpOperand alu;
	SdpOperand mul;
	bool prelu = false;	/**< multiply negative values only */
	bool reluBypass = true; /**< X only */
	uint8_t aluShift = 0;	/**< X only: left shift of the ALU operand */
	uint16_t mulShift = 0;	/**< right shift after the multiplier */
	bool lutBypass = true;	/**< Y only */
	SdpOperandRead read;

	bool readsAlu() const { return !bypass && !alu.bypass && alu.fromMemory; }
	bool readsMul() const { return !bypass && !mul.bypass && mul.fromMemory; }
	bool readsOperands() const { return readsAlu() || readsMul(); }
};

/** \brief A whole operation */
struct SdpOp {
	const Geometry *geometry = &nvFull; /**< configuration of the core */
	uint32_t width = 1;		    /**< 1..8192 */
	uint32_t height = 1;		    /**< 1..8192 */
	uint32_t channels = 1;		    /**< 1..8192 */
	uint32_t batches = 1;		    /**< 1..32 */
	bool flying = false;		    /**< input from CACC, else from memory */
	bool toPdp = false;		    /**< output to PDP, else to memory */
	bool winograd = false;
	bool nanToZero = false;

	Precision in = Precision::Int8; /**< type of the source in memory */
	Precision proc = Precision::Int8;
	Precision out = Precision::Int8;

	FeatureCube source;
	FeatureCube destination;

	SdpStage x1;
	SdpStage x2;
	SdpStage y;
	LutConfig lut;
	arith::Converter converter; /**< converter of the output; integer */

	bool countsLut = false;
	bool countsSaturation = false;
	bool countsInputNan = false;
	bool countsOutputNan = false;

	/** The guest's error, empty if there is none. An operation with an error can still run. */
	std::string guestError;
	/** True if the hardware never finishes this operation */
	bool hangs = false;

	/** \return bytes of an atom in memory */
	uint32_t atom() const { return geometry->atomBytes; }
	/** \return channels of an atom in the processing precision */
	uint32_t lanes() const { return geometry->atomChannels(proc); }
	/** \return channels of an atom of the output */
	uint32_t outLanes() const { return geometry->atomChannels(out); }
	/** \return true if atoms have the 32 bytes that the SIMD kernels are written for */
	bool hasWideAtoms() const { return atom() == atomBytes; }
	/**
	 * \return number of adjacent atoms that the SIMD code processes together, as 32 bytes; 1 if
	 * whole atoms do not fill 32 bytes
	 */
	uint32_t atomsOfVector() const { return atomBytes % atom() ? 1 : atomBytes / atom(); }
	/** \return surfaces of the cube in the processing precision */
	uint32_t surfaces() const { return geometry->surfaces(proc, channels); }
	/** \return source surfaces that make one processed surface: 2 from INT16 to INT8, else 1 */
	uint32_t sourceParts() const { return std::max(lanes() / geometry->atomChannels(in), 1U); }
	/** \return output surfaces made of one processed surface: 2 from INT8 to 16 bits, else 1 */
	uint32_t outParts() const { return std::max(lanes() / outLanes(), 1U); }

	/** \return true if the Y stage compares and nothing is written */
	bool compares() const { return !y.bypass && !y.alu.bypass && y.algorithm == SdpAlu::Equal; }

	/**
	 * \return true if lines of the output, and of operands of each element, are contiguous, so
	 *         that they can be processed as one line
	 */
	bool linesFollow() const
	{
		const auto isPacked = [&](const SdpStage &stage) {
			const SdpOperandRead &read = stage.read;
			return !stage.readsOperands() || !read.perElement ||
			       read.cube.lineStride == width * lanes() * read.elementBytes();
		};

		return (toPdp || destination.lineStride == width * atom()) && isPacked(x1) &&
		       isPacked(x2) && isPacked(y);
	}

	bool readsOperands() const
	{
		return x1.readsOperands() || x2.readsOperands() || y.readsOperands();
	}
	/** \return true if memory is read: the RDMA unit takes part */
	bool usesRdma() const { return !flying || readsOperands(); }
};

/**
 * \brief Decode one operation
 *
 * Any register values decode. Violations of the programming guide
 * ("Limitation", SDP) are described in SdpOp::guestError.
 *
 * \param sdp registers of SDP
 * \param rdma registers of SDP_RDMA; ignored if the operation reads nothing from memory
 */
SdpOp decodeSdp(const RegisterView &sdp, const RegisterView &rdma,
		const Geometry &geometry = nvFull);

/** \return the work of a whole operation, with the bytes that SDP and its read engine move */
SdpWork sdpWork(const SdpOp &op);

} /* namespace nvdla::sim */
