/* SPDX-License-Identifier: MIT */
/* The driver's interface, compiled with a warning for each byte that is between its fields and has no name. */
#include <drm/nvdla_accel.h>
#include <drm/nvdla_descriptors.h>
