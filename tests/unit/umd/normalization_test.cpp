/* SPDX-License-Identifier: MIT */
/*
 * Local response normalization in real numbers, and by the device model with the converters and
 * the table that umd makes.
 */
#include <algorithm>
#include <cmath>

#include <gtest/gtest.h>
#include <nvdla/layer_scaling.h>
#include <nvdla/lut.h>

#include "cdp/cdp.h"
#include "core/ram_memory.h"
#include "model_convolution.h"
#include "random.h"

namespace nvdla
{

namespace
{

using test::Random;

constexpr uint32_t radius = 2;
constexpr double largest = 3.9; /* of the inputs */

/* x * (k + alpha / size * sum)^-beta over the channels around. */
double normalized(const std::vector<double> &pixel, uint32_t c,
		  const std::function<double(double)> &factor)
{
	const auto channels = static_cast<uint32_t>(pixel.size());
	double sum = 0;

	for (uint32_t i = c < radius ? 0 : c - radius; i <= std::min(c + radius, channels - 1); i++)
		sum += pixel[i] * pixel[i];
	return pixel[c] * factor(sum);
}

sim::LutConfig modelConfig(const Lut &lut, sim::LutTables &tables)
{
	auto slope = [](const LutSlope &slope) {
		return sim::LutSlope{ slope.scale, slope.shift };
	};
	sim::LutConfig config;

	std::copy(lut.le.entries.begin(), lut.le.entries.end(), tables.le.begin());
	std::copy(lut.lo.entries.begin(), lut.lo.entries.end(), tables.lo.begin());
	config.hybridSelectsLo = lut.hybridSelectsLo;
	config.le = { lut.exponential,	     lut.le.step, lut.le.step,
		      lut.le.start,	     lut.le.end,  slope(lut.le.underflow),
		      slope(lut.le.overflow) };
	config.lo = { false,
		      0,
		      lut.lo.step,
		      lut.lo.start,
		      lut.lo.end,
		      slope(lut.lo.underflow),
		      slope(lut.lo.overflow) };
	return config;
}

/* What CDP makes of elements in C, H, W order. */
std::vector<float> runModel(const TensorDesc &desc, const std::vector<float> &elements,
			    const CdpScaling &scaling, const Lut &lut)
{
	sim::RamMemory dram(0, 1 << 20), cvsram(0x50000000, 4096);
	sim::MemoryPort port(dram, cvsram);
	sim::LutTables tables;
	sim::CdpOp op;
	std::vector<std::byte> packed(desc.size);

	EXPECT_TRUE(packElements(desc, elementsFromFloat(desc.type, elements), packed));
	EXPECT_TRUE(dram.write(0, packed));
	op.width = desc.w;
	op.height = desc.h;
	op.channels = desc.c;
	op.precision = test::precisionOf(desc.type);
	op.source = { sim::RamType::Mc, 0, desc.lineStride, desc.surfaceStride };
	op.destination = { sim::RamType::Mc, 1 << 19, desc.lineStride, desc.surfaceStride };
	op.radius = radius;
	op.input = { scaling.input.offset, scaling.input.scale, scaling.input.shift };
	op.output = { scaling.output.offset, scaling.output.scale, scaling.output.shift };
	op.lut = modelConfig(lut, tables);
	sim::runCdp(op, tables, port);
	EXPECT_TRUE(dram.read(1 << 19, packed));
	return elementsToFloat(desc.type, *unpackElements(desc, packed));
}

} /* namespace */

TEST(Normalization, IsTheRealOneOnTheModel)
{
	Random random(701);

	for (int round = 0; round < 12; round++) {
		const DataType type = random.oneOf<DataType>({ DataType::Int8, DataType::Int16 });
		const auto desc = TensorDesc::packedFeature("x", type, random.size(5, 40), 2, 3);
		const auto input =
			*quantizationOf(-largest, random.real(1, largest), type, ZeroPoint::Free);
		const auto output = *quantizationOf(-largest, largest, type, ZeroPoint::Free);
		/* CDP has 9 or 17 bits for its input: 3.9 * 2^M below 2^8 or 2^16. */
		const int32_t bits = type == DataType::Int8 ? 6 : 14;
		LutRequest request;
		request.unit = LutUnit::Cdp;
		request.type = type;
		request.function = lrnFactor(random.real(0.1, 1), 0.75, 1, 2 * radius + 1);
		request.high = (2 * radius + 1) * largest * largest;
		request.outputScale = 1.0 / 32767;
		const auto scaling = scaleCdp(input, output, bits, request.outputScale);
		ASSERT_TRUE(scaling) << scaling.error().message();
		request.input.scale = scaling->lutInputScale;
		const auto table = makeLut(request);
		ASSERT_TRUE(table) << table.error().message();
		EXPECT_LT(table->maxError, 1e-3);

		const uint32_t pixels = desc.h * desc.w;
		const IntegerLimits limits = integerLimits(type);
		std::vector<float> elements(desc.elements());
		for (float &element : elements)
			element = static_cast<float>(random(static_cast<int32_t>(limits.lowest),
							    static_cast<int32_t>(limits.highest)));
		const auto result = runModel(desc, elements, *scaling, table->lut);
		/* Steps of the input in CDP and of the output; the table's and its entries'. */
		const double error = std::ldexp(1, -bits) + output.scale +
				     largest * (table->maxError + request.outputScale);
		for (uint32_t i = 0; i < pixels; i++) {
			std::vector<double> pixel;
			for (uint32_t c = 0; c < desc.c; c++)
				pixel.push_back(input.real(elements[c * pixels + i]));
			for (uint32_t c = 0; c < desc.c; c++)
				ASSERT_NEAR(output.real(result[c * pixels + i]),
					    normalized(pixel, c, request.function), error)
					<< desc.describe() << " channel " << c;
		}
	}
}

} /* namespace nvdla */
