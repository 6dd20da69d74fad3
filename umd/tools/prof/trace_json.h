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
 * A lane of the timeline becomes a thread, and an operation a complete event ("X"). The arguments
 * of the event are the operation's shapes, its places in memory and its counters.
 */
std::string traceJson(const Profile &profile);

} /* namespace nvdla::prof */
