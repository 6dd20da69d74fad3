/* SPDX-License-Identifier: MIT */
/*
 * Descriptions of tensors and devices as Python dictionaries.
 */
#pragma once

#include <nvdla/device.h>
#include <nvdla/tensor.h>
#include <pybind11/pybind11.h>

namespace nvdla::python
{

/**
 * \return name, dtype (numpy's), shape (n, c, h, w), scales, zero_points, format, bytes, and
 * strides: bytes from element to element in each dimension of the shape if the layout can be
 * described by strides, else None
 */
pybind11::dict tensorInfo(const TensorDesc &desc);

/** \return lengths of the axes of an output of a run, in the model's order */
pybind11::tuple shapeOf(const TensorDesc &desc);

/** \return tensorInfo() of each */
pybind11::list tensorList(const std::vector<TensorDesc> &descs);

/** \return the members of DeviceInfo, by the names of struct drm_nvdla_device_info */
pybind11::dict deviceInfo(const DeviceInfo &info);

} /* namespace nvdla::python */
