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
	Fast,  /**< FP32 sums: not the hardware's bits, but equal on all hosts */
};

/** \brief Contents of entries of the convolution buffer that were released */
enum class ReleasedEntries : uint8_t {
	/** Entries keep their bytes, as on hardware: a program that reads released entries by
	 * mistake gets the old data */
	Stay,
	/** Contents are undefined: data of a single operation need not be copied to the buffer */
	MayChange,
};

/** \brief Options of the convolution pipeline that trade exactness for speed */
struct ConvOptions {
	Fp16Arithmetic fp16 = Fp16Arithmetic::Exact;
	ReleasedEntries released = ReleasedEntries::Stay;
};

} /* namespace nvdla::sim */
