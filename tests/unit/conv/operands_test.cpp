/* SPDX-License-Identifier: MIT */
/*
 * Pieces of lines as operands: each element is converted, and nothing else is written.
 */
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <numeric>
#include <span>
#include <vector>

#include <gtest/gtest.h>

#include "conv/tile_operands.h"
#include "each_target.h"

namespace nvdla::sim
{

using test::forEachTarget;

namespace
{

template<typename Operand>
void pack(LineFormat format, const LinePiece &piece, Operand *out)
{
	packPiece(format, piece, reinterpret_cast<std::byte *>(out));
}

/* A piece whose parts are at the beginning of an atom each. */
struct Shape {
	size_t parts;
	size_t elements; /* of a part */
	size_t between;	 /* elements of the line that are not the piece's */
};

/**
 * \brief Convert pieces of any few parts, and hold each element against \a expected of it
 * \param convert a piece to the operands from an address on
 */
template<typename Element, typename Operand, typename Convert, typename Expected>
void expectPieces(Convert convert, Expected expected)
{
	constexpr Operand kUntouched{ 77 };
	std::vector<Element> buffer(32 * atomBytes / sizeof(Element));

	std::iota(buffer.begin(), buffer.end(), Element{ 1 });
	const auto expectPiece = [&](const Shape &shape) {
		const size_t step = shape.elements + shape.between;
		const LinePiece piece = { .from = reinterpret_cast<const std::byte *>(
						  buffer.data()),
					  .fromStep = atomBytes,
					  .to = 0,
					  .toStep = step * sizeof(Element),
					  .bytes = shape.elements * sizeof(Element),
					  .parts = shape.parts };
		std::vector<Operand> operands(shape.parts * step + 32, kUntouched);
		std::vector<Operand> wanted = operands;
		for (size_t part = 0; part < shape.parts; part++)
			for (size_t i = 0; i < shape.elements; i++)
				wanted[part * step + i] =
					expected(buffer[part * atomBytes / sizeof(Element) + i]);
		forEachTarget([&] {
			auto out = operands;
			convert(piece, out.data());
			EXPECT_EQ(out, wanted) << shape.parts << " parts of " << shape.elements
					       << " elements, " << shape.between << " between them";
		});
	};
	for (const size_t elements : { 1, 2, 3, 4, 5, 8, 16 })
		for (const size_t between : { 0, 3, 16 })
			for (const size_t parts : { 0, 1, 2, 3, 4, 5, 6, 31 })
				expectPiece({ parts, elements, between });
}

} /* namespace */

TEST(OperandsTest, BytesOfPiecesStayAsTheyAre)
{
	expectPieces<int8_t, int8_t>(
		[](const LinePiece &piece, int8_t *out) { pack(LineFormat::Bytes, piece, out); },
		[](int8_t element) { return element; });
}

TEST(OperandsTest, BytesOfPiecesBecomeUnsigned)
{
	expectPieces<int8_t, uint8_t>(
		[](const LinePiece &piece, uint8_t *out) {
			pack(LineFormat::Unsigned, piece, out);
		},
		[](int8_t element) { return static_cast<uint8_t>(element + 128); });
}

TEST(OperandsTest, BytesOfPiecesBecomeWide)
{
	expectPieces<int8_t, int16_t>([](const LinePiece &piece,
					 int16_t *out) { pack(LineFormat::WideBytes, piece, out); },
				      [](int8_t element) { return int16_t{ element }; });
}

TEST(OperandsTest, HalvesOfPiecesBecomeFloats)
{
	expectPieces<uint16_t, float>(
		[](const LinePiece &piece, float *out) { pack(LineFormat::Floats, piece, out); },
		[](uint16_t element) {
			float value;
			widenHalves(reinterpret_cast<const std::byte *>(&element), 1, &value);
			return value;
		});
}

TEST(OperandsTest, KernelsOwnElementsAreFoundAndOthersAreNoticed)
{
	constexpr size_t kStep = 2 * atomBytes;

	for (const size_t elementBytes : { 1, 2 })
		for (size_t kernels = 0; kernels <= atomBytes / elementBytes; kernels++) {
			std::vector<std::byte> atoms(kStep * atomBytes, std::byte{ 0x55 });
			std::vector<std::byte> wanted(atomBytes);
			const KernelRows rows = { atoms.data(), kStep, kernels };
			for (size_t kernel = 0; kernel < kernels; kernel++) {
				std::fill_n(&atoms[kernel * kStep], atomBytes, std::byte{ 0 });
				for (size_t i = 0; i < elementBytes; i++)
					wanted[kernel * elementBytes + i] =
						atoms[kernel * kStep + kernel * elementBytes + i] =
							static_cast<std::byte>(kernel + i + 1);
			}
			test::forEachVectorTarget([&] {
				std::vector<std::byte> own(atomBytes, std::byte{ 77 });
				EXPECT_TRUE(ownElements(rows, elementBytes, own.data()));
				EXPECT_EQ(own, wanted);
				for (size_t at = 0; at < kernels * atomBytes; at++) {
					std::byte &other =
						atoms[at / atomBytes * kStep + at % atomBytes];
					if (at % atomBytes / elementBytes == at / atomBytes)
						continue;
					other = std::byte{ 0x80 };
					EXPECT_FALSE(ownElements(rows, elementBytes, own.data()))
						<< at;
					other = std::byte{ 0 };
				}
			});
		}
}

TEST(OperandsTest, NansAreFoundAnywhere)
{
	constexpr size_t kParts = 3;

	for (size_t elements = 1; elements <= 40; elements++) {
		std::vector<uint16_t> halves(kParts * elements, 0xfc00);
		std::vector<float> floats(halves.size());
		const LinePiece piece = { .from = std::as_bytes(std::span(halves)).data(),
					  .fromStep = elements * sizeof(uint16_t),
					  .toStep = elements * sizeof(uint16_t),
					  .bytes = elements * sizeof(uint16_t),
					  .parts = kParts };
		forEachTarget([&] {
			pack(LineFormat::Floats, piece, floats.data());
			EXPECT_FALSE(anyNan(floats.data(), floats.size()));
			for (size_t i = 0; i < halves.size(); i++) {
				halves[i] = i % 2 ? 0x7c01 : 0xfe00;
				pack(LineFormat::Floats, piece, floats.data());
				EXPECT_TRUE(anyNan(floats.data(), floats.size())) << i;
				halves[i] = 0xfc00;
			}
		});
	}
}

} /* namespace nvdla::sim */
