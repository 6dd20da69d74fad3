/* SPDX-License-Identifier: MIT */
/*
 * What convolutions leave in the convolution buffer for the next ones.
 */
#include <nvdla/core_geometry.h>

#include "expansion_test.h"

namespace nvdla::test
{

namespace
{

class Reuse : public ExpansionTest
{
protected:
	Reuse()
	{
		input({ .type = DataType::Int8, .c = 40, .h = 9, .w = 7 });
		weights(DataType::Int8, 33, 40, 3, 3);
		add(convolution("1"));
		add(sdpOf("1"));
		output("y1");
	}
	static op::Convolution convolution(const std::string &number)
	{
		return { .name = "conv" + number,
			 .input = "x",
			 .weights = "w",
			 .output = "s" + number,
			 .padding = { 1, 1, 1, 1 } };
	}
	static op::Sdp sdpOf(const std::string &number)
	{
		return { .name = "sdp" + number,
			 .input = "s" + number,
			 .output = "y" + number,
			 .converter = { 0, 1, 8 } };
	}
	/* The convolution and an SDP operation behind it; the task that comes of it. */
	DlaTask with(const op::Convolution &second)
	{
		add(second);
		add(sdpOf("2"));
		output("y2");
		return checked();
	}
	/* The graph is as before afterwards. */
	void refused(const op::Convolution &second, std::initializer_list<const char *> words)
	{
		const Graph before = made_.graph;
		add(second);
		add(sdpOf("2"));
		expectRefusal(words);
		made_.graph = before;
	}
	void moreWeights(const std::string &name, uint32_t k, uint32_t c, uint32_t side)
	{
		GraphWeights weights{ name, k, c, side, side };
		weights.elements = dice_.elements(DataType::Int8, size_t{ k } * c * side * side);
		made_.constants.weights[name] = weights;
		made_.graph.weights(std::move(weights));
	}
};

} /* namespace */

TEST_F(Reuse, WeightsStay)
{
	op::Convolution second = convolution("2");
	second.stride = { 2, 3 };
	second.reuseWeights = true;
	const auto layers = convolutions(with(second));
	ASSERT_EQ(layers.size(), 2U);
	EXPECT_EQ(layers[0].skip_weight_rls, 1);
	EXPECT_EQ(layers[0].skip_data_rls, 0);
	EXPECT_EQ(layers[1].weight_reuse, 1);
	EXPECT_EQ(layers[1].data_reuse, 0);
	EXPECT_EQ(layers[1].skip_weight_rls, 0);
}

/* The second needs more banks for its weights; the buffer is divided alike for both. */
TEST_F(Reuse, DataStays)
{
	op::Convolution second = convolution("2");
	second.weights = "more";
	second.reuseData = true;
	second.padding = {};
	moreWeights("more", 100, 40, 5);
	const auto layers = convolutions(with(second));
	ASSERT_EQ(layers.size(), 2U);
	EXPECT_EQ(layers[0].skip_data_rls, 1);
	EXPECT_EQ(layers[1].data_reuse, 1);
	EXPECT_EQ(layers[1].weight_reuse, 0);
	EXPECT_EQ(layers[0].data_bank, layers[1].data_bank);
	EXPECT_EQ(layers[0].weight_bank, layers[1].weight_bank);
	EXPECT_GT(layers[1].weight_bank, 1);
}

/* CDMA fetches for the second while the first computes, only if both divide the buffer alike. */
TEST_F(Reuse, NeighboursDivideTheBufferAlike)
{
	op::Convolution second = convolution("2");
	second.weights = "more";
	second.padding = {};
	moreWeights("more", 100, 40, 5);
	const auto layers = convolutions(with(second));
	ASSERT_EQ(layers.size(), 2U);
	EXPECT_EQ(layers[1].data_reuse, 0);
	EXPECT_EQ(layers[0].data_bank, layers[1].data_bank);
	EXPECT_EQ(layers[0].weight_bank, layers[1].weight_bank);
	EXPECT_EQ(layers[0].data_bank + layers[0].weight_bank, nvFull.bufferBanks);
}

/* What a task leaves is not there for the next: it is fetched again. */
TEST_F(Reuse, EndsWithTheTask)
{
	op::Convolution second = convolution("2");
	second.reuseData = second.reuseWeights = true;
	made_.options.maxTaskOperations = 2;
	const auto layers = convolutions(with(second));
	ASSERT_EQ(layers.size(), 1U);
	EXPECT_EQ(layers[0].skip_data_rls, 0);
	EXPECT_EQ(layers[0].skip_weight_rls, 0);
}

TEST_F(Reuse, BandsFetchTheirWeightsOnce)
{
	op::Convolution second = convolution("2");
	second.bands = 3;
	const auto layers = convolutions(with(second));
	ASSERT_EQ(layers.size(), 4U);
	EXPECT_EQ(layers[0].skip_weight_rls, 0);
	EXPECT_EQ(layers[1].weight_reuse, 0);
	for (size_t i : { 2, 3 }) {
		EXPECT_EQ(layers[i - 1].skip_weight_rls, 1);
		EXPECT_EQ(layers[i].weight_reuse, 1);
	}
}

TEST_F(Reuse, PhasesFetchTheirInputOnce)
{
	add(op::Deconvolution{ .name = "up",
			       .input = "x",
			       .weights = "w",
			       .output = "s2",
			       .stride = { 2, 2 },
			       .padding = { 1, 0, 1, 0 } });
	add(sdpOf("2"));
	output("y2");
	const auto layers = convolutions(checked());
	ASSERT_EQ(layers.size(), 5U);
	EXPECT_EQ(layers[1].data_reuse, 0);
	for (size_t i : { 2, 3, 4 })
		EXPECT_EQ(layers[i].data_reuse, 1);
}

TEST_F(Reuse, SaysWhatIsNotThere)
{
	op::Convolution second = convolution("2");
	second.reuseWeights = true;
	moreWeights("others", 33, 40, 3);
	second.weights = "others";
	refused(second, { "'conv2'", "reuseWeights",
			  "'conv1' (convolution) before it leaves 'w' in the convolution buffer" });

	second = convolution("2");
	second.input = "y1";
	second.reuseData = true;
	moreWeights("few", 2, 33, 1);
	second.weights = "few";
	second.padding = {};
	refused(second, { "'conv2'", "reuseData", "leaves 'x' in the convolution buffer" });

	/* Line 0 is the first of both; the buffer gives up lines from its beginning on. */
	second = convolution("2");
	second.input = "less";
	second.reuseData = true;
	made_.graph.surface({ .name = "less", .h = 5, .within = "x" });
	refused(second, { "'conv2'", "reuseData", "leaves 'x' in the convolution buffer" });

	second = convolution("2");
	second.reuseData = true;
	second.bands = 2;
	refused(second, { "'sdp2'", "reuseData", "'x' is read in 2 bands" });

	made_ = {};
	input({ .type = DataType::Int8, .c = 40, .h = 9, .w = 7 });
	weights(DataType::Int8, 33, 40, 3, 3);
	second = convolution("2");
	second.reuseWeights = true;
	refused(second, { "'conv2'", "no convolution comes before it" });
}

/* 14 banks of weights, and a second input of three. */
TEST_F(Reuse, SaysWhatDoesNotFit)
{
	made_ = {};
	input({ .type = DataType::Int8, .c = 64, .h = 8, .w = 8 });
	weights(DataType::Int8, 88, 64, 9, 9);
	moreWeights("point", 1, 64, 1);
	made_.graph.input({ .name = "large", .type = DataType::Int8, .c = 64, .h = 30, .w = 40 });
	op::Convolution first = convolution("1");
	first.padding = { 8, 8, 8, 8 };
	add(first);
	add(sdpOf("1"));
	op::Convolution second = first;
	second.name = "conv2";
	second.output = "s2";
	second.input = "large";
	second.reuseWeights = true;
	refused(second, { "'conv2'", "reuseWeights", "needs 3 banks for data and 14 for weights",
			  "there are 16" });
}

TEST_F(Reuse, PicturesHaveTheirPaddingInTheBuffer)
{
	made_ = {};
	input({ .type = DataType::Int8, .c = 4, .h = 9, .w = 9, .format = PixelFormat::A8B8G8R8 });
	weights(DataType::Int8, 3, 4, 3, 3);
	add(convolution("1"));
	add(sdpOf("1"));
	output("y1");
	op::Convolution second = convolution("2");
	second.reuseData = true;
	second.padding.left = 0;
	refused(second, { "'conv2'", "reuseData", "another padding at the sides" });
	second.padding.left = 1;
	second.pixels.converter = Converter{ 0, 2, 1 };
	refused(second, { "'conv2'", "reuseData", "converts its pixels in another way" });
	second.pixels.converter.reset();
	second.padding.top = 2;
	EXPECT_EQ(convolutions(with(second))[1].data_reuse, 1);
}

/* Matrix products: single elements have to be packed, those of a batch as well. */
TEST_F(ExpansionTest, TakesABatchOfSingleElementsAtOnce)
{
	for (const DataType type : { DataType::Int8, DataType::Half }) {
		made_ = {};
		input({ .type = type, .c = 70, .h = 1, .w = 1, .n = 5 });
		weights(type, 45, 70, 1, 1);
		add(op::Convolution{ .name = "conv", .input = "x", .weights = "w", .output = "s" });
		add(op::Sdp{ .name = "sdp", .input = "s", .output = "y" });
		output("y");
		const auto convs = convolutions(checked());
		ASSERT_EQ(convs.size(), 1U);
		EXPECT_EQ(convs[0].batch, 5U);
	}
}

} /* namespace nvdla::test */
