/* SPDX-License-Identifier: MIT */
/*
 * What plug-ins for other frameworks have in common.
 */
#include <cmath>
#include <cstring>
#include <vector>

#include <gtest/gtest.h>

#include "base/tensor/host_tensor.h"
#include "frameworks/plugin/options.h"
#include "test_support.h"

namespace nvdla::test
{

namespace
{

/* Elements that went into a tensor's layout and out again, to look at it in between. */
struct Trip {
	std::vector<std::byte> elements; /* on the device, in N, H, W, C order */
	std::vector<std::byte> back;
};

Trip trip(const TensorDesc &desc, DataType type, std::vector<std::byte> bytes)
{
	std::vector<std::byte> tensor(desc.size);
	Trip trip{ {}, std::vector<std::byte>(bytes.size()) };

	auto packed = packHost(desc, ElementOrder::Nhwc, { type, bytes }, tensor);
	EXPECT_TRUE(packed) << packed.error().message();
	trip.elements = unpackElements(desc, tensor, ElementOrder::Nhwc).value();
	auto unpacked = unpackHost(desc, ElementOrder::Nhwc, tensor, { type, trip.back });
	EXPECT_TRUE(unpacked) << unpacked.error().message();
	return trip;
}

TensorDesc desc(DataType type)
{
	return TensorDesc::packedFeature("x", type, 4, 1, 1);
}

TEST(HostTensor, IntegersOfTheSameType)
{
	const auto small = bytesOf(std::vector<int8_t>{ -128, -1, 0, 127 });
	const auto large = bytesOf(std::vector<int16_t>{ -32768, -1, 0, 32767 });

	EXPECT_EQ(trip(desc(DataType::Int8), DataType::Int8, small).elements, small);
	EXPECT_EQ(trip(desc(DataType::Int8), DataType::Int8, small).back, small);
	EXPECT_EQ(trip(desc(DataType::Int16), DataType::Int16, large).elements, large);
	EXPECT_EQ(trip(desc(DataType::Int16), DataType::Int16, large).back, large);
}

TEST(HostTensor, UnsignedIntegersAreLessBy128)
{
	const auto numbers = bytesOf(std::vector<uint8_t>{ 0, 127, 128, 255 });
	const Trip small = trip(desc(DataType::Int8), DataType::UInt8, numbers);
	const Trip held = trip(desc(DataType::Int16), DataType::UInt8, numbers);

	EXPECT_EQ(small.elements, bytesOf(std::vector<int8_t>{ -128, -1, 0, 127 }));
	EXPECT_EQ(small.back, numbers);
	EXPECT_EQ(held.elements, bytesOf(std::vector<int16_t>{ -128, -1, 0, 127 }));
	EXPECT_EQ(held.back, numbers);
}

TEST(HostTensor, SmallIntegersHeldInLargeOnes)
{
	const auto numbers = bytesOf(std::vector<int8_t>{ -128, -1, 0, 127 });
	const Trip held = trip(desc(DataType::Int16), DataType::Int8, numbers);

	EXPECT_EQ(held.elements, bytesOf(std::vector<int16_t>{ -128, -1, 0, 127 }));
	EXPECT_EQ(held.back, numbers);
}

TEST(HostTensor, RealNumbers)
{
	TensorDesc quantized = desc(DataType::Int8);
	quantized.quantization = Quantization{ 0.5, 3 };
	const auto numbers = bytesOf(std::vector<float>{ -4, -0.5F, 0, 62 });
	const Trip half = trip(desc(DataType::Half), DataType::Float, numbers);
	const Trip integer = trip(quantized, DataType::Float, numbers);

	EXPECT_EQ(half.elements, bytesOf(std::vector<uint16_t>{ 0xc400, 0xb800, 0, 0x53c0 }));
	EXPECT_EQ(half.back, numbers);
	EXPECT_EQ(integer.elements, bytesOf(std::vector<int8_t>{ -5, 2, 3, 127 }));
	EXPECT_EQ(integer.back, numbers);
	const Trip same = trip(desc(DataType::Half), DataType::Half, half.elements);
	EXPECT_EQ(same.elements, half.elements);
	EXPECT_EQ(same.back, half.elements);
	EXPECT_EQ(trip(quantized, DataType::Half, half.elements).back, half.elements);
}

TEST(HostTensor, SomeLieAlike)
{
	const auto alike = [](DataType type, uint32_t channels, uint32_t height, uint32_t width,
			      DataType host) {
		return liesAlike(
			TensorDesc::packedFeature("x", type, channels, height, width),
			ElementOrder::Nhwc, host);
	};

	EXPECT_TRUE(alike(DataType::Int8, 640, 1, 1, DataType::Int8));
	EXPECT_TRUE(alike(DataType::Int8, 3, 1, 1, DataType::Int8));
	EXPECT_TRUE(alike(DataType::Int8, 32, 5, 7, DataType::Int8));
	EXPECT_TRUE(alike(DataType::Int16, 300, 1, 1, DataType::Int16));
	EXPECT_FALSE(alike(DataType::Int8, 33, 1, 2, DataType::Int8));
	EXPECT_FALSE(alike(DataType::Int8, 3, 1, 2, DataType::Int8));
	EXPECT_FALSE(alike(DataType::Int8, 3, 1, 1, DataType::UInt8));
	EXPECT_FALSE(alike(DataType::Half, 3, 1, 1, DataType::Float));
	EXPECT_FALSE(alike(DataType::Int8, 64, 16, 16, DataType::Int8));
}

TEST(HostTensor, WhatDoesNotBelongTogetherIsRefused)
{
	std::vector<std::byte> tensor(desc(DataType::Half).size), bytes(3);

	auto other =
		packHost(desc(DataType::Half), ElementOrder::Nhwc, { DataType::Int8, bytes }, tensor);
	auto few = packHost(desc(DataType::Int8), ElementOrder::Nhwc, { DataType::Int8, bytes },
			std::span(tensor).first(desc(DataType::Int8).size));
	ASSERT_FALSE(other);
	EXPECT_EQ(other.error().code, ErrorCode::Unsupported);
	ASSERT_FALSE(few);
	EXPECT_EQ(few.error().why, "the framework's tensor has 3 bytes, 4 are needed");
}

TEST(PluginOptions, AreTakenAsText)
{
	plugin::Options options;

	EXPECT_TRUE(options.set("device", "embedded"));
	EXPECT_TRUE(options.set("precision", "integer"));
	EXPECT_TRUE(options.set("priority", "high"));
	EXPECT_TRUE(options.set("cache_dir", "/x"));
	EXPECT_TRUE(options.set("profile", "true"));
	EXPECT_EQ(options.device, "embedded");
	EXPECT_EQ(options.precision, plugin::Precision::Integer);
	EXPECT_EQ(options.priority, Priority::High);
	EXPECT_EQ(options.cacheFolder, "/x");
	EXPECT_TRUE(options.profile);
	EXPECT_EQ(options.set("priority", "top").error().message(),
		  "set option: priority: \"top\" is none of \"low\", \"normal\", \"high\"");
	EXPECT_EQ(options.set("speed", "1").error().where, "speed");
}

} /* namespace */

} /* namespace nvdla::test */
