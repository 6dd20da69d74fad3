/* SPDX-License-Identifier: MIT */
/*
 * How fast tensors are packed and unpacked: bytes of plain elements a second, and the ratio to
 * memcpy() of as many bytes in the same run ("of_memcpy").
 */
#include <vector>

#include <benchmark/benchmark.h>
#include <nvdla/tensor.h>

#include "of_memcpy.h"

namespace nvdla
{

namespace
{

/* A cube as the middle of a network has it; larger than the first two caches. */
constexpr uint32_t channels = 64, height = 112, width = 112;

using bench::compareWithMemcpy;

TensorDesc descOf(DataType type, PixelFormat format)
{
	if (format == PixelFormat::Feature)
		return TensorDesc::packedFeature("x", type, channels, height, width);
	return TensorDesc::image("x", format, 1080, 1920);
}

void pack(benchmark::State &state, DataType type, PixelFormat format, ElementOrder order)
{
	const TensorDesc desc = descOf(type, format);
	const std::vector<std::byte> elements(desc.elements() * elementBytes(desc.type));
	std::vector<std::byte> packed(desc.size);

	compareWithMemcpy(state, elements.size(), [&] {
		if (!packElements(desc, elements, packed, order))
			state.SkipWithError("not packed");
		benchmark::ClobberMemory();
	});
}

void unpack(benchmark::State &state, DataType type, PixelFormat format, ElementOrder order)
{
	const TensorDesc desc = descOf(type, format);
	const std::vector<std::byte> packed(desc.size);

	std::vector<std::byte> elements(desc.elements() * elementBytes(desc.type));

	compareWithMemcpy(state, elements.size(), [&] {
		if (!unpackElements(desc, packed, elements, order))
			state.SkipWithError("not unpacked");
		benchmark::ClobberMemory();
	});
}

/* Numbers to elements; bytes are those of the numbers. */
void fromNumbers(benchmark::State &state, DataType type)
{
	const TensorDesc desc = descOf(type, PixelFormat::Feature);
	const std::vector<float> values(desc.elements(), 0.75f);

	compareWithMemcpy(state, values.size() * sizeof(values[0]),
			  [&] { benchmark::DoNotOptimize(elementsFromFloat(type, values)); });
}

void toNumbers(benchmark::State &state, DataType type)
{
	const TensorDesc desc = descOf(type, PixelFormat::Feature);
	const std::vector<std::byte> elements(desc.elements() * elementBytes(desc.type));

	compareWithMemcpy(state, desc.elements() * sizeof(float),
			  [&] { benchmark::DoNotOptimize(elementsToFloat(type, elements)); });
}

constexpr auto feature = PixelFormat::Feature;
constexpr auto nchw = ElementOrder::Nchw;
constexpr auto nhwc = ElementOrder::Nhwc;

BENCHMARK_CAPTURE(pack, feature_int8_nchw, DataType::Int8, feature, nchw);
BENCHMARK_CAPTURE(unpack, feature_int8_nchw, DataType::Int8, feature, nchw);
BENCHMARK_CAPTURE(pack, feature_int16_nchw, DataType::Int16, feature, nchw);
BENCHMARK_CAPTURE(unpack, feature_int16_nchw, DataType::Int16, feature, nchw);
BENCHMARK_CAPTURE(pack, feature_int8_nhwc, DataType::Int8, feature, nhwc);
BENCHMARK_CAPTURE(unpack, feature_int8_nhwc, DataType::Int8, feature, nhwc);
BENCHMARK_CAPTURE(pack, a8b8g8r8_nhwc, DataType::Int8, PixelFormat::A8B8G8R8, nhwc);
BENCHMARK_CAPTURE(pack, a8b8g8r8_nchw, DataType::Int8, PixelFormat::A8B8G8R8, nchw);
BENCHMARK_CAPTURE(unpack, a8b8g8r8_nchw, DataType::Int8, PixelFormat::A8B8G8R8, nchw);
BENCHMARK_CAPTURE(pack, a8r8g8b8_nhwc, DataType::Int8, PixelFormat::A8R8G8B8, nhwc);
BENCHMARK_CAPTURE(pack, y8_u8v8_nhwc, DataType::Int8, PixelFormat::Y8U8V8N444, nhwc);
BENCHMARK_CAPTURE(pack, a2b10g10r10_nhwc, DataType::Int16, PixelFormat::A2B10G10R10, nhwc);
BENCHMARK_CAPTURE(unpack, a2b10g10r10_nhwc, DataType::Int16, PixelFormat::A2B10G10R10, nhwc);
BENCHMARK_CAPTURE(fromNumbers, int8, DataType::Int8);
BENCHMARK_CAPTURE(fromNumbers, int16, DataType::Int16);
BENCHMARK_CAPTURE(fromNumbers, fp16, DataType::Half);
BENCHMARK_CAPTURE(toNumbers, int8, DataType::Int8);
BENCHMARK_CAPTURE(toNumbers, fp16, DataType::Half);

} /* namespace */

} /* namespace nvdla */

BENCHMARK_MAIN();
