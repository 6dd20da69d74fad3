/* SPDX-License-Identifier: MIT */
#include "picture_input.h"

#include <fmt/core.h>

#include "fitted.h"

namespace nvdla::tools
{

namespace
{

/* Returns whether the pixels 0 to 255 become the lowest to the highest 8-bit element: for 8-bit
 * inputs of a known model, unless \a options or a calibration say how pixels become numbers, or
 * options say how numbers become elements (\a isQuantized). */
bool takesWholeRange(const TensorDesc &desc, const std::optional<PixelScaling> &options,
		     bool isQuantized)
{
	return desc.signature && !desc.signature->pixels && !options && !isQuantized &&
	       (desc.signature->is8Bits || desc.type == DataType::UInt8);
}

/* Returns whether the scale of an int8 input is unknown, as in loadables of some other
 * compilers. */
bool hasNoScale(const TensorDesc &desc)
{
	return !desc.signature && desc.type == DataType::Int8 && desc.quantization.none();
}

const char *colourText(const TensorDesc &desc, const Image &image)
{
	if (desc.c == 1)
		return image.channels == 1 ? "grey" : "its luminance";
	return image.channels == 1 ? "grey in each of red, green and blue" : "red, green, blue";
}

PixelScaling scalingOf(const TensorDesc &desc, const std::optional<PixelScaling> &options)
{
	if (options)
		return *options;
	return desc.signature ? desc.signature->pixels.value_or(PixelScaling{}) : PixelScaling{};
}

std::string scalingText(const TensorDesc &desc, const std::optional<PixelScaling> &options,
			bool isQuantized)
{
	const PixelScaling scaling = scalingOf(desc, options);

	if (takesWholeRange(desc, options, isQuantized))
		return "pixels 0 to 255 are the input's integers from the lowest to the highest";
	if (hasNoScale(desc))
		return desc.isUnsigned ? "pixels are the input's integers"
				       : "pixels 0 to 255 are the input's integers 0 to 127";
	if (scaling == PixelScaling{})
		return "the input's numbers are the pixels, 0 to 255; --mean and --normalize scale "
		       "them";
	std::string mean = fmt::format("{}", scaling.mean[0]);
	if (desc.c > 1)
		mean += fmt::format(",{},{}", scaling.mean[1], scaling.mean[2]);
	return fmt::format("the input's numbers are (pixel - {}) / {}, {}", mean, scaling.normalize,
			   options ? "by --mean and --normalize" : "as in the calibration");
}

} /* namespace */

Result<std::vector<std::byte>> pictureElements(const TensorDesc &desc, const Image &image,
					       const std::string &path,
					       const std::optional<PixelScaling> &options,
					       bool isQuantized)
{
	TensorDesc quantized = desc;

	if (hasNoScale(desc) && options && *options != PixelScaling{})
		return fail(ErrorCode::InvalidArgument, "--mean and --normalize", path,
			    fmt::format("have no effect on an {} input whose scale is unknown; "
					"give the scale with --input-scale of nvdla-run",
					dataTypeName(desc.type)));
	if (takesWholeRange(desc, options, isQuantized))
		quantized.quantization =
			Quantization{ 1.0, desc.type == DataType::UInt8 ? 0 : -128 };
	return elementsFromImage(quantized,
				 desc.signature ? fitted(image, desc.c, desc.h, desc.w) : image,
				 scalingOf(desc, options));
}

std::string pictureNote(const TensorDesc &desc, const Image &image, const std::string &path,
			const std::optional<PixelScaling> &options, bool isQuantized)
{
	std::string size = fmt::format("{} x {}", image.width, image.height);

	if (image.width != desc.w || image.height != desc.h)
		size += fmt::format(", cropped to its centre and scaled to {} x {}", desc.w,
				    desc.h);
	return fmt::format("picture {}: {}; {}; {}", path, size, colourText(desc, image),
			   scalingText(desc, options, isQuantized));
}

} /* namespace nvdla::tools */
