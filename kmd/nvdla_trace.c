// SPDX-License-Identifier: GPL-2.0-only OR MIT
#define CREATE_TRACE_POINTS
#include "nvdla_trace.h"
