/* SPDX-License-Identifier: MIT */
/*
 * Vectors of any bits against one element after the other, with every instruction set.
 */
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <random>
#include <span>
#include <vector>

#include <gtest/gtest.h>

#include "each_target.h"
#include "pdp/pdp_arith.h"
#include "pdp/pdp_pooler.h"
#include "pdp_extreme.h"
#include "pdp_naive.h"

using namespace nvdla::sim;
using namespace nvdla::test;

namespace
{

/*
 * One element after the other, by pdp_arith.h: a line of windows of two rows and three columns, of
 * which the first and the last one have a column of padding.
 */
template<typename Arith>
std::vector<typename Arith::Element> poolOneByOne(const PdpOp &op,
						  const std::vector<typename Arith::Element> &in)
{
	const Arith arith(op);
	const size_t line = size_t{ op.inWidth } * op.lanes();
	std::vector<typename Arith::Element> out(size_t{ op.outWidth } * op.lanes());

	const auto rowAt = [&](size_t y, size_t x, size_t lane) {
		const size_t begin = std::max<size_t>(x, 1) - 1;
		const size_t end = std::min<size_t>(x + 2, op.inWidth);
		const auto at = [&](size_t column) {
			return arith.load(in[y * line + column * op.lanes() + lane]);
		};
		auto row = at(begin);
		for (size_t column = begin + 1; column < end; column++)
			row = arith.addInRow(row, at(column));
		return arith.finishRow(row, static_cast<uint32_t>(3 - (end - begin)));
	};
	for (size_t i = 0; i < out.size(); i++) {
		const size_t x = i / op.lanes(), lane = i % op.lanes();
		const auto sum = arith.addRow(rowAt(0, x, lane), rowAt(1, x, lane));
		out[i] = arith.finish(sum, 0);
	}
	return out;
}

template<typename Element>
std::vector<Element> poolByPooler(const PdpOp &op, const std::vector<Element> &in)
{
	const PdpPart part = pdpParts(op).front();
	const auto pooler = PdpPooler::create(op, part);
	const auto bytes = std::as_bytes(std::span(in));
	PooledLine<Element> out;

	for (const auto line : { bytes.first(bytes.size() / 2), bytes.last(bytes.size() / 2) })
		pooler->push(line, out);
	return out.elements;
}

/** \brief Puts the output where the last line of the input is */
struct InPlace final : PdpOutput {
	explicit InPlace(std::span<std::byte> where) : line(where) {}

	std::span<std::byte> place(uint32_t, size_t bytes) override { return line.first(bytes); }
	void write(uint32_t, std::span<const std::byte>) override {}

