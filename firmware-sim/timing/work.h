/* SPDX-License-Identifier: MIT */
/*
 * Work of an operation: everything that determines its duration, apart from the chip.
 */
#pragma once

#include <array>
#include <cstdint>
#include <optional>

#include "timing/core_timing.h"
#include "timing/traffic.h"

namespace nvdla::sim
{

/** \brief How CSC divides the output into stripes: positions computed with one set of weights */
enum class ConvWalk : uint8_t {
	Stripes, /**< continued over line ends; 16 to 31 positions in nv_full */
	Lines,	 /**< within a line; for images */
	Tiles,	 /**< stripes of tiles, 2 x 2 positions each; for Winograd */
};

/** \brief Bytes of an operation's cube and weights in the convolution buffer */
struct InBuffer {
	uint64_t dataBytes = 0;
	uint64_t weightBytes = 0;
};

/** \brief Work of the convolution pipeline in an operation, for predicting the operation's time */
struct ConvWork {
	const CoreTiming *core = &nvFullTiming;
	ConvWalk walk = ConvWalk::Stripes;
	uint32_t outWidth = 1;
	uint32_t outHeight = 1;
	uint32_t batches = 1;
	uint32_t kernels = 1;
	uint32_t groupKernels = 16; /**< kernels that share a pass: 32 in INT8, else 16 */
	uint32_t macChannels = 64;  /**< operand pairs of a kernel in one step */
	uint32_t steps = 1;	    /**< MAC steps of a position in one kernel group */
	uint32_t lanes = 64;	    /**< operand pairs of a kernel and position: sum of all steps */

	RamType dataRam = RamType::Mc;
	uint64_t dataBytes = 0; /**< bytes to fetch; 0 if the cube is in the buffer */
	uint64_t atoms = 0;	/**< fetched atoms of feature data */
	uint64_t lines = 0;	/**< fetched lines, of all surfaces and batches */
	bool oneSurface = true; /**< the input has one surface */
	uint64_t dataRoom = 0;	/**< bytes of the buffer that the cube may use */
	uint64_t dataHeld = 0;	/**< bytes of dataRoom in use until the operation ends */
	RamType weightRam = RamType::Mc;
	uint64_t weightBytes = 0; /**< bytes to fetch with mask and group sizes; 0: in buffer */
	uint64_t weightRoom = 0;  /**< bytes of the buffer that weights may use */
	InBuffer ahead;		  /**< bytes fetched before the operation begins */

	uint32_t groups() const { return (kernels + groupKernels - 1) / groupKernels; }
	/** \return true if something has to be fetched after the operation has begun */
	bool fetches() const
	{
		return dataBytes > ahead.dataBytes || weightBytes > ahead.weightBytes;
	}
	uint64_t positions() const { return uint64_t{ outWidth } * outHeight * batches; }
	/** \return number of multiplications; for Winograd those of the transformed data */
	uint64_t macs() const
	{
		return (walk == ConvWalk::Tiles ? positions() / 4 : positions()) * kernels * lanes;
	}
	/** \return number of multipliers of the MAC array at the operation's precision */
	uint64_t multipliers() const { return uint64_t{ groupKernels } * macChannels; }
};

/** \brief Work of SDP in an operation, for predicting the operation's time */
struct SdpWork {
	const CoreTiming *core = &nvFullTiming;
	bool flying = false;
	bool stages = false; /**< X1, X2 or Y is not bypassed */
	bool y = false;
	bool lut = false;
	uint64_t elements = 0;	 /**< elements, including the padding of the last atom */
	uint64_t writeWords = 0; /**< words of memory that lines of the output touch */
	uint64_t writeLines = 0; /**< lines of the output; 0 for a cube of one position */
	bool writes = true;	 /**< false: the operation only compares elements */
	/** \brief Atoms of X1's and X2's operand pairs, for ALU and multiplier */
	uint64_t pairedAtoms = 0;
	/** \brief Bytes that BRDMA, NRDMA and ERDMA read for X1, X2 and Y; part of traffic */
	std::array<uint64_t, 3> operandBytes{};
	MemoryTraffic traffic;

	uint64_t allOperandBytes() const
	{
		return operandBytes[0] + operandBytes[1] + operandBytes[2];
	}
};

/** \brief Work of PDP in an operation, for predicting the operation's time */
struct PdpWork {
	const CoreTiming *core = &nvFullTiming;
	bool flying = false;
	uint64_t inCycles = 0;	/**< cycles to read all lines of all parts */
	uint64_t outCycles = 0; /**< cycles to write results after the last line */
	MemoryTraffic traffic;
};

/** \brief Work of CDP in an operation, for predicting the operation's time */
struct CdpWork {
	const CoreTiming *core = &nvFullTiming;
	uint64_t atoms = 0;
	uint64_t positions = 0; /**< width * height of the cube */
	bool fp16 = false;
	bool squares = true; /**< elements are squared and summed up */
	MemoryTraffic traffic;
};

/** \brief Work of an operation of BDMA or RUBIK, which move data */
struct MoveWork {
	uint64_t cycles = 0; /**< cycles, if the memory is that of the reference vectors */
	bool bdma = false;
	MemoryTraffic traffic;
};

/** \brief Work of an operation: of one engine, or of several fused ones */
struct OperationWork {
	std::optional<ConvWork> conv;
	std::optional<SdpWork> sdp;
	std::optional<PdpWork> pdp;
	std::optional<CdpWork> cdp;
	std::optional<MoveWork> move;

	/** \return all bytes that the operation moves, without those fetched before it begins */
	MemoryTraffic traffic() const;
	/** \return the core that runs the operation; for BDMA and RUBIK nv_full */
	const CoreTiming &core() const;
	/** \brief Add the work of further engines */
	void merge(const OperationWork &other);
};

/**
 * \brief Words of memory that the lines of a cube touch
 *
 * \param word bytes of a word
 * \param address, lineStride, surfaceStride bytes, multiples of half a word
 * \param lineBytes bytes of a line
 */
uint64_t wordsOfLines(uint32_t word, uint64_t address, uint64_t lineBytes, uint64_t lines,
		      uint64_t lineStride, uint64_t surfaces, uint64_t surfaceStride);

} /* namespace nvdla::sim */
