/* SPDX-License-Identifier: MIT */
/*
 * Graphs for a core of another configuration.
 */
#include <nvdla/core_geometry.h>
#include <nvdla/network.h>

#include "expansion_test.h"

namespace nvdla::test
{

namespace
{

/* What such a core is given, nv_full can compute as well. */
CoreGeometry halfTheBuffer()
{
	CoreGeometry core = nvFull;

	core.bufferBanks /= 2;
	return core;
}

class Variant : public ExpansionTest
{
protected:
	/* 2048 entries of input, 8 banks, and 5 banks of weights. */
	void convolution()
	{
		input({ .type = DataType::Int16, .c = 64, .h = 64, .w = 32 });
		weights(DataType::Int16, 144, 64, 3, 3);
		add(op::Convolution{ .name = "conv",
				     .input = "x",
				     .weights = "w",
				     .output = "s",
				     .padding = { 1, 1, 1, 1 } });
		add(sdp());
		output("y");
	}
};

} /* namespace */

TEST(CoreVariants, AreKnownByNameAndNumber)
{
	ASSERT_FALSE(coreVariants().empty());
	for (const CoreGeometry &core : coreVariants()) {
		EXPECT_EQ(findCoreVariant(core.name), core);
		ASSERT_NE(findCoreVariant(core.variant), nullptr);
		EXPECT_EQ(*findCoreVariant(core.variant), core);
		EXPECT_NE(coreVariantNames().find(core.name), std::string::npos);
	}
	const auto unknown = findCoreVariant("nv_tiny");
	ASSERT_FALSE(unknown);
	EXPECT_EQ(unknown.error().code, ErrorCode::InvalidArgument);
	EXPECT_EQ(unknown.error().message(),
		  "variant: 'nv_tiny': is not known; there are: " + coreVariantNames());
	EXPECT_EQ(findCoreVariant(UINT32_MAX), nullptr);
}

TEST_F(Variant, TheUsualBufferHoldsALayer)
{
	convolution();
	const auto layers = convolutions(checked());
	ASSERT_EQ(layers.size(), 1U);
	EXPECT_EQ(layers[0].data_bank, 8);
	EXPECT_EQ(layers[0].weight_bank, 6);
}

TEST_F(Variant, ASmallerBufferTakesBands)
{
	convolution();
	made_.options.core = halfTheBuffer();
	const auto layers = convolutions(checked());
	ASSERT_GT(layers.size(), 1U);
	for (const nvdla_conv_op_desc &layer : layers)
		EXPECT_LE(layer.data_bank + layer.weight_bank, nvFull.bufferBanks / 2);
}

TEST_F(Variant, StrategyKeepsToIt)
{
	convolution();
	made_.options.core = halfTheBuffer();
	made_.options.strategy = Strategy::all(Choice::Auto);
	for (const nvdla_conv_op_desc &layer : convolutions(checked()))
		EXPECT_LE(layer.data_bank + layer.weight_bank, nvFull.bufferBanks / 2);
}

TEST_F(Variant, TooSmallABufferIsRefused)
{
	convolution();
	made_.options.core.bufferBanks = 1;
	const auto loadable = made_.graph.assemble(made_.options);
	ASSERT_FALSE(loadable);
	EXPECT_NE(loadable.error().message().find("of the convolution buffer"), std::string::npos)
		<< loadable.error().message();
	EXPECT_FALSE(made_.graph.supports(made_.graph.operations()[0], made_.options.core));
	EXPECT_TRUE(made_.graph.supports(made_.graph.operations()[0]));
}

TEST_F(Variant, AnotherOnesNetworkIsNotLoaded)
{
	convolution();
	made_.options.core.name = "nv_other";
	auto device = Device::open(Device::embeddedPath);
	ASSERT_TRUE(device);
	auto loadable = made_.graph.assemble(made_.options);
	ASSERT_TRUE(loadable);
	auto bytes = loadable->write();
	ASSERT_TRUE(bytes);
	auto read = Loadable::read(*bytes);
	ASSERT_TRUE(read) << read.error().message();
	EXPECT_EQ(read->variant, "nv_other");
	auto refused = Network::load(*device, *read);
	ASSERT_FALSE(refused);
	EXPECT_EQ(refused.error().code, ErrorCode::Unsupported);
	EXPECT_EQ(
		refused.error().message(),
		"load network: the network is for nv_other, but the device 'embedded' is nv_full: "
		"compile the model for nv_full");
	read->variant.clear();
	EXPECT_TRUE(Network::load(*device, *read)) << "files of other compilers name none";
}

} /* namespace nvdla::test */