	std::span<std::byte> line;
};

template<typename Element>
std::vector<Element> poolInPlace(const PdpOp &op, std::vector<Element> in)
{
	const PdpPart part = pdpParts(op).front();
	const auto pooler = PdpPooler::create(op, part);
	const auto bytes = std::as_writable_bytes(std::span(in));
	InPlace out(bytes.last(bytes.size() / 2));

	pooler->push(bytes.first(bytes.size() / 2), out);
	pooler->push(out.line, out);
	return { in.begin() + static_cast<ptrdiff_t>(in.size() / 2), in.end() };
}

/* \param any an element's bits */
template<typename Arith, typename Any>
void compareWithOneByOne(Precision precision, PoolingMethod method, std::mt19937 &random, Any any)
{
	PdpOp op = opOf(precision, method);
	op.inWidth = op.outWidth = 10;
	op.padLeft = op.padRight = 1;
	op.inHeight = op.kernelHeight = 2;
	op.kernelWidth = 3;
	if (precision != Precision::Fp16 && random() % 2) {
		/* As networks have them, and a little more: some results do not fit. */
		op.recipWidth = 65536 / 3 + random() % 3;
		op.recipHeight = 65536 / 2 - 1 + random() % 3;
		for (int32_t *pad : { &op.padValue[0], &op.padValue[1] })
			*pad = random() % 2 ? static_cast<int32_t>(random() % 7) - 3 : 0;
	} else if (random() % 5) {
		/* Of FP17 any number, or none of the largest; often at most one. */
		const uint32_t mask = random() % 5 ? 0x1cfff : 0x1ffff;
		const bool shrinks = random() % 2;
		op.recipWidth = random() & (shrinks ? 0x17bff : mask);
		op.recipHeight = random() & (shrinks ? 0x17bff : mask);
		for (int32_t *pad : { &op.padValue[0], &op.padValue[1] })
			*pad = random() % 3 ? static_cast<int32_t>(random() & mask) : 0;
		/* No register has what none adds. */
		if (random() % 2)
			op.padValue[0] = 0;
		if (precision != Precision::Fp16)
			op.padValue[0] -= 1 << 16;
	}
	std::vector<typename Arith::Element> in(size_t{ 2 } * op.inWidth * op.lanes());
	using Limits = std::numeric_limits<typename Arith::Element>;
	const bool extremes = precision != Precision::Fp16 && random() % 4 == 0;
	for (auto &element : in) {
		element = static_cast<typename Arith::Element>(any());
		if (extremes)
			element = op.padValue[0] < 0 ? Limits::min() : Limits::max();
	}
	/* One of both lines without NaNs and infinities, now and then. */
	const std::span first = std::span(in).first(in.size() / 2);
	if (precision == Precision::Fp16 && random() % 4 == 0)
		for (auto &element : random() % 2 ? first : std::span(in).last(first.size()))
			if ((element & 0x7c00) == 0x7c00)
				element = static_cast<typename Arith::Element>(element & 0xbfff);
	/* Or none but in one place. */
	if (precision == Precision::Fp16 && random() % 4 == 0) {
		for (auto &element : in)
			if ((element & 0x7c00) == 0x7c00)
				element = static_cast<typename Arith::Element>(element & 0xbfff);
		in[random() % in.size()] |= 0x7c00;
	}
	const auto expected = poolOneByOne<Arith>(op, in);

	forEachTarget([&] {
		ASSERT_EQ(poolByPooler(op, in), expected);
		ASSERT_EQ(poolInPlace(op, in), expected);
	});
}

} /* namespace */

/* NaNs, infinities, denormal numbers and numbers that cancel, and any numbers in registers. */
TEST(PdpAllBits, HalvesAreAsOneByOne)
{
	std::mt19937 random(seed + 7);

	for (uint32_t round = 0; round < 1000 && !HasFailure(); round++) {
		const auto any = [&] {
			auto half = static_cast<uint16_t>(random());
			if (round % 2 && (half & 0x7c00) == 0x7c00)
				half &= 0xbfff;
			/* Close to others, so that sums cancel. */
			if (round % 4 > 1 && random() % 4)
				half = static_cast<uint16_t>((half & 0x8003) |
							     (round << 4 & 0x3ff0));
			return half;
		};
		SCOPED_TRACE(round);
		compareWithOneByOne<PdpFloatExtreme<PoolingMethod::Max>>(
			Precision::Fp16, PoolingMethod::Max, random, any);
		compareWithOneByOne<PdpFloatExtreme<PoolingMethod::Min>>(
			Precision::Fp16, PoolingMethod::Min, random, any);
		compareWithOneByOne<PdpFloatAverage>(Precision::Fp16, PoolingMethod::Average,
						     random, any);
	}
}

TEST(PdpAllBits, IntegerAveragesAreAsOneByOne)
{
	std::mt19937 random(seed + 8);

	for (uint32_t round = 0; round < 200 && !HasFailure(); round++) {
		SCOPED_TRACE(round);
		compareWithOneByOne<PdpIntegerAverage<Precision::Int8>>(
			Precision::Int8, PoolingMethod::Average, random, random);
		compareWithOneByOne<PdpIntegerAverage<Precision::Int16>>(
			Precision::Int16, PoolingMethod::Average, random, random);
	}
}
