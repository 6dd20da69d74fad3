/* SPDX-License-Identifier: MIT */
/*
 * Vector code for the Highway library, which compiles this file once for each instruction set.
 */
#include "pixel_kernels.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "base/tensor/pixel_kernels.cpp"
#include <hwy/foreach_target.h>
/* Highway requires this header after foreach_target.h. */
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace nvdla
{
namespace HWY_NAMESPACE
{

namespace hn = hwy::HWY_NAMESPACE;

/** Tags of vectors: of full size for long lines, and of 16 bytes for lines shorter than a full
 * vector */
template<typename T>
using Whole = hn::ScalableTag<T>;
template<typename T>
using Short = hn::CappedTag<T, 16 / sizeof(T)>;

/* Tags of vectors of 32-bit words, and of the 16-bit channels of as many words. */
using WordTag = hn::ScalableTag<uint32_t>;
using FieldTag = hn::Rebind<uint16_t, WordTag>;

/** Calls visit(index of the first element) for vectors that together cover all elements; the last
 * two vectors may overlap */
template<typename Visit>
HWY_INLINE void forEachVector(size_t count, size_t lanes, Visit visit)
{
	for (size_t i = 0; i + lanes <= count; i += lanes)
		visit(i);
	if (count % lanes)
		visit(count - lanes);
}

template<typename T>
HWY_INLINE const T *elementsAt(const std::byte *memory)
{
	return reinterpret_cast<const T *>(memory);
}

template<typename T>
HWY_INLINE T *elementsAt(std::byte *memory)
{
	return reinterpret_cast<T *>(memory);
}

template<typename Tag, uint32_t places>
void split(const std::byte *pixels, std::byte *const *channels, size_t count)
{
	using T = hn::TFromD<Tag>;
	const Tag tag;
	const T *from = elementsAt<T>(pixels);
	T *to[places];

	for (uint32_t place = 0; place < places; place++)
		to[place] = elementsAt<T>(channels[place]);
	forEachVector(count, hn::Lanes(tag), [&](size_t i) HWY_ATTR {
		hn::Vec<Tag> v[4];
		if constexpr (places == 2)
			hn::LoadInterleaved2(tag, from + i * places, v[0], v[1]);
		else if constexpr (places == 3)
			hn::LoadInterleaved3(tag, from + i * places, v[0], v[1], v[2]);
		else
			hn::LoadInterleaved4(tag, from + i * places, v[0], v[1], v[2], v[3]);
		hn::StoreU(v[0], tag, to[0] + i);
		hn::StoreU(v[1], tag, to[1] + i);
		if constexpr (places > 2)
			hn::StoreU(v[2], tag, to[2] + i);
		if constexpr (places > 3)
			hn::StoreU(v[3], tag, to[3] + i);
	});
}

template<typename Tag, uint32_t places>
void join(const std::byte *const *channels, std::byte *pixels, size_t count)
{
	using T = hn::TFromD<Tag>;
	const Tag tag;
	T *to = elementsAt<T>(pixels);
	const T *from[places];

	for (uint32_t place = 0; place < places; place++)
		from[place] = elementsAt<T>(channels[place]);
	forEachVector(count, hn::Lanes(tag), [&](size_t i) HWY_ATTR {
		const auto v0 = hn::LoadU(tag, from[0] + i);
		const auto v1 = hn::LoadU(tag, from[1] + i);
		if constexpr (places == 2)
			hn::StoreInterleaved2(v0, v1, tag, to + i * places);
		else if constexpr (places == 3)
			hn::StoreInterleaved3(v0, v1, hn::LoadU(tag, from[2] + i), tag,
					      to + i * places);
		else
			hn::StoreInterleaved4(v0, v1, hn::LoadU(tag, from[2] + i),
					      hn::LoadU(tag, from[3] + i), tag, to + i * places);
	});
}

template<typename Tag>
void splitAny(uint32_t places, const std::byte *pixels, std::byte *const *channels, size_t count)
{
	if (places == 2)
		split<Tag, 2>(pixels, channels, count);
	else if (places == 3)
		split<Tag, 3>(pixels, channels, count);
	else
		split<Tag, 4>(pixels, channels, count);
}

template<typename Tag>
void joinAny(uint32_t places, const std::byte *const *channels, std::byte *pixels, size_t count)
{
	if (places == 2)
		join<Tag, 2>(channels, pixels, count);
	else if (places == 3)
		join<Tag, 3>(channels, pixels, count);
	else
		join<Tag, 4>(channels, pixels, count);
}

template<typename T>
void splitOf(uint32_t places, const std::byte *pixels, std::byte *const *channels, size_t count)
{
	if (count >= hn::Lanes(Whole<T>()))
		splitAny<Whole<T>>(places, pixels, channels, count);
	else
		splitAny<Short<T>>(places, pixels, channels, count);
}

template<typename T>
void joinOf(uint32_t places, const std::byte *const *channels, std::byte *pixels, size_t count)
{
	if (count >= hn::Lanes(Whole<T>()))
		joinAny<Whole<T>>(places, channels, pixels, count);
	else
		joinAny<Short<T>>(places, channels, pixels, count);
}

void splitPixels(uint32_t elementBytes, uint32_t places, const std::byte *pixels,
		 std::byte *const *channels, size_t count)
{
	if (elementBytes == 1)
		splitOf<uint8_t>(places, pixels, channels, count);
	else
		splitOf<uint16_t>(places, pixels, channels, count);
}

void joinPixels(uint32_t elementBytes, uint32_t places, const std::byte *const *channels,
		std::byte *pixels, size_t count)
{
	if (elementBytes == 1)
		joinOf<uint8_t>(places, channels, pixels, count);
	else
		joinOf<uint16_t>(places, channels, pixels, count);
}

HWY_INLINE hn::Vec<WordTag> maskOf(const PixelFields &fields, uint32_t place)
{
	return hn::Set(WordTag(), ((1U << fields.bits[place]) - 1) << fields.shift[place]);
}

void splitWords(const PixelFields &fields, uint32_t places, const std::byte *words,
		std::byte *const *channels, size_t count)
{
	const hn::RebindToSigned<WordTag> signedTag;
	const uint32_t *from = elementsAt<uint32_t>(words);

	for (uint32_t place = 0; place < places; place++) {
		uint16_t *to = elementsAt<uint16_t>(channels[place]);
		const auto mask = maskOf(fields, place);
		const int shift = fields.shift[place];
		forEachVector(count, hn::Lanes(WordTag()), [&](size_t i) HWY_ATTR {
			const auto field = hn::ShiftRightSame(
				hn::And(hn::LoadU(WordTag(), from + i), mask), shift);
			hn::StoreU(hn::DemoteTo(FieldTag(), hn::BitCast(signedTag, field)),
				   FieldTag(), to + i);
		});
	}
}

template<uint32_t places>
void joinFields(const PixelFields &fields, const std::byte *const *channels, std::byte *words,
		size_t count)
{
	uint32_t *to = elementsAt<uint32_t>(words);
	const uint16_t *from[places];
	uint32_t ours = 0;

	for (uint32_t place = 0; place < places; place++) {
		from[place] = elementsAt<uint16_t>(channels[place]);
		ours |= ((1U << fields.bits[place]) - 1) << fields.shift[place];
	}
	forEachVector(count, hn::Lanes(WordTag()), [&](size_t i) HWY_ATTR {
		auto word = hn::AndNot(hn::Set(WordTag(), ours), hn::LoadU(WordTag(), to + i));
		for (uint32_t place = 0; place < places; place++)
			word = hn::Or(word,
				      hn::ShiftLeftSame(
					      hn::PromoteTo(WordTag(),
							    hn::LoadU(FieldTag(), from[place] + i)),
					      fields.shift[place]));
		hn::StoreU(word, WordTag(), to + i);
	});
}

void joinWords(const PixelFields &fields, uint32_t places, const std::byte *const *channels,
	       std::byte *words, size_t count)
{
	if (places == 4)
		joinFields<4>(fields, channels, words, count);
	else if (places == 3)
		joinFields<3>(fields, channels, words, count);
	else if (places == 2)
		joinFields<2>(fields, channels, words, count);
	else
		joinFields<1>(fields, channels, words, count);
}

/*
 * Loads as many vectors at a time as a pixel has places. Together they hold whole pixels, so that
 * each lane of each vector belongs to the same place in every iteration.
 */
template<uint32_t places>
void combine(const std::byte *pixels, size_t count, std::array<uint16_t, maxPixelChannels> &set)
{
	const hn::CappedTag<uint16_t, minimumPixels> tag;
	const size_t lanes = hn::Lanes(tag);
	const uint16_t *from = elementsAt<uint16_t>(pixels);
	std::array<uint16_t, places * minimumPixels> all{};
	hn::Vec<decltype(tag)> sets[places];

	for (auto &vector : sets)
		vector = hn::Zero(tag);
	forEachVector(count, lanes, [&](size_t i) HWY_ATTR {
		for (uint32_t v = 0; v < places; v++)
			sets[v] = hn::Or(sets[v], hn::LoadU(tag, from + i * places + v * lanes));
	});
	for (uint32_t v = 0; v < places; v++)
		hn::StoreU(sets[v], tag, all.data() + v * lanes);
	for (size_t i = 0; i < places * lanes; i++)
		set[i % places] |= all[i];
}

void combinePixels(uint32_t places, const std::byte *pixels, size_t count,
		   std::array<uint16_t, maxPixelChannels> &set)
{
	if (places == 4)
		combine<4>(pixels, count, set);
	else if (places == 3)
		combine<3>(pixels, count, set);
	else if (places == 2)
		combine<2>(pixels, count, set);
	else
		combine<1>(pixels, count, set);
}

} /* namespace HWY_NAMESPACE */
} /* namespace nvdla */
HWY_AFTER_NAMESPACE();

