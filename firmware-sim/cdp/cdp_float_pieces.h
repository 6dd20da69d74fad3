/* SPDX-License-Identifier: MIT */
/*
 * CDP in FP16, many positions at a time, if the function of the look-up table can be written as
 * FloatPieces. CdpRun in cdp.cpp is the readable form of the same arithmetic.
 */
#pragma once

#include <cstdint>
#include <optional>

#include "cdp/cdp.h"
#include "cdp/cdp_pieces.h"
#include "lut/float_pieces.h"

namespace nvdla::sim
{

/** \brief What is done with each position, and what is counted */
struct CdpFloatPieces {
	/** \param op of FP16 \return nothing if it is not for this */
	static std::optional<CdpFloatPieces> of(const CdpOp &op, const LutTables &tables);

	uint32_t radius;
	bool multiplies; /**< the table's result is multiplied with the element */
	FloatPieces pieces;
	uint32_t saturation = 0;
};

/**
 * \brief All channels of a chunk
 *
 * \param chunk values as cdpFloatInput() makes them, none of which is a NaN
 */
void cdpFloatPiecesChunk(CdpFloatPieces &cdp, const CdpChunk<int32_t> &chunk);

} /* namespace nvdla::sim */
