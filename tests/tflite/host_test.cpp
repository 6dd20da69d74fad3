/* SPDX-License-Identifier: MIT */
/*
 * Models some of whose operators TensorFlow Lite computes: as one network, compiled and run.
 */
#include <gtest/gtest.h>

#include "base/host/host_model.h"
#include "host_run.h"
#include "test_support.h"
#include "tflite_builder.h"

namespace nvdla::test
{

namespace
{

constexpr int32_t fullyConnected = 9, rnn = 24, negation = 59, reverse = 105;
using Places = std::vector<std::string>;

void addFullyConnected(TfliteBuilder &model, int32_t x, int32_t weights, int32_t bias, int32_t y)
{
	model.node(fullyConnected, { x, weights, bias }, { y },
		   fb::BuiltinOptions::FullyConnectedOptions,
		   fb::CreateFullyConnectedOptions(model.flat));
}

/* y = W reverse(2 x), of numbers as \a tensor makes them */
template<typename Tensor>
std::vector<std::byte> reversedBetween(TfliteBuilder &model, int32_t two, int32_t same,
				       Tensor tensor)
{
	const int32_t x = tensor(), a = tensor(), b = tensor(), y = tensor();

	addFullyConnected(model, x, two, -1, a);
	model.node(reverse, { a, model.list({ 1 }) }, { b });
	addFullyConnected(model, b, same, -1, y);
	return model.file({ x }, { y });
}

} /* namespace */

TEST(TfliteHost, HasWhatIsBetweenPartsOfTheCore)
{
	TfliteBuilder model;
	const int32_t two = model.constant<float>({ 2, 2 }, { 2, 0, 0, 2 });
	const int32_t same = model.constant<float>({ 2, 2 }, { 1, 0, 0, 1 });
	const CompiledModel made = compiledFile(reversedBetween(model, two, same, [&] {
		return model.floats({ 1, 2 });
	}));

	EXPECT_EQ(placesOf(made),
		  (Places{ "core FULLY_CONNECTED", "host REVERSE_V2", "core FULLY_CONNECTED" }));
	EXPECT_EQ(made.report.coreMacs, 8u);
	EXPECT_EQ(made.report.hostMacs, 0u);
	EXPECT_TRUE(has(made.report.layers.at(1).host, "REVERSE_V2 't4', operator: is not known"))
		<< made.report.layers.at(1).host;
	EXPECT_EQ(runOnce(made, { { 3, 5 } }), (std::vector<Numbers>{ { 10, 6 } }));
}

/* The parts of the core become integers; the numbers between them are those of the float model. */
TEST(TfliteHost, IsCalibratedInParts)
{
	TfliteBuilder model;
	const int32_t two = model.constant<float>({ 2, 2 }, { 2, 0, 0, 2 });
	const int32_t same = model.constant<float>({ 2, 2 }, { 1, 0, 0, 1 });
	const std::vector<std::byte> file = reversedBetween(model, two, same, [&] {
		return model.floats({ 1, 2 });
	});

	for (const char *core : { "nv_full", "nv_small" }) {
		CompileOptions options{ .core = *findCoreVariant(core) };
		options.calibration = Calibration{ .samples = { { { 3, 5 } }, { { -6, -4 } } } };
		const CompiledModel made = compiledFile(file, options);

		EXPECT_EQ(placesOf(made), (Places{ "core FULLY_CONNECTED", "host REVERSE_V2",
						   "core FULLY_CONNECTED" }));
		EXPECT_EQ(made.loadable.inputs()->at(0).type, DataType::Int8);
		EXPECT_TRUE(made.report.layers.at(2).error);
		/* Steps of the input, of the middle and of the output add up. */
		const std::vector<Numbers> got = runOnce(made, { { 3, 5 } });
		ASSERT_EQ(got.at(0).size(), 2U);
		EXPECT_NEAR(got[0][0], 10, 0.25);
		EXPECT_NEAR(got[0][1], 6, 0.25);
	}
}

/* Integers go from part to part as they are, and stand for numbers where the application has them.
 */
TEST(TfliteHost, TakesQuantizedNumbers)
{
	for (const bool isSigned : { true, false }) {
		TfliteBuilder model;
		const int32_t two = model.quantized<int8_t>({ 2, 2 }, { 4, 0, 0, 4 }, 0.5f, 0);
		const int32_t same = model.quantized<int8_t>({ 2, 2 }, { 2, 0, 0, 2 }, 0.5f, 0);
		const CompiledModel made = compiledFile(reversedBetween(model, two, same, [&] {
			return isSigned ? model.integers({ 1, 2 }, 0.25f, -8)
					: model.bytes({ 1, 2 }, 0.25f, 120);
		}));

		EXPECT_EQ(placesOf(made), (Places{ "core FULLY_CONNECTED", "host REVERSE_V2",
						   "core FULLY_CONNECTED" }));
		EXPECT_EQ(runOnce(made, { { 3, -5.25 } }), (std::vector<Numbers>{ { -10.5, 6 } }));
	}
}

/* Inputs and outputs of a step of the host have the quantization of the model, too. */
TEST(TfliteHost, HasQuantizedInputsAndOutputs)
{
	for (const bool isSigned : { true, false }) {
		TfliteBuilder model;
		const auto tensor = [&] {
			return isSigned ? model.integers({ 1, 2 }, 0.25f, -8)
					: model.bytes({ 1, 2 }, 0.25f, 120);
		};
		const int32_t x = tensor(), y = tensor();
		model.node(reverse, { x, model.list({ 1 }) }, { y });
		const CompiledModel made = compiledFile(model.file({ x }, { y }));

		EXPECT_EQ(placesOf(made), Places{ "host REVERSE_V2" });
		EXPECT_EQ(runOnce(made, { { 3, -5.25 } }), (std::vector<Numbers>{ { -5.25, 3 } }));
	}
}

/* The same constants as the application's own: what is computed of constants is in each part. */
TEST(TfliteHost, ComputesConstantsWhereTheyAreRead)
{
	TfliteBuilder model;
	const int32_t x = model.floats({ 1, 2 }), axes = model.floats({ 1, 2 }),
		      a = model.floats({ 1, 2 }), y = model.floats({ 1, 2 });
	const int32_t constant = model.constant<float>({ 1, 2 }, { 1, -7 });
	model.node(negation, { constant }, { axes });
	model.node(reverse, { x, model.list({ 1 }) }, { a });
	constexpr int32_t add = 0;
	model.node(add, { a, axes }, { y }, fb::BuiltinOptions::AddOptions,
		   fb::CreateAddOptions(model.flat));
	const CompiledModel made = compiledFile(model.file({ x }, { y }));

	EXPECT_EQ(made.report.operators.size(), 2U);
	EXPECT_EQ(runOnce(made, { { 3, 5 } }), (std::vector<Numbers>{ { 4, 10 } }));
}

/* A cell that TensorFlow Lite alone knows: y = x + 10 times the y of the run before. */
TEST(TfliteHost, KeepsStateFromRunToRun)
{
	TfliteBuilder model;
	const int32_t x = model.floats({ 1, 1 }), y = model.floats({ 1, 1 });
	const int32_t input = model.constant<float>({ 1, 1 }, { 1 });
	const int32_t recurrent = model.constant<float>({ 1, 1 }, { 10 });
	const int32_t bias = model.constant<float>({ 1 }, { 0 });
	model.node(rnn, { x, input, recurrent, bias, model.variable({ 1, 1 }) }, { y });
	const CompiledModel made = compiledFile(model.file({ x }, { y }));

	EXPECT_EQ(placesOf(made), Places{ "host RNN" });
	auto network = Network::load(openEmbedded(), made.loadable);
	ASSERT_TRUE(network) << network.error().message();
	EXPECT_EQ(runNetwork(*network, { { 3 } }), (std::vector<Numbers>{ { 3 } }));
	EXPECT_EQ(runNetwork(*network, { { 4 } }), (std::vector<Numbers>{ { 34 } }));
	EXPECT_EQ(runNetwork(*network, { { 0 } }), (std::vector<Numbers>{ { 340 } }));
	/* Another one begins anew. */
	EXPECT_EQ(runOnce(made, { { 4 } }), (std::vector<Numbers>{ { 4 } }));
}

/* Variables are states of the network, also where the host computes what reads or assigns them. */
TEST(TfliteHost, KeepsVariablesBetweenParts)
{
	constexpr int32_t read = 143, assign = 144;
	TfliteBuilder model;
	const int32_t two = model.constant<float>({ 2, 2 }, { 2, 0, 0, 2 });
	const int32_t x = model.floats({ 1, 2 }), a = model.floats({ 1, 2 }),
		      b = model.floats({ 1, 2 }), y = model.floats({ 1, 2 }),
		      kept = model.floats({ 1, 2 });
	const int32_t handle = model.resource("kept");
	model.initialize("kept", model.constant<float>({ 1, 2 }, { 100, 200 }));
	model.node(read, { handle }, { kept });
	addFullyConnected(model, x, two, -1, a);
	model.node(reverse, { a, model.list({ 1 }) }, { b });
	model.node(assign, { handle, b }, {});
	addFullyConnected(model, kept, two, -1, y);
	const CompiledModel made = compiledFile(model.file({ x }, { y }));

	EXPECT_EQ(made.loadable.states.size(), 1U);
	EXPECT_EQ(made.report.coreMacs, 8U);
	auto network = Network::load(openEmbedded(), made.loadable);
	ASSERT_TRUE(network) << network.error().message();
	ASSERT_EQ(network->inputs().size(), 1U);
	ASSERT_EQ(network->outputs().size(), 1U);
	EXPECT_EQ(runNetwork(*network, { { 3, 4 } }), (std::vector<Numbers>{ { 200, 400 } }));
	EXPECT_EQ(runNetwork(*network, { { 5, 6 } }), (std::vector<Numbers>{ { 16, 12 } }));
	EXPECT_EQ(runNetwork(*network, { { 0, 0 } }), (std::vector<Numbers>{ { 24, 20 } }));
}

/* The file has a batch of one; three samples are asked for, by the input's place in the file. */
TEST(TfliteHost, ComputesOtherSizes)
{
	TfliteBuilder model;
	const int32_t x = model.floats({ 1, 2 }), y = model.floats({ 1, 2 });
	const int32_t two = model.constant<float>({ 2, 2 }, { 2, 0, 0, 3 });
	const int32_t unread = model.wholeNumbers({ 4 });
	addFullyConnected(model, x, two, -1, y);
	const std::vector<std::byte> file = model.file({ unread, x }, { y });
	const InputShape shape{ "t0", { 3, 2 } };
	auto made = compileModel(file, { .shapes = { shape } });
	auto inputs = modelInputs(file, std::span(&shape, 1));

	ASSERT_TRUE(made) << made.error().message();
	EXPECT_EQ(placesOf(*made), Places{ "core FULLY_CONNECTED" });
	EXPECT_EQ(runOnce(*made, { { 1, 2, 3, 4, 5, 6 } }),
		  (std::vector<Numbers>{ { 2, 6, 6, 12, 10, 18 } }));
	ASSERT_TRUE(inputs);
	EXPECT_EQ(inputs->at(0).signature.shape, (std::vector<uint32_t>{ 3, 2 }));
	/* An input that an operator cannot take is an error with the operator's name. */
	made = compileModel(file, { .shapes = { { "t0", { 1, 3 } } } });
	ASSERT_FALSE(made);
	EXPECT_TRUE(has(made.error().message(), "FULLY_CONNECTED 't1'")) << made.error().message();
}

/* As files do with the results of custom operators: they have no axes there. */
TEST(TfliteHost, KnowsShapesThatTheFileLeavesOut)
{
	TfliteBuilder model;
	const int32_t x = model.floats({ 1, 2 }), a = model.floats({ 1, 2 }), y = model.floats({});
	addFullyConnected(model, x, model.constant<float>({ 2, 2 }, { 2, 0, 0, 2 }), -1, a);
	model.node(reverse, { a, model.list({ 1 }) }, { y });
	const CompiledModel made = compiledFile(model.file({ x }, { y }));
	auto network = Network::load(openEmbedded(), made.loadable);

	ASSERT_TRUE(network) << network.error().message();
	EXPECT_EQ(network->outputs().at(0).signature->shape, (std::vector<uint32_t>{ 1, 2 }));
	EXPECT_EQ(runNetwork(*network, { { 3, 5 } }), (std::vector<Numbers>{ { 10, 6 } }));
}

TEST(TfliteHost, NamesWhatNobodyKnows)
{
	TfliteBuilder model;
	const int32_t x = model.floats({ 1, 2 }), y = model.floats({ 1, 2 });
	model.customNode("Frobnicate", { x }, { y });
	auto made = compileModel(model.file({ x }, { y }));

	ASSERT_FALSE(made);
	EXPECT_EQ(made.error().code, ErrorCode::Unsupported);
	EXPECT_TRUE(has(made.error().message(), "custom operator 'Frobnicate' 't1'"))
		<< made.error().message();
	EXPECT_TRUE(has(made.error().message(), "unresolved custom op")) << made.error().message();
}

/* Such a file need not have a list of operators. */
TEST(TfliteHost, RefusesAModelWithoutOperators)
{
	TfliteBuilder model;
	const int32_t x = model.floats({ 1, 9000, 9000 });
	const auto made = compileModel(model.file({ x }, { x }));

	ASSERT_FALSE(made);
	EXPECT_NE(made.error().message(), "");
}

/* A loadable is not trusted, nor is the model in it. */
TEST(TfliteHost, RefusesDamagedModels)
{
	TfliteBuilder model;
	const int32_t x = model.floats({ 1, 2 }), y = model.floats({ 1, 2 });
	model.node(reverse, { x, model.list({ 1 }) }, { y });
	const std::vector<std::byte> file = model.file({ x }, { y });

	ASSERT_TRUE(HostModel::open(file));
	for (size_t size = 8; size < file.size() / 2; size++) {
		const auto opened = HostModel::open(std::span(file).first(size));
		ASSERT_FALSE(opened) << size;
		EXPECT_EQ(opened.error().where, "TensorFlow Lite");
	}
}

/* The same of numbers that are kept from run to run: those that were not 0 in any run */
TEST(TfliteHost, HasOutputsOfTheSizeOfARunAndStates)
{
	constexpr int32_t add = 0, where = 109, read = 143, assign = 144;
	TfliteBuilder model;
	const int32_t x = model.floats({ 1, 3 }), kept = model.floats({ 1, 3 }),
		      a = model.floats({ 1, 3 }), y = model.longNumbers({ 1, 2 });
	const int32_t handle = model.resource("kept");
	model.initialize("kept", model.constant<float>({ 1, 3 }, { 0, 0, 0 }));
	model.node(read, { handle }, { kept });
	model.node(add, { x, kept }, { a }, fb::BuiltinOptions::AddOptions,
		   fb::CreateAddOptions(model.flat));
	model.node(assign, { handle, a }, {});
	model.node(where, { a }, { y });
	const CompiledModel made = compiledFile(model.file({ x }, { y }));

	EXPECT_EQ(made.loadable.states.size(), 1U);
	auto network = Network::load(openEmbedded(), made.loadable);
	ASSERT_TRUE(network) << network.error().message();
	EXPECT_EQ(network->outputs().at(0).signature->shape,
		  (std::vector<uint32_t>{ openAxis, 2 }));
	EXPECT_EQ(runNetwork(*network, { { 0, 5, 0 } }), (std::vector<Numbers>{ { 0, 1 } }));
	EXPECT_EQ(runNetwork(*network, { { 0, 0, 7 } }), (std::vector<Numbers>{ { 0, 1, 0, 2 } }));
}

/* The places of the numbers that are not 0, which the core has computed; the file has some size. */
TEST(TfliteHost, HasOutputsOfTheSizeOfARun)
{
	constexpr int32_t where = 109;

	for (const int32_t rows : { 0, 1, 3 }) {
		TfliteBuilder model;
		const int32_t x = model.floats({ 1, 3 }), a = model.floats({ 1, 3 }),
			      y = model.longNumbers({ rows, 2 });
		const int32_t turn = model.constant<float>({ 3, 3 }, { 0, 0, 1, 0, 1, 0, 1, 0, 0 });
		addFullyConnected(model, x, turn, -1, a);
		model.node(where, { a }, { y });
		const CompiledModel made = compiledFile(model.file({ x }, { y }));
		EXPECT_EQ(placesOf(made), (Places{ "core FULLY_CONNECTED", "host WHERE" }));
		auto network = Network::load(openEmbedded(), made.loadable);
		ASSERT_TRUE(network) << network.error().message();
		EXPECT_EQ(network->outputs().at(0).signature->shape,
			  (std::vector<uint32_t>{ openAxis, 2 }));
		EXPECT_EQ(runNetwork(*network, { { 0, 5, 7 } }),
			  (std::vector<Numbers>{ { 0, 0, 0, 1 } }));
		EXPECT_EQ(network->outputDesc(0)->signature->shape,
			  (std::vector<uint32_t>{ 2, 2 }));
		EXPECT_EQ(runNetwork(*network, { { 0, 0, 0 } }), (std::vector<Numbers>{ {} }));
		EXPECT_EQ(network->outputDesc(0)->signature->shape,
			  (std::vector<uint32_t>{ 0, 2 }));
	}
}

} /* namespace nvdla::test */
