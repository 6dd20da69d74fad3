/* SPDX-License-Identifier: MIT */
#include "objects.h"

#include <algorithm>

#include <fmt/core.h>

using namespace nvdla;

using c_api::failure;
using c_api::missing;
using c_api::statusOf;

static_assert(NVDLA_DATA_INT8 == static_cast<int>(DataType::Int8));

namespace
{

nvdla_status noTensor(const char *what, size_t index, const std::vector<TensorDesc> &tensors)
{
	return failure({ ErrorCode::InvalidArgument, what, fmt::format("index {}", index),
			 fmt::format("the network has {}", tensors.size()) });
}

nvdla_status describe(const std::vector<TensorDesc> &tensors, size_t index, nvdla_tensor_info *info)
{
	constexpr const char *what = "describe tensor";

	if (!info)
		return missing(what, "info");
	if (index >= tensors.size())
		return noTensor(what, index, tensors);
	const TensorDesc &desc = tensors[index];
	*info = { .name = desc.name.c_str(),
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
		  .num_quantizations = desc.quantization.values().size() };
	return NVDLA_STATUS_OK;
}

TensorQuantization quantizationOf(const nvdla_quantization *values, size_t count)
{
	std::vector<Quantization> channels;

	for (size_t i = 0; i < count; i++)
		channels.push_back({ values[i].scale, values[i].zero_point });
	return TensorQuantization(std::move(channels));
}

nvdla_status copyQuantization(const std::vector<TensorDesc> &tensors, size_t index,
			      nvdla_quantization *values, size_t count)
{
	constexpr const char *what = "get quantization";

	if (index >= tensors.size())
		return noTensor(what, index, tensors);
	const auto there = tensors[index].quantization.values();
	if (count != there.size() || (count && !values))
		return failure({ ErrorCode::InvalidArgument, what, fmt::format("index {}", index),
				 fmt::format("room for {} values given, it has {}",
					     values ? count : 0, there.size()) });
	for (size_t i = 0; i < count; i++)
		values[i] = { there[i].scale, there[i].zeroPoint };
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
	if (!network)
		return missing("describe tensor", "network");
	return describe(network->network.inputs(), index, info);
}

enum nvdla_status nvdla_network_output_info(const struct nvdla_network *network, size_t index,
					    struct nvdla_tensor_info *info)
{
	if (!network)
		return missing("describe tensor", "network");
	return describe(network->network.outputs(), index, info);
}

enum nvdla_status nvdla_network_set_input_quantization(struct nvdla_network *network, size_t index,
						       const struct nvdla_quantization *values,
						       size_t count)
{
	if (!network || (count && !values))
		return missing("set quantization", network ? "values" : "network");
	return statusOf(
		network->network.setInputQuantization(index, quantizationOf(values, count)));
}

enum nvdla_status nvdla_network_set_output_quantization(struct nvdla_network *network, size_t index,
							const struct nvdla_quantization *values,
							size_t count)
{
	if (!network || (count && !values))
		return missing("set quantization", network ? "values" : "network");
	return statusOf(
		network->network.setOutputQuantization(index, quantizationOf(values, count)));
}

enum nvdla_status nvdla_network_get_input_quantization(const struct nvdla_network *network,
						       size_t index,
						       struct nvdla_quantization *values,
						       size_t count)
{
	if (!network)
		return missing("get quantization", "network");
	return copyQuantization(network->network.inputs(), index, values, count);
}

enum nvdla_status nvdla_network_get_output_quantization(const struct nvdla_network *network,
							size_t index,
							struct nvdla_quantization *values,
							size_t count)
{
	if (!network)
		return missing("get quantization", "network");
	return copyQuantization(network->network.outputs(), index, values, count);
}
