/* SPDX-License-Identifier: MIT */
/*
 * Tensors of a framework, and their way into a network's and back.
 */
#pragma once

#include <cstddef>
#include <span>

#include <nvdla/tensor.h>

namespace nvdla::plugin
{

/** \brief Elements of a framework's tensors */
enum class HostType { Float32, Float16, Int8, UInt8, Int16 };

/** \return bytes of an element */
size_t elementBytes(HostType type);

/** \brief A framework's tensor, its elements in the order of the model; memory is the caller's */
struct HostTensor {
	HostType type = HostType::Float32;
	std::span<std::byte> bytes;
};

/**
 * \brief Put a framework's tensor into the layout of a network's
 *
 * The compiler says how they belong together: uint8 is int8 whose numbers are less by 128; integers
 * of 8 bits may be held in 16; real numbers are FP16, or integers with the network's scale.
 *
 * \param[in] desc the network's tensor
 * \param[in] order of the framework's elements
 * \param[out] tensor desc.size bytes
 * \return InvalidArgument for another number of elements; Unsupported for types that do not belong
 * together
 */
Result<void> pack(const TensorDesc &desc, ElementOrder order, const HostTensor &from,
		  std::span<std::byte> tensor);

/**
 * \return whether pack() changes nothing: a framework's tensor lies as the first bytes of the
 * network's, so that one memory can be both
 */
bool liesAlike(const TensorDesc &desc, ElementOrder order, HostType type);

/** \brief The way back of pack() */
Result<void> unpack(const TensorDesc &desc, ElementOrder order, std::span<const std::byte> tensor,
		    const HostTensor &to);

} /* namespace nvdla::plugin */
