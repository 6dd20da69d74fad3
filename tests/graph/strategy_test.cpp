/* SPDX-License-Identifier: MIT */
/*
 * What is chosen for layers that are made for one side or the other, and that nothing else changes.
 */
#include <array>
#include <cmath>

#include <fmt/format.h>

#include "expansion_test.h"

namespace nvdla::test
{

namespace
{

/* Nothing is chosen; tests turn on what they are about. */
Strategy asItIs()
{
	return Strategy::all(Choice::Never);
}

const std::pair<std::string, std::string> slowMemory{ "dram", "500MB/s" };
const std::pair<std::string, std::string> fastMemory{ "dram", "60GB/s" };

class StrategyTest : public ExpansionTest
{
protected:
	void layer(op::Convolution conv = {})
	{
		conv.name = "conv";
		conv.input = "x";
		conv.weights = "w";
		conv.output = "s";
		add(conv);
	}
	/* The layer, with nothing behind it. */
	void onlyLayer()
	{
		layer();
		add(sdp());
		output("y");
	}
	/* The layer, and the pooling of what it makes: other operations may be in between. */
	void layerBeforePooling()
	{
		layer();
		op::Sdp tone = sdp();
		tone.output = "toned";
		add(tone);
	}
	void pooling()
	{
		add(op::Pooling{ .name = "pool",
				 .input = "toned",
				 .output = "y",
				 .kernel = { 2, 2 },
				 .stride = { 2, 2 } });
	}
	/* The choice of what the buffer keeps for the next convolution, and no other. */
	static Strategy reuseAlone()
	{
		Strategy strategy = asItIs();
		strategy.reuse = Choice::Auto;
		return strategy;
	}
	/* Two layers with these inputs and weights; their convolutions, assembled with that choice.
	 */
	std::vector<nvdla_conv_op_desc> twoLayers(const std::array<std::string, 2> &inputs,
						  const std::array<std::string, 2> &weights)
	{
		for (size_t i = 0; i < inputs.size(); i++) {
			const std::string number = std::to_string(i);
			add(op::Convolution{ .name = "conv" + number,
					     .input = inputs[i],
					     .weights = weights[i],
					     .output = "s" + number,
					     .padding = { 1, 1, 1, 1 } });
			add(op::Sdp{ .name = "sdp" + number,
				     .input = "s" + number,
				     .output = "y" + number,
				     .converter = { 0, 1, 8 } });
			output("y" + number);
		}
		const auto loadable = made_.graph.assemble({ .strategy = reuseAlone() });
		if (!loadable) {
			ADD_FAILURE() << loadable.error().message();
			return {};
		}
		const auto task = dlaTask(*loadable, 0);
		if (!task) {
			ADD_FAILURE() << task.error().message();
			return {};
		}
		return convolutions(*task);
	}
	/* Weights of which most are zero. */
	void sparseWeights(uint32_t k, uint32_t c)
	{
		GraphWeights weights{ "w", k, c, 3, 3 };
		std::vector<int8_t> elements(size_t{ k } * c * 9);
		for (size_t i = 0; i < elements.size(); i += 10)
			elements[i] = static_cast<int8_t>(i % 100 + 1);
		weights.elements = Elements::of(elements);
		made_.constants.weights["w"] = weights;
		made_.graph.weights(std::move(weights));
	}
	/* The task with a choice of the strategy, once its results are the reference's. */
	DlaTask chosen(Choice Strategy::*subject, Choice choice,
		       const std::pair<std::string, std::string> &memory = fastMemory)
	{
		Strategy strategy = asItIs();
		strategy.*subject = choice;
		strategy.chip = { memory };
		made_.options.strategy = strategy;
		return checked();
	}
	/* The bytes of output "y". */
	std::vector<std::byte> result(const Strategy &strategy)
	{
		auto device = Device::open(Device::embeddedPath);
		made_.options.strategy = strategy;
		auto network = loadCase(*device, made_);
		EXPECT_TRUE(network) << network.error().message();
		auto report = network->run();
		EXPECT_TRUE(report) << report.error().message();
		return *network->outputElements(0);
	}
	/* Whether the pooling takes a stream. */
	static bool flies(const DlaTask &task)
	{
		for (size_t i = 0; i < task.graph.size(); i++) {
			if (task.graph[i].op_type == NVDLA_OP_PDP)
				return task.surfaces[i].pdp.src_data.type == NVDLA_MEM_HW;
		}
		ADD_FAILURE() << "no pooling";
		return false;
	}
	std::string refused(const Strategy &strategy) const
	{
		return refusal(made_.graph, { .strategy = strategy });
	}
};

} /* namespace */

TEST_F(StrategyTest, CompressesWhatHasManyZeros)
{
	input({ .type = DataType::Int8, .c = 128, .h = 6, .w = 6 });
	sparseWeights(64, 128);
	onlyLayer();
	for (const Choice choice : { Choice::Auto, Choice::Always })
		EXPECT_EQ(convolutions(chosen(&Strategy::compression, choice, slowMemory))[0]
				  .weight_format,
			  NVDLA_WEIGHT_COMPRESSED);
	EXPECT_EQ(convolutions(chosen(&Strategy::compression, Choice::Never, slowMemory))[0]
			  .weight_format,
		  NVDLA_WEIGHT_UNCOMPRESSED);
}

/* Weights are compressed or not, whoever reads them. */
TEST_F(StrategyTest, CompressesWhatSeveralUseAlike)
{
	for (const uint32_t stride : { 1U, 2U }) {
		made_ = {};
		input({ .type = DataType::Int8, .c = 128, .h = 7, .w = 7 });
		sparseWeights(64, 128);
		onlyLayer();
		op::Convolution second{
			.name = "conv2", .input = "x", .weights = "w", .output = "s2"
		};
		second.stride = { stride, stride };
		add(second);
		op::Sdp last = sdp();
		last.name = "sdp2";
		last.input = "s2";
		last.output = "y2";
		add(last);
		output("y2");
		const auto convs =
			convolutions(chosen(&Strategy::compression, Choice::Auto, slowMemory));
		ASSERT_EQ(convs.size(), 2U);
		for (const auto &conv : convs)
			EXPECT_EQ(conv.weight_format, stride == 1 ? NVDLA_WEIGHT_COMPRESSED
								  : NVDLA_WEIGHT_UNCOMPRESSED);
	}
}

TEST_F(StrategyTest, LeavesDenseWeightsAsTheyAre)
{
	input({ .type = DataType::Int8, .c = 128, .h = 6, .w = 6 });
	weights(DataType::Int8, 64, 128, 3, 3);
	onlyLayer();
	EXPECT_EQ(convolutions(chosen(&Strategy::compression, Choice::Auto, slowMemory))[0]
			  .weight_format,
		  NVDLA_WEIGHT_UNCOMPRESSED);
	EXPECT_EQ(convolutions(chosen(&Strategy::compression, Choice::Always))[0].weight_format,
		  NVDLA_WEIGHT_COMPRESSED);
}

/* Winograd multiplies less and has larger weights: what counts depends on the memory. */
TEST_F(StrategyTest, TakesWinogradWhereMultipliersAreWhatIsShort)
{
	input({ .type = DataType::Half, .c = 64, .h = 16, .w = 16 });
	weights(DataType::Half, 64, 64, 3, 3);
	layer({ .padding = { 1, 1, 1, 1 } });
	op::Sdp last = sdp();
	last.converter = {};
	add(last);
	output("y");
	auto modeFor = [&](Choice choice, const std::pair<std::string, std::string> &memory) {
		Strategy strategy = asItIs();
		strategy.winograd = choice;
		strategy.chip = { memory };
		auto loadable = made_.graph.assemble({ .strategy = strategy });
		EXPECT_TRUE(loadable) << loadable.error().message();
		return convolutions(*dlaTask(*loadable, 0))[0].conv_mode;
	};
	EXPECT_EQ(modeFor(Choice::Auto, fastMemory), NVDLA_CONV_MODE_WINOGRAD);
	EXPECT_EQ(modeFor(Choice::Auto, slowMemory), NVDLA_CONV_MODE_DIRECT);
	EXPECT_EQ(modeFor(Choice::Always, slowMemory), NVDLA_CONV_MODE_WINOGRAD);
	EXPECT_EQ(modeFor(Choice::Never, fastMemory), NVDLA_CONV_MODE_DIRECT);

	/* Within 1 % of the range: FP16 has 11 bits, and tiles are added up in another order. */
	Strategy strategy = asItIs();
	const auto direct = elementsToFloat(DataType::Half, result(strategy));
	strategy.winograd = Choice::Always;
	const auto tiles = elementsToFloat(DataType::Half, result(strategy));
	ASSERT_EQ(direct.size(), tiles.size());
	float range = 0, off = 0;
	for (size_t i = 0; i < direct.size(); i++) {
		range = std::max(range, std::fabs(direct[i]));
		off = std::max(off, std::fabs(direct[i] - tiles[i]));
	}
	EXPECT_GT(range, 1);
	EXPECT_LT(off, range / 100);
}

TEST_F(StrategyTest, PoolsOnTheFly)
{
	input({ .type = DataType::Int8, .c = 40, .h = 9, .w = 9 });
	weights(DataType::Int8, 33, 40, 2, 2);
	layerBeforePooling();
	/* Not right behind SDP: it comes there. */
	op::Sdp other = sdp();
	other.name = "other";
	other.input = "x";
	other.output = "z";
	add(other);
	pooling();
	output("y");
	output("z");
	EXPECT_TRUE(flies(chosen(&Strategy::fusedPooling, Choice::Auto)));
	EXPECT_TRUE(flies(chosen(&Strategy::fusedPooling, Choice::Always)));
	EXPECT_FALSE(flies(chosen(&Strategy::fusedPooling, Choice::Never)));
}

/* Too wide for the line buffer: it is made in parts, which are read from memory. */
TEST_F(StrategyTest, DoesNotTakeAPoolingOfPartsForOneOnTheFly)
{
	input({ .type = DataType::Int8, .c = 8, .h = 4, .w = 1200 });
	weights(DataType::Int8, 32, 8, 1, 1);
	layerBeforePooling();
	pooling();
	output("y");
	EXPECT_FALSE(flies(chosen(&Strategy::fusedPooling, Choice::Auto)));
	Strategy strategy = asItIs();
	strategy.fusedPooling = Choice::Always;
	EXPECT_NE(refused(strategy).find("strategy, fused-pooling"), std::string::npos)
		<< refused(strategy);
}

TEST_F(StrategyTest, PutsLinesOfPicturesTogether)
{
	input({ .type = DataType::Int8,
		.c = 4,
		.h = 20,
		.w = 24,
		.format = PixelFormat::A8B8G8R8 });
	weights(DataType::Int8, 16, 4, 3, 3);
	onlyLayer();
	const auto lines = [&](Choice choice) {
		return convolutions(chosen(&Strategy::postExtension, choice))[0].post_extension;
	};
	EXPECT_EQ(lines(Choice::Never), 0);
	EXPECT_GT(lines(Choice::Auto), 0);
	EXPECT_GT(lines(Choice::Always), 0);
}

/* Few channels are pixels. */
TEST_F(StrategyTest, TakesInputsOfFewChannelsAsPixels)
{
	const struct {
		DataType type;
		uint32_t channels;
		PixelFormat format;
	} inputs[] = {
		{ DataType::Int8, 1, PixelFormat::R8 },
		{ DataType::Int8, 3, PixelFormat::A8B8G8R8 },
		{ DataType::Int8, 4, PixelFormat::A8B8G8R8 },
		{ DataType::Int8, 5, PixelFormat::Feature },
		{ DataType::Int16, 1, PixelFormat::R16I },
		{ DataType::Int16, 2, PixelFormat::A16B16G16R16 },
		{ DataType::Half, 1, PixelFormat::R16F },
		{ DataType::Half, 3, PixelFormat::A16B16G16R16F },
	};
	for (const auto &[type, channels, format] : inputs) {
		const bool half = type == DataType::Half;
		for (const Choice choice : { Choice::Never, Choice::Auto, Choice::Always }) {
			if (choice == Choice::Always && format == PixelFormat::Feature)
				continue;
			made_ = {};
			input({ .type = type,
				.c = channels,
				.h = 20,
				.w = 24,
				.mayBePixels = true });
			weights(type, 16, channels, 5, 5);
			layer({ .stride = { 2, 2 },
				.padding = { 2, 1, 1, 2 },
				.padValue = static_cast<int16_t>(half ? 0 : -7) });
			op::Sdp last = sdp();
			last.converter = half ? Converter{} : last.converter;
			add(last);
			output("y");
			const bool taken = choice != Choice::Never;
			const auto conv = convolutions(chosen(&Strategy::pixels, choice))[0];
			EXPECT_EQ(conv.data_format,
				  static_cast<int>(taken ? format : PixelFormat::Feature))
				<< channels << " of " << dataTypeName(type);
			const auto loadable = made_.graph.assemble(made_.options);
			ASSERT_TRUE(loadable) << loadable.error().message();
			EXPECT_EQ(loadable->inputs()->front().c, channels);
		}
	}
}

/* Samples are parts, of which each is a picture. */
TEST_F(StrategyTest, TakesSamplesOfABatchAsPixels)
{
	for (const Choice choice : { Choice::Never, Choice::Auto }) {
		made_ = {};
		input({ .type = DataType::Int8,
			.c = 3,
			.h = 9,
			.w = 13,
			.n = 3,
			.mayBePixels = true });
		weights(DataType::Int8, 16, 3, 3, 3);
		for (const uint32_t i : { 0U, 1U, 2U }) {
			const std::string number = fmt::format("{}", i);
			made_.graph.surface({ .name = "x" + number, .within = "x", .atBatch = i });
			add(op::Convolution{ .name = "conv" + number,
					     .input = "x" + number,
					     .weights = "w",
					     .output = "s" + number });
			add(op::Sdp{ .name = "sdp" + number,
				     .input = "s" + number,
				     .output = "y" + number });
			made_.graph.output("y" + number);
		}
		Strategy strategy = asItIs();
		strategy.pixels = choice;
		const auto loadable = made_.graph.assemble({ .strategy = strategy });
		ASSERT_TRUE(loadable) << loadable.error().message();
		const TensorDesc desc = loadable->inputs()->front();
		EXPECT_EQ(desc.n, 3U);
		EXPECT_EQ(desc.format,
			  choice == Choice::Auto ? PixelFormat::A8B8G8R8 : PixelFormat::Feature);
		for (const auto &conv : convolutions(*dlaTask(*loadable, 0)))
			EXPECT_EQ(static_cast<PixelFormat>(conv.data_format), desc.format);
	}
}

/* A batch of pictures is no input of a convolution. */
TEST_F(StrategyTest, SaysThatPicturesAreReadOneByOne)
{
	input({ .type = DataType::Int8,
		.c = 4,
		.h = 8,
		.w = 8,
		.n = 2,
		.format = PixelFormat::A8B8G8R8 });
	weights(DataType::Int8, 16, 4, 3, 3);
	onlyLayer();
	expectRefusal({ "conv", "batch of 2 pictures" });
}

/* All who read it have to be able to. */
TEST_F(StrategyTest, LeavesInputsThatOthersReadAsTheyAre)
{
	const auto formatWith = [this](auto change) {
		made_ = {};
		input({ .type = DataType::Int8, .c = 3, .h = 9, .w = 11, .mayBePixels = true });
		weights(DataType::Int8, 16, 3, 3, 3);
		onlyLayer();
		op::Convolution second{
			.name = "conv2", .input = "x", .weights = "w", .output = "s2"
		};
		op::Sdp last = sdp();
		last.name = "sdp2";
		last.input = "s2";
		last.output = "y2";
		change(second, last);
		add(second);
		add(last);
		output("y2");
		Strategy strategy = asItIs();
		strategy.pixels = Choice::Auto;
		const auto loadable = made_.graph.assemble({ .strategy = strategy });
		EXPECT_TRUE(loadable) << loadable.error().message();
		const PixelFormat format = loadable->inputs()->front().format;
		for (const auto &conv : convolutions(*dlaTask(*loadable, 0)))
			EXPECT_EQ(static_cast<PixelFormat>(conv.data_format), format);
		return format;
	};

	EXPECT_EQ(formatWith([](op::Convolution &, op::Sdp &) {}), PixelFormat::A8B8G8R8);
	EXPECT_EQ(formatWith([](op::Convolution &conv, op::Sdp &) {
			  conv.dilation = { 2, 1 };
		  }),
		  PixelFormat::Feature);
	EXPECT_EQ(formatWith([this](op::Convolution &, op::Sdp &) {
			  op::Sdp copy = sdp();
			  copy.name = "copy";
			  copy.input = "x";
			  copy.output = "copied";
			  add(copy);
			  output("copied");
		  }),
		  PixelFormat::Feature);
	EXPECT_EQ(formatWith([this](op::Convolution &conv, op::Sdp &) {
			  made_.graph.surface(
				  { .name = "lines", .h = 8, .within = "x", .atColumn = 3 });
			  conv.input = "lines";
		  }),
		  PixelFormat::A8B8G8R8);
	EXPECT_EQ(formatWith([this](op::Convolution &conv, op::Sdp &) {
			  made_.graph.surface({ .name = "two", .c = 2, .within = "x" });
			  made_.graph.weights(
				  { "w2", 8, 2, 1, 1, dice_.elements(DataType::Int8, 16) });
			  conv.input = "two";
			  conv.weights = "w2";
		  }),
		  PixelFormat::Feature);
}

TEST_F(StrategyTest, ReadsAnInputOnce)
{
	input({ .type = DataType::Int8, .c = 64, .h = 10, .w = 10 });
	weights(DataType::Int8, 32, 64, 1, 1);
	layer();
	add(sdp());
	op::Convolution second{ .name = "conv2", .input = "x", .weights = "w", .output = "s2" };
	second.stride = { 2, 1 };
	add(second);
	op::Sdp last = sdp();
	last.name = "sdp2";
	last.input = "s2";
	last.output = "y2";
	add(last);
	output("y");
	output("y2");
	EXPECT_EQ(convolutions(chosen(&Strategy::reuse, Choice::Auto, slowMemory))[1].data_reuse,
		  1);
	EXPECT_EQ(convolutions(chosen(&Strategy::reuse, Choice::Always))[1].data_reuse, 1);
	EXPECT_EQ(convolutions(chosen(&Strategy::reuse, Choice::Never))[1].data_reuse, 0);
}

/* Parts that begin within an atom are put together by a convolution between the two. */
TEST_F(StrategyTest, ReadsAnInputAgainBehindWhatMovesChannels)
{
	input({ .type = DataType::Int8, .c = 64, .h = 16, .w = 16 });
	weights(DataType::Int8, 20, 64, 1, 1);
	made_.graph.surface({ .name = "all", .type = DataType::Int8, .c = 40, .h = 16, .w = 16 });
	for (const uint32_t at : { 0U, 20U }) {
		const std::string part = fmt::format("part {}", at);
		made_.graph.surface({ .name = part, .within = "all", .atChannel = at });
		add(op::Convolution{ .name = part + " conv",
				     .input = "x",
				     .weights = "w",
				     .output = part + " sums" });
		add(op::Sdp{ .name = part,
			     .input = part + " sums",
			     .output = part,
			     .converter = { 0, 1, 8 } });
	}
	layer();
	add(sdp());
	output("all");
	output("y");
	made_.options.strategy = asItIs();
	made_.options.strategy->reuse = Choice::Auto;
	made_.options.strategy->chip = { slowMemory };
	const auto layers = convolutions(checked());
	ASSERT_EQ(layers.size(), 4U);
	EXPECT_EQ(layers[1].data_reuse, 1);
	EXPECT_EQ(layers[1].data_reuse, 1);
	EXPECT_EQ(layers[3].data_reuse, 0);
}

/* Samples of a batch have the same weights, which are not fetched again. */
TEST_F(StrategyTest, ReadsWeightsOnce)
{
	made_.graph.surface({ .name = "x0", .within = "x" });
	made_.graph.surface({ .name = "x1", .within = "x", .atBatch = 1 });
	input({ .type = DataType::Int8, .c = 64, .h = 4, .w = 4, .n = 2 });
	weights(DataType::Int8, 64, 64, 3, 3);
	const auto convs = twoLayers({ "x0", "x1" }, { "w", "w" });
	ASSERT_EQ(convs.size(), 2U);
	EXPECT_EQ(convs[0].weight_reuse, 0);
	EXPECT_EQ(convs[1].weight_reuse, 1);
	const auto chosen = chooseStrategy(made_.graph, reuseAlone());
	ASSERT_TRUE(chosen) << chosen.error().message();
	ASSERT_EQ(chosen->layers.size(), 1U);
	const LayerChoice &layer = chosen->layers.front();
	EXPECT_EQ(layer.candidates.at(layer.chosen).what, "weights of the convolution before it");
}

/* CDMA could fetch the input again while the first layer computes; reuse saves this traffic. */
TEST_F(StrategyTest, ReusesAnInputThatCouldBeFetchedInTime)
{
	input({ .type = DataType::Int8, .c = 16, .h = 55, .w = 55 });
	weights(DataType::Int8, 64, 16, 3, 3);
	GraphWeights others = made_.constants.weights["w"];
	others.name = "w1";
	made_.graph.weights(others);
	const auto convs = twoLayers({ "x", "x" }, { "w", "w1" });
	ASSERT_EQ(convs.size(), 2U);
	EXPECT_EQ(convs[1].data_reuse, 1);
}

TEST_F(StrategyTest, DividesLargeInputsAnotherWay)
{
	input({ .type = DataType::Int8, .c = 128, .h = largeH, .w = largeW });
	weights(DataType::Int8, 32, 128, 3, 3);
	onlyLayer();
	const auto usual = convolutions(chosen(&Strategy::bands, Choice::Never)).size();
	EXPECT_NE(convolutions(chosen(&Strategy::bands, Choice::Always)).size(), usual);
	chosen(&Strategy::bands, Choice::Auto);
}

TEST_F(StrategyTest, SaysWhatCannotBeForced)
{
	input({ .type = DataType::Int8, .c = 32, .h = 9, .w = 9 });
	weights(DataType::Int8, 32, 32, 3, 3);
	onlyLayer();
	const std::pair<const char *, Choice Strategy::*> subjects[] = {
		{ "winograd", &Strategy::winograd }, { "post-extension", &Strategy::postExtension },
		{ "pixels", &Strategy::pixels },     { "bands", &Strategy::bands },
		{ "reuse", &Strategy::reuse },	     { "fused-pooling", &Strategy::fusedPooling },
	};
	for (const auto &[name, subject] : subjects) {
		Strategy strategy;
		strategy.*subject = Choice::Always;
		const std::string message = refused(strategy);
		EXPECT_NE(message.find(std::string("strategy, ") + name), std::string::npos)
			<< message;
		EXPECT_NE(message.find("it takes"), std::string::npos) << message;
	}
	Strategy strategy;
	strategy.chip = { { "dram", "fast" } };
	EXPECT_NE(refused(strategy).find("chip 'dram'"), std::string::npos) << refused(strategy);
	strategy.chip = { { "cache", "1" } };
	EXPECT_NE(refused(strategy).find("is no option of a chip"), std::string::npos);
}

TEST_F(StrategyTest, ChosenIsTheFastest)
{
	input({ .type = DataType::Half, .c = 64, .h = 16, .w = 16 });
	weights(DataType::Half, 64, 64, 3, 3);
	layer({ .padding = { 1, 1, 1, 1 } });
	op::Sdp plain = sdp();
	plain.converter = {}; /* the core does not convert FP16 */
	add(plain);
	output("y");
	auto made = chooseStrategy(made_.graph, Strategy::all(Choice::Auto));
	ASSERT_TRUE(made) << made.error().message();
	ASSERT_EQ(made->layers.size(), 1U);
	const LayerChoice &layer = made->layers.front();
	EXPECT_EQ(layer.name, "conv");
	ASSERT_GE(layer.candidates.size(), 2U);
	for (const auto &candidate : layer.candidates)
		EXPECT_LE(layer.candidates[layer.chosen].cycles, candidate.cycles)
			<< candidate.what;
}

TEST(Strategy, IsText)
{
	auto strategy = parseStrategy("never,winograd=always,dram=2.5GB/s,reuse=auto");
	ASSERT_TRUE(strategy) << strategy.error().message();
	EXPECT_EQ(strategy->winograd, Choice::Always);
	EXPECT_EQ(strategy->compression, Choice::Never);
	EXPECT_EQ(strategy->reuse, Choice::Auto);
	EXPECT_EQ(toString(*strategy),
		  "winograd=always,compression=never,pixels=never,post-extension=never,bands=never,"
		  "fused-pooling=never,reuse=auto,branches=never,dram=2.5GB/s");
	auto same = parseStrategy(toString(*strategy));
	ASSERT_TRUE(same) << same.error().message();
	EXPECT_EQ(toString(*same), toString(*strategy));
	EXPECT_EQ(toString(*parseStrategy("")), toString(Strategy{}));

	const std::pair<const char *, const char *> wrong[] = {
		{ "winograd=maybe", "can be auto, always or never" },
		{ "sometimes", "is neither auto or never" },
		{ "always", "'always': is for one subject, as in reuse=always" },
		{ "cache=always", "there are winograd, compression" },
		{ "dram=fast", "'dram=fast'" },
	};
	for (const auto &[text, why] : wrong) {
		auto refused = parseStrategy(text);
		ASSERT_FALSE(refused) << text;
		EXPECT_NE(refused.error().message().find(why), std::string::npos)
			<< refused.error().message();
	}
}

/* Whatever is chosen: what comes out is what the reference says. */
TEST(Strategy, KeepsRandomGraphsAsTheyAre)
{
	auto device = Device::open(Device::embeddedPath);
	ASSERT_TRUE(device) << device.error().message();
	size_t choices = 0;
	for (uint32_t seed = firstSeed; seed < firstSeed + 300; seed++) {
		RandomCase made = randomCase(seed);
		Strategy strategy;
		strategy.winograd =
			Choice::Never; /* the reference holds direct mode to its own threshold */
		strategy.chip = { seed % 2 ? slowMemory : fastMemory };
		auto chosen = chooseStrategy(made.graph, strategy);
		ASSERT_TRUE(chosen) << "seed " << seed << ": " << chosen.error().message();
		for (const LayerChoice &layer : chosen->layers)
			choices += layer.chosen > 0;
		made.options.strategy = strategy;
		EXPECT_EQ(checkCase(*device, made), "") << "seed " << seed << '\n'
							<< made.description;
	}
	EXPECT_GT(choices, 5U);
}

} /* namespace nvdla::test */
