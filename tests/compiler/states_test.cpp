/* SPDX-License-Identifier: MIT */
/*
 * Numbers that networks keep from run to run: variables and variable tensors of TensorFlow Lite.
 */
#include <cmath>
#include <future>
#include <random>

#include <gtest/gtest.h>
#include <nvdla/core_geometry.h>
#include <nvdla/pool.h>

#include "host_run.h"
#include "test_support.h"
#include "tflite_builder.h"

namespace nvdla::test
{

namespace
{

constexpr int32_t add = 0, concatenation = 2, convolution = 3, svdf = 27, lstm = 44,
		  stridedSlice = 45, readVariable = 143, assignVariable = 144;
const CompileOptions onCore{ .host = HostUse::Never };

void addSum(TfliteBuilder &model, int32_t a, int32_t b, int32_t sum)
{
	model.node(add, { a, b }, { sum }, fb::BuiltinOptions::AddOptions,
		   fb::CreateAddOptions(model.flat));
}

Network loaded(const CompiledModel &made, const LoadOptions &options = {})
{
	const std::string path = std::string(Device::embeddedPath) + ":" + made.loadable.variant;

	return Network::load(Device::open(path).value(), made.loadable, options).value();
}

/* y = x + the y of the run before, 5 at first */
std::vector<std::byte> runningSum()
{
	TfliteBuilder model;
	const int32_t x = model.floats({ 1, 3 }), kept = model.floats({ 1, 3 }),
		      y = model.floats({ 1, 3 });
	const int32_t handle = model.resource("sum");

	model.initialize("sum", model.constant<float>({ 1, 3 }, { 5, 5, 5 }));
	model.node(readVariable, { handle }, { kept });
	addSum(model, x, kept, y);
	model.node(assignVariable, { handle, y }, {});
	return model.file({ x }, { y });
}

Numbers randomNumbers(std::mt19937 &random, size_t count, double most)
{
	Numbers numbers(count);

	for (double &number : numbers)
		number = std::uniform_real_distribution<double>(-most, most)(random);
	return numbers;
}

std::vector<float> floatsOf(const Numbers &numbers)
{
	return { numbers.begin(), numbers.end() };
}

double sigmoid(double x)
{
	return 1 / (1 + std::exp(-x));
}

} /* namespace */

TEST(States, HaveAFirstValueAndTheLastOne)
{
	const CompiledModel made = compiledFile(runningSum(), onCore);
	Network network = loaded(made);

	ASSERT_EQ(network.inputs().size(), 1U);
	ASSERT_EQ(network.outputs().size(), 1U);
	EXPECT_EQ(runNetwork(network, { { 1, 2, 3 } }), (std::vector<Numbers>{ { 6, 7, 8 } }));
	EXPECT_EQ(runNetwork(network, { { 1, 2, 3 } }), (std::vector<Numbers>{ { 7, 9, 11 } }));
	EXPECT_EQ(runOnce(made, { { 0, 0, 1 } }), (std::vector<Numbers>{ { 5, 5, 6 } }));
	EXPECT_EQ(modelInputs(runningSum())->size(), 1U);
	/* Nor is a size of a state asked for. */
	const auto refused = compileModel(runningSum(), { .shapes = { { "other", { 1, 3 } } } });
	ASSERT_FALSE(refused);
	EXPECT_TRUE(refused.error().message().ends_with("there are t0"))
		<< refused.error().message();
	EXPECT_TRUE(compileModel(runningSum(), { .shapes = { { "", { 1, 3 } } } }));
}

/* A written file has them, too. */
TEST(States, AreInTheFile)
{
	const Loadable loadable = compiledFile(runningSum(), onCore).loadable;
	const auto bytes = loadable.write();
	ASSERT_TRUE(bytes);
	const auto again = Loadable::read(*bytes);

	ASSERT_TRUE(again) << again.error().message();
	ASSERT_EQ(again->states.size(), 1U);
	EXPECT_EQ(again->states, loadable.states);
	EXPECT_EQ(again->inputs()->size(), 1U);
}

/* Requests are carried out in their order, however many may be in flight. */
TEST(States, GoThroughRequestsInTheirOrder)
{
	constexpr size_t count = 20;
	Network network = loaded(compiledFile(runningSum(), onCore), { .slots = 4 });
	std::vector<Request> requests;
	std::vector<std::promise<bool>> done(count);

	for (size_t i = 0; i < count; i++) {
		requests.push_back(Request::create(network).value());
		ASSERT_TRUE(requests[i].setInputFloat(0, std::vector<float>{ 1, 0, 2 }));
	}
	for (size_t i = 0; i < count; i++)
		ASSERT_TRUE(requests[i].submit({}, [&, i](const Result<RunReport> &report) {
			done[i].set_value(report.has_value());
		}));
	for (size_t i = 0; i < count; i++) {
		const auto value = static_cast<float>(i + 1);
		ASSERT_TRUE(done[i].get_future().get());
		EXPECT_EQ(requests[i].outputFloat(0).value(),
			  (std::vector<float>{ 5 + value, 5, 5 + 2 * value }));
	}
}

TEST(States, AreNotShared)
{
	auto pool = Pool::create({ Device::open(Device::embeddedPath).value() });
	ASSERT_TRUE(pool);
	const auto refused = pool->addNetwork(compiledFile(runningSum(), onCore).loadable);

	ASSERT_FALSE(refused);
	EXPECT_EQ(refused.error().code, ErrorCode::Unsupported);
	EXPECT_TRUE(has(refused.error().message(), "Network::load()"));
}

/*
 * As in networks for wake words: the last two lines of 16 channels and the new one go through a
 * convolution. The same convolution of lines that the test keeps has the same integers.
 */
TEST(States, OfIntegersAreExact)
{
	constexpr int32_t channels = 16, kernels = 8, steps = 12;
	constexpr float scale = 0.05F;
	constexpr int64_t zero = -11;
	std::mt19937 random(301127);
	std::vector<int8_t> weights(kernels * 3 * channels);
	for (int8_t &weight : weights)
		weight = static_cast<int8_t>(static_cast<int>(random() % 255) - 127);
	const auto build = [&](bool keeps) {
		TfliteBuilder model;
		const int32_t x = model.integers({ 1, 1, 1, channels }, scale, zero);
		const int32_t kept = model.integers({ 1, 2, 1, channels }, scale, zero);
		const int32_t all = model.integers({ 1, 3, 1, channels }, scale, zero);
		const int32_t next = model.integers({ 1, 2, 1, channels }, scale, zero);
		const int32_t y = model.integers({ 1, 1, 1, kernels }, 0.4F, 3);
		int32_t handle = 0;
		if (keeps) {
			handle = model.resource("lines");
			model.node(readVariable, { handle }, { kept });
		}
		model.node(concatenation, { kept, x }, { all },
			   fb::BuiltinOptions::ConcatenationOptions,
			   fb::CreateConcatenationOptions(model.flat, 1));
		model.node(
			convolution,
			{ all,
			  model.quantized<int8_t>({ kernels, 3, 1, channels }, weights, 0.01F, 0),
			  -1 },
			{ y }, fb::BuiltinOptions::Conv2DOptions,
			fb::CreateConv2DOptions(model.flat, fb::Padding::VALID, 1, 1));
		if (keeps) {
			model.initialize("lines", model.quantized<int8_t>(
							  { 1, 2, 1, channels },
							  std::vector<int8_t>(2 * channels, zero),
							  scale, zero));
			model.node(stridedSlice,
				   { all, model.list({ 0, 1, 0, 0 }),
				     model.list({ 1, 3, 1, channels }),
				     model.list({ 1, 1, 1, 1 }) },
				   { next }, fb::BuiltinOptions::StridedSliceOptions,
				   fb::CreateStridedSliceOptions(model.flat));
			model.node(assignVariable, { handle, next }, {});
		}
		return keeps ? model.file({ x }, { y }) : model.file({ x, kept }, { y });
	};

	for (const char *core : { "nv_full", "nv_small" }) {
		const CompileOptions options{ .core = *findCoreVariant(core),
					      .host = HostUse::Never };
		Network stream = loaded(compiledFile(build(true), options));
		Network plain = loaded(compiledFile(build(false), options));
		Numbers lines(2 * channels);
		for (int step = 0; step < steps; step++) {
			const Numbers x = randomNumbers(random, channels, 5);
			EXPECT_EQ(runNetwork(stream, { x }), runNetwork(plain, { x, lines }))
				<< core << ", step " << step;
			std::move(lines.begin() + channels, lines.end(), lines.begin());
			std::ranges::copy(x, lines.begin() + channels);
		}
	}
}

/* Two filters of rank 2 that remember three numbers: against the definition */
TEST(States, OfSvdfAreItsLastFeatures)
{
	constexpr int32_t elements = 4, filters = 4, units = 2, memory = 3;
	std::mt19937 random(301128);
	const Numbers features = randomNumbers(random, filters * elements, 1);
	const Numbers times = randomNumbers(random, filters * memory, 1);
	const Numbers bias = randomNumbers(random, units, 1);
	TfliteBuilder model;
	const int32_t x = model.floats({ 1, elements }), y = model.floats({ 1, units });
	model.node(svdf,
		   { x, model.constant<float>({ filters, elements }, floatsOf(features)),
		     model.constant<float>({ filters, memory }, floatsOf(times)),
		     model.constant<float>({ units }, floatsOf(bias)),
		     model.variable({ 1, filters * memory }) },
		   { y }, fb::BuiltinOptions::SVDFOptions,
		   fb::CreateSVDFOptions(model.flat, 2, fb::Activation::RELU));
	Network network = loaded(compiledFile(model.file({ x }, { y }), onCore));
	std::vector<Numbers> all(memory - 1, Numbers(filters)); /* features of each step */

	for (int step = 0; step < 6; step++) {
		const Numbers given = randomNumbers(random, elements, 1);
		Numbers &newest = all.emplace_back(filters);
		for (size_t i = 0; i < features.size(); i++)
			newest[i / elements] += features[i] * given[i % elements];
		const Numbers got = runNetwork(network, { given }).at(0);
		for (int32_t unit = 0; unit < units; unit++) {
			double sum = bias[unit];
			for (int32_t filter = 2 * unit; filter < 2 * unit + 2; filter++)
				for (int32_t i = 0; i < memory; i++)
					sum += times[filter * memory + i] * all[step + i][filter];
			EXPECT_NEAR(got[unit], std::max(sum, 0.0), 0.01) << "step " << step;
		}
	}
}

/* Sequences of three steps, run after run, in both orders of the axes */
TEST(States, OfLstmGoOnFromTheLastStep)
{
	constexpr int32_t steps = 3, batch = 2, elements = 5, size = 6, gates = 4;
	for (const bool isTimeMajor : { false, true }) {
		std::mt19937 random(301129);
		const Numbers kernels = randomNumbers(random, gates * size * elements, 0.6);
		const Numbers recurrent = randomNumbers(random, gates * size * size, 0.4);
		const Numbers bias = randomNumbers(random, gates * size, 0.5);
		const Shape shape = isTimeMajor ? Shape{ steps, batch, elements }
						: Shape{ batch, steps, elements };
		TfliteBuilder model;
		const int32_t x = model.floats(shape),
			      y = model.floats({ shape[0], shape[1], size });
		Shape inputs(24, -1);
		inputs[0] = x;
		const auto gate = [&](const Numbers &all, int32_t index, Shape axes) {
			const auto each = all.size() / gates;
			const auto first = all.begin() + static_cast<ptrdiff_t>(index * each);
			return model.constant<float>(
				axes, { first, first + static_cast<ptrdiff_t>(each) });
		};
		for (int32_t i = 0; i < gates; i++) {
			inputs[1 + i] = gate(kernels, i, { size, elements });
			inputs[5 + i] = gate(recurrent, i, { size, size });
			inputs[12 + i] = gate(bias, i, { size });
		}
		inputs[18] = model.variable({ batch, size });
		inputs[19] = model.variable({ batch, size });
		model.node(lstm, inputs, { y },
			   fb::BuiltinOptions::UnidirectionalSequenceLSTMOptions,
			   fb::CreateUnidirectionalSequenceLSTMOptions(
				   model.flat, fb::Activation::TANH, 0, 0, isTimeMajor));
		Network network = loaded(compiledFile(model.file({ x }, { y }), onCore));
		std::vector<Numbers> hidden(batch, Numbers(size)), memory = hidden;

		for (int run = 0; run < 3; run++) {
			const Numbers given =
				randomNumbers(random, size_t{ steps } * batch * elements, 1);
			const Numbers got = runNetwork(network, { given }).at(0);
			for (int32_t i = 0; i < steps * batch; i++) {
				const int32_t step = i / batch, sample = i % batch;
				const int32_t place = isTimeMajor ? i : sample * steps + step;
				const Numbers before = hidden[sample];
				for (int32_t unit = 0; unit < size; unit++) {
					double sums[gates];
					for (int32_t g = 0; g < gates; g++) {
						const int32_t row = g * size + unit;
						sums[g] = bias[row];
						for (int32_t e = 0; e < elements; e++)
							sums[g] += kernels[row * elements + e] *
								   given[place * elements + e];
						for (int32_t e = 0; e < size; e++)
							sums[g] += recurrent[row * size + e] *
								   before[e];
					}
					double &cell = memory[sample][unit];
					cell = sigmoid(sums[1]) * cell +
					       sigmoid(sums[0]) * std::tanh(sums[2]);
					hidden[sample][unit] = sigmoid(sums[3]) * std::tanh(cell);
					EXPECT_NEAR(got[place * size + unit], hidden[sample][unit],
						    0.005)
						<< "run " << run << ", step " << step;
				}
			}
		}
	}
}

/* Samples are steps of one sequence, whose sums go up to 5 + 8. */
TEST(States, AreCalibrated)
{
	for (const DataType type : { DataType::Int8, DataType::Int16 }) {
		CompileOptions options = onCore;
		options.calibration = Calibration{ .samples = {}, .type = type };
		for (int i = 0; i < 8; i++)
			options.calibration->samples.push_back({ { 1, 0.5F, -1 } });
		Network network = loaded(compiledFile(runningSum(), options));

		for (int i = 1; i <= 8; i++) {
			const Numbers got = runNetwork(network, { { 1, 0.5, -1 } }).at(0);
			const double most = type == DataType::Int8 ? 0.04 * i : 0.001 * i;
			EXPECT_NEAR(got[0], 5 + i, most);
			EXPECT_NEAR(got[1], 5 + 0.5 * i, most);
			EXPECT_NEAR(got[2], 5 - i, most);
		}
	}
}

TEST(States, NeedAFirstValueAndOneRead)
{
	const auto build = [](bool hasFirst, bool readsTwice) {
		TfliteBuilder model;
		const int32_t x = model.floats({ 1, 3 }), kept = model.floats({ 1, 3 }),
			      again = model.floats({ 1, 3 }), y = model.floats({ 1, 3 });
		const int32_t handle = model.resource("v");
		if (hasFirst)
			model.initialize("v", model.constant<float>({ 1, 3 }, { 5, 5, 5 }));
		model.node(readVariable, { handle }, { kept });
		if (readsTwice)
			model.node(readVariable, { handle }, { again });
		addSum(model, x, readsTwice ? again : kept, y);
		model.node(assignVariable, { handle, y }, {});
		return compileModel(model.file({ x }, { y }), onCore);
	};

	EXPECT_TRUE(build(true, false));
	for (const auto &[made, reason] :
	     { std::pair(build(false, false), "variable 'v'"),
	       std::pair(build(true, true), "is read twice, or after an assignment") }) {
		ASSERT_FALSE(made);
		EXPECT_EQ(made.error().code, ErrorCode::Unsupported);
		EXPECT_TRUE(has(made.error().message(), reason)) << made.error().message();
	}
}

} /* namespace nvdla::test */
