/* SPDX-License-Identifier: MIT */
/*
 * Carries that the multiplier's two words lose when products are shifted by 8 bits. For files that
 * are compiled once for each instruction set (Highway).
 */
#include "conv/fp16_lanes-inl.h"
#include "conv/fp16_multiplier-inl.h"

/* An include guard that lets the file be included once for each instruction set. */
#if defined(NVDLA_SIM_CONV_FP16_CARRIES_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef NVDLA_SIM_CONV_FP16_CARRIES_INL_H
#undef NVDLA_SIM_CONV_FP16_CARRIES_INL_H
#else
#define NVDLA_SIM_CONV_FP16_CARRIES_INL_H
#endif

HWY_BEFORE_NAMESPACE();
namespace nvdla::sim
{
namespace HWY_NAMESPACE
{

/* Only for targets with vectors of doubles. */
#if HWY_TARGET != HWY_SCALAR && HWY_HAVE_FLOAT64

namespace hn = hwy::HWY_NAMESPACE;

/* The shift, in bits, to which the table applies. */
constexpr int32_t kTabledDistance = 8;

/**
 * \brief Table of the products for which a shift by 8 bits gives one less than the floor
 *
 * The multiplier shifts two words whose sum is the product. A carry between their low bytes is
 * lost; it depends on the low bytes and signs of both significands.
 */
class LostCarries
{
public:
	LostCarries()
	{
		for (uint32_t number = 0; number < kRows; number++)
			for (uint32_t weight = 0; weight < kRows; weight += kLanes)
				fill(number, weight);
	}

	/** \return index of the table's row for each datum, given its significand */
	static HWY_INLINE Integers rowIndex(Integers significand)
	{
		const Integers sign = hn::And(hn::ShiftRight<31>(significand), constant(0x100));
		return hn::Or(hn::And(significand, constant(0xff)), sign);
	}

	/** \return counts that are all zero, to begin with */
	static HWY_INLINE auto none() { return hn::Zero(hn::DFromV<Counts>()); }

	/**
	 * \param index rowIndex() of a datum's significand
	 * \return row of the table: a bit for each weight
	 */
	HWY_INLINE const uint8_t *row(uint32_t index) const { return rows_[index]; }

#if HWY_ARCH_X86 && HWY_TARGET <= HWY_AVX3

	/** Number of products that lost a carry, for each kernel of a row */
	using Counts = Row;

	/** Stores where count() finds the bits of the weights from kernel \a first on */
	static HWY_INLINE void place(size_t first, Fp16Lane &weights, Row significands)
	{
		alignas(64) static constexpr int16_t kBits[kFp16Columns] = {
			1, 2, 4, 8, 16, 32, 64, 128, 1, 2, 4, 8, 16, 32, 64, 128,
			1, 2, 4, 8, 16, 32, 64, 128, 1, 2, 4, 8, 16, 32, 64, 128,
		};
		const __m512i bit = lookedUp(kBits, hn::ShiftRight<5>(significands)).raw;
		const __mmask32 isNegative = _mm512_movepi16_mask(significands.raw);

		hn::Store(Row{ _mm512_mask_slli_epi16(bit, isNegative, bit, 8) }, RowTag(),
			  reinterpret_cast<int16_t *>(weights.carryPlaces) + first);
	}

	/** \return \a counts plus 1 for each product in \a isTabled that loses a carry
	 * \param row table's row of the datum, for the weights from kernel \a first on */
	static HWY_INLINE Counts count(const uint8_t *row, const Fp16Lane &weights, size_t first,
				       Counts counts, hn::Mask<RowTag> isTabled)
	{
		const RowTag tag;
		const Row words =
			lookedUp(wordsAt(row), hn::Load(tag, weights.significand + first));
		const Row bits = hn::Load(tag, wordsAt(weights.carryPlaces) + first);
		const __mmask32 isLost =
			_mm512_mask_test_epi16_mask(isTabled.raw, words.raw, bits.raw);

		return Row{ _mm512_mask_add_epi16(counts.raw, isLost, counts.raw, rowOf(1).raw) };
	}

	template<size_t kRow>
	static HWY_INLINE Row ofRow(Counts counts)
	{
		return counts;
	}

#else

	/** Number of products that lost a carry, for each kernel of two rows in packed() order */
	using Counts = hn::Vec<BytesTag>;

	/** Stores where count() finds the bits of the weights from kernel \a first on */
	static HWY_INLINE void place(size_t first, Fp16Lane &weights, Row significands,
				     Row next = hn::Zero(RowTag()))
	{
		const BytesTag tag;
		const Row low = rowOf(0xff);
		const Counts bytes = packedUnsigned(hn::And(significands, low), hn::And(next, low));
		const Counts sign = hn::And(packed(significands, next), hn::Set(tag, 0x80));
		const Counts bit = hn::TableLookupBytes(hn::LoadDup128(tag, kPowers),
							hn::And(bytes, hn::Set(tag, 7)));

		/* This shift of 16-bit lanes moves no sign bit to another byte. */
		const auto above =
			hn::ShiftRight<2>(hn::BitCast(hn::RebindToUnsigned<RowTag>(), sign));

		hn::StoreU(hn::Or(hn::ShiftRight<3>(bytes), hn::BitCast(tag, above)), tag,
			   weights.carryPlaces + first);
		hn::StoreU(bit, tag, weights.carryPlaces + kFp16Columns + first);
	}

