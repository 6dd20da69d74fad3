/* SPDX-License-Identifier: MIT */
/*
 * Cross-channel data processor: local response normalisation.
 */
#pragma once

#include <cstdint>
#include <string>

#include "arith/integer.h"
#include "core/cube.h"
#include "core/geometry.h"
#include "core/memory.h"
#include "core/operation.h"
#include "core/register_view.h"
#include "core/stream.h"
#include "core/workers.h"
#include "lut/lut.h"

namespace nvdla::sim
{

/** \brief One operation of CDP, as its registers describe it */
struct CdpOp {
	const Geometry *geometry = &nvFull; /**< the core's configuration */
	uint32_t width = 1;		    /**< 1..8192 */
	uint32_t height = 1;		    /**< 1..8192 */
	uint32_t channels = 1;		    /**< 1..8192 */
	Precision precision = Precision::Int8;
	FeatureCube source;
	FeatureCube destination;

	uint32_t radius = 1;	      /**< the window's channels on each side of the centre, 1..4 */
	bool squareSumBypass = false; /**< look up the element, not a sum of squares */
	bool mulBypass = false;	      /**< do not multiply the result by the element */
	bool nanToZero = false;
	arith::Converter input;	 /**< for integers only */
	arith::Converter output; /**< for integers only */
	LutConfig lut;

	bool countsLut = false;

	/** Mistake in the programming; empty if there is none. The operation runs nevertheless. */
	std::string guestError;

	/** \return bytes of an atom in memory */
	uint32_t atom() const { return geometry->atomBytes; }
	uint32_t surfaces() const { return geometry->surfaces(precision, channels); }
};

/** \brief Decode one operation; accepts any register values */
CdpOp decodeCdp(const RegisterView &cdp, const RegisterView &rdma,
		const Geometry &geometry = nvFull);

/** \return the operation's work, for the timing model */
CdpWork cdpWork(const CdpOp &op);

/**
 * \brief Run an operation
 *
 * Every position of the cube: y[c] = x[c] · f(sum of x[c - r .. c + r]²), with f from the tables;
 * channels outside the cube count as 0. The cube may be normalised in place.
 *
 * \param workers threads that share the operation
 */
OperationResult runCdp(const CdpOp &op, const LutTables &tables, MemoryPort &memory,
		       Workers *workers = nullptr);

} /* namespace nvdla::sim */
