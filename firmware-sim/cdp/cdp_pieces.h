/* SPDX-License-Identifier: MIT */
/*
 * CDP's arithmetic of integers where the table's function is LutPieces, many positions at a time;
 * CdpRun in cdp.cpp has it to read.
 */
#pragma once

#include <cstddef>
#include <cstdint>

#include "cdp/cdp.h"
#include "lut/lut_pieces.h"

namespace nvdla::sim
{

/** \brief What any cube's elements are, converted, and zero */
struct CdpValues {
	int64_t lowest;
	int64_t highest;
};

CdpValues cdpValues(const CdpOp &op);

/** \return what the table is given by any cube's elements */
LutPieces::Inputs cdpLutInputs(const CdpOp &op);

/** \brief What is done with each position, and what is counted */
struct CdpPieces {
	/** \return false if values or results of the product are too large, or the host has no
	 * vectors */
	static bool accepts(const CdpOp &op);

	const CdpOp &op;
	LutPieces pieces;
	LutCounters counters = {};
	uint32_t saturation = 0;
};

/** \brief Positions beside one another, and where their results go */
template<typename Value>
struct CdpChunk {
	const Value *values; /**< as cdpInput() makes them; kCdpMargin more in front and behind */
	size_t valueStep;    /**< from one position to the next */
	size_t positions;
	size_t channels;     /**< whole atoms */
	std::byte *atoms;    /**< of elements: those of the first surface */
	size_t surfaceBytes; /**< from one surface's atoms to the next one's */
};

/** \brief All channels of a chunk, of values as cdpInput() makes them */
void cdpPiecesChunk(CdpPieces &cdp, const CdpChunk<int16_t> &chunk);

} /* namespace nvdla::sim */
