/* SPDX-License-Identifier: MIT */
/*
 * A task's refusal in words: the driver names a member, the engine says which rule it broke.
 */
#pragma once

#include <string>

#include <drm/nvdla_accel.h>

#include "user/nvdla_engine.h"

namespace nvdla
{

/**
 * \param[in] engine of the operation, which determines the types of its descriptors
 * \return the wrong member with its name in the header: "src_data.line_stride", "luts[2].method",
 * "addresses[1].offset"; empty if this version does not know the member
 */
std::string refusedField(const drm_nvdla_error &error, uint32_t engine);

/** \return the wrong member, as above, of a refusal by the checks of kmd/engine */
std::string refusedField(const nvdla_refusal &refusal);

/** \return the rule, the value and its limit */
std::string refusalReason(const nvdla_refusal &refusal);

/** \return member and reason: "FIELD: REASON" */
std::string describeRefusal(const nvdla_refusal &refusal);

} /* namespace nvdla */
