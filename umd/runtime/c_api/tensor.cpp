/* SPDX-License-Identifier: MIT */
#include "objects.h"

#include <algorithm>

#include <fmt/core.h>

using namespace nvdla;

using c_api::describe;
using c_api::failure;
using c_api::missing;
using c_api::noTensor;
using c_api::statusOf;
using c_api::writeSized;

static_assert(NVDLA_DATA_INT8 == static_cast<int>(DataType::Int8));

nvdla_status c_api::noTensor(const char *what, size_t index, const std::vector<TensorDesc> &tensors)
{
	return failure({ ErrorCode::InvalidArgument, what, fmt::format("index {}", index),
			 fmt::format("the network has {}", tensors.size()) });
}

Result<std::optional<ElementOrder>> c_api::orderOf(const char *what, uint32_t order)
{
	switch (order) {
	case NVDLA_ORDER_MODEL:
		return std::nullopt;
	case NVDLA_ORDER_NCHW:
		return ElementOrder::Nchw;
	case NVDLA_ORDER_NHWC:
		return ElementOrder::Nhwc;
	default:
		return fail(ErrorCode::InvalidArgument, what, fmt::format("order {}", order),
			    "is none of enum nvdla_element_order");
	}
}

nvdla_status c_api::describe(const std::vector<TensorDesc> &tensors, size_t index,
			     nvdla_tensor_info *info)
{
	constexpr const char *what = "describe tensor";

	if (!info)
		return missing(what, "info");
	if (index >= tensors.size())
		return noTensor(what, index, tensors);
	const TensorDesc &desc = tensors[index];
	const nvdla_tensor_info all = {
		.size = sizeof(all),
		.name = desc.name.c_str(),
		.type = static_cast<nvdla_data_type>(desc.type),
		.n = desc.n,
		.c = desc.c,
		.h = desc.h,
		.w = desc.w,
		.pixel_format = static_cast<uint32_t>(desc.format),
		.line_stride = desc.lineStride,
		.surface_stride = desc.surfaceStride,
		.element_bytes = desc.elements() * elementBytes(desc.type),
		.tensor_bytes = desc.size,
		.num_elements = desc.elements(),
		.is_unsigned = desc.isUnsigned,
		.num_quantizations = desc.quantization.values().size(),
		.order = desc.order() == ElementOrder::Nhwc ? NVDLA_ORDER_NHWC : NVDLA_ORDER_NCHW,
		.rank = desc.signature ? desc.signature->shape.size() : 0,
		.shape = desc.signature ? desc.signature->shape.data() : nullptr,
	};
	return writeSized(what, all, info);
}

namespace
{

TensorQuantization quantizationOf(const double *scales, const int32_t *zeroPoints, size_t count)
{
	std::vector<Quantization> channels;

	for (size_t i = 0; i < count; i++)
		channels.push_back({ scales[i], zeroPoints[i] });
	return TensorQuantization(std::move(channels));
}

nvdla_status copyQuantization(const std::vector<TensorDesc> &tensors, size_t index, double *scales,
			      int32_t *zeroPoints, size_t count)
{
	constexpr const char *what = "get quantization";

	if (index >= tensors.size())
		return noTensor(what, index, tensors);
	const auto there = tensors[index].quantization.values();
	const bool room = scales && zeroPoints;
	if (count != there.size() || (count && !room))
		return failure({ ErrorCode::InvalidArgument, what, fmt::format("index {}", index),
				 fmt::format("room for {} values given, it has {}",
					     room ? count : 0, there.size()) });
	for (size_t i = 0; i < count; i++) {
		scales[i] = there[i].scale;
		zeroPoints[i] = there[i].zeroPoint;
	}
	return NVDLA_STATUS_OK;
}

} /* namespace */

size_t nvdla_network_num_inputs(const struct nvdla_network *network)
{
	return network ? network->network.inputs().size() : 0;
}

size_t nvdla_network_num_outputs(const struct nvdla_network *network)
{
	return network ? network->network.outputs().size() : 0;
}

enum nvdla_status nvdla_network_input_info(const struct nvdla_network *network, size_t index,
					   struct nvdla_tensor_info *info)
{
	return c_api::guardedCall("nvdla_network_input_info", [&]() -> nvdla_status {
		if (!network)
			return missing("describe tensor", "network");
		return describe(network->network.inputs(), index, info);
	});
}

enum nvdla_status nvdla_network_output_info(const struct nvdla_network *network, size_t index,
					    struct nvdla_tensor_info *info)
{
	return c_api::guardedCall("nvdla_network_output_info", [&]() -> nvdla_status {
		if (!network)
			return missing("describe tensor", "network");
		return describe(network->network.outputs(), index, info);
	});
}

enum nvdla_status nvdla_network_set_input_quantization(struct nvdla_network *network, size_t index,
						       const double *scales,
						       const int32_t *zero_points, size_t count)
{
	return c_api::guardedCall("nvdla_network_set_input_quantization", [&]() -> nvdla_status {
		if (!network || (count && !(scales && zero_points)))
			return missing("set quantization",
				       network ? "scales or zero_points" : "network");
		return statusOf(network->network.setInputQuantization(
			index, quantizationOf(scales, zero_points, count)));
	});
}

enum nvdla_status nvdla_network_set_output_quantization(struct nvdla_network *network, size_t index,
							const double *scales,
							const int32_t *zero_points, size_t count)
{
	return c_api::guardedCall("nvdla_network_set_output_quantization", [&]() -> nvdla_status {
		if (!network || (count && !(scales && zero_points)))
			return missing("set quantization",
				       network ? "scales or zero_points" : "network");
		return statusOf(network->network.setOutputQuantization(
			index, quantizationOf(scales, zero_points, count)));
	});
}

enum nvdla_status nvdla_network_get_input_quantization(const struct nvdla_network *network,
						       size_t index, double *scales,
						       int32_t *zero_points, size_t count)
{
	return c_api::guardedCall("nvdla_network_get_input_quantization", [&]() -> nvdla_status {
		if (!network)
			return missing("get quantization", "network");
		return copyQuantization(network->network.inputs(), index, scales, zero_points,
					count);
	});
}

enum nvdla_status nvdla_network_get_output_quantization(const struct nvdla_network *network,
							size_t index, double *scales,
							int32_t *zero_points, size_t count)
{
	return c_api::guardedCall("nvdla_network_get_output_quantization", [&]() -> nvdla_status {
		if (!network)
			return missing("get quantization", "network");
		return copyQuantization(network->network.outputs(), index, scales, zero_points,
					count);
	});
}
