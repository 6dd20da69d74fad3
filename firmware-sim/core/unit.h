/* SPDX-License-Identifier: MIT */
/*
 * The units of the core, in the order of their registers on the CSB.
 */
#pragma once

#include <cstddef>
#include <cstdint>

namespace nvdla::sim
{

/** \brief Units; the value is the unit's number on nv_full's CSB (its base address / 4 KiB) */
enum class Unit : uint8_t {
	Glb,
	Gec,
	Mcif,
	Cvif,
	Bdma,
	Cdma,
	Csc,
	CmacA,
	CmacB,
	Cacc,
	SdpRdma,
	Sdp,
	PdpRdma,
	Pdp,
	CdpRdma,
	Cdp,
	Rbk,
	CfgRom, /**< configuration ROM; nv_full has none */
};

/** Number of units with registers: all but CfgRom */
constexpr size_t unitCount = 17;

constexpr size_t index(Unit unit)
{
	return static_cast<size_t>(unit);
}

/** \brief Engines: each runs one operation at a time, in parallel with the other engines */
enum class Engine : uint8_t {
	Bdma,
	Conv,
	Sdp,
	Pdp,
	Cdp,
	Rubik,
};

constexpr size_t engineCount = 6;

constexpr size_t index(Engine engine)
{
	return static_cast<size_t>(engine);
}

} /* namespace nvdla::sim */
