/* SPDX-License-Identifier: MIT */
/*
 * Says in words why a task was refused: the wrong member of the descriptors, as the driver names
 * it, and the rule that it breaks, as kmd/engine states it.
 */
#pragma once

#include <string>

#include <drm/nvdla_accel.h>

#include "user/nvdla_engine.h"

namespace nvdla
{

/**
 * \param[in] engine engine of the operation, which determines the types of its descriptors
 * \return the wrong member with its name in the header: "src_data.line_stride", "luts[2].method",
 * "addresses[1].offset"; empty if this version does not know the member
 */
std::string refusedField(const drm_nvdla_error &error, uint32_t engine);

/** \brief The function above, for a refusal by the checks of kmd/engine */
std::string refusedField(const nvdla_refusal &refusal);

/** \return the broken rule, the wrong value and its limit */
std::string refusalReason(const nvdla_refusal &refusal);

/** \return the wrong member and the reason: "FIELD: REASON" */
std::string describeRefusal(const nvdla_refusal &refusal);

} /* namespace nvdla */