	/** \return \a counts plus 1 for each product in \a isTabled that loses a carry
	 * \param row table's row of the datum, for the weights from kernel \a first on */
	static HWY_INLINE Counts
	count(const uint8_t *row, const Fp16Lane &weights, size_t first, Counts counts,
	      hn::Mask<RowTag> isTabled,
	      hn::Mask<RowTag> isNextTabled = hn::MaskFromVec(hn::Zero(RowTag())))
	{
		const BytesTag tag;
		const RowTag rowTag;
		const Counts places = hn::LoadU(tag, weights.carryPlaces + first);
		const Counts bits = hn::LoadU(tag, weights.carryPlaces + kFp16Columns + first);
		const Counts tabled = packed(hn::VecFromMask(rowTag, isTabled),
					     hn::VecFromMask(rowTag, isNextTabled));
		const Counts lost = hn::And(hn::And(bytesAt(row, places), bits), tabled);

		return hn::Add(counts, hn::Min(lost, hn::Set(tag, 1)));
	}

	/** \return the counts of row \a kRow, 0 or 1 */
	template<size_t kRow>
	static HWY_INLINE Row ofRow(Counts counts)
	{
		const BytesTag tag;
		const Counts zero = hn::Zero(tag);
		return hn::BitCast(RowTag(), kRow ? hn::InterleaveUpper(tag, counts, zero)
						  : hn::InterleaveLower(tag, counts, zero));
	}

#endif

private:
	/* Data select a row, weights a bit in the row. Both indices: sign above the significand's
	 * low byte. */
	static constexpr uint32_t kRows = 512;
	static constexpr size_t kRowBytes = kRows / 8;

#if HWY_ARCH_X86 && HWY_TARGET <= HWY_AVX3

	static const int16_t *wordsAt(const uint8_t *bytes)
	{
		return reinterpret_cast<const int16_t *>(bytes);
	}

	/* A row is an array of 32 words. The permute instruction selects one by the five lowest
	 * bits of the weight's index. */
	static constexpr uint32_t byteOf(uint32_t weight)
	{
		return weight % 32 * 2 + weight / 256;
	}
	static constexpr uint32_t bitOf(uint32_t weight)
	{
		return weight / 32 % 8;
	}

#else

	/* A row is an array of bytes, selected by the upper bits of the weight's index. */
	static constexpr uint32_t byteOf(uint32_t weight)
	{
		return weight / 8;
	}
	static constexpr uint32_t bitOf(uint32_t weight)
	{
		return weight % 8;
	}

	/** \return the bytes of a row at \a places */
	static HWY_INLINE Counts bytesAt(const uint8_t *row, Counts places)
	{
		const BytesTag tag;
#if HWY_ARCH_X86
		const Counts index = places; /* bits 4 to 6 are ignored, and bit 7 is 0 */
#else
		const Counts index = hn::And(places, hn::Set(tag, 0xf));
#endif
		const auto part = [&](size_t i) HWY_ATTR {
			return hn::TableLookupBytes(hn::LoadDup128(tag, row + 16 * i), index);
		};
		return choose<5>(places, choose<4>(places, part(3), part(2)),
				 choose<4>(places, part(1), part(0)));
	}

	/** \return \a yes where bit \a kBit is set, \a no elsewhere */
	template<int kBit>
	static HWY_INLINE Counts choose(Counts bits, Counts yes, Counts no)
	{
#if HWY_ARCH_X86 && HWY_TARGET == HWY_AVX2
		/* blendv looks only at the highest bit of each byte. */
		return Counts{ _mm256_blendv_epi8(no.raw, yes.raw,
						  _mm256_slli_epi16(bits.raw, 7 - kBit)) };
#else
		return hn::IfThenElse(hn::TestBit(bits, hn::Set(BytesTag(), 1 << kBit)), yes, no);
#endif
	}

#endif

	/* Returns the low byte of the magnitude; \a number is a low byte with a sign bit above. */
	static HWY_INLINE Integers magnitude(Integers number)
	{
		const Integers negative =
			hn::Sub(hn::Zero(IntegerTag()), hn::ShiftRight<8>(number));
		return hn::And(hn::Sub(hn::Xor(number, negative), negative), constant(0xff));
	}

	HWY_INLINE void fill(uint32_t number, uint32_t firstWeight)
	{
		const IntegerTag tag;
		const UnsignedTag bitsTag;
		const Integers data = constant(static_cast<int32_t>(number));
		const Integers weight = hn::Iota(tag, static_cast<int32_t>(firstWeight));
		const Integers negate =
			hn::Sub(hn::Zero(tag), hn::ShiftRight<8>(hn::Xor(data, weight)));
		const Integers product = hn::Mul(magnitude(data), magnitude(weight));
		const Integers floor =
			hn::ShiftRight<kTabledDistance>(hn::Sub(hn::Xor(product, negate), negate));
		const Integers aligned = fp16::alignedProduct(
			hn::BitCast(bitsTag, magnitude(data)),
			hn::BitCast(bitsTag, magnitude(weight)), hn::BitCast(bitsTag, negate),
			hn::Set(bitsTag, kTabledDistance));

		alignas(64) int32_t lost[kLanes];
		hn::Store(hn::Sub(floor, aligned), tag, lost);
		for (uint32_t i = 0; i < kLanes; i++)
			rows_[number][byteOf(firstWeight + i)] |=
				static_cast<uint8_t>(lost[i] << bitOf(firstWeight + i));
	}

	alignas(64) uint8_t rows_[kRows][kRowBytes] = {};
};

#endif

} /* namespace HWY_NAMESPACE */
} /* namespace nvdla::sim */
HWY_AFTER_NAMESPACE();

#endif
