/* SPDX-License-Identifier: MIT */
/*
 * Caffe nets: what their layers compute, against numbers worked out by hand.
 */
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <random>

#include <gtest/gtest.h>

#include <nvdla/compiler.h>

#include "caffe.pb.h"
#include "calibrated.h"
#include "compiler/import/import.h"
#include "onnx_on_core.h"

namespace nvdla::test
{

namespace
{

/* The weights of a net, layer by layer. */
class WeightsBuilder
{
public:
	WeightsBuilder &layer(const std::string &name)
	{
		layer_ = net_.add_layer();
		layer_->set_name(name);
		return *this;
	}
	WeightsBuilder &blob(const std::vector<int64_t> &shape, const std::vector<float> &numbers)
	{
		caffe::Blob &blob = *layer_->add_blobs();
		blob.mutable_shape()->mutable_dim()->Add(shape.begin(), shape.end());
		blob.mutable_data()->Add(numbers.begin(), numbers.end());
		return *this;
	}
	const caffe::Net &net() const { return net_; }

private:
	caffe::Net net_;
	caffe::Layer *layer_ = nullptr;
};

std::string inputOf(const std::string &dims)
{
	return "layer { name: \"data\" type: \"Input\" top: \"data\" input_param { shape { " +
	       dims + " } } }\n";
}

/* of the picture */
const std::string dataLayer = inputOf("dim: 1 dim: 2 dim: 2 dim: 3");

std::string layerOf(const std::string &type, const std::string &rest = "",
		    const std::string &bottom = "data", const std::string &top = "out")
{
	return "layer { name: \"" + top + "\" type: \"" + type + "\" bottom: \"" + bottom +
	       "\" top: \"" + top + "\" " + rest + " }\n";
}

class CaffeNet : public testing::Test
{
protected:
	CaffeNet() { EXPECT_NE(mkdtemp(folder_.data()), nullptr); }
	~CaffeNet() override { std::filesystem::remove_all(folder_); }

	std::string path(const std::string &name) const { return folder_ + "/" + name; }
	std::string write(const std::string &text, const caffe::Net &weights = {}) const
	{
		std::ofstream(path("net.prototxt")) << text;
		std::ofstream(path("net.caffemodel"), std::ios::binary)
			<< weights.SerializeAsString();
		return path("net.prototxt");
	}
	std::string errorOf(const std::string &text, const caffe::Net &weights = {}) const
	{
		const auto compiled = compileFile(write(text, weights));
		return compiled ? "none" : compiled.error().message();
	}
	std::vector<Numbers> run(const std::string &text, const caffe::Net &weights = {},
				 const Numbers &numbers = picture) const
	{
		auto bytes = readModelFile(write(text, weights));
		if (!bytes) {
			ADD_FAILURE() << bytes.error().message();
			return {};
		}
		auto loaded = CoreRun::of(compiler::importOnnx(*bytes));
		if (!loaded) {
			ADD_FAILURE() << loaded.error().message();
			return {};
		}
		auto outputs = loaded->run({ numbers });
		EXPECT_TRUE(outputs);
		return outputs ? *outputs : std::vector<Numbers>{};
	}
	void expect(const std::string &layers, const Numbers &wanted,
		    const caffe::Net &weights = {}, const Numbers &numbers = picture) const
	{
		const auto got = run(dataLayer + layers, weights, numbers);
		ASSERT_EQ(got.size(), 1U) << layers;
		ASSERT_EQ(got[0].size(), wanted.size()) << layers;
		for (size_t i = 0; i < wanted.size(); i++)
			EXPECT_NEAR(got[0][i], wanted[i], 2e-3 * (1 + std::abs(wanted[i])))
				<< layers << " element " << i;
	}

