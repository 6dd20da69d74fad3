/* SPDX-License-Identifier: MIT */
#include <functional>

#include <nvdla/loadable_json.h>
#include <nvdla/network.h>
#include <nvdla/task.h>

#include "base/tensor/host_tensor.h"
#include "test_support.h"

namespace nvdla::test
{

namespace
{

/* A network that moves an input to an output, in another type or layout. */
class HostFile
{
public:
	HostFile(TensorDesc from, TensorDesc to)
	{
		from.name = "x";
		to.name = "y";
		builder_.tensor(from, MemoryInput);
		builder_.tensor(to, MemoryOutput);
		Loadable &loadable = builder_.loadable;
		for (size_t i = 0; i < loadable.tensors.size(); i++)
			loadable.tensors[i].signature = (i ? to : from).signature;
		builder_.task(Interface::Host1, {});
		loadable.tasks[0].inputs = { loadable.tensors[0].id };
		loadable.tasks[0].outputs = { loadable.tensors[1].id };
	}

	Loadable &loadable() { return builder_.loadable; }
	/* The same, for a library of the host. */
	Loadable &withModel()
	{
		builder_.loadable.blobs.push_back({ "model", Interface::Host1, 0, {}, {} });
		builder_.loadable.blobs.back().data.resize(3);
		builder_.loadable.tasks[0].model = "model";
		builder_.loadable.tasks[0].layers = { "LSTM 'y'" };
		builder_.loadable.tasks[0].reasons = { "it is not known" };
		return builder_.loadable;
	}

private:
	LoadableBuilder builder_;
};

std::vector<float> runOn(const Loadable &loadable, const std::vector<float> &numbers)
{
	const Device device = openEmbedded();
	auto network = Network::load(device, loadable);
	if (!network) {
		ADD_FAILURE() << network.error().message();
		return {};
	}
	const auto set = network->setInputFloat(0, numbers, ElementOrder::Nchw);
	EXPECT_TRUE(set) << set.error().message();
	const auto ran = network->run();
	EXPECT_TRUE(ran) << ran.error().message();
	auto output = network->outputFloat(0, ElementOrder::Nchw);
	EXPECT_TRUE(output) << output.error().message();
	return output.value_or(std::vector<float>());
}

const std::vector<uint32_t> shape = { 1, 3, 2, 2 };
const std::vector<float> numbers = { -7, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11 };

TensorDesc plainOf(DataType type)
{
	return TensorDesc::plain("", type, shape);
}

TensorDesc cubeOf(DataType type)
{
	TensorDesc desc = TensorDesc::packedFeature("", type, 3, 2, 2);

	desc.signature = { shape, ElementOrder::Nchw };
	return desc;
}

} /* namespace */

TEST(PlainTensor, AnyRankAndType)
{
	const std::vector<uint32_t> shapes[] = {
		{}, { 5 }, { 2, 3 }, { 2, 1, 4, 3, 2 }, { 1, 9000 }
	};
	const DataType types[] = { DataType::Float, DataType::Half,  DataType::Int8,
				   DataType::Int16, DataType::Int32, DataType::Int64,
				   DataType::Bool,  DataType::UInt8 };

	for (const auto &one : shapes) {
		for (const DataType type : types) {
			const TensorDesc desc = TensorDesc::plain("x", type, one);
			ASSERT_TRUE(desc.check()) << desc.describe();
			std::vector<float> values(desc.elements());
			for (size_t i = 0; i < values.size(); i++)
				values[i] = static_cast<float>(i % 2);
			std::vector<std::byte> bytes(desc.size);
			ASSERT_TRUE(packFloat(desc, values, bytes)) << desc.describe();
			/* One behind the other. */
			EXPECT_EQ(elementsToFloat(type, bytes), values) << desc.describe();
			EXPECT_EQ(unpackFloat(desc, bytes).value_or(std::vector<float>()), values);
		}
	}
}

TEST(PlainTensor, WholeNumbersAreExact)
{
	const std::vector<int64_t> ids = { INT64_MIN, -1, (int64_t{ 1 } << 53) + 1, INT64_MAX };
	const TensorDesc desc = TensorDesc::plain("ids", DataType::Int64, { 1, 4 });
	std::vector<std::byte> tensor(desc.size);

	ASSERT_TRUE(packElements(desc, std::as_bytes(std::span(ids)), tensor));
	EXPECT_EQ(tensor, bytesOf(ids));
	/* In the other order of axes, channels come last. */
	const TensorDesc two = TensorDesc::plain("ids", DataType::Int64, { 1, 2, 1, 2 });
	auto turned = unpackElements(two, tensor, ElementOrder::Nhwc);
	ASSERT_TRUE(turned) << turned.error().message();
	EXPECT_EQ(*turned, bytesOf(std::vector<int64_t>{ ids[0], ids[2], ids[1], ids[3] }));
}

TEST(HostTask, MovesBetweenTypesAndLayouts)
{
	const DataType types[] = { DataType::Float, DataType::Half,  DataType::Int32,
				   DataType::Int64, DataType::Int16, DataType::Int8 };

	for (const DataType type : types) {
		EXPECT_EQ(runOn(HostFile(plainOf(type), plainOf(DataType::Float)).loadable(),
				numbers),
			  numbers)
			<< dataTypeName(type);
		if (type != DataType::Int16 && type != DataType::Int8) {
			EXPECT_EQ(runOn(HostFile(plainOf(type), cubeOf(DataType::Half)).loadable(),
					numbers),
				  numbers)
				<< dataTypeName(type);
		}
		EXPECT_EQ(
			runOn(HostFile(cubeOf(DataType::Int16), plainOf(type)).loadable(), numbers),
			numbers)
			<< dataTypeName(type);
	}
}

/* Bytes of a model are int8 on the core, which are less by 128. */
TEST(HostTask, MovesBytes)
{
	const std::vector<float> bytes = { 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 254, 255 };
	std::vector<float> less = bytes;

	for (float &number : less)
		number -= 128;
	EXPECT_EQ(
		runOn(HostFile(plainOf(DataType::UInt8), cubeOf(DataType::Int8)).loadable(), bytes),
		less);
	EXPECT_EQ(
		runOn(HostFile(cubeOf(DataType::Int8), plainOf(DataType::UInt8)).loadable(), less),
		bytes);
}

TEST(HostTask, IsInFilesAsItIs)
{
	HostFile file(plainOf(DataType::Int64), plainOf(DataType::Float));
	const Loadable &loadable = file.withModel();
	auto bytes = loadable.write();
	ASSERT_TRUE(bytes) << bytes.error().message();
	auto read = Loadable::read(*bytes);
	ASSERT_TRUE(read) << read.error().message();
	EXPECT_EQ(read->tasks, loadable.tasks);
	auto text = loadableToJson(loadable);
	ASSERT_TRUE(text) << text.error().message();
	auto same = loadableFromJson(*text);
	ASSERT_TRUE(same) << same.error().message();
	EXPECT_EQ(same->tasks, loadable.tasks);
	auto task = hostTask(*read, 0);
	ASSERT_TRUE(task) << task.error().message();
	EXPECT_EQ(task->inputs.at(0).type, DataType::Int64);
	EXPECT_EQ(task->outputs.at(0).signature->shape, shape);
}

TEST(HostTask, WhatCannotBeIsNamed)
{
	const struct {
		const char *says;
		std::function<void(Loadable &)> damage;
	} cases[] = {
		{ "there is no blob", [](Loadable &l) { l.tasks[0].model = "none"; } },
		{ "names no entry of tensor_desc_list",
		  [](Loadable &l) { l.tasks[0].inputs = { 9 }; } },
		{ "names no entry of tensor_desc_list",
		  [](Loadable &l) { l.tasks[0].outputs = { 9 }; } },
		{ "outputs: are none", [](Loadable &l) { l.tasks[0].outputs.clear(); } },
		{ "line stride", [](Loadable &l) { l.tensors[0].pixelFormat = 36; } },
		{ "is not plain",
		  [](Loadable &l) { l.memories[0].size = l.tensors[0].size = 4096; } },
		{ "is not plain", [](Loadable &l) { l.tensors[0].signature.reset(); } },
		{ "reasons: are 2 for 1 layers",
		  [](Loadable &l) { l.tasks[0].reasons.resize(2); } },
		{ "outputs: are 1 for 2 inputs",
		  [](Loadable &l) {
			  l.tasks[0].model.clear();
			  l.tasks[0].inputs = { 0, 0 };
		  } },
		{ "differ in elements",
		  [](Loadable &l) {
			  l.tasks[0].model.clear();
			  l.tensors[1].c = 2;
			  l.tensors[1].signature->shape = { 1, 2, 2, 2 };
		  } },
		{ "surface stride", [](Loadable &l) { l.tensors[1].h = 1 << 30; } },
		{ "data_type", [](Loadable &l) { l.tensors[1].dataType = 99; } },
	};

	for (const auto &one : cases) {
		HostFile file(plainOf(DataType::Half), plainOf(DataType::Float));
		Loadable &loadable = file.withModel();
		one.damage(loadable);
		auto network = Network::load(openEmbedded(), loadable);
		ASSERT_FALSE(network) << one.says;
		EXPECT_TRUE(has(network.error().message(), one.says)) << network.error().message();
	}
}

/* An axis without a length is that of an output of a model, which nothing else reads. */
TEST(HostTask, OpenAxesAreThoseOfOutputs)
{
	const auto open = [](Loadable &l, size_t tensor) {
		l.tensors[tensor].signature->shape = { 1, 3, 2, 2, openAxis };
	};
	const struct {
		const char *says;
		std::function<void(Loadable &)> damage;
	} cases[] = {
		{ "which only an output of a model can have", [&](Loadable &l) { open(l, 0); } },
		{ "which only an output of a model can have",
		  [&](Loadable &l) {
			  open(l, 1);
			  l.tasks[0].model.clear();
		  } },
		/* Bound to nothing, bound twice, written twice. */
		{ "has an open axis: only an output of the network",
		  [&](Loadable &l) {
			  open(l, 1);
			  l.memories[1].flags = MemoryAlloc;
		  } },
		{ "has an open axis: only an output of the network",
		  [&](Loadable &l) {
			  open(l, 1);
			  l.memories[1].flags |= MemoryInput;
		  } },
		{ "has an open axis: only an output of the network",
		  [&](Loadable &l) {
			  open(l, 1);
			  l.tasks[0].outputs = { l.tensors[1].id, l.tensors[1].id };
		  } },
		/* The same memory under another description. */
		{ "has an open axis: only an output of the network",
		  [&](Loadable &l) {
			  open(l, 1);
			  l.tensors.push_back(l.tensors[1]);
			  l.tensors.back().id = 9;
			  l.tensors.back().signature->shape = { 1, 3, 2, 2 };
		  } },
		/* A task that does not write it. */
		{ "has an open axis: only an output of the network",
		  [&](Loadable &l) {
			  open(l, 1);
			  l.tasks[0].outputs = { l.tensors[0].id };
		  } },
	};

	for (const auto &one : cases) {
		HostFile file(plainOf(DataType::Float), plainOf(DataType::Float));
		Loadable &loadable = file.withModel();
		one.damage(loadable);
		auto network = Network::load(openEmbedded(), loadable);
		ASSERT_FALSE(network) << one.says;
		EXPECT_TRUE(has(network.error().message(), one.says)) << network.error().message();
	}
	HostFile cube(plainOf(DataType::Half), cubeOf(DataType::Half));
	open(cube.loadable(), 1);
	auto network = Network::load(openEmbedded(), cube.loadable());
	ASSERT_FALSE(network);
	EXPECT_TRUE(has(network.error().message(), "has an open axis, the tensor is not plain"))
		<< network.error().message();
}

/* Whether the library is there or not: it is no model. */
TEST(HostTask, SaysWhoseOperatorsCannotRun)
{
	HostFile file(plainOf(DataType::Float), plainOf(DataType::Float));
	auto network = Network::load(openEmbedded(), file.withModel());

	ASSERT_FALSE(network);
	EXPECT_EQ(network.error().code, ErrorCode::Unsupported);
	EXPECT_TRUE(has(network.error().message(), "task 0, LSTM 'y'"))
		<< network.error().message();
	EXPECT_TRUE(has(network.error().message(), "ONNX Runtime")) << network.error().message();
}

} /* namespace nvdla::test */
