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
 * \return name, dtype (numpy's name), shape (n, c, h, w), signature (the model's shape or None),
 * nhwc (true if the model's channels are last), scales, zero_points, format, bytes, and strides:
 * bytes from element to element along each axis of shape; None if no strides describe the layout
 */
pybind11::dict tensorInfo(const TensorDesc &desc);

/** \return the model's shape of an output; (n, c, h, w) if the model's shape is not known */
pybind11::tuple shapeOf(const TensorDesc &desc);

/** \return tensorInfo() of each tensor, in the same order */
pybind11::list tensorList(const std::vector<TensorDesc> &descs);

/** \return properties of the core; variant and capabilities are names, the others are numbers */
pybind11::dict deviceInfo(const DeviceInfo &info);

} /* namespace nvdla::python */
