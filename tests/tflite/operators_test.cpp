/* SPDX-License-Identifier: MIT */
/*
 * Operators that no model of the reference data has, as the delegate hands them on.
 */
#include <cmath>

#include <gtest/gtest.h>

#include "interpreter.h"
#include "test_support.h"
#include "tflite_builder.h"

namespace nvdla::test
{

namespace
{

namespace fb = nvdla::tflite;

constexpr int32_t gatherCode = 36, divCode = 42, tileCode = 69, sumCode = 74, packCode = 83,
		  unpackCode = 88, reduceMinCode = 89, squaredDifferenceCode = 99,
		  mirrorPadCode = 100, addNCode = 106, selectCode = 123, productCode = 126,
		  geluCode = 150;

Array numbers(size_t count)
{
	Array array{ "<f4", {} };

	for (size_t i = 0; i < count; i++)
		array.numbers.push_back(static_cast<double>(i * 37 % 100) - 50);
	return array;
}

/* All nodes are on the device, and make what TensorFlow Lite's own kernels do. */
void expectTaken(const std::vector<std::byte> &file, size_t nodes, const Array &input)
{
	testing::internal::CaptureStderr();
	const DelegatePointer delegate = loadDelegate({ { "device", fastDevicePath() } });
	Interpreter with(file, delegate.get()), alone(file, nullptr);
	const std::string said = testing::internal::GetCapturedStderr();
	const std::string all = std::to_string(nodes);
	EXPECT_NE(said.find("takes " + all + " of " + all + " nodes"), std::string::npos) << said;
	const std::vector<Array> got = with.run({ input }), wanted = alone.run({ input });
	ASSERT_EQ(got.size(), 1U);
	ASSERT_EQ(wanted.size(), 1U);
	ASSERT_EQ(got[0].numbers.size(), wanted[0].numbers.size());
	for (size_t i = 0; i < got[0].numbers.size(); i++)
		EXPECT_NEAR(got[0].numbers[i], wanted[0].numbers[i],
			    0.01 + 0.002 * std::fabs(wanted[0].numbers[i]))
			<< i;
}

/* Every second operator is none of the compiler's. */
TEST(DelegateOperators, NoMorePartitionsThanPromised)
{
	constexpr int32_t cosineCode = 108;
	constexpr int islands = 20;
	TfliteBuilder builder;
	const int32_t x = builder.floats({ 1, 4, 4, 8 });
	int32_t y = x;

	for (int i = 0; i < islands; i++) {
		const int32_t sum = builder.floats({ 1, 4, 4, 8 });
		const int32_t cosine = builder.floats({ 1, 4, 4, 8 });
		builder.node(addNCode, { y, x }, { sum });
		builder.node(cosineCode, { sum }, { cosine });
		y = cosine;
	}
	testing::internal::CaptureStderr();
	const DelegatePointer delegate = loadDelegate({ { "device", fastDevicePath() } });
	const Interpreter with(builder.file({ x }, { y }), delegate.get());
	const std::string said = testing::internal::GetCapturedStderr();
	EXPECT_NE(said.find("takes 16 of 40 nodes in 16 partitions"), std::string::npos) << said;
	EXPECT_NE(said.find("leaves node 32 '"), std::string::npos) << said;
	EXPECT_NE(said.find("there are larger partitions"), std::string::npos) << said;
	EXPECT_EQ(said.find("1 nodes"), std::string::npos) << said;
}

TEST(DelegateOperators, UnpackAndPack)
{
	TfliteBuilder builder;
	const int32_t x = builder.floats({ 1, 2, 4, 16 });
	const int32_t upper = builder.floats({ 1, 4, 16 }), lower = builder.floats({ 1, 4, 16 });
	const int32_t y = builder.floats({ 1, 2, 4, 16 });

	builder.node(unpackCode, { x }, { upper, lower }, fb::BuiltinOptions::UnpackOptions,
		     fb::CreateUnpackOptions(builder.flat, 2, 1));
	builder.node(packCode, { lower, upper }, { y }, fb::BuiltinOptions::PackOptions,
		     fb::CreatePackOptions(builder.flat, 2, 1));
	expectTaken(builder.file({ x }, { y }), 2, numbers(2 * 4 * 16));
}

TEST(DelegateOperators, QuotientsAndSums)
{
	TfliteBuilder builder;
	const int32_t x = builder.floats({ 1, 3, 4, 2 });
	const int32_t by = builder.constant<float>({ 2 }, { 4, -2 });
	const int32_t quotient = builder.floats({ 1, 3, 4, 2 });
	const int32_t axes = builder.list({ 1 });
	const int32_t y = builder.floats({ 1, 4, 2 });

	builder.node(divCode, { x, by }, { quotient }, fb::BuiltinOptions::DivOptions,
		     fb::CreateDivOptions(builder.flat, fb::Activation::RELU));
	builder.node(sumCode, { quotient, axes }, { y }, fb::BuiltinOptions::ReducerOptions,
		     fb::CreateReducerOptions(builder.flat, false));
	expectTaken(builder.file({ x }, { y }), 2, numbers(3 * 4 * 2));
}

TEST(DelegateOperators, MirroredAndChosen)
{
	TfliteBuilder builder;
	const int32_t x = builder.floats({ 1, 3, 4, 2 });
	const int32_t pads = builder.constant<int32_t>({ 4, 2 }, { 0, 0, 1, 1, 2, 0, 0, 0 });
	const int32_t padded = builder.floats({ 1, 5, 6, 2 });
	const int32_t zeros = builder.constant<float>({ 1, 1, 1, 2 }, { 0, 7 });
	const int32_t some = builder.constant<uint8_t>({ 1, 1, 6, 1 }, { 1, 0, 1, 1, 0, 0 });
	const int32_t y = builder.floats({ 1, 5, 6, 2 });

	builder.node(mirrorPadCode, { x, pads }, { padded }, fb::BuiltinOptions::MirrorPadOptions,
		     fb::CreateMirrorPadOptions(builder.flat, fb::MirrorPadMode::SYMMETRIC));
	builder.node(selectCode, { some, padded, zeros }, { y });
	expectTaken(builder.file({ x }, { y }), 2, numbers(3 * 4 * 2));
}

TEST(DelegateOperators, GatheredAndRepeated)
{
	TfliteBuilder builder;
	const int32_t x = builder.floats({ 1, 3, 4, 2 });
	const int32_t some = builder.list({ 3, 0, 0, 1 }),
		      one = builder.constant<int32_t>({}, { 2 });
	const int32_t gathered = builder.floats({ 1, 3, 4, 2 }), line = builder.floats({ 1, 4, 2 });
	const int32_t times = builder.list({ 1, 2, 3 }), y = builder.floats({ 1, 8, 6 });

	builder.node(gatherCode, { x, some }, { gathered }, fb::BuiltinOptions::GatherOptions,
		     fb::CreateGatherOptions(builder.flat, 2));
	builder.node(gatherCode, { gathered, one }, { line }, fb::BuiltinOptions::GatherOptions,
		     fb::CreateGatherOptions(builder.flat, -3));
	builder.node(tileCode, { line, times }, { y });
	expectTaken(builder.file({ x }, { y }), 3, numbers(3 * 4 * 2));
}

TEST(DelegateOperators, ProductsAndDifferences)
{
	for (const bool transposed : { false, true }) {
		TfliteBuilder builder;
		const int32_t x = builder.floats({ 1, 4, 2 });
		const int32_t matrix = builder.constant<float>(
			transposed ? Shape{ 1, 3, 2 } : Shape{ 1, 2, 3 }, { 1, -2, 0.5, 3, 4, -1 });
		const int32_t product = builder.floats({ 1, 4, 3 });
		const int32_t other = builder.constant<float>({ 3 }, { 2, 0, -7 });
		const int32_t difference = builder.floats({ 1, 4, 3 });
		const int32_t y = builder.floats({ 1, 4, 3 });
		builder.node(productCode, { x, matrix }, { product },
			     fb::BuiltinOptions::BatchMatMulOptions,
			     fb::CreateBatchMatMulOptions(builder.flat, false, transposed));
		builder.node(squaredDifferenceCode, { product, other }, { difference });
		builder.node(addNCode, { difference, product, product }, { y });
		expectTaken(builder.file({ x }, { y }), 3, numbers(4 * 2));
	}
}

TEST(DelegateOperators, BothWaysOfGelu)
{
	TfliteBuilder builder;
	const Shape shape = { 1, 1, 5, 20 };
	const int32_t x = builder.floats(shape), by = builder.constant<float>({ 1 }, { 16 });
	const int32_t small = builder.floats(shape), sum = builder.floats(shape);
	const int32_t axes = builder.list({ 1, 2 }), least = builder.floats({ 1, 1, 1, 20 });
	std::vector<int32_t> parts;

	builder.node(divCode, { x, by }, { small }, fb::BuiltinOptions::DivOptions,
		     fb::CreateDivOptions(builder.flat, fb::Activation::NONE));
	for (const bool approximate : { false, true }) {
		parts.push_back(builder.floats(shape));
		builder.node(geluCode, { small }, { parts.back() }, fb::BuiltinOptions::GeluOptions,
			     fb::CreateGeluOptions(builder.flat, approximate));
	}
	builder.node(addNCode, parts, { sum });
	builder.node(reduceMinCode, { sum, axes }, { least }, fb::BuiltinOptions::ReducerOptions,
		     fb::CreateReducerOptions(builder.flat, true));
	expectTaken(builder.file({ x }, { least }), 5, numbers(5 * 20));
}

} /* namespace */

} /* namespace nvdla::test */
