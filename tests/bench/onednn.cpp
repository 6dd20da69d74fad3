/* SPDX-License-Identifier: MIT */
#include "onednn.h"

#ifdef NVDLA_HAVE_ONEDNN

#include <memory>
#include <unordered_map>
#include <vector>

#include <oneapi/dnnl/dnnl.hpp>

namespace nvdla::bench
{

namespace
{

using namespace dnnl;
using Type = memory::data_type;

constexpr float kScale = 1.0F / 64;

struct Run {
	engine cpu{ engine::kind::cpu, 0 };
	stream queue{ cpu };
	primitive convolution;
	std::unordered_map<int, memory> arguments;

	void operator()()
	{
		convolution.execute(queue, arguments);
		queue.wait();
	}
};

convolution_forward::primitive_desc describe(const ConvShape &shape, bool int8, const engine &cpu)
{
	const auto any = memory::format_tag::any;
	const memory::dim groups = shape.groups;
	const memory::dims strides = { shape.stride, shape.stride };
	const memory::dims padding = { shape.padding, shape.padding };
	const memory::dims behind = { shape.paddingBehind, shape.paddingBehind };
	const memory::dims kernel =
		groups == 1 ? memory::dims{ shape.kernels, shape.channels, shape.kernelSize,
					    shape.kernelSize }
			    : memory::dims{ groups, shape.kernels / groups, shape.channels / groups,
					    shape.kernelSize, shape.kernelSize };
	const memory::desc source({ 1, shape.channels, shape.height, shape.width },
				  int8 ? Type::s8 : Type::f32, any);
	const memory::desc weights(kernel, int8 ? Type::s8 : Type::f32, any);
	const memory::desc bias({ shape.kernels }, int8 ? Type::s32 : Type::f32, any);
	const memory::desc out({ 1, shape.kernels, shape.outHeight(), shape.outWidth() },
			       int8 ? Type::s8 : Type::f32, any);
	primitive_attr attributes;
	post_ops after;

#if DNNL_VERSION_MAJOR >= 3
	after.append_eltwise(algorithm::eltwise_relu, 0, 0);
	attributes.set_post_ops(after);
	if (int8)
		attributes.set_scales_mask(DNNL_ARG_DST, 0);
	return { cpu,
		 prop_kind::forward_inference,
		 algorithm::convolution_direct,
		 source,
		 weights,
		 bias,
		 out,
		 strides,
		 padding,
		 behind,
		 attributes };
#else
	after.append_eltwise(1, algorithm::eltwise_relu, 0, 0);
	attributes.set_post_ops(after);
	if (int8)
		attributes.set_output_scales(0, { kScale });
	return { { prop_kind::forward_inference, algorithm::convolution_direct, source, weights,
		   bias, out, strides, padding, behind },
		 attributes,
		 cpu };
#endif
}

} /* namespace */

std::function<void()> onednnConvolution(const ConvShape &shape, bool int8)
{
	auto run = std::make_shared<Run>();
	const auto description = describe(shape, int8, run->cpu);
	auto add = [&](int argument, const memory::desc &layout) {
		memory tensor(layout, run->cpu);
		auto *bytes = static_cast<uint8_t *>(tensor.get_data_handle());
		for (size_t i = 0; i < layout.get_size(); i++)
			bytes[i] = static_cast<uint8_t>(int8 ? i * 37 % 251 : 0);
		run->arguments.emplace(argument, tensor);
	};

	run->convolution = convolution_forward(description);
	add(DNNL_ARG_SRC, description.src_desc());
	add(DNNL_ARG_WEIGHTS, description.weights_desc());
	add(DNNL_ARG_BIAS, description.bias_desc());
	add(DNNL_ARG_DST, description.dst_desc());
#if DNNL_VERSION_MAJOR >= 3
	if (int8) {
		memory scale({ { 1 }, Type::f32, memory::format_tag::x }, run->cpu);
		*static_cast<float *>(scale.get_data_handle()) = 1 / kScale;
		run->arguments.emplace(DNNL_ARG_ATTR_SCALES | DNNL_ARG_DST, scale);
	}
#endif
	return [run] { (*run)(); };
}

} /* namespace nvdla::bench */

#else

namespace nvdla::bench
{

std::function<void()> onednnConvolution(const ConvShape &, bool)
{
	return {};
}

} /* namespace nvdla::bench */

#endif
