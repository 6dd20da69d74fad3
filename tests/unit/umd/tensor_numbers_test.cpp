/* SPDX-License-Identifier: MIT */
/*
 * Numbers into tensors and out of them: what a quantization makes of them, in every layout.
 */
#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <span>

#include <gtest/gtest.h>
#include <nvdla/fixed_point.h>
#include <nvdla/half.h>
#include <nvdla/tensor.h>

#include "base/tensor/input_note.h"
#include "each_target.h"
#include "random.h"

namespace nvdla
{

namespace
{

using test::forEachTarget;
using test::Random;

/* A quantization whose zero point elements can be. */
Quantization randomQuantization(Random &random, const IntegerLimits &limits)
{
	return { random.powerOfTwo(-12, 4), random(static_cast<int32_t>(limits.lowest),
						   static_cast<int32_t>(limits.highest)) };
}

TensorDesc randomTensor(Random &random)
{
	const DataType type = random.oneOf<DataType>({ DataType::Int8, DataType::Int16 });
	TensorDesc desc = TensorDesc::packedFeature("x", type, random.size(1, 70),
						    random.size(1, 4), random.size(1, 20));

	switch (random(0, 3)) {
	case 0:
		desc = TensorDesc::image(
			"x",
			random.oneOf<PixelFormat>({ PixelFormat::R8, PixelFormat::A8B8G8R8,
						    PixelFormat::R16I, PixelFormat::A2B10G10R10,
						    PixelFormat::Y8U8V8N444 }),
			desc.h, desc.w);
		desc.c = random.size(1, desc.c);
		desc.isUnsigned = random(0, 1);
		break;
	case 1:
		desc = TensorDesc::planar("x", type, desc.c, desc.h, desc.w);
		break;
	default:
		desc.n = random.size(1, 2);
		desc.size *= desc.n;
	}
	return desc;
}

/* Nothing, one quantization, or one for each channel. */
void quantizeRandomly(Random &random, TensorDesc &desc)
{
	std::vector<Quantization> channels;

	for (uint32_t c = 0; c < desc.c; c++)
		channels.push_back(randomQuantization(random, desc.limits(c)));
	switch (random(0, 2)) {
	case 0:
		desc.quantization = {};
		break;
	case 1:
		/* The last channel may be the narrowest. */
		desc.quantization = channels.back();
		break;
	default:
		desc.quantization = TensorQuantization(std::move(channels));
	}
}

uint32_t channelOf(const TensorDesc &desc, ElementOrder order, size_t index)
{
	return static_cast<uint32_t>(order == ElementOrder::Nhwc
					     ? index % desc.c
					     : index / (size_t{ desc.h } * desc.w) % desc.c);
}

int64_t elementAt(const TensorDesc &desc, const std::vector<std::byte> &elements, size_t index)
{
	int16_t element;

	if (desc.type == DataType::Int8)
		element = static_cast<int8_t>(elements[index]);
	else
		std::memcpy(&element, &elements[index * 2], sizeof(element));
	if (!desc.isUnsigned)
		return element;
	return desc.type == DataType::Int8 ? static_cast<uint8_t>(element)
					   : static_cast<uint16_t>(element);
}

/* Calls check(desc, order) with tensors of all kinds. */
template<typename Check>
void forTensors(uint32_t seed, Check check)
{
	Random random(seed);

	for (int round = 0; round < 300; round++) {
		TensorDesc desc = randomTensor(random);
		quantizeRandomly(random, desc);
		const auto checked = desc.check();
		ASSERT_TRUE(checked) << checked.error().message();
		const auto order =
			random.oneOf<ElementOrder>({ ElementOrder::Nchw, ElementOrder::Nhwc });
		SCOPED_TRACE(desc.describe());
		check(random, desc, order);
		if (testing::Test::HasFatalFailure())
			return;
	}
}

/* Elements of numbers, and numbers of those, one by one. */
void expectDefinition(const TensorDesc &desc, ElementOrder order, const std::vector<float> &values)
{
	auto elements = elementsFromFloat(desc, values, order);
	ASSERT_TRUE(elements) << elements.error().message();
	auto back = elementsToFloat(desc, *elements, order);
	ASSERT_TRUE(back);

	for (size_t i = 0; i < values.size(); i++) {
		const uint32_t c = channelOf(desc, order, i);
		const Quantization of = desc.quantization.channel(c);
		const int64_t element = elementAt(desc, *elements, i);
		ASSERT_EQ(element, of.quantize(values[i], desc.limits(c)))
			<< values[i] << " / " << of.scale << " + " << of.zeroPoint;
		ASSERT_EQ((*back)[i], static_cast<float>(of.real(static_cast<double>(element))));
	}
}

} /* namespace */

TEST(Quantization, RoundsBeforeTheZeroPointIsAdded)
{
	const Quantization quantization{ 0.5, 10 };

	EXPECT_EQ(quantization.quantize(0.24, DataType::Int8), 10);
	EXPECT_EQ(quantization.quantize(0.25, DataType::Int8), 11);
	EXPECT_EQ(quantization.quantize(-0.25, DataType::Int8), 9) << "away from zero";
	EXPECT_EQ(quantization.quantize(1000, DataType::Int8), 127);
	EXPECT_EQ(quantization.quantize(-INFINITY, DataType::Int8), -128);
	EXPECT_EQ(quantization.quantize(NAN, DataType::Int8), 10);
}

TEST(TensorNumbers, AreWhatTheQuantizationDefines)
{
	forTensors(701, [](Random &random, const TensorDesc &desc, ElementOrder order) {
		std::vector<float> values(desc.elements());
		for (size_t i = 0; i < values.size(); i++) {
			const Quantization of =
				desc.quantization.channel(channelOf(desc, order, i));
			/* Halves, or anything, beyond the limits too. */
			values[i] = static_cast<float>(
				random(0, 1) ? of.scale * (random(-70000, 70000) + 0.5)
					     : of.real(random.real(-70000, 70000)));
		}
		values[0] = random.oneOf<float>({ NAN, INFINITY, -INFINITY, 3e38f, -3e38f, -0.0f });

		forEachTarget([&] { expectDefinition(desc, order, values); });
	});
}

TEST(TensorNumbers, ComeBackWithinHalfAStep)
{
	forTensors(702, [](Random &random, const TensorDesc &desc, ElementOrder order) {
		std::vector<float> values(desc.elements());
		for (size_t i = 0; i < values.size(); i++) {
			const uint32_t c = channelOf(desc, order, i);
			const auto [lowest, highest] = desc.limits(c);
			values[i] = static_cast<float>(desc.quantization.channel(c).real(
				random.real(static_cast<double>(lowest),
					    static_cast<double>(highest))));
		}
		std::vector<std::byte> tensor(desc.size, std::byte{ 0x5a });
		auto packed = packFloat(desc, values, tensor, order);
		ASSERT_TRUE(packed) << packed.error().message();
		auto back = unpackFloat(desc, tensor, order);
		ASSERT_TRUE(back);
		for (size_t i = 0; i < values.size(); i++) {
			const double scale =
				desc.quantization.channel(channelOf(desc, order, i)).scale;
			/* A float in and one out are rounded besides. */
			ASSERT_NEAR((*back)[i], values[i],
				    scale / 2 + std::fabs(values[i]) * 0x1p-23);
		}
	});
}

TEST(TensorNumbers, BeyondTheRangeSaturate)
{
	forTensors(703, [](Random &random, const TensorDesc &desc, ElementOrder order) {
		const float far = random(0, 1) ? 1e9f : -1e9f;
		auto elements =
			elementsFromFloat(desc, std::vector<float>(desc.elements(), far), order);
		ASSERT_TRUE(elements);
		for (size_t i = 0; i < desc.elements(); i++) {
			const auto [lowest, highest] = desc.limits(channelOf(desc, order, i));
			ASSERT_EQ(elementAt(desc, *elements, i), far > 0 ? highest : lowest);
		}
	});
}

TEST(TensorNumbers, ZeroIsTheZeroPointAndGapsAreZeroBytes)
{
	forTensors(704, [](Random &, const TensorDesc &desc, ElementOrder order) {
		std::vector<std::byte> tensor(desc.size, std::byte{ 0x5a });
		ASSERT_TRUE(packFloat(desc, std::vector<float>(desc.elements()), tensor, order));
		auto elements = unpackElements(desc, tensor, order);
		ASSERT_TRUE(elements);
		for (size_t i = 0; i < desc.elements(); i++)
			ASSERT_EQ(elementAt(desc, *elements, i),
				  desc.quantization.channel(channelOf(desc, order, i)).zeroPoint);

		/* With the elements zero, nothing is left. */
		std::ranges::fill(*elements, std::byte{ 0 });
		ASSERT_TRUE(overwriteElements(desc, *elements, tensor, order));
		ASSERT_EQ(tensor, std::vector<std::byte>(desc.size));
	});
}

TEST(TensorNumbers, FixedPointIsAQuantization)
{
	Random random(705);

	for (int round = 0; round < 100; round++) {
		FixedFormat format{ random.oneOf<DataType>({ DataType::Int8, DataType::Int16 }),
				    random.size(0, 20) };
		TensorDesc desc = TensorDesc::packedFeature("x", format.container, 5, 1, 3);
		desc.quantization = format.quantization();
		std::vector<float> values(desc.elements());
		for (float &value : values)
			value = static_cast<float>(random.real(-1, 1) *
						   std::ldexp(2, format.integerBits()));
		const auto elements = elementsFromFloat(desc, values).value();
		for (size_t i = 0; i < values.size(); i++)
			ASSERT_EQ(elementAt(desc, elements, i), toFixed(values[i], format));
	}
}

TEST(TensorNumbers, HalvesAreTheirDefinition)
{
	Random random(706);
	std::vector<uint16_t> halves(0x10000);
	std::vector<float> values;

	for (size_t i = 0; i < halves.size(); i++)
		halves[i] = static_cast<uint16_t>(i);
	/* All bits, and the neighbourhood of what halves hold and of what lies between. */
	for (int i = 0; i < 100000; i++) {
		const auto near = static_cast<uint32_t>(random(-1, 1));
		const uint32_t half = std::bit_cast<uint32_t>(
			halfToFloat(static_cast<uint16_t>(random(0, 0xffff))));
		values.push_back(std::bit_cast<float>(half + near));
		values.push_back(std::bit_cast<float>((half ^ 0x1000) + near));
		values.push_back(std::bit_cast<float>(random.size(0, UINT32_MAX)));
	}
	forEachTarget([&] {
		const auto elements = elementsFromFloat(DataType::Half, values);
		const auto back = elementsToFloat(DataType::Half, std::as_bytes(std::span(halves)));
		for (size_t i = 0; i < values.size(); i++) {
			uint16_t half;
			std::memcpy(&half, &elements[i * sizeof(half)], sizeof(half));
			ASSERT_EQ(half, floatToHalf(values[i]))
				<< std::bit_cast<uint32_t>(values[i]);
		}
		for (size_t i = 0; i < halves.size(); i++)
			ASSERT_EQ(std::bit_cast<uint32_t>(back[i]),
				  std::bit_cast<uint32_t>(halfToFloat(halves[i])))
				<< i;
	});
}

TEST(TensorNumbers, HalvesHaveNoQuantization)
{
	TensorDesc desc = TensorDesc::packedFeature("x", DataType::Half, 17, 2, 3);
	std::vector<float> values(desc.elements(), 0.1f);
	std::vector<std::byte> tensor(desc.size);

	ASSERT_TRUE(packFloat(desc, values, tensor));
	EXPECT_EQ(unpackFloat(desc, tensor).value()[101], halfToFloat(floatToHalf(0.1f)));
	desc.quantization = Quantization{ 0.5 };
	auto packed = packFloat(desc, values, tensor);
	ASSERT_FALSE(packed);
	EXPECT_EQ(packed.error().where, "quantization");
}

TEST(TensorNumbers, RefuseWhatCannotBe)
{
	const TensorDesc good = TensorDesc::packedFeature("x", DataType::Int8, 3, 2, 2);
	auto refused = [&](const TensorQuantization &quantization) {
		TensorDesc desc = good;
		desc.quantization = quantization;
		auto checked = desc.check();
		return checked ? std::string() : checked.error().why;
	};
	auto channels = [](size_t count) {
		return TensorQuantization(std::vector<Quantization>(count));
	};

	EXPECT_EQ(refused(channels(1)), "");
	EXPECT_EQ(refused(channels(3)), "");
	EXPECT_NE(refused(channels(2)).find("2 values"), std::string::npos);
	EXPECT_NE(refused(channels(4)).find("3 channels"), std::string::npos);
	for (double scale : { 0.0, -1.0, double(NAN), double(INFINITY) })
		EXPECT_NE(refused(Quantization{ scale }), "") << scale;
	EXPECT_EQ(refused(Quantization{ 1, -128 }), "");
	EXPECT_NE(refused(Quantization{ 1, -129 }).find("-129"), std::string::npos);
	EXPECT_NE(refused(Quantization{ 1, 128 }), "");

	auto few = elementsFromFloat(good, std::vector<float>(11));
	ASSERT_FALSE(few);
	EXPECT_EQ(few.error().why, "11 numbers given, 12 needed");
	EXPECT_FALSE(elementsToFloat(good, std::vector<std::byte>(13)));
}

TEST(TensorNumbers, NansOfAnInputAreCounted)
{
	const float quiet = std::numeric_limits<float>::quiet_NaN();
	const std::vector<float> numbers = { quiet, -quiet, 0, INFINITY, -INFINITY, 65504, -0.0F };
	const std::vector<std::byte> halves = elementsFromFloat(DataType::Half, numbers);
	TensorDesc input = TensorDesc::packedFeature("x", DataType::Half, 7, 1, 1);

	EXPECT_EQ(inputNote(input, DataType::Float, std::as_bytes(std::span(numbers))),
		  "input 'x' has 2 NaNs");
	EXPECT_EQ(inputNote(input, DataType::Half, halves), "input 'x' has 2 NaNs");
	EXPECT_EQ(inputNote(input, DataType::Float, std::as_bytes(std::span(numbers).subspan(2))),
		  "");
	EXPECT_EQ(inputNote(input, DataType::Int16, halves), "");
	input.type = DataType::Int8;
	EXPECT_EQ(inputNote(input, DataType::Float, std::as_bytes(std::span(numbers).first(1))),
		  "input 'x' has 1 NaN: the network gets 0 instead");
}

TEST(TensorNumbers, ClippedNumbersOfAnInputAreCounted)
{
	const std::vector<float> numbers = { 0, -1, 1, 1.5F, -1.007F, INFINITY };
	const auto data = std::as_bytes(std::span(numbers));
	TensorDesc input = TensorDesc::packedFeature("x", DataType::Int8, 6, 1, 1);
	const auto note = [&](DataType type, std::span<const std::byte> given) {
		return inputNote(input, type, given);
	};

	/* 1 and -1.007 are off by no more than a step. */
	input.quantization = Quantization{ 1.0 / 128, 0 };
	EXPECT_EQ(note(DataType::Float, data),
		  "2 of 6 numbers of input 'x' are outside -1 to 0.9922 and were clipped");
	EXPECT_EQ(note(DataType::Float, data.last(4)),
		  "1 of 1 numbers of input 'x' is outside -1 to 0.9922 and was clipped");
	EXPECT_EQ(note(DataType::Float, data.first(12)), "");
	EXPECT_EQ(note(DataType::Half, elementsFromFloat(DataType::Half, numbers)),
		  note(DataType::Float, data));
	EXPECT_NE(note(DataType::Int64, elementsFromFloat(DataType::Int64, numbers)), "");
	EXPECT_EQ(note(DataType::Int8, elementsFromFloat(DataType::Int8, numbers)), "");

	input.quantization = TensorQuantization(
		{ { 1, 0 }, { 0.5, -10 }, { 1, 0 }, { 1, 120 }, { 1, 0 }, { 1, 0 } });
	const std::vector<float> wide = { -250, 127, 128.5F, -247, 130 };
	EXPECT_EQ(note(DataType::Float, std::as_bytes(std::span(wide))),
		  "3 of 5 numbers of input 'x' are outside -248 to 127 and were clipped");

	input.type = DataType::Half;
	input.quantization = {};
	EXPECT_EQ(note(DataType::Float, data), "");
}

} /* namespace nvdla */
