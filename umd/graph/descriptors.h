/* SPDX-License-Identifier: MIT */
/* Converts values of the public interface to those of the driver's descriptors. */
#pragma once

#include <drm/nvdla_descriptors.h>
#include <nvdla/converter.h>
#include <nvdla/graph.h>
#include <nvdla/lut.h>

namespace nvdla::assembly
{

/** \return the converter as the descriptors have it, enabled */
nvdla_cvt_param descriptor(const Converter &converter);

nvdla_lut_desc descriptor(const Lut &lut);

nvdla_event descriptor(OperationEvent event);

} /* namespace nvdla::assembly */