#if HWY_ONCE

namespace nvdla
{

HWY_EXPORT(splitPixels);
HWY_EXPORT(joinPixels);
HWY_EXPORT(splitWords);
HWY_EXPORT(joinWords);
HWY_EXPORT(combinePixels);

void splitPixels(uint32_t elementBytes, uint32_t places, const std::byte *pixels,
		 std::byte *const *channels, size_t count)
{
	HWY_DYNAMIC_DISPATCH(splitPixels)(elementBytes, places, pixels, channels, count);
}

void joinPixels(uint32_t elementBytes, uint32_t places, const std::byte *const *channels,
		std::byte *pixels, size_t count)
{
	HWY_DYNAMIC_DISPATCH(joinPixels)(elementBytes, places, channels, pixels, count);
}

void splitWords(const PixelFields &fields, uint32_t places, const std::byte *words,
		std::byte *const *channels, size_t count)
{
	HWY_DYNAMIC_DISPATCH(splitWords)(fields, places, words, channels, count);
}

void joinWords(const PixelFields &fields, uint32_t places, const std::byte *const *channels,
	       std::byte *words, size_t count)
{
	HWY_DYNAMIC_DISPATCH(joinWords)(fields, places, channels, words, count);
}

void combinePixels(uint32_t places, const std::byte *pixels, size_t count,
		   std::array<uint16_t, maxPixelChannels> &set)
{
	HWY_DYNAMIC_DISPATCH(combinePixels)(places, pixels, count, set);
}

} /* namespace nvdla */

#endif /* HWY_ONCE */
