/* SPDX-License-Identifier: MIT */
#pragma once

#include <string>

#include "profile.h"

namespace nvdla::prof
{

/**
 * \return the profile in the "Trace Event Format", JSON object form, which Perfetto
 * (ui.perfetto.dev) and Chrome (chrome://tracing) show
 *
 * A thread for each lane, a complete event for each operation, its shapes,
 * places and counters as arguments.
 */
std::string traceJson(const Profile &profile);

} /* namespace nvdla::prof */