	std::string folder_ = testing::TempDir() + "/caffe-XXXXXX";
};

} /* namespace */

/* Layers in place have tensors of their own, with the layers' names. */
TEST_F(CaffeNet, ATableIsAsGoodAsASample)
{
	WeightsBuilder weights;
	weights.layer("conv")
		.blob({ 2, 2, 1, 1 }, { 0.5F, -0.25F, -1, 0.75F })
		.blob({ 2 }, { 1, -2 });
	weights.layer("out").blob({ 1, 2, 1, 1 }, { 0.125F, -0.5F });
	const std::string one = "num_output: 1 kernel_size: 1 bias_term: false";
	const std::string net =
		dataLayer +
		layerOf("Convolution", "convolution_param { num_output: 2 kernel_size: 1 }", "data",
			"conv") +
		"layer { name: \"relu\" type: \"ReLU\" bottom: \"conv\" top: \"conv\" }\n" +
		layerOf("Convolution", "convolution_param { " + one + " }", "conv", "out");
	auto file = readModelFile(write(net, weights.net()));

	ASSERT_TRUE(file) << file.error().message();
	expectTableLikeSample(*file, { picture.begin(), picture.end() });
	for (const char *name : { "relu", "conv" }) {
		const Calibration calibration{
			.table = { { "data", 0.5 }, { name, 0.25 }, { "out", 0.125 } }
		};
		EXPECT_TRUE(compileModel(*file, { .calibration = calibration })) << name;
	}
	auto refused =
		compileModel(*file, { .calibration = Calibration{ .table = { { "data", 1 } } } });
	ASSERT_FALSE(refused);
	EXPECT_NE(refused.error().message().find("'relu': has no row"), std::string::npos)
		<< refused.error().message();
}

TEST_F(CaffeNet, ConvolutionsHaveTheirWindows)
{
	WeightsBuilder weights;
	weights.layer("out").blob({ 1, 2, 1, 3 }, { 1, 0, 0, 0, 0, 1 }).blob({ 1 }, { 0.5F });
	/* One element of padding on both sides of a line, none above and below it. */
	expect(layerOf("Convolution", "convolution_param { num_output: 1 kernel_h: 1 kernel_w: 3 "
				      "pad_h: 0 pad_w: 1 }"),
	       { 20.5, 31.5, 2.5, 50.5, 64.5, 5.5 }, weights.net());
	WeightsBuilder depthwise;
	depthwise.layer("out").blob({ 2, 1, 1, 1 }, { 2, 3 });
	expect(layerOf("ConvolutionDepthwise", "convolution_param { num_output: 2 kernel_size: 1 "
					       "bias_term: false }"),
	       { 2, 4, 6, 8, 10, 12, 30, 60, 90, 120, 150, 180 }, depthwise.net());
	WeightsBuilder transposed;
	transposed.layer("out").blob({ 2, 1, 1, 1 }, { 1, 0.5F });
	expect(layerOf("Deconvolution",
		       "convolution_param { num_output: 1 kernel_size: 1 stride: 2 "
		       "bias_term: false }"),
	       { 6, 0, 12, 0, 18, 0, 0, 0, 0, 0, 24, 0, 30, 0, 36 }, transposed.net());
}

/* 2 x 3 in windows of 2 x 2: the last column's is not full. */
TEST_F(CaffeNet, PoolingsRoundUp)
{
	expect(layerOf("Pooling", "pooling_param { pool: MAX kernel_size: 2 stride: 2 }"),
	       { 5, 6, 50, 60 });
	expect(layerOf("Pooling", "pooling_param { pool: AVE kernel_size: 2 stride: 2 }"),
	       { 3, 4.5, 30, 45 });
	expect(layerOf("Pooling", "pooling_param { pool: MAX kernel_size: 2 stride: 2 "
				  "round_mode: FLOOR }"),
	       { 5, 50 });
	expect(layerOf("Pooling", "pooling_param { pool: AVE global_pooling: true }"), { 3.5, 35 });
	/* Padding counts: a corner is a quarter of the window. */
	expect(layerOf("Pooling", "pooling_param { pool: AVE kernel_size: 2 stride: 2 pad: 1 }"),
	       { 0.25, 1.25, 1, 2.75, 2.5, 12.5, 10, 27.5 });
}

TEST_F(CaffeNet, InnerProductsReadWhatIsBelowAsOneRow)
{
	WeightsBuilder weights;
	weights.layer("out")
		.blob({ 2, 12 },
		      { 1, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, -1 })
		.blob({ 2 }, { 0, 100 });
	expect(layerOf("InnerProduct", "inner_product_param { num_output: 2 }"), { 11, 46 },
	       weights.net());
}

/* Files of before 2015 have four sizes, and layers of another kind. */
TEST_F(CaffeNet, OldWeightsAreRead)
{
	caffe::Net weights;
	caffe::OldLayer &layer = *weights.add_layers();
	caffe::Blob &blob = *layer.add_blobs();
	layer.set_name("out");
	blob.set_num(1);
	blob.set_channels(1);
	blob.set_height(1);
	blob.set_width(12);
	for (int i = 0; i < 12; i++)
		blob.add_data(i == 1 ? 1 : 0);
	expect(layerOf("InnerProduct", "inner_product_param { num_output: 1 bias_term: false }"),
	       { 2 }, weights);
}

TEST_F(CaffeNet, ChannelsAreNormalizedAndScaled)
{
	WeightsBuilder weights;
	weights.layer("norm").blob({ 2 }, { 4, 40 }).blob({ 2 }, { 8, 8 }).blob({ 1 }, { 2 });
	weights.layer("scale").blob({ 2 }, { 2, 4 }).blob({ 2 }, { 1, 0 });
	/* means 2 and 20, variances 4 */
	expect(layerOf("BatchNorm", "batch_norm_param { eps: 0 }", "data", "norm") +
		       layerOf("Scale", "scale_param { bias_term: true }", "norm", "scale"),
	       { 0, 1, 2, 3, 4, 5, -20, 0, 20, 40, 60, 80 }, weights.net());
	WeightsBuilder sums;
	sums.layer("out").blob({ 2 }, { 1, -10 });
	expect(layerOf("Bias"), { 2, 3, 4, 5, 6, 7, 0, 10, 20, 30, 40, 50 }, sums.net());
}

/* As networks do that weigh their channels by what is in them. */
TEST_F(CaffeNet, ComputedFactorsMeetChannels)
{
	expect(layerOf("Pooling", "pooling_param { pool: MAX global_pooling: true }", "data",
		       "most") +
		       layerOf("Flatten", "", "most", "row") +
		       layerOf("Scale", "bottom: \"row\" scale_param { axis: 0 }"),
	       { 6, 12, 18, 24, 30, 36, 600, 1200, 1800, 2400, 3000, 3600 });
}

TEST_F(CaffeNet, ElementsAreFunctionsOfTheirs)
{
	const Numbers signs = { 1, -2, 3, -4, 5, -6, 10, -20, 30, -40, 50, -60 };
	WeightsBuilder slopes;
	slopes.layer("out").blob({ 2 }, { 0.5F, 0.25F });

	expect(layerOf("ReLU"), { 1, 0, 3, 0, 5, 0, 10, 0, 30, 0, 50, 0 }, {}, signs);
	expect(layerOf("ReLU", "relu_param { negative_slope: 0.5 }"),
	       { 1, -1, 3, -2, 5, -3, 10, -10, 30, -20, 50, -30 }, {}, signs);
	expect(layerOf("PReLU"), { 1, -1, 3, -2, 5, -3, 10, -5, 30, -10, 50, -15 }, slopes.net(),
	       signs);
	expect(layerOf("ReLU6"), { 1, 0, 3, 0, 5, 0, 6, 0, 6, 0, 6, 0 }, {}, signs);
	expect(layerOf("AbsVal"), picture, {}, signs);
	expect(layerOf("Power", "power_param { power: 2 scale: 0.1 shift: 1 }"),
	       { 1.21, 1.44, 1.69, 1.96, 2.25, 2.56, 4, 9, 16, 25, 36, 49 });
	expect(layerOf("Eltwise", "bottom: \"data\" eltwise_param { operation: SUM coeff: 1 "
				  "coeff: -0.5 }"),
	       { 0.5, 1, 1.5, 2, 2.5, 3, 5, 10, 15, 20, 25, 30 });
	expect(layerOf("Eltwise", "bottom: \"data\" eltwise_param { operation: PROD }"),
	       { 1, 4, 9, 16, 25, 36, 100, 400, 900, 1600, 2500, 3600 });
	expect(layerOf("Dropout", "dropout_param { dropout_ratio: 0.5 }"), picture);
}

TEST_F(CaffeNet, ElementsMove)
{
	expect(layerOf("Concat", "bottom: \"data\" concat_param { axis: 2 }"), { 1,  2,	 3,  4,	 5,
										 6,  1,	 2,  3,	 4,
										 5,  6,	 10, 20, 30,
										 40, 50, 60, 10, 20,
										 30, 40, 50, 60 });
	expect(layerOf("Permute", "permute_param { order: 0 order: 2 }"),
	       { 1, 2, 3, 10, 20, 30, 4, 5, 6, 40, 50, 60 });
	expect(layerOf("Reshape", "reshape_param { shape { dim: 0 dim: 3 dim: -1 } }"), picture);
	const auto halves = run(dataLayer + layerOf("Slice", "top: \"rest\" slice_param { axis: 3 "
							     "slice_point: 1 }"));
	ASSERT_EQ(halves.size(), 2U);
	EXPECT_EQ(halves[0], (Numbers{ 1, 4, 10, 40 }));
	EXPECT_EQ(halves[1], (Numbers{ 2, 3, 5, 6, 20, 30, 50, 60 }));
}

/* Results of layers that write in place: the net's output has the blob's name. */
TEST_F(CaffeNet, OutputsHaveTheNamesOfBlobs)
{
	const auto compiled = compileFile(
		write(dataLayer + layerOf("Power", "power_param { shift: -3 }", "data", "sum") +
		      "layer { name: 'relu' type: 'ReLU' bottom: 'sum' top: 'sum' }"
		      "layer { name: 'loss' type: 'SoftmaxWithLoss' bottom: 'sum' "
		      "include { phase: TRAIN } } # is not there\n"));
	ASSERT_TRUE(compiled) << compiled.error().message();
	ASSERT_EQ(compiled->report.outputs.size(), 1U);
	EXPECT_EQ(compiled->report.tensors[compiled->report.outputs[0]].name, "sum");
}

TEST_F(CaffeNet, OldInputsAreRead)
{
	const std::string layers = layerOf("AbsVal");
	EXPECT_EQ(run("input: \"data\" input_dim: 1 input_dim: 2 input_dim: 2 input_dim: 3 " +
		      layers),
		  run("input: \"data\" input_shape { dim: 1 dim: 2 dim: 2 dim: 3 } " + layers));
}

TEST_F(CaffeNet, WhatIsWrongIsNamed)
{
	const auto has = [&](const std::string &error, const std::string &part) {
		EXPECT_NE(error.find(part), std::string::npos) << error;
	};

	has(errorOf(dataLayer + layerOf("Pooling", "pooling_param { kernel: 2 }")), "\"kernel\"");
	has(errorOf(dataLayer + layerOf("Pooling", "pooling_param { kernel: 2 }")), "line 2");
	has(errorOf(dataLayer + layerOf("Pooling", "pooling_param { pool: STOCHASTIC }")),
	    "STOCHASTIC");
	has(errorOf(dataLayer + layerOf("Convolution", "convolution_param { num_output: 4 "
						       "kernel_size: 1 }")),
	    "layer 'out' (Convolution), weights");
	has(errorOf(dataLayer + layerOf("ROIAlign", "roi_align_param { size: 7 }")), "ROIAlign");
	has(errorOf(dataLayer + layerOf("ReLU", "", "nowhere")), "'nowhere'");
	has(errorOf(dataLayer + "layer { name: 'p' type: 'Power' top: 'out' }"),
	    "bottom: is missing");
	has(errorOf(dataLayer + layerOf("Eltwise", "eltwise_param { coeff: 1 coeff: 2 }")),
	    "coeff: has 2");
	has(errorOf(dataLayer + layerOf("Flatten", "flatten_param { axis: 2 }")),
	    "is 2; 1 is known");
	has(errorOf(dataLayer + layerOf("Concat", "concat_param { axis: 2 concat_dim: 3 }")),
	    "is 2; 1 is known");
	has(errorOf("layer { name: 'd' type: 'Data' top: 'data' }"), "deploy.prototxt");
	has(errorOf("layers { name: 'd' type: RELU }"), "upgrade_net_proto_text");
	has(errorOf("layer { name: 'd' "), "line 1");
	has(errorOf("name: 'empty'"), "no layers");
	has(errorOf(dataLayer + layerOf("Softmax", "softmax_param { axis: 4 }")), "axis: axis 4");
}

/* Bytes of both files change: whatever comes of that is a model or an error. */
TEST_F(CaffeNet, DamagedFilesAreModelsOrErrors)
{
	constexpr int rounds = 300;
	std::mt19937 random(35);
	WeightsBuilder weights;
	weights.layer("conv").blob({ 1, 2, 1, 1 }, { 1, 2 }).blob({ 1 }, { 3 });
	weights.layer("scale").blob({ 1 }, { 2 }).blob({ 1 }, { 1 });
	const std::string net =
		dataLayer +
		layerOf("Convolution", "convolution_param { num_output: 1 kernel_size: 1 }", "data",
			"conv") +
		layerOf("Pooling", "pooling_param { pool: AVE kernel_size: 2 pad: 1 }", "conv",
			"pool") +
		layerOf("Scale", "scale_param { bias_term: true }", "pool", "scale") +
		layerOf("Slice", "slice_param { axis: 2 slice_point: 1 } top: \"rest\"", "scale");
	const std::string bytes = weights.net().SerializeAsString();
	const auto damaged = [&](std::string text) {
		for (uint32_t i = random() % 3; i < 3; i++)
			text[random() % text.size()] ^= static_cast<char>(1 << random() % 7);
		return text;
	};
	int models = 0;

	for (int i = 0; i < rounds; i++) {
		std::ofstream(path("net.prototxt")) << (i % 2 ? damaged(net) : net);
		std::ofstream(path("net.caffemodel"), std::ios::binary)
			<< (i % 2 ? bytes : damaged(bytes));
		models += readModelFile(path("net.prototxt")).has_value();
	}
	EXPECT_GT(models, 0);
	EXPECT_LT(models, rounds);
}

TEST_F(CaffeNet, WeightsAreFoundBesideTheNet)
{
	const std::string net = write(dataLayer + layerOf("AbsVal"));

	std::filesystem::rename(path("net.caffemodel"), path("other.caffemodel"));
	EXPECT_TRUE(compileFile(net));
	std::filesystem::copy(path("other.caffemodel"), path("third.caffemodel"));
	const auto several = compileFile(net);
	ASSERT_FALSE(several);
	EXPECT_NE(several.error().message().find("several"), std::string::npos);
	std::filesystem::remove(path("other.caffemodel"));
	std::filesystem::remove(path("third.caffemodel"));
	const auto none = compileFile(net);
	ASSERT_FALSE(none);
	EXPECT_NE(none.error().message().find(path("net.caffemodel")), std::string::npos);
	const auto weights = compileFile(path("net.caffemodel"));
	ASSERT_FALSE(weights);
}

} /* namespace nvdla::test */
