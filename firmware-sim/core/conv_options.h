/* SPDX-License-Identifier: MIT */
/*
 * Options of the model's convolution pipeline.
 */
#pragma once

#include <cstdint>

namespace nvdla::sim
{

/** \brief How FP16 convolutions are computed */
enum class Fp16Arithmetic : uint8_t {
	Exact, /**< the same bits as the hardware */
	Fast,  /**< f32 sums within the precision document's threshold, the same on every host */
};

/** \brief Contents of entries of the convolution buffer that were released */
enum class ReleasedEntries : uint8_t {
	/** Entries keep their bytes, as on hardware, so a program that reads them by mistake sees
	 * these */
	Stay,
	/** Contents are undefined: data that only one operation reads need not be buffered */
	MayChange,
};

/** \brief Options of the convolution pipeline */
struct ConvOptions {
	Fp16Arithmetic fp16 = Fp16Arithmetic::Exact;
	ReleasedEntries released = ReleasedEntries::Stay;
};

} /* namespace nvdla::sim */
