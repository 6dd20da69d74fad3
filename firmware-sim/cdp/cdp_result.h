/* SPDX-License-Identifier: MIT */
/*
 * What an operation of CDP says at its end.
 */
#pragma once

#include <cstdint>

#include "cdp/cdp.h"
#include "lut/lut.h"

namespace nvdla::sim
{

/** \brief What is counted, each thread's part of it */
struct CdpCounters {
	LutCounters lut;
	uint32_t saturation = 0;
	uint32_t nanOutput = 0;

	CdpCounters &operator+=(const CdpCounters &other)
	{
		lut += other.lut;
		saturation += other.saturation;
		nanOutput += other.nanOutput;
		return *this;
	}
};

OperationResult cdpResult(const CdpOp &op, const CdpCounters &counters);

} /* namespace nvdla::sim */
