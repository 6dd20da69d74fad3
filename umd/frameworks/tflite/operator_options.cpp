/* SPDX-License-Identifier: MIT */
#include "operator_options.h"

#include <vector>

#include <tensorflow/lite/builtin_ops.h>
#include <tensorflow/lite/c/builtin_op_data.h>

namespace nvdla::delegate
{

namespace
{

namespace fb = nvdla::tflite;
using Builder = flatbuffers::FlatBufferBuilder;

/* TensorFlow Lite's C interface and its files use the same numbers for activations. */
fb::Activation written(TfLiteFusedActivation activation)
{
	return static_cast<fb::Activation>(activation);
}

fb::Padding written(TfLitePadding padding)
{
	return padding == kTfLitePaddingSame ? fb::Padding::SAME : fb::Padding::VALID;
}

template<typename Table>
WrittenOptions options(fb::BuiltinOptions kind, flatbuffers::Offset<Table> table)
{
	return { kind, table.Union() };
}

WrittenOptions write(Builder &builder, const TfLiteConvParams &from)
{
	return options(fb::BuiltinOptions::Conv2DOptions,
		       fb::CreateConv2DOptions(builder, written(from.padding), from.stride_width,
					       from.stride_height, written(from.activation),
					       from.dilation_width_factor,
					       from.dilation_height_factor));
}

WrittenOptions write(Builder &builder, const TfLiteDepthwiseConvParams &from)
{
	return options(fb::BuiltinOptions::DepthwiseConv2DOptions,
		       fb::CreateDepthwiseConv2DOptions(
			       builder, written(from.padding), from.stride_width,
			       from.stride_height, from.depth_multiplier, written(from.activation),
			       from.dilation_width_factor, from.dilation_height_factor));
}

WrittenOptions write(Builder &builder, const TfLiteTransposeConvParams &from)
{
	return options(fb::BuiltinOptions::TransposeConvOptions,
		       fb::CreateTransposeConvOptions(builder, written(from.padding),
						      from.stride_width, from.stride_height,
						      written(from.activation)));
}

WrittenOptions write(Builder &builder, const TfLitePoolParams &from)
{
	return options(fb::BuiltinOptions::Pool2DOptions,
		       fb::CreatePool2DOptions(builder, written(from.padding), from.stride_width,
					       from.stride_height, from.filter_width,
					       from.filter_height, written(from.activation)));
}

WrittenOptions write(Builder &builder, const TfLiteFullyConnectedParams &from)
{
	return options(fb::BuiltinOptions::FullyConnectedOptions,
		       fb::CreateFullyConnectedOptions(builder, written(from.activation),
						       static_cast<int8_t>(from.weights_format),
						       from.keep_num_dims,
						       from.asymmetric_quantize_inputs));
}

WrittenOptions write(Builder &builder, const TfLiteSoftmaxParams &from)
{
	return options(fb::BuiltinOptions::SoftmaxOptions,
		       fb::CreateSoftmaxOptions(builder, from.beta));
}

WrittenOptions write(Builder &builder, const TfLiteConcatenationParams &from)
{
	return options(
		fb::BuiltinOptions::ConcatenationOptions,
		fb::CreateConcatenationOptions(builder, from.axis, written(from.activation)));
}

WrittenOptions write(Builder &builder, const TfLiteAddParams &from)
{
	return options(
		fb::BuiltinOptions::AddOptions,
		fb::CreateAddOptions(builder, written(from.activation), from.pot_scale_int16));
}

WrittenOptions write(Builder &builder, const TfLiteSubParams &from)
{
	return options(
		fb::BuiltinOptions::SubOptions,
		fb::CreateSubOptions(builder, written(from.activation), from.pot_scale_int16));
}

WrittenOptions write(Builder &builder, const TfLiteMulParams &from)
{
	return options(fb::BuiltinOptions::MulOptions,
		       fb::CreateMulOptions(builder, written(from.activation)));
}

WrittenOptions write(Builder &builder, const TfLiteDivParams &from)
{
	return options(fb::BuiltinOptions::DivOptions,
		       fb::CreateDivOptions(builder, written(from.activation)));
}

WrittenOptions write(Builder &builder, const TfLitePackParams &from)
{
	return options(fb::BuiltinOptions::PackOptions,
		       fb::CreatePackOptions(builder, from.values_count, from.axis));
}

WrittenOptions write(Builder &builder, const TfLiteUnpackParams &from)
{
	return options(fb::BuiltinOptions::UnpackOptions,
		       fb::CreateUnpackOptions(builder, from.num, from.axis));
}

WrittenOptions write(Builder &builder, const TfLiteMirrorPaddingParams &from)
{
	const auto mode = from.mode == kTfLiteMirrorPaddingReflect ? fb::MirrorPadMode::REFLECT
								   : fb::MirrorPadMode::SYMMETRIC;

	return options(fb::BuiltinOptions::MirrorPadOptions,
		       fb::CreateMirrorPadOptions(builder, mode));
}

WrittenOptions write(Builder &builder, const TfLiteReshapeParams &from)
{
	const std::vector<int32_t> shape(from.shape, from.shape + from.num_dimensions);

	return options(fb::BuiltinOptions::ReshapeOptions,
		       fb::CreateReshapeOptionsDirect(builder, &shape));
}

WrittenOptions write(Builder &builder, const TfLiteReducerParams &from)
{
	return options(fb::BuiltinOptions::ReducerOptions,
		       fb::CreateReducerOptions(builder, from.keep_dims));
}

WrittenOptions write(Builder &builder, const TfLiteStridedSliceParams &from)
{
	return options(fb::BuiltinOptions::StridedSliceOptions,
		       fb::CreateStridedSliceOptions(builder, from.begin_mask, from.end_mask,
						     from.ellipsis_mask, from.new_axis_mask,
						     from.shrink_axis_mask));
}

WrittenOptions write(Builder &builder, const TfLiteSplitParams &from)
{
	return options(fb::BuiltinOptions::SplitOptions,
		       fb::CreateSplitOptions(builder, from.num_splits));
}

WrittenOptions write(Builder &builder, const TfLiteSplitVParams &from)
{
	return options(fb::BuiltinOptions::SplitVOptions,
		       fb::CreateSplitVOptions(builder, from.num_splits));
}

WrittenOptions write(Builder &builder, const TfLiteLeakyReluParams &from)
{
	return options(fb::BuiltinOptions::LeakyReluOptions,
		       fb::CreateLeakyReluOptions(builder, from.alpha));
}

WrittenOptions write(Builder &builder, const TfLiteResizeBilinearParams &from)
{
	return options(fb::BuiltinOptions::ResizeBilinearOptions,
		       fb::CreateResizeBilinearOptions(builder, from.align_corners,
						       from.half_pixel_centers));
}

WrittenOptions write(Builder &builder, const TfLiteResizeNearestNeighborParams &from)
{
	return options(fb::BuiltinOptions::ResizeNearestNeighborOptions,
		       fb::CreateResizeNearestNeighborOptions(builder, from.align_corners,
							      from.half_pixel_centers));
}

WrittenOptions write(Builder &builder, const TfLiteGatherParams &from)
{
	return options(fb::BuiltinOptions::GatherOptions,
		       fb::CreateGatherOptions(builder, from.axis, from.batch_dims));
}

WrittenOptions write(Builder &builder, const TfLiteBatchMatMulParams &from)
{
	return options(fb::BuiltinOptions::BatchMatMulOptions,
		       fb::CreateBatchMatMulOptions(builder, from.adj_x, from.adj_y));
}

WrittenOptions write(Builder &builder, const TfLiteGeluParams &from)
{
	return options(fb::BuiltinOptions::GeluOptions,
		       fb::CreateGeluOptions(builder, from.approximate));
}

template<typename Params>
std::optional<WrittenOptions> writeAs(Builder &builder, const void *from)
{
	if (!from)
		return {};
	return write(builder, *static_cast<const Params *>(from));
}

} /* namespace */

std::optional<WrittenOptions> writeOptions(Builder &builder, int code, const void *from)
{
	switch (code) {
	case kTfLiteBuiltinConv2d:
		return writeAs<TfLiteConvParams>(builder, from);
	case kTfLiteBuiltinDepthwiseConv2d:
		return writeAs<TfLiteDepthwiseConvParams>(builder, from);
	case kTfLiteBuiltinTransposeConv:
		return writeAs<TfLiteTransposeConvParams>(builder, from);
	case kTfLiteBuiltinAveragePool2d:
	case kTfLiteBuiltinMaxPool2d:
		return writeAs<TfLitePoolParams>(builder, from);
	case kTfLiteBuiltinFullyConnected:
		return writeAs<TfLiteFullyConnectedParams>(builder, from);
	case kTfLiteBuiltinSoftmax:
		return writeAs<TfLiteSoftmaxParams>(builder, from);
	case kTfLiteBuiltinConcatenation:
		return writeAs<TfLiteConcatenationParams>(builder, from);
	case kTfLiteBuiltinAdd:
		return writeAs<TfLiteAddParams>(builder, from);
	case kTfLiteBuiltinSub:
		return writeAs<TfLiteSubParams>(builder, from);
	case kTfLiteBuiltinMul:
		return writeAs<TfLiteMulParams>(builder, from);
	case kTfLiteBuiltinReshape:
		return writeAs<TfLiteReshapeParams>(builder, from);
	case kTfLiteBuiltinDiv:
		return writeAs<TfLiteDivParams>(builder, from);
	case kTfLiteBuiltinPack:
		return writeAs<TfLitePackParams>(builder, from);
	case kTfLiteBuiltinUnpack:
		return writeAs<TfLiteUnpackParams>(builder, from);
	case kTfLiteBuiltinMirrorPad:
		/* A file can only have the modes REFLECT and SYMMETRIC. */
		if (from && static_cast<const TfLiteMirrorPaddingParams *>(from)->mode ==
				    kTfLiteMirrorPaddingUnknown)
			return {};
		return writeAs<TfLiteMirrorPaddingParams>(builder, from);
	case kTfLiteBuiltinMean:
	case kTfLiteBuiltinSum:
	case kTfLiteBuiltinReduceMax:
	case kTfLiteBuiltinReduceMin:
		return writeAs<TfLiteReducerParams>(builder, from);
	case kTfLiteBuiltinStridedSlice:
		if (from && static_cast<const TfLiteStridedSliceParams *>(from)->offset)
			return {};
		return writeAs<TfLiteStridedSliceParams>(builder, from);
	case kTfLiteBuiltinSplit:
		return writeAs<TfLiteSplitParams>(builder, from);
	case kTfLiteBuiltinSplitV:
		return writeAs<TfLiteSplitVParams>(builder, from);
	case kTfLiteBuiltinLeakyRelu:
		return writeAs<TfLiteLeakyReluParams>(builder, from);
	case kTfLiteBuiltinResizeBilinear:
		return writeAs<TfLiteResizeBilinearParams>(builder, from);
	case kTfLiteBuiltinResizeNearestNeighbor:
		return writeAs<TfLiteResizeNearestNeighborParams>(builder, from);
	case kTfLiteBuiltinGelu:
		return writeAs<TfLiteGeluParams>(builder, from);
	case kTfLiteBuiltinGather:
		return writeAs<TfLiteGatherParams>(builder, from);
	case kTfLiteBuiltinBatchMatmul:
		return writeAs<TfLiteBatchMatMulParams>(builder, from);
	case kTfLiteBuiltinAbs:
	case kTfLiteBuiltinAddN:
	case kTfLiteBuiltinCos:
	case kTfLiteBuiltinDequantize:
	case kTfLiteBuiltinElu:
	case kTfLiteBuiltinExp:
	case kTfLiteBuiltinHardSwish:
	case kTfLiteBuiltinLog:
	case kTfLiteBuiltinLogistic:
	case kTfLiteBuiltinMaximum:
	case kTfLiteBuiltinMinimum:
	case kTfLiteBuiltinNeg:
	case kTfLiteBuiltinPad:
	case kTfLiteBuiltinPadv2:
	case kTfLiteBuiltinPrelu:
	case kTfLiteBuiltinQuantize:
	case kTfLiteBuiltinRelu:
	case kTfLiteBuiltinRelu6:
	case kTfLiteBuiltinReluN1To1:
	case kTfLiteBuiltinRsqrt:
	case kTfLiteBuiltinSelect:
	case kTfLiteBuiltinSelectV2:
	case kTfLiteBuiltinSin:
	case kTfLiteBuiltinSlice:
	case kTfLiteBuiltinSqrt:
	case kTfLiteBuiltinSquare:
	case kTfLiteBuiltinSquaredDifference:
	case kTfLiteBuiltinTanh:
	case kTfLiteBuiltinTile:
		return WrittenOptions{};
	default:
		return {};
	}
}

} /* namespace nvdla::delegate */
