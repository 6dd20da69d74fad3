/* SPDX-License-Identifier: MIT */
/*
 * Why a submit was refused, in words: the driver and the engine speak in numbers.
 */
#pragma once

#include <string>

#include <drm/nvdla_accel.h>

namespace nvdla
{

/**
 * \return the member that the error is about, as the header names it: "src_data.line_stride",
 * "luts[2].method", "addresses[1].offset"; empty if it is about none that is known here
 */
std::string refusedField(const drm_nvdla_error &error);

/** \return what the rule asks for, its value and its limit */
std::string refusalReason(const drm_nvdla_error &error);

/** \return both of them: "FIELD: REASON" */
std::string describeRefusal(const drm_nvdla_error &error);

} /* namespace nvdla */
