/* SPDX-License-Identifier: MIT */
#include <algorithm>
#include <cmath>

#include <fmt/core.h>

#include "edge_network.h"

namespace nvdla::examples
{

namespace
{

constexpr float turn = 360.0f;

/* Returns one channel of a fully saturated colour. \a hue is in degrees, \a value is 0 to 255, and
 * \a shift selects the channel: 5 for red, 3 for green, 1 for blue. */
uint8_t colour(float hue, float value, float shift)
{
	const float sector = std::fmod(shift + hue / 60.0f, 6.0f);
	const float ramp = std::clamp(std::min(sector, 4.0f - sector), 0.0f, 1.0f);

	return static_cast<uint8_t>(std::lround(value * (1.0f - ramp)));
}

Image inColour(const Image &image)
{
	if (image.channels == 3)
		return image;
	Image colours{ image.width, image.height, 3, {} };
	for (uint8_t grey : image.pixels)
		colours.pixels.insert(colours.pixels.end(), 3, grey);
	return colours;
}

} /* namespace */

Result<std::vector<std::byte>> pictureTensor(const TensorDesc &desc, const Image &photo)
{
	const Image colours = inColour(photo);
	/* Red, green, blue and alpha of each pixel, one after the other. */
	std::vector<std::byte> elements;
	std::vector<std::byte> tensor(desc.size);

	for (size_t i = 0; i < colours.pixels.size(); i++) {
		elements.push_back(std::byte{ colours.pixels[i] });
		if (i % 3 == 2)
			elements.push_back(std::byte{ 255 });
	}
	return packElements(desc, elements, tensor, ElementOrder::Nhwc).map([&] {
		return std::move(tensor);
	});
}

Result<Image> edgePicture(const TensorDesc &desc, std::span<const std::byte> elements)
{
	if (desc.type != DataType::Int8 || desc.c != edgeDirections ||
	    elements.size() != desc.elements() || desc.n != 1)
		return fail(ErrorCode::InvalidArgument, "show edges", "tensor " + desc.describe(),
			    fmt::format("{} bytes of elements; an int8 tensor of {} channels "
					"expected",
					elements.size(), edgeDirections));

	const size_t plane = size_t{ desc.h } * desc.w;
	Image image{ desc.w, desc.h, 3, {} };
	image.pixels.reserve(plane * 3);
	for (size_t pixel = 0; pixel < plane; pixel++) {
		uint32_t best = 0;
		int strength = 0;
		for (uint32_t direction = 0; direction < edgeDirections; direction++) {
			const int value = static_cast<int8_t>(elements[direction * plane + pixel]);
			if (value > strength) {
				strength = value;
				best = direction;
			}
		}
		const float hue = turn * static_cast<float>(best) / edgeDirections;
		const float value = std::min(255.0f, 2.0f * static_cast<float>(strength));
		for (float shift : { 5.0f, 3.0f, 1.0f })
			image.pixels.push_back(colour(hue, value, shift));
	}
	return image;
}

Image besideEachOther(const Image &photo, const Image &edges)
{
	const Image left = inColour(photo);
	const Image right = resize(edges, left.width, left.height);
	const std::ptrdiff_t line = std::ptrdiff_t{ left.width } * 3;
	Image both{ left.width * 2, left.height, 3, {} };

	for (std::ptrdiff_t y = 0; y < left.height; y++) {
		for (const Image *image : { &left, &right }) {
			const auto begin = image->pixels.begin() + y * line;
			both.pixels.insert(both.pixels.end(), begin, begin + line);
		}
	}
	return both;
}

} /* namespace nvdla::examples */
