/* SPDX-License-Identifier: MIT */
/*
 * Calibrated models some of whose operators ONNX Runtime computes, compared with the float model.
 */
#include <algorithm>
#include <cmath>
#include <random>

#include <fmt/core.h>

#include "base/host/host_model.h"
#include "host_run.h"
#include "onnx_builder.h"
#include "test_support.h"

namespace nvdla::test
{

namespace
{

using Sample = std::vector<std::vector<float>>;
using Places = std::vector<std::string>;

constexpr int64_t channels = 8, extent = 6;
const std::vector<int64_t> cube = { 1, channels, extent, extent };
constexpr size_t elements = channels * extent * extent;

std::vector<float> someNumbers(size_t count, uint32_t seed, float largest)
{
	std::mt19937 random(seed);
	std::vector<float> numbers;

	for (size_t i = 0; i < count; i++)
		numbers.push_back((static_cast<float>(random() % 2001) / 1000 - 1) * largest);
	return numbers;
}

/* Models of 3x3 convolutions, each with a bias and kernels of its own, and sums along an axis. */
class Blocks : public OnnxBuilder
{
public:
	explicit Blocks(int64_t batch = 1)
	{
		input("x", { batch, channels, extent, extent });
		for (int axis = 0; axis < 4; axis++)
			integers(fmt::format("axis {}", axis), {}, { axis }, onnx::INT32);
	}
	void conv(const std::string &x, const std::string &y)
	{
		const std::string kernels = y + " kernels", bias = y + " bias";
		floats(kernels, { channels, channels, 3, 3 },
		       someNumbers(channels * channels * 9, ++seed_, 0.1F));
		floats(bias, { channels }, someNumbers(channels, ++seed_, 0.3F));
		setList(node("Conv", { x, kernels, bias }, y), "pads", { 1, 1, 1, 1 });
	}
	void sums(const std::string &x, const std::string &y, int axis = 3)
	{
		node("CumSum", { x, fmt::format("axis {}", axis) }, y);
	}

private:
	uint32_t seed_ = 0;
};

Blocks sumsBetween()
{
	Blocks model;

	model.conv("x", "a");
	model.sums("a", "b");
	model.conv("b", "y");
	model.output("y");
	return model;
}

std::vector<Sample> samplesOf(size_t count, size_t numbers = elements)
{
	std::vector<Sample> samples;

	for (size_t i = 0; i < count; i++)
		samples.push_back({ someNumbers(numbers, static_cast<uint32_t>(100 + i), 1) });
	return samples;
}

CompileOptions calibrated(const char *core, std::vector<Sample> samples)
{
	CompileOptions options;

	options.core = *findCoreVariant(core);
	options.calibration = Calibration{ .samples = std::move(samples) };
	return options;
}

/* The float answers, of outputs that have as many elements as the input. */
std::vector<Numbers> floatAnswers(const std::vector<std::byte> &file, Sample sample, size_t outputs)
{
	const HostModel model = *HostModel::open(file);
	std::vector<std::vector<float>> results(outputs, std::vector<float>(sample[0].size()));
	std::vector<HostValue> values = *model.outputs();
	std::vector<HostArray> to;
	HostValue x{ "x", onnx::FLOAT, cube };
	std::vector<Numbers> answers;

	x.shape[0] = static_cast<int64_t>(sample[0].size() / elements);
	for (size_t i = 0; i < outputs; i++)
		to.push_back({ { values[i].name, onnx::FLOAT, x.shape },
			       std::as_writable_bytes(std::span(results[i])) });
	const HostArray from{ x, std::as_writable_bytes(std::span(sample[0])) };
	auto ran = model.run({ &from, 1 }, to);
	EXPECT_TRUE(ran) << ran.error().message();
	for (const std::vector<float> &result : results)
		answers.emplace_back(result.begin(), result.end());
	return answers;
}

/* Signal to noise in decibels: an output of 8 bits, after two layers of 8 bits, has some 35. */
double ratioOf(const Numbers &got, const Numbers &wanted)
{
	double signal = 0, noise = 0;

	EXPECT_EQ(got.size(), wanted.size());
	for (size_t i = 0; i < got.size() && i < wanted.size(); i++) {
		signal += wanted[i] * wanted[i];
		noise += (got[i] - wanted[i]) * (got[i] - wanted[i]);
	}
	return 10 * std::log10(signal / noise);
}

void expectNear(const Blocks &model, const CompiledModel &made, const Sample &sample,
		size_t outputs = 1, double decibels = 32)
{
	const Numbers numbers(sample[0].begin(), sample[0].end());
	const std::vector<Numbers> got = runOnce(made, { numbers });
	const std::vector<Numbers> wanted = floatAnswers(model.file(), sample, outputs);

	ASSERT_EQ(got.size(), wanted.size());
	for (size_t i = 0; i < got.size(); i++)
		EXPECT_GT(ratioOf(got[i], wanted[i]), decibels)
			<< made.loadable.variant << ", output " << i;
}

class CalibratedHost : public testing::TestWithParam<const char *>
{
protected:
	void expect(const Blocks &model, const Places &places, size_t outputs = 1)
	{
		const CompiledModel made =
			compiledFile(model.file(), calibrated(GetParam(), samplesOf(4)));

		EXPECT_EQ(placesOf(made), places);
		for (const LayerReport &layer : made.report.layers)
			EXPECT_EQ(layer.error.has_value(), layer.host.empty()) << layer.name;
		expectNear(model, made, samplesOf(4)[1], outputs);
	}
};

} /* namespace */

TEST_P(CalibratedHost, HasWhatIsBetweenPartsOfTheCore)
{
	expect(sumsBetween(), { "core Conv", "host CumSum", "core Conv" });
}

TEST_P(CalibratedHost, HasWhatIsAtTheStart)
{
	Blocks model;
	model.sums("x", "a");
	model.conv("a", "y");
	model.output("y");

	expect(model, { "host CumSum", "core Conv" });
}

TEST_P(CalibratedHost, HasWhatIsAtTheEnd)
{
	Blocks model;
	model.conv("x", "a");
	model.sums("a", "y");
	model.output("y");

	expect(model, { "core Conv", "host CumSum" });
}

/* Both branches read the same result of the core, which is an output as well. */
TEST_P(CalibratedHost, HasBranches)
{
	Blocks model;
	model.conv("x", "a");
	model.sums("a", "b");
	model.sums("a", "c", 2);
	model.conv("b", "d");
	model.conv("c", "e");
	model.node("Add", { "d", "e" }, "y");
	model.output("a");
	model.output("y");

	expect(model,
	       { "core Conv", "host CumSum", "host CumSum", "core Conv", "core Conv", "core Add" },
	       2);
}

INSTANTIATE_TEST_SUITE_P(Cores, CalibratedHost, testing::Values("nv_full", "nv_small"));

/* The sums grow along a line: the second part's range is not that of the input. */
TEST(CalibratedHostOptions, TakesRangesOfAllSamples)
{
	const Blocks model = sumsBetween();
	std::vector<Sample> samples = samplesOf(3);
	for (float &number : samples[1][0])
		number *= 4;
	const CompiledModel made = compiledFile(model.file(), calibrated("nv_full", samples));

	expectNear(model, made, samples[1]);
}

TEST(CalibratedHostOptions, HasIntegersOf16Bits)
{
	const Blocks model = sumsBetween();
	CompileOptions options = calibrated("nv_full", samplesOf(2));
	options.calibration->type = DataType::Int16;

	expectNear(model, compiledFile(model.file(), options), samplesOf(2)[1], 1, 60);
}

/* An example is used for each input of a batch; behind the sums over the batch these differ. */
TEST(CalibratedHostOptions, HasBatchesOfDifferentNumbers)
{
	constexpr size_t batch = 3;
	Blocks model(batch);
	model.conv("x", "a");
	model.sums("a", "b", 0);
	model.conv("b", "y");
	model.output("y");
	Sample all = samplesOf(1)[0];
	const std::vector<float> one = all[0];
	while (all[0].size() < batch * elements)
		all[0].insert(all[0].end(), one.begin(), one.end());

	expectNear(model, compiledFile(model.file(), calibrated("nv_full", samplesOf(1))), all);
}

TEST(CalibratedHostOptions, TakesScalesOfATable)
{
	const Blocks model = sumsBetween();
	Blocks open = model;
	open.output("a");
	open.output("b");
	const auto answers = floatAnswers(open.file(), samplesOf(1)[0], 3);
	CompileOptions options = calibrated("nv_full", {});
	CalibrationTable &table = options.calibration->table;
	const auto scaleOf = [](const Numbers &numbers) {
		const auto [low, high] = std::ranges::minmax(numbers);
		return std::max(-low, high) / 127;
	};
	table = { { "x", 1.0 / 127 },
		  { "y", scaleOf(answers[0]) },
		  { "a", scaleOf(answers[1]) },
		  { "b", scaleOf(answers[2]) } };
	const CompiledModel made = compiledFile(model.file(), options);

	EXPECT_EQ(placesOf(made), (Places{ "core Conv", "host CumSum", "core Conv" }));
	expectNear(model, made, samplesOf(1)[0]);
	/* The values between the parts need rows, too. */
	table.erase("b");
	auto refused = compileModel(model.file(), options);
	ASSERT_FALSE(refused);
	EXPECT_EQ(refused.error().code, ErrorCode::InvalidArgument);
	EXPECT_TRUE(has(refused.error().message(), "'b': has no row")) << refused.error().message();
}

TEST(CalibratedHostOptions, RefusesWrongSamples)
{
	auto refusal = [&](const std::vector<Sample> &samples) {
		auto made = compileModel(sumsBetween().file(), calibrated("nv_full", samples));
		return made ? std::string() : made.error().message();
	};
	std::vector<Sample> spoilt = samplesOf(1);
	spoilt[0][0][7] = HUGE_VALF;

	EXPECT_TRUE(has(refusal({}), "calibrate model: samples: there are none")) << refusal({});
	EXPECT_TRUE(has(refusal({ {} }), "sample 0: has 0 inputs, the model 1"));
	EXPECT_TRUE(has(refusal(samplesOf(1, 5)), "has 5 numbers, the input 'x'"));
	Blocks sumsFirst;
	sumsFirst.sums("x", "a");
	sumsFirst.conv("a", "y");
	sumsFirst.output("y");
	auto made = compileModel(sumsFirst.file(), calibrated("nv_full", samplesOf(1, 5)));
	EXPECT_TRUE(has(made.error().message(), "sample 0, tensor x 1x8x6x6 fp32: 5 numbers"))
		<< made.error().message();
	EXPECT_TRUE(has(refusal(spoilt), "has NaN or infinite numbers for the input 'x'"));
}

/* The part that is quantized would have to run on the host. */
TEST(CalibratedHostOptions, RefusesAModelThatIsQuantizedInPart)
{
	Blocks model;
	model.floats("scale", {}, { 0.05F });
	model.integers("zero", {}, { 0 });
	model.conv("x", "a");
	model.node("QuantizeLinear", { "a", "scale", "zero" }, "q");
	model.node("DequantizeLinear", { "q", "scale", "zero" }, "b");
	model.sums("b", "c");
	model.conv("c", "y");
	model.output("y");
	auto made = compileModel(model.file(), calibrated("nv_full", samplesOf(1)));

	ASSERT_FALSE(made);
	EXPECT_EQ(made.error().code, ErrorCode::InvalidArgument);
	EXPECT_TRUE(has(made.error().message(), "'q': is int8 already")) << made.error().message();
	EXPECT_TRUE(compileModel(model.file()));
}

/* The host turns bytes, as pictures have them, into numbers. */
TEST(CalibratedHostOptions, TakesInputsOfWholeNumbers)
{
	Blocks model;
	const std::vector<int64_t> picture = { 1, channels, extent, extent };
	model.input("picture", picture, onnx::UINT8);
	OnnxBuilder::setInteger(model.node("Cast", { "picture" }, "numbers"), "to", onnx::FLOAT);
	model.conv("numbers", "a");
	model.sums("a", "b");
	model.conv("b", "c");
	model.node("Add", { "c", "x" }, "y");
	model.output("y");
	std::vector<float> bytes = someNumbers(elements, 9, 1);
	for (float &byte : bytes)
		byte = std::round(byte * 100 + 100);
	const Sample sample = { samplesOf(1)[0][0], bytes };
	const CompiledModel made = compiledFile(model.file(), calibrated("nv_full", { sample }));

	EXPECT_EQ(placesOf(made),
		  (Places{ "host Cast", "core Conv", "host CumSum", "core Conv", "core Add" }));
	EXPECT_EQ(made.loadable.inputs()->at(1).type, DataType::UInt8);
	const std::vector<Numbers> inputs = { Numbers(sample[0].begin(), sample[0].end()),
					      Numbers(bytes.begin(), bytes.end()) };
	const Numbers got = runOnce(made, inputs).at(0);
	EXPECT_GT(ratioOf(got, runOnce(compiledFile(model.file()), inputs).at(0)), 32);
}

/* Samples would have no effect. */
TEST(CalibratedHostOptions, RefusesAModelThatTheHostComputes)
{
	Blocks model;
	model.sums("x", "y");
	model.output("y");
	auto made = compileModel(model.file(), calibrated("nv_full", samplesOf(1)));

	ASSERT_FALSE(made);
	EXPECT_TRUE(has(made.error().message(), "has no part that the core computes"))
		<< made.error().message();
	EXPECT_TRUE(compileModel(model.file()));
}

} /* namespace nvdla::test */
