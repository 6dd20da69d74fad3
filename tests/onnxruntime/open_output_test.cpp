/* SPDX-License-Identifier: MIT */
/*
 * Outputs whose sizes depend on the inputs' numbers: as ONNX Runtime alone computes them.
 */
#include <future>

#include <nvdla/loadable_json.h>
#include <nvdla/nvdla.h>
#include <nvdla/pool.h>

#include "base/host/host_model.h"
#include "host_run.h"
#include "onnx_builder.h"
#include "test_support.h"

namespace nvdla::test
{

namespace
{

using Shape = std::vector<uint32_t>;

/* An output of a run. */
struct Answer {
	Shape shape;
	std::vector<std::byte> elements;

	bool operator==(const Answer &) const = default;
};
using Answers = std::vector<Answer>;

constexpr uint32_t boxes = 8;

/* Pairs of equal boxes, their corners and scores in channels; a convolution doubles them. */
std::vector<float> boxesWith(const std::vector<float> &scores)
{
	std::vector<float> x(size_t{ 5 } * boxes);

	for (uint32_t i = 0; i < boxes; i++) {
		const auto left = static_cast<float>(i / 2);
		x[i] = left;
		x[2 * boxes + i] = left + 0.75F;
		x[3 * boxes + i] = 1;
		x[4 * boxes + i] = scores.at(i) / 2;
	}
	return x;
}

const std::vector<float> none(boxes, 0.125F);
const std::vector<float> some = { 0, 0.5, 0.75, 1, 0, 0, 0.125, 0 };
const std::vector<float> most = { 0.5, 0.25, 1, 0.75, 0.5, 2, 0.5, 0.75 };

/* places: which boxes are kept; kept: their corners */
std::vector<std::byte> detector()
{
	OnnxBuilder model;
	std::vector<float> twice(25);

	for (size_t i = 0; i < 5; i++)
		twice[i * 6] = 2;
	model.input("x", { 1, 5, 1, boxes });
	model.floats("twice", { 5, 5, 1, 1 }, twice);
	model.floats("overlap", { 1 }, { 0.5F });
	model.floats("least", { 1 }, { 0.25F });
	model.list("zero", { 0 });
	model.list("one", { 1 });
	model.list("two", { 2 });
	model.list("four", { 4 });
	model.list("five", { 5 });
	model.list("many", { 100 });
	model.list("corners shape", { 1, 4, boxes });
	model.list("scores shape", { 1, 1, boxes });
	model.list("rows shape", { boxes, 4 });
	model.node("Conv", { "x", "twice" }, "doubled");
	model.node("Slice", { "doubled", "zero", "four", "one" }, "corners");
	model.node("Slice", { "doubled", "four", "five", "one" }, "score");
	model.node("Reshape", { "corners", "corners shape" }, "columns");
	OnnxBuilder::setList(model.node("Transpose", { "columns" }, "boxes"), "perm", { 0, 2, 1 });
	model.node("Reshape", { "score", "scores shape" }, "scores");
	model.node("NonMaxSuppression", { "boxes", "scores", "many", "overlap", "least" },
		   "places");
	OnnxBuilder::setInteger(model.node("Gather", { "places", "two" }, "column"), "axis", 1);
	model.node("Squeeze", { "column", "one" }, "indices");
	model.node("Reshape", { "boxes", "rows shape" }, "rows");
	model.node("Gather", { "rows", "indices" }, "rows kept");
	model.node("Unsqueeze", { "rows kept", "zero" }, "kept");
	model.output("places", onnx::INT64);
	model.output("kept");
	return model.file();
}

/* The outputs of ONNX Runtime, for one input of float32. */
Answers byRuntime(const std::vector<std::byte> &file, const TensorDesc &input,
		  const std::vector<TensorDesc> &outputs, std::vector<float> x)
{
	std::vector<HostResult> results(outputs.size());
	std::vector<HostArray> to;
	Answers answers;
	auto model = HostModel::open(file);

	for (size_t i = 0; i < outputs.size(); i++)
		to.push_back({ { outputs[i].name, onnxType(outputs[i].type),
				 std::vector<int64_t>(outputs[i].signature->shape.size(), -1) },
			       {},
			       &results[i] });
	const std::vector<uint32_t> &shape = input.signature->shape;
	const HostArray from{
		{ input.name, onnxType(DataType::Float), { shape.begin(), shape.end() } },
		std::as_writable_bytes(std::span(x))
	};
	const auto ran = model ? model->run({ &from, 1 }, to) : Result<void>(forward(model));
	EXPECT_TRUE(ran) << ran.error().message();
	for (HostResult &result : results)
		answers.push_back({ std::move(result.shape), std::move(result.bytes) });
	return answers;
}

Answers outputsOf(const Request &request, size_t count)
{
	Answers answers;

	for (size_t i = 0; i < count; i++) {
		auto desc = request.outputDesc(i);
		auto elements = request.outputElements(i);
		EXPECT_TRUE(desc && elements);
		if (!desc || !elements)
			return {};
		EXPECT_EQ(desc->elements() * elementBytes(desc->type), elements->size());
		answers.push_back({ desc->signature->shape, std::move(*elements) });
	}
	return answers;
}

/* A model of one input, compiled and loaded. */
class OpenOutput : public testing::Test
{
protected:
	void load(std::vector<std::byte> file, const CompileOptions &options = {})
	{
		file_ = std::move(file);
		made_ = compiledFile(file_, options);
		auto network = Network::load(device_, made_.loadable);
		ASSERT_TRUE(network) << network.error().message();
		network_.emplace(std::move(*network));
	}
	const std::vector<TensorDesc> &outputs() const { return network_->outputs(); }
	Answers expected(const std::vector<float> &x) const
	{
		return byRuntime(file_, network_->inputs().at(0), outputs(), x);
	}
	Answers run(Request &request, const std::vector<float> &x) const
	{
		EXPECT_TRUE(request.setInputFloat(0, x));
		const auto ran = request.run();
		EXPECT_TRUE(ran) << ran.error().message();
		return outputsOf(request, outputs().size());
	}
	Request request() const { return std::move(*Request::create(*network_)); }

