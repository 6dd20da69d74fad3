/* SPDX-License-Identifier: MIT */
/*
 * Conversion of tensors of a framework or of the host to tensors of a network, and back.
 */
#pragma once

#include <cstddef>
#include <span>

#include <nvdla/tensor.h>

namespace nvdla
{

/** \brief A framework's tensor, with its elements in the order of the model. The caller owns the
 * memory */
struct HostTensor {
	DataType type = DataType::Float;
	std::span<std::byte> bytes;
};

/**
 * \brief Convert a framework's tensor to the layout and type of a network's tensor
 *
 * The compiler chose the types: uint8 becomes int8 (128 is subtracted); 8-bit integers may become
 * 16-bit ones; real numbers and wider integers become FP16, or integers with the network's scale.
 *
 * \param[in] desc the network's tensor
 * \param[in] order of the framework's elements
 * \param[out] tensor desc.size bytes
 * \return InvalidArgument for another number of elements; Unsupported if \a from's type cannot
 * become the tensor's type
 */
Result<void> packHost(const TensorDesc &desc, ElementOrder order, const HostTensor &from,
		      std::span<std::byte> tensor);

/** \return true if packHost() changes nothing, so that the framework's tensor and the network's
 * tensor can share memory, which begins with the framework's elements */
bool liesAlike(const TensorDesc &desc, ElementOrder order, DataType type);

/** \brief The inverse of packHost() */
Result<void> unpackHost(const TensorDesc &desc, ElementOrder order,
			std::span<const std::byte> tensor, const HostTensor &to);

} /* namespace nvdla */
