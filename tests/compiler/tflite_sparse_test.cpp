/* SPDX-License-Identifier: MIT */
/*
 * Constants of TFLite files that only have the elements that are not zero.
 */
#include <random>

#include <gtest/gtest.h>

#include "compiler/import/tflite/file.h"
#include "tflite_builder.h"

namespace nvdla::test
{

namespace
{

using compiler::Extents;

struct Axis {
	int32_t extent = 0; /* without lists: all of them */
	std::vector<uint8_t> segments = {};
	std::vector<uint8_t> indices = {};
};

/* The result of densified() for the elements 1, 2, 3, ...; empty if it is an error. */
std::vector<int> densified(const Extents &shape, const std::vector<int32_t> &order,
			   const std::vector<int32_t> &blocks, const std::vector<Axis> &axes,
			   uint8_t elements)
{
	flatbuffers::FlatBufferBuilder flat;
	std::vector<flatbuffers::Offset<fb::DimensionMetadata>> levels;
	std::vector<std::byte> bytes;

	for (const Axis &axis : axes) {
		if (axis.segments.empty()) {
			levels.push_back(fb::CreateDimensionMetadata(flat, fb::DimensionType::DENSE,
								     axis.extent));
			continue;
		}
		const auto segments = fb::CreateUint8VectorDirect(flat, &axis.segments).Union();
		const auto indices = fb::CreateUint8VectorDirect(flat, &axis.indices).Union();
		levels.push_back(fb::CreateDimensionMetadata(
			flat, fb::DimensionType::SPARSE_CSR, 0, fb::SparseIndexVector::Uint8Vector,
			segments, fb::SparseIndexVector::Uint8Vector, indices));
	}
	flat.Finish(fb::CreateSparsityParametersDirect(flat, &order, &blocks, &levels));
	for (uint8_t i = 1; i <= elements; i++)
		bytes.push_back(static_cast<std::byte>(i));
	const auto *sparsity =
		flatbuffers::GetRoot<fb::SparsityParameters>(flat.GetBufferPointer());
	const auto dense = compiler::tflite::densified(*sparsity, bytes, 1, shape, "tensor");
	std::vector<int> numbers;
	for (size_t i = 0; dense && i < dense->size(); i++)
		numbers.push_back(static_cast<int>((*dense)[i]));
	return numbers;
}

using Elements = std::vector<int>;

} /* namespace */

TEST(TfliteSparse, HasRowsWithSomeOfTheirColumns)
{
	EXPECT_EQ(densified({ 2, 3 }, { 0, 1 }, {}, { { 2 }, { 0, { 0, 1, 3 }, { 2, 0, 1 } } }, 3),
		  (Elements{ 0, 0, 1, 2, 3, 0 }));
	/* Columns first. */
	EXPECT_EQ(
		densified({ 2, 3 }, { 1, 0 }, {}, { { 3 }, { 0, { 0, 1, 1, 3 }, { 1, 0, 1 } } }, 3),
		(Elements{ 0, 0, 2, 1, 0, 3 }));
}

/* Blocks of 1 x 2 in a matrix of 2 x 4, of which the second and the first are there. */
TEST(TfliteSparse, HasBlocks)
{
	EXPECT_EQ(densified({ 2, 4 }, { 0, 1, 2 }, { 1 },
			    { { 2 }, { 0, { 0, 1, 2 }, { 1, 0 } }, { 2 } }, 4),
		  (Elements{ 0, 0, 1, 2, 3, 4, 0, 0 }));
}

TEST(TfliteSparse, StaysInItsShape)
{
	const std::vector<Axis> good = { { 2 }, { 0, { 0, 1, 3 }, { 2, 0, 1 } } };
	std::vector<Axis> bad = good;

	bad[1].indices[0] = 3;
	EXPECT_EQ(densified({ 2, 3 }, { 0, 1 }, {}, bad, 3), Elements{});
	EXPECT_EQ(densified({ 2, 3 }, { 0, 1 }, {}, good, 2), Elements{}); /* too few elements */
	EXPECT_EQ(densified({ 2, 3 }, { 0, 2 }, {}, good, 3), Elements{});
	EXPECT_EQ(densified({ 2, 3 }, { 0, -1 }, {}, good, 3), Elements{});
	EXPECT_EQ(densified({ 2, 3, 4 }, { 0, 1 }, {}, good, 3), Elements{});
	bad = good;
	bad[1].segments = { 0, 1 };
	EXPECT_EQ(densified({ 2, 3 }, { 0, 1 }, {}, bad, 3), Elements{});
	bad[1].segments = { 0, 2, 1 };
	EXPECT_EQ(densified({ 2, 3 }, { 0, 1 }, {}, bad, 3), Elements{});
	bad[1].segments = { 0, 1, 200 };
	EXPECT_EQ(densified({ 2, 3 }, { 0, 1 }, {}, bad, 3), Elements{});
}

/* Lists that name the same elements over and over end soon. */
TEST(TfliteSparse, IsGoneThroughOnce)
{
	const Axis all{ 0, std::vector<uint8_t>(200, 0), std::vector<uint8_t>(200, 0) };
	std::vector<Axis> axes(6, all);

	for (Axis &axis : axes) {
		for (size_t i = 0; i < axis.segments.size(); i++)
			axis.segments[i] = i ? 199 : 0;
	}
	EXPECT_EQ(densified({ 1, 1, 1, 1, 1, 1 }, { 0, 1, 2, 3, 4, 5 }, {}, axes, 200), Elements{});
}

/* Random lists: no access is outside of a list or of the constant (seen by the sanitizers). */
TEST(TfliteSparse, TakesAnyNumbers)
{
	std::mt19937 random(20261128);
	const auto any = [&](uint32_t most) { return static_cast<uint8_t>(random() % most); };

	for (int round = 0; round < 2000; round++) {
		std::vector<Axis> axes;
		std::vector<int32_t> order;
		for (int i = 0; i < 3; i++) {
			Axis axis{ static_cast<int32_t>(random() % 5) - 1 };
			for (int j = 0; random() % 2 && j < 6; j++) {
				axis.segments.push_back(any(6));
				axis.indices.push_back(any(6));
			}
			axes.push_back(axis);
			order.push_back(static_cast<int32_t>(random() % 5) - 1);
		}
		densified({ 2, 3 }, order, { static_cast<int32_t>(random() % 4) - 1 }, axes,
			  any(12));
	}
}

} /* namespace nvdla::test */