	std::vector<std::byte> file_;
	CompiledModel made_;
	Device device_ = openEmbedded();
	std::optional<Network> network_;
};

std::vector<std::byte> places()
{
	OnnxBuilder model;

	model.input("x", { 2, 4 });
	model.node("NonZero", { "x" }, "y");
	model.output("y", onnx::INT64);
	return model.file();
}

} /* namespace */

TEST_F(OpenOutput, HasTheSizeOfItsRun)
{
	load(places());
	EXPECT_EQ(outputs().at(0).describe(), "y 2x? int64");
	EXPECT_EQ(outputs()[0].signature->shape, (Shape{ 2, openAxis }));
	Request one = request();
	EXPECT_EQ(one.outputDesc(0)->signature->shape, (Shape{ 2, 0 }));
	EXPECT_EQ(one.outputElements(0)->size(), 0u);
	for (const std::vector<float> &x :
	     { std::vector<float>{ 0, 1, 0, 0, 2, 0, 0, 3 }, std::vector<float>(8),
	       std::vector<float>(8, 5), std::vector<float>{ 0, 0, 0, 0, 0, 0, 1, 0 } })
		EXPECT_EQ(run(one, x), expected(x));
	EXPECT_EQ(*one.outputFloat(0), (std::vector<float>{ 1, 2 }));
	EXPECT_EQ(one.outputDesc(0)->describe(), "y 2x1 int64");
}

/* The file's own statement is that of one run, as exporters write it. */
TEST_F(OpenOutput, IsOpenWhateverTheFileStates)
{
	OnnxBuilder model;
	model.input("x", { 1, 4 });
	model.node("NonZero", { "x" }, "y");
	model.output("y", onnx::INT64, { 2, 3 });
	load(model.file());

	Request one = request();
	EXPECT_EQ(run(one, { 1, 0, 0, 2 }), expected({ 1, 0, 0, 2 }));
}

TEST_F(OpenOutput, BoxesOfTheCoreAreKept)
{
	load(detector());
	const std::vector<std::string> where = placesOf(made_);
	EXPECT_TRUE(std::ranges::count(where, "core Conv"));
	EXPECT_TRUE(std::ranges::count(where, "host NonMaxSuppression"));
	EXPECT_EQ(outputs().at(0).signature->shape, (Shape{ openAxis, 3 }));
	EXPECT_EQ(outputs().at(1).signature->shape, (Shape{ 1, openAxis, 4 }));

	Request one = request();
	const std::pair<const std::vector<float> &, uint32_t> runs[] = {
		{ some, 2 }, { none, 0 }, { most, 4 }, { none, 0 }, { some, 2 }
	};
	for (const auto &[scores, count] : runs) {
		const Answers answers = run(one, boxesWith(scores));
		EXPECT_EQ(answers, expected(boxesWith(scores)));
		EXPECT_EQ(answers.at(1).shape, (Shape{ 1, count, 4 }));
	}
}

TEST_F(OpenOutput, RequestsInFlightHaveTheirOwn)
{
	constexpr size_t runs = 24;
	load(detector());
	const std::vector<float> *const scores[] = { &none, &some, &most };
	std::vector<Request> requests;
	std::vector<std::future<Result<RunReport>>> done;
	std::vector<Answers> wanted;

	for (const std::vector<float> *one : scores)
		wanted.push_back(expected(boxesWith(*one)));
	for (size_t i = 0; i < runs; i++) {
		requests.push_back(request());
		ASSERT_TRUE(requests[i].setInputFloat(0, boxesWith(*scores[i % 3])));
	}
	for (Request &one : requests)
		done.push_back(one.runAsync());
	for (size_t i = 0; i < runs; i++) {
		ASSERT_TRUE(done[i].get());
		EXPECT_EQ(outputsOf(requests[i], 2), wanted[i % 3]) << i;
	}
}

TEST_F(OpenOutput, PoolsAnswerWithTheSizes)
{
	load(detector());
	auto pool = Pool::create({ openEmbedded(), openEmbedded() });
	ASSERT_TRUE(pool);
	const auto network = pool->addNetwork(made_.loadable);
	ASSERT_TRUE(network) << network.error().message();
	for (const std::vector<float> *scores : { &some, &none, &most }) {
		const TensorDesc &input = pool->inputs(*network).at(0);
		PoolRequest work{ .network = *network };
		ASSERT_TRUE(
			packFloat(input, boxesWith(*scores), work.inputs.emplace_back(input.size)));
		auto answer = pool->run(std::move(work));
		ASSERT_TRUE(answer) << answer.error().message();
		const Answers wanted = expected(boxesWith(*scores));
		for (size_t i = 0; i < wanted.size(); i++) {
			EXPECT_EQ(answer->tensors.at(i).signature->shape, wanted[i].shape);
			EXPECT_EQ(answer->outputs.at(i), wanted[i].elements);
		}
	}
}

/* A buffer would have to be large enough before the size is known. */
TEST_F(OpenOutput, HasNoPlaceInABuffer)
{
	load(places());
	Request one = request();
	auto buffer = device_.allocate(4096);
	ASSERT_TRUE(buffer);
	const auto bound = one.bindOutput(0, { .buffer = *buffer });

	ASSERT_FALSE(bound);
	EXPECT_EQ(bound.error().code, ErrorCode::Unsupported);
	EXPECT_TRUE(has(bound.error().message(), "size is known only after a run"))
		<< bound.error().message();
}

TEST_F(OpenOutput, IsTheSameInFiles)
{
	load(places());
	auto bytes = made_.loadable.write();
	ASSERT_TRUE(bytes);
	auto read = Loadable::read(*bytes);
	ASSERT_TRUE(read) << read.error().message();
	EXPECT_EQ(read->outputs()->at(0), made_.loadable.outputs()->at(0));
	auto text = loadableToJson(*read);
	ASSERT_TRUE(text);
	auto same = loadableFromJson(*text);
	ASSERT_TRUE(same) << same.error().message();
	EXPECT_EQ(same->outputs()->at(0), made_.loadable.outputs()->at(0));
}

/* The number of rows is an input's number; ONNX Runtime divides by these sizes. */
TEST_F(OpenOutput, MayBeComputedFromSizes)
{
	OnnxBuilder model(18);
	model.input("x", { 1, 5, 5 });
	model.input("picture", { 2 }, onnx::INT64);
	model.input("block", { 2 }, onnx::INT64);
	model.node("Col2Im", { "x", "picture", "block" }, "y");
	model.output("y");
	load(model.file());

	ASSERT_EQ(outputs().at(0).signature->shape.size(), 4u);
	ASSERT_TRUE(network_->setInputFloat(0, std::vector<float>(25, 1)));
	ASSERT_TRUE(network_->setInputFloat(1, std::vector<float>{ 5, 5 }));
	ASSERT_TRUE(network_->setInputFloat(2, std::vector<float>{ 1, 5 }));
	const auto ran = network_->run();
	ASSERT_TRUE(ran) << ran.error().message();
	EXPECT_EQ(network_->outputDesc(0)->signature->shape, (Shape{ 1, 1, 5, 5 }));
	EXPECT_EQ(*network_->outputFloat(0), std::vector<float>(25, 1));
}

TEST_F(OpenOutput, MayBeTheLargestOfSomeCount)
{
	OnnxBuilder model;
	model.input("x", { 1, 6 });
	model.input("k", { 1 }, onnx::INT64);
	model.node("TopK", { "x", "k" }, "values")->add_output("places");
	model.output("values");
	model.output("places", onnx::INT64);
	load(model.file());

	EXPECT_EQ(outputs().at(0).signature->shape, (Shape{ 1, openAxis }));
	ASSERT_TRUE(network_->setInputFloat(0, std::vector<float>{ 3, 1, 4, 1, 5, 9 }));
	for (const uint32_t count : { 4U, 0U, 6U }) {
		ASSERT_TRUE(network_->setInputFloat(1, std::vector<float>{ float(count) }));
		ASSERT_TRUE(network_->run());
		EXPECT_EQ(network_->outputDesc(1)->signature->shape, (Shape{ 1, count }));
		EXPECT_EQ(network_->outputFloat(0)->size(), count);
	}
	ASSERT_TRUE(network_->setInputFloat(1, std::vector<float>{ 7 }));
	EXPECT_FALSE(network_->run());
}

/* Squeeze leaves out axes of length 1: of k that are 0 and 1, the compiler sees two ranks. */
TEST(OpenOutputs, HaveARankThatIsKnown)
{
	OnnxBuilder model;
	model.input("x", { 1, 6 });
	model.input("k", { 1 }, onnx::INT64);
	model.list("one", { 1 });
	model.node("Equal", { "k", "one" }, "is");
	model.node("TopK", { "x", "k" }, "values")->add_output("places");
	model.node("Squeeze", { "values" }, "y");
	model.output("is", onnx::BOOL);
	model.output("y");
	const auto made = compileModel(model.file());

	ASSERT_FALSE(made);
	EXPECT_EQ(made.error().code, ErrorCode::Unsupported);
	EXPECT_TRUE(has(made.error().message(), "'y': has a size that depends"))
		<< made.error().message();
}

/* The compiler's own numbers find two axes, and those of a run one. */
TEST_F(OpenOutput, WithAnotherRankIsRefusedByTheRun)
{
	OnnxBuilder model;
	model.input("x", { 1, 4 });
	model.node("NonZero", { "x" }, "found");
	model.node("Squeeze", { "found" }, "y");
	model.output("y", onnx::INT64);
	load(model.file());
	Request one = request();

	EXPECT_EQ(run(one, { 1, 1, 0, 0 }), expected({ 1, 1, 0, 0 }));
	ASSERT_TRUE(one.setInputFloat(0, std::vector<float>{ 1, 0, 0, 0 }));
	const auto ran = one.run();
	ASSERT_FALSE(ran);
	EXPECT_TRUE(has(ran.error().message(), "'y' is 2 of type 7, the network has"))
		<< ran.error().message();
}

/* The core's layers have sizes that are known; the host computes what comes after such a value. */
TEST_F(OpenOutput, IsNoValueBetweenParts)
{
	OnnxBuilder model;
	model.input("x", { 1, 4 });
	model.floats("w", { 2, 2 }, { 1, 1, 1, -1 });
	model.list("order", { 1, 0 });
	model.node("NonZero", { "x" }, "found");
	OnnxBuilder::setInteger(model.node("Cast", { "found" }, "numbers"), "to", 1);
	OnnxBuilder::setList(model.node("Transpose", { "numbers" }, "rows"), "perm", { 1, 0 });
	model.node("MatMul", { "rows", "w" }, "y");
	model.output("y");
	load(model.file());

	EXPECT_EQ(placesOf(made_), (std::vector<std::string>{ "host NonZero", "host Cast",
							      "host Transpose", "host MatMul" }));
	EXPECT_TRUE(has(made_.report.layers.at(3).host,
			"'y': has a size that depends on the inputs' numbers"))
		<< made_.report.layers.at(3).host;
	Request one = request();
	EXPECT_EQ(run(one, { 0, 3, 0, 1 }), expected({ 0, 3, 0, 1 }));
}

TEST_F(OpenOutput, TheCInterfaceHasItsLengths)
{
	load(places());
	auto bytes = made_.loadable.write();
	ASSERT_TRUE(bytes);
	nvdla_device *device = nullptr;
	nvdla_network *network = nullptr;
	nvdla_request *one = nullptr;
	nvdla_tensor_info info{};
	info.size = sizeof(info);
	ASSERT_EQ(nvdla_device_open("embedded", &device), NVDLA_STATUS_OK);
	ASSERT_EQ(nvdla_network_load(device, bytes->data(), bytes->size(), &network),
		  NVDLA_STATUS_OK);
	ASSERT_EQ(nvdla_request_create(network, &one), NVDLA_STATUS_OK);
	ASSERT_EQ(nvdla_network_output_info(network, 0, &info), NVDLA_STATUS_OK);
	ASSERT_EQ(info.rank, 2u);
	EXPECT_EQ(info.shape[0], 2u);
	EXPECT_EQ(info.shape[1], NVDLA_OPEN_AXIS);

	const float x[] = { 0, 0, 7, 0, 0, 8, 9, 0 };
	uint32_t shape[2] = {};
	int64_t found[6] = {};
	ASSERT_EQ(nvdla_request_set_input_float(one, 0, x, 8), NVDLA_STATUS_OK);
	ASSERT_EQ(nvdla_request_run(one, nullptr), NVDLA_STATUS_OK);
	EXPECT_EQ(nvdla_request_get_output_shape(one, 0, shape, 3), NVDLA_STATUS_INVALID_ARGUMENT);
	ASSERT_EQ(nvdla_request_get_output_shape(one, 0, shape, 2), NVDLA_STATUS_OK);
	EXPECT_EQ(shape[0], 2u);
	EXPECT_EQ(shape[1], 3u);
	/* The size of the description, which counts the axis as 1, is refused. */
	EXPECT_EQ(nvdla_request_get_output(one, 0, found, info.element_bytes),
		  NVDLA_STATUS_INVALID_ARGUMENT);
	EXPECT_TRUE(has(nvdla_last_error(), "room for 16 bytes given, it has 48"))
		<< nvdla_last_error();
	ASSERT_EQ(nvdla_request_get_output(one, 0, found, sizeof(found)), NVDLA_STATUS_OK);
	EXPECT_EQ(std::vector<int64_t>(found, found + 6),
		  (std::vector<int64_t>{ 0, 1, 1, 2, 1, 2 }));
	const float zeros[8] = {};
	ASSERT_EQ(nvdla_request_set_input_float(one, 0, zeros, 8), NVDLA_STATUS_OK);
	ASSERT_EQ(nvdla_request_run(one, nullptr), NVDLA_STATUS_OK);
	EXPECT_EQ(nvdla_request_get_output(one, 0, nullptr, 0), NVDLA_STATUS_OK);
	nvdla_request_free(one);
	nvdla_network_free(network);
	nvdla_device_free(device);
}

} /* namespace nvdla::test */
