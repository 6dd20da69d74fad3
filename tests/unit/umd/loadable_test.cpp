/* SPDX-License-Identifier: MIT */
#include <cmath>
#include <functional>

#include <gtest/gtest.h>
#include <nvdla/loadable.h>

#include "test_support.h"

namespace nvdla
{

namespace
{

Loadable everything()
{
	Loadable loadable = test::copyLoadable(std::vector<std::byte>(64, std::byte{ 5 }));

	loadable.events.push_back({ 3, 1, 2, 7, 1 });
	loadable.tasks[0].postActions.push_back(3);
	loadable.tasks[0].layers.push_back("stem/conv");
	loadable.relocs.push_back({ 1, 4, 0, 1, 4, 1 });
	loadable.variant = "nv_full";
	return loadable;
}

} /* namespace */

TEST(Loadable, WhatIsWrittenIsRead)
{
	const Loadable loadable = everything();
	auto bytes = loadable.write();
	ASSERT_TRUE(bytes) << bytes.error().message();
	EXPECT_EQ(std::string(reinterpret_cast<const char *>(bytes->data()) + 4, 4), "NVDA");

	auto back = Loadable::read(*bytes);
	ASSERT_TRUE(back) << back.error().message();
	EXPECT_TRUE(*back == loadable);
}

TEST(Loadable, AlignmentOfTheBytesDoesNotMatter)
{
	const auto bytes = everything().write();
	ASSERT_TRUE(bytes);
	for (size_t shift = 1; shift < 8; shift++) {
		std::vector<std::byte> moved(shift);
		moved.insert(moved.end(), bytes->begin(), bytes->end());
		EXPECT_TRUE(Loadable::read(std::span(moved).subspan(shift))) << shift;
	}
}

TEST(Loadable, AddressesEndWithTheirMemory)
{
	Loadable loadable = everything();
	loadable.addresses[0].offset = 16;
	loadable.addresses[0].size = 64;
	loadable.addresses[1].size = 0;
	ASSERT_TRUE(loadable.check());
	EXPECT_EQ(loadable.addresses[0].size, 48u);
	EXPECT_EQ(loadable.addresses[1].size, loadable.memories[1].size);
}

TEST(Loadable, ErrorsNameTheField)
{
	const struct {
		const char *where;
		std::function<void(Loadable &)> damage;
	} cases[] = {
		{ "memory_list[1].id", [](Loadable &l) { l.memories[1].id = 0; } },
		{ "memory_list[1].size", [](Loadable &l) { l.memories[1].size = 0; } },
		{ "memory_list[1].size", [](Loadable &l) { l.memories[1].size = ~0ull; } },
		{ "memory_list[0].alignment", [](Loadable &l) { l.memories[0].alignment = 3; } },
		{ "memory_list[0].contents[0]",
		  [](Loadable &l) { l.memories[0].contents[0].blob = "nothing"; } },
		{ "memory_list[0].offsets[0]",
		  [](Loadable &l) { l.memories[0].contents[0].offset = 1; } },
		{ "memory_list[0].offsets[0]",
		  [](Loadable &l) { l.memories[0].contents[0].offset = ~0ull; } },
		{ "memory_list[1].tensor_desc_id",
		  [](Loadable &l) { l.memories[1].tensorDescId = 9; } },
		{ "blobs[1].name", [](Loadable &l) { l.blobs[1].name = l.blobs[0].name; } },
		{ "address_list[2].mem_id", [](Loadable &l) { l.addresses[2].memId = 99; } },
		{ "address_list[2].offset", [](Loadable &l) { l.addresses[2].offset = ~0ull; } },
		{ "task_list[0].interface",
		  [](Loadable &l) { l.tasks[0].interface = static_cast<Interface>(7); } },
		{ "task_list[0].address_list",
		  [](Loadable &l) { l.tasks[0].addressList.clear(); } },
		{ "task_list[0].address_list[1]",
		  [](Loadable &l) { l.tasks[0].addressList[1] = 100; } },
		{ "task_list[0].post_actions[0]",
		  [](Loadable &l) { l.tasks[0].postActions[0] = 4; } },
		{ "task_list[0].pre_actions[0]",
		  [](Loadable &l) { l.tasks[0].preActions.push_back(4); } },
		{ "submit_list[0].task_id[0]", [](Loadable &l) { l.submits[0].taskIds[0] = 5; } },
		{ "tensor_desc_list[0].mem_id", [](Loadable &l) { l.tensors[0].memId = 77; } },
		{ "tensor_desc_list[0].size", [](Loadable &l) { l.tensors[0].size = ~0ull; } },
		{ "tensor_desc_list[0].size", [](Loadable &l) { l.tensors[0].offset = ~0ull; } },
		{ "tensor_desc_list[0]", [](Loadable &l) { l.tensors[0].h = -1; } },
		{ "tensor_desc_list[0].scale",
		  [](Loadable &l) {
			  l.tensors[0].scale = { NAN };
			  l.tensors[0].zeroPoint = { 0 };
		  } },
		{ "reloc_list[0].address_id", [](Loadable &l) { l.relocs[0].addressId = 88; } },
		{ "reloc_list[0].write_id", [](Loadable &l) { l.relocs[0].writeId = 88; } },
		{ "reloc_list[0].offset", [](Loadable &l) { l.relocs[0].offset = ~0ull; } },
	};

	for (const auto &one : cases) {
		Loadable loadable = everything();
		one.damage(loadable);
		auto checked = loadable.check();
		ASSERT_FALSE(checked) << one.where;
		EXPECT_EQ(checked.error().code, ErrorCode::InvalidFile);
		EXPECT_EQ(checked.error().where, one.where) << checked.error().message();
		EXPECT_FALSE(loadable.write()) << one.where;
	}
}

/* A state's tensors are of one layout, in memories of their own, and not the application's. */
TEST(Loadable, StatesHaveTwoTensorsOfOneLayout)
{
	test::LoadableBuilder builder;
	const auto desc = TensorDesc::packedFeature("x", DataType::Int8, 4, 2, 3);
	builder.tensor(desc, MemoryInput);
	builder.tensor(desc, MemoryInput);
	builder.tensor(desc, MemoryOutput);
	builder.tensor(desc, MemoryOutput);
	Loadable &loadable = builder.loadable;
	const auto idOf = [&](size_t index) { return loadable.tensors[index].id; };
	loadable.states = { { idOf(1), idOf(3) } };
	ASSERT_TRUE(loadable.check());
	EXPECT_EQ(loadable.inputs()->size(), 1U);
	EXPECT_EQ(loadable.outputs()->size(), 1U);
	/* Lines without gaps may be divided in another way. */
	loadable.tensors[3].h = 3;
	loadable.tensors[3].w = 2;
	loadable.tensors[3].stride[1] = 2 * 32;
	EXPECT_TRUE(loadable.check());

	const struct {
		const char *why;
		std::function<void(Loadable &)> damage;
	} cases[] = {
		{ "names no entry", [](Loadable &l) { l.states[0].after = 99; } },
		{ "another tensor of a state", [&](Loadable &l) { l.states[0].after = idOf(1); } },
		{ "another tensor of a state",
		  [&](Loadable &l) {
			  l.states.push_back({ idOf(1), idOf(2) });
		  } },
		{ "no input memory",
		  [&](Loadable &l) {
			  l.states[0] = { idOf(3), idOf(1) };
		  } },
		{ "different layouts", [](Loadable &l) { l.tensors[3].c = 5; } },
		{ "different layouts", [](Loadable &l) { l.tensors[1].h = 1; } },
		{ "different layouts",
		  [](Loadable &l) {
			  l.tensors[3].scale = { 2 };
			  l.tensors[3].zeroPoint = { 0 };
		  } },
	};
	for (const auto &one : cases) {
		Loadable damaged = loadable;
		one.damage(damaged);
		const auto checked = damaged.check();
		ASSERT_FALSE(checked) << one.why;
		EXPECT_EQ(checked.error().code, ErrorCode::InvalidFile);
		EXPECT_TRUE(test::has(checked.error().message(), one.why))
			<< checked.error().message();
	}
}

TEST(Loadable, OtherFormatVersionsAreRefused)
{
	Loadable loadable = everything();
	loadable.version = { 0, 8, 0 };
	auto bytes = loadable.write();
	ASSERT_TRUE(bytes);
	auto read = Loadable::read(*bytes);
	ASSERT_FALSE(read);
	EXPECT_EQ(read.error().code, ErrorCode::Unsupported);
	EXPECT_EQ(read.error().where, "version");
}

TEST(Loadable, MissingFileIsNamed)
{
	auto read = Loadable::readFile("/nonexistent/net.nvdla");
	ASSERT_FALSE(read);
	EXPECT_EQ(read.error().code, ErrorCode::NotFound);
	EXPECT_NE(read.error().message().find("/nonexistent/net.nvdla"), std::string::npos);
	EXPECT_FALSE(Loadable::readFile("/"));
}

TEST(Loadable, TensorsAreOrderedByTheirBindId)
{
	test::LoadableBuilder builder;
	builder.tensor(TensorDesc::packedFeature("b", DataType::Int8, 1, 1, 1), MemoryInput);
	builder.tensor(TensorDesc::packedFeature("out", DataType::Half, 1, 2, 3), MemoryOutput);
	builder.tensor(TensorDesc::packedFeature("a", DataType::Int8, 1, 1, 1), MemoryInput);
	std::swap(builder.loadable.memories[0].bindId, builder.loadable.memories[2].bindId);
	ASSERT_TRUE(builder.loadable.check());

	auto inputs = builder.loadable.inputs();
	ASSERT_TRUE(inputs);
	ASSERT_EQ(inputs->size(), 2u);
	EXPECT_EQ((*inputs)[0].name, "a");
	EXPECT_EQ((*inputs)[1].name, "b");
	auto outputs = builder.loadable.outputs();
	ASSERT_TRUE(outputs);
	ASSERT_EQ(outputs->size(), 1u);
	EXPECT_EQ((*outputs)[0].w, 3u);
	EXPECT_EQ((*outputs)[0].type, DataType::Half);
}

TEST(Loadable, PicturesKeepBothPlanes)
{
	for (PixelFormat format : { PixelFormat::A2B10G10R10, PixelFormat::Y10V10U10N444 }) {
		test::LoadableBuilder builder;
		TensorDesc picture = TensorDesc::image("picture", format, 5, 20);
		picture.memory = builder.tensor(picture, MemoryInput);
		auto inputs = builder.loadable.inputs();
		ASSERT_TRUE(inputs) << inputs.error().message();
		ASSERT_EQ(inputs->size(), 1u);
		EXPECT_EQ((*inputs)[0], picture);
	}
}

} /* namespace nvdla */
