/* SPDX-License-Identifier: MIT */
/*
 * The fuzz target on a fixed set of damaged files, with any compiler.
 */
#include <algorithm>
#include <random>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>
#include <nvdla/image.h>
#include <nvdla/tensor_file.h>

#include "input_file.h"
#include "jpeg.h"

namespace nvdla
{

namespace
{

using Bytes = std::vector<std::byte>;

Image picture(uint32_t channels)
{
	Image image{ 11, 7, channels, {} };
	for (uint32_t i = 0; i < image.width * image.height * channels; i++)
		image.pixels.push_back(static_cast<uint8_t>(i * 37));
	return image;
}

Bytes bytesOf(std::string_view header, std::span<const uint8_t> content)
{
	const auto first = std::as_bytes(std::span(header));
	const auto second = std::as_bytes(content);
	Bytes bytes(first.begin(), first.end());
	bytes.insert(bytes.end(), second.begin(), second.end());
	return bytes;
}

Bytes npy(std::string_view type, size_t elementSize)
{
	std::string header = "{'descr': '" + std::string(type) +
			     "', 'fortran_order': False, 'shape': (2, 3, 5, 7), }\n";
	const std::string start{
		'\x93', 'N', 'U', 'M', 'P', 'Y', 1, 0, static_cast<char>(header.size()), 0
	};
	return bytesOf(start + header, std::vector<uint8_t>(2 * 3 * 5 * 7 * elementSize, 0x3c));
}

Bytes dimg(DataType type)
{
	const auto desc = TensorDesc::packedFeature("input", type, 3, 7, 11);
	const auto bytes = encodeDimg(desc, Bytes(desc.elements() * elementBytes(type)));
	EXPECT_TRUE(bytes);
	return bytes.value_or(Bytes());
}

std::vector<Bytes> goodFiles()
{
	return { bytesOf("P5 11 7 255\n", picture(1).pixels),
		 bytesOf("P6\n# colours\n11 7\n255\n", picture(3).pixels),
		 encodePng(picture(3), "png").value_or(Bytes()),
		 test::encodeJpeg(picture(3)),
		 npy("<f4", 4),
		 npy("<f2", 2),
		 npy("<i2", 2),
		 npy("|i1", 1),
		 dimg(DataType::Int8),
		 dimg(DataType::Half),
		 bytesOf(R"({ "x": { "scale": 0.5, "offset": 0 } })", {}),
		 bytesOf("TRT-7103-EntropyCalibration2\nx: 3c010a14\ny:0: 3d010a14\n", {}) };
}

void play(const Bytes &bytes)
{
	fuzz::readInputFile(reinterpret_cast<const uint8_t *>(bytes.data()), bytes.size());
}

} /* namespace */

TEST(InputFileFuzz, DamagedFiles)
{
	std::mt19937 random(28);

	for (const Bytes &good : goodFiles()) {
		ASSERT_FALSE(good.empty());
		play(good);
		for (int round = 0; round < 500; round++) {
			Bytes bytes = good;
			/* Most of what can be damaged is at the start. */
			for (unsigned hits = 1 + random() % 3; hits; hits--)
				bytes[random() % std::min<size_t>(bytes.size(), 128)] =
					static_cast<std::byte>(random());
			if (round % 4 == 0)
				bytes.resize(random() % bytes.size());
			play(bytes);
		}
	}
}

} /* namespace nvdla */
