/* SPDX-License-Identifier: MIT */
/*
 * Conversion of pictures to tensors.
 */
#include <algorithm>
#include <cmath>

#include <fmt/core.h>
#include <nvdla/image.h>

#include "base/io/guarded.h"

namespace nvdla
{

namespace
{

/* Returns the average of the source pixels that one target pixel covers. */
uint8_t boxAverage(const Image &image, double x0, double x1, double y0, double y1, uint32_t channel)
{
	double sum = 0.0;
	double weight = 0.0;

	for (uint32_t y = static_cast<uint32_t>(y0); y < image.height && y < y1; y++) {
		const double wy = std::min(y1, y + 1.0) - std::max(y0, double(y));
		for (uint32_t x = static_cast<uint32_t>(x0); x < image.width && x < x1; x++) {
			const double w = wy * (std::min(x1, x + 1.0) - std::max(x0, double(x)));
			sum += w * image.pixels[(size_t{ y } * image.width + x) * image.channels +
						channel];
			weight += w;
		}
	}
	return static_cast<uint8_t>(std::lround(sum / weight));
}

/* Returns the number of means (without zeros at the end) if that is more than the channels, so that
 * some means would have no effect; otherwise 0. For grey pixels, three equal means count as one. */
size_t excessMeans(const PixelScaling &scaling, uint32_t channels)
{
	constexpr size_t colours = 3;
	const auto &mean = scaling.mean;
	size_t count = mean.size();

	while (count && mean[count - 1] == 0.0f)
		count--;
	const bool isGrey =
		channels == 1 && count == colours && mean[1] == mean[0] && mean[2] == mean[0];
	return count > channels && !isGrey ? count : 0;
}

} /* namespace */

Image resize(const Image &image, uint32_t width, uint32_t height)
{
	Image target{ width, height, image.channels, {} };
	const double step = std::min(static_cast<double>(image.width) / width,
				     static_cast<double>(image.height) / height);
	const double left = (image.width - step * width) / 2;
	const double top = (image.height - step * height) / 2;

	target.pixels.reserve(size_t{ width } * height * image.channels);
	for (uint32_t y = 0; y < height; y++) {
		for (uint32_t x = 0; x < width; x++) {
			for (uint32_t c = 0; c < image.channels; c++)
				target.pixels.push_back(
					boxAverage(image, left + x * step, left + (x + 1) * step,
						   top + y * step, top + (y + 1) * step, c));
		}
	}
	return target;
}

Image toGrey(const Image &image)
{
	if (image.channels == 1)
		return image;

	Image grey{ image.width, image.height, 1, {} };
	grey.pixels.reserve(size_t{ image.width } * image.height);
	for (size_t i = 0; i < image.pixels.size(); i += image.channels) {
		const float luminance = 0.299f * image.pixels[i] + 0.587f * image.pixels[i + 1] +
					0.114f * image.pixels[i + 2];
		grey.pixels.push_back(static_cast<uint8_t>(std::lround(luminance)));
	}
	return grey;
}

Image toColours(const Image &image)
{
	constexpr uint32_t colours = 3;

	if (image.channels != 1)
		return image;

	Image coloured{ image.width, image.height, colours, {} };
	coloured.pixels.reserve(image.pixels.size() * colours);
	for (const uint8_t pixel : image.pixels)
		coloured.pixels.insert(coloured.pixels.end(), colours, pixel);
	return coloured;
}

Result<std::vector<std::byte>> elementsFromImage(const TensorDesc &desc, const Image &given,
						 const PixelScaling &scaling)
{
	constexpr const char *what = "convert picture to tensor";
	return guarded(what, [&]() -> Result<std::vector<std::byte>> {
		const std::string where = "tensor " + desc.describe();
		const Image image = desc.c == 1 ? given : toColours(given);

		if (image.width != desc.w || image.height != desc.h)
			return fail(ErrorCode::InvalidArgument, what, where,
				    fmt::format("the picture has {} x {} pixels, {} x {} needed",
						image.width, image.height, desc.w, desc.h));
		if (desc.n != 1 || desc.c < image.channels || desc.c > 4)
			return fail(
				ErrorCode::InvalidArgument, what, where,
				fmt::format("a picture of {} does not fit; accepted are tensors "
					    "of 1 image with {} channels, others are read from "
					    ".npy",
					    given.channels == 1 ? "1 channel" : "3 channels",
					    given.channels == 1 ? "1, 3 or 4" : "3 or 4"));
		if (const size_t count = excessMeans(scaling, image.channels))
			return fail(ErrorCode::InvalidArgument, what, where,
				    fmt::format("takes {}, and mean has {} numbers",
						image.channels == 1 ? "grey pixels"
								    : "red, green and blue",
						count));
		if (scaling.normalize == 0.0f)
			return fail(ErrorCode::InvalidArgument, what, where, "pixels divided by 0");

		TensorDesc quantized = desc;
		PixelScaling numbers = scaling;
		if (desc.type == DataType::Int8 && desc.quantization.none()) {
			quantized.quantization = defaultPixelQuantization(desc.isUnsigned);
			numbers = {};
		}

		const size_t plane = size_t{ desc.h } * desc.w;
		std::vector<float> values(plane * desc.c);
		for (size_t pixel = 0; pixel < plane; pixel++) {
			for (uint32_t c = 0; c < image.channels; c++) {
				const float value = image.pixels[pixel * image.channels + c];
				values[c * plane + pixel] =
					(value - numbers.mean[c]) / numbers.normalize;
			}
		}
		return elementsFromFloat(quantized, values);
	});
}

} /* namespace nvdla */
