/* SPDX-License-Identifier: MIT */
/*
 * NaN flush to zero: what engines make of NaN in what they read.
 */
#include <cmath>
#include <limits>

#include "expansion_test.h"

namespace nvdla::test
{

namespace
{

class NanTest : public ExpansionTest
{
protected:
	/* FP16, some of it NaN. */
	void inputWithNan()
	{
		input({ .type = DataType::Half, .c = 20, .h = 6, .w = 5 });
		std::vector<double> &values = made_.inputs["x"].values;
		for (size_t i = 0; i < values.size(); i += 37)
			values[i] = std::numeric_limits<double>::quiet_NaN();
	}
	void outputs() { output("y"); }

	/* NaNs among what the device makes of the input. */
	size_t nansOfDevice() const
	{
		auto device = Device::open(Device::embeddedPath);
		EXPECT_TRUE(device);
		auto network = loadCase(*device, made_);
		EXPECT_TRUE(network) << network.error().message();
		EXPECT_TRUE(network->run());
		const auto values = elementsToFloat(DataType::Half, *network->outputElements(0));
		return static_cast<size_t>(std::ranges::count_if(
			values, [](float value) { return std::isnan(value); }));
	}
	/* Of the graph that \a build makes: flushed, the results are the reference's. */
	template<typename Build>
	void check(Build build)
	{
		for (const bool flush : { false, true }) {
			made_ = {};
			inputWithNan();
			build(flush);
			outputs();
			if (flush)
				checked();
			EXPECT_EQ(nansOfDevice() > 0, !flush);
		}
	}
};

} /* namespace */

TEST_F(NanTest, ConvolutionFlushesInput)
{
	check([this](bool flush) {
		weights(DataType::Half, 8, 20, 3, 3);
		add(op::Convolution{ .name = "conv",
				     .input = "x",
				     .weights = "w",
				     .output = "s",
				     .bands = 2,
				     .nanToZero = flush });
		add(op::Sdp{ .name = "sdp", .input = "s", .output = "y" });
	});
}

TEST_F(NanTest, SdpFlushesInputAndOperands)
{
	check([this](bool flush) {
		add(op::Sdp{ .name = "sdp",
			     .input = "x",
			     .output = "y",
			     .x1 = op::SdpUnit{ .alu = op::Alu::Sum, .operands = "x" },
			     .nanToZero = flush });
	});
}

TEST_F(NanTest, PoolingFlushesInput)
{
	check([this](bool flush) {
		add(op::Pooling{ .name = "pool",
				 .input = "x",
				 .output = "y",
				 .method = op::Pool::Average,
				 .kernel = { 2, 2 },
				 .nanToZero = flush });
	});
}

TEST_F(NanTest, NormalizationFlushesInput)
{
	check([this](bool flush) {
		const Lut lut = dice_.lut(true, 4);
		made_.constants.luts["lut"] = lut;
		made_.graph.lut("lut", lut);
		add(op::Normalization{ .name = "norm",
				       .input = "x",
				       .output = "y",
				       .lut = "lut",
				       .nanToZero = flush });
	});
}

TEST_F(NanTest, IntegersHaveNone)
{
	input({ .type = DataType::Int8, .c = 20, .h = 6, .w = 5 });
	add(op::Sdp{ .name = "sdp", .input = "x", .output = "y", .nanToZero = true });
	output("y");
	expectRefusal({ "'sdp' (SDP)",
			"nan_to_zero: NaN is flushed by 1, by engines that read FP16",
			"is 1, limit 0" });
}

/* Files of graphs that do not need it are as other compilers write them. */
TEST_F(NanTest, OnlyWhatNeedsItIsWrittenForLaterReaders)
{
	for (const bool flush : { false, true }) {
		made_ = {};
		inputWithNan();
		add(op::Pooling{ .name = "pool", .input = "x", .output = "y", .nanToZero = flush });
		outputs();
		auto loadable = made_.graph.assemble();
		ASSERT_TRUE(loadable) << loadable.error().message();
		for (const Blob &blob : loadable->blobs) {
			const Version expected{ 0, static_cast<uint8_t>(flush ? 13 : 12),
						static_cast<uint8_t>(flush ? 0 : 3) };
			EXPECT_EQ(blob.version, expected) << blob.name;
			if (blob.name == "task-0-op_list") {
				EXPECT_EQ(blob.data.size(), flush ? 120u : 116u);
			}
		}
	}
}

} /* namespace nvdla::test */
