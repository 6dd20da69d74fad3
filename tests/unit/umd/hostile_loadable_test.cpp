/* SPDX-License-Identifier: MIT */
/*
 * Damaged files: every one has to end in a value or in an error that says
 * where, and nothing else may happen (the sanitizers watch).
 */
#include <cstddef>
#include <cstring>
#include <iterator>
#include <random>

#include <gtest/gtest.h>
#include <nvdla/task.h>

#include "loadable/emu_descriptors.h"
#include "test_support.h"

namespace nvdla
{

namespace
{

/* Reads and goes through everything a runtime would look at before it submits. */
void exercise(std::span<const std::byte> bytes)
{
	auto loadable = Loadable::read(bytes);
	if (!loadable) {
		ASSERT_FALSE(loadable.error().where.empty());
		ASSERT_FALSE(loadable.error().why.empty());
		return;
	}
	for (const auto &tensors : { loadable->inputs(), loadable->outputs() }) {
		if (!tensors) {
			ASSERT_FALSE(tensors.error().why.empty());
		}
	}
	if (auto tasks = tasksInOrder(*loadable); !tasks) {
		ASSERT_FALSE(tasks.error().why.empty());
	}
}

std::vector<std::byte> smallFile()
{
	auto bytes = test::copyLoadable(std::vector<std::byte>(64, std::byte{ 9 })).write();
	EXPECT_TRUE(bytes);
	return *bytes;
}

uint32_t wordAt(const std::vector<std::byte> &bytes, size_t at)
{
	uint32_t word;

	std::memcpy(&word, &bytes.at(at), sizeof(word));
	return word;
}

} /* namespace */

TEST(HostileLoadable, EveryTruncationIsRefused)
{
	const auto bytes = smallFile();

	for (size_t length = 0; length < bytes.size(); length++) {
		/* A copy of its own, so that reading beyond it is noticed. */
		const std::vector<std::byte> cut(bytes.begin(), bytes.begin() + length);
		auto read = Loadable::read(cut);
		/* The file ends with padding at most; what is read must be whole. */
		if (length + 8 < bytes.size()) {
			ASSERT_FALSE(read) << length;
		}
		exercise(cut);
	}
}

TEST(HostileLoadable, EveryFlippedBitIsSurvived)
{
	auto bytes = smallFile();

	for (size_t bit = 0; bit < bytes.size() * 8; bit++) {
		bytes[bit / 8] ^= std::byte(1 << bit % 8);
		exercise(bytes);
		bytes[bit / 8] ^= std::byte(1 << bit % 8);
	}
}

TEST(HostileLoadable, RandomWordsAreSurvived)
{
	const auto good = smallFile();
	const uint32_t seed = 22;
	std::mt19937 random(seed);

	for (int round = 0; round < 5000; round++) {
		auto bytes = good;
		for (unsigned hits = 1 + random() % 4; hits; hits--) {
			const uint32_t extreme[] = { 0,		 1,
						     0x7fffffff, 0x80000000,
						     0xffffffff, static_cast<uint32_t>(random()) };
			const uint32_t word = extreme[random() % std::size(extreme)];
			const size_t at = random() % (bytes.size() - sizeof(word));
			std::memcpy(&bytes[at], &word, sizeof(word));
		}
		exercise(bytes);
	}
}

TEST(HostileLoadable, RealFilesDamaged)
{
	NVDLA_NEED_REFERENCE(reference);
	std::mt19937 random(23);

	for (const char *name : { "BDMA_L0_0_fbuf", "SDP_X1_L0_0_fbuf", "CDP_L0_0_fbuf",
				  "compiled/power_identity/nv_full_fp16_default.nvdla" }) {
		const auto good = test::readBytes(reference / "loadables" / name);
		for (int round = 0; round < 300; round++) {
			const size_t length = random() % good.size();
			std::vector<std::byte> bytes(good.begin(), good.begin() + length);
			exercise(bytes);
			bytes = good;
			bytes[random() % good.size()] ^= std::byte(1 << random() % 8);
			exercise(bytes);
		}
	}
}

/* A small file in which many entries name the same data. */
TEST(HostileLoadable, SharedDataIsNotCopiedOverAndOver)
{
	constexpr uint32_t count = 2000;
	Loadable loadable = test::copyLoadable(std::vector<std::byte>(1 << 16));
	while (loadable.blobs.size() < count)
		loadable.blobs.push_back({ std::to_string(loadable.blobs.size()),
					   Interface::None,
					   0,
					   {},
					   { std::byte{} } });
	auto bytes = loadable.write().value();

	/* The list of blobs is the only one with so many entries; all become the first. */
	size_t list = 0;
	while (wordAt(bytes, list) != count)
		list += sizeof(uint32_t);
	for (uint32_t i = 1; i < count; i++) {
		const size_t entry = list + sizeof(uint32_t) * (i + 1);
		const uint32_t offset = wordAt(bytes, list + sizeof(uint32_t)) -
					static_cast<uint32_t>(sizeof(uint32_t)) * i;
		std::memcpy(&bytes[entry], &offset, sizeof(offset));
	}

	const auto read = Loadable::read(bytes);
	ASSERT_FALSE(read);
	EXPECT_EQ(read.error().code, ErrorCode::InvalidFile);
	EXPECT_TRUE(read.error().where.starts_with("blobs[")) << read.error().message();
	EXPECT_NE(read.error().why.find("share"), std::string::npos);
}

/* A list of strings that each is as long as the file. */
TEST(HostileLoadable, LayersDoNotShareTheirName)
{
	constexpr uint32_t count = 3000;
	Loadable loadable = test::copyLoadable(std::vector<std::byte>(64));
	loadable.tasks[0].layers.assign(count, "");
	loadable.tasks[0].layers[0].assign(1 << 16, 'x');
	auto bytes = loadable.write().value();

	size_t list = 0;
	while (wordAt(bytes, list) != count)
		list += sizeof(uint32_t);
	for (uint32_t i = 1; i < count; i++) {
		const uint32_t offset = wordAt(bytes, list + sizeof(uint32_t)) -
					static_cast<uint32_t>(sizeof(uint32_t)) * i;
		std::memcpy(&bytes[list + sizeof(uint32_t) * (i + 1)], &offset, sizeof(offset));
	}

	const auto read = Loadable::read(bytes);
	ASSERT_FALSE(read);
	EXPECT_TRUE(read.error().where.starts_with("task_list")) << read.error().message();
	EXPECT_NE(read.error().why.find("share"), std::string::npos) << read.error().message();
}

TEST(HostileLoadable, EachOperationHasALayer)
{
	Loadable loadable = test::copyLoadable(std::vector<std::byte>(64));
	ASSERT_TRUE(tasksInOrder(loadable));
	loadable.tasks[0].layers.assign(2, "conv");

	const auto tasks = tasksInOrder(loadable);
	ASSERT_FALSE(tasks);
	EXPECT_EQ(tasks.error().code, ErrorCode::InvalidFile);
	EXPECT_TRUE(test::has(tasks.error().message(), "2 names for 1 operations"))
		<< tasks.error().message();
	loadable.tasks[0].layers.resize(1);
	EXPECT_TRUE(tasksInOrder(loadable));
}

TEST(HostileLoadable, TaskIsSubmittedOnce)
{
	Loadable loadable = test::copyLoadable(std::vector<std::byte>(64));
	loadable.submits[0].taskIds.push_back(loadable.submits[0].taskIds[0]);
	const auto checked = loadable.check();
	ASSERT_FALSE(checked);
	EXPECT_NE(checked.error().why.find("twice"), std::string::npos);
}

/* Tasks of many operations, all of which are described by the same lists. */
TEST(HostileLoadable, TasksDoNotShareDescriptors)
{
	test::LoadableBuilder builder;
	constexpr uint16_t operations = 300;
	const uint16_t network = builder.content(
		"network", test::bytesOf(EmuNetworkDesc{ 1, 2, operations }), Interface::Emu1);
	const uint16_t list = builder.content(
		"operations", std::vector<std::byte>(operations * sizeof(EmuOperationDesc)),
		Interface::Emu1);
	const uint16_t buffers =
		builder.content("buffers", std::vector<std::byte>(operations * emuBufferPairBytes),
				Interface::Emu1);
	for (size_t i = 0; i < operations; i++) {
		/* A scale of 1, and INT8 buffers at the address of the first list. */
		const float one = 1;
		auto &data = builder.loadable.blobs;
		std::memcpy(&data[1].data[i * sizeof(EmuOperationDesc) +
					  offsetof(EmuOperationDesc, out_scale)],
			    &one, sizeof(one));
		for (size_t side : { size_t{ 0 }, emuSecondBuffer }) {
			const uint16_t format = EmuFormatInt8;
			std::memcpy(&data[2].data[i * emuBufferPairBytes + side +
						  offsetof(EmuBufferDesc, format)],
				    &format, sizeof(format));
		}
	}
	for (int i = 0; i < 2; i++)
		builder.task(Interface::Emu1, { network, list, buffers });

	const auto tasks = tasksInOrder(builder.loadable);
	ASSERT_FALSE(tasks);
	EXPECT_NE(tasks.error().why.find("share"), std::string::npos) << tasks.error().message();
	builder.loadable.submits.pop_back();
	EXPECT_TRUE(tasksInOrder(builder.loadable)) << "one may have them";
}

TEST(HostileLoadable, ErrorNamesTheDamagedEntry)
{
	const auto bytes = smallFile();

	auto read = Loadable::read(std::span(bytes).first(3));
	ASSERT_FALSE(read);
	EXPECT_EQ(read.error().where, "file");
	EXPECT_EQ(read.error().code, ErrorCode::InvalidFile);

	std::vector<std::byte> text(100, std::byte{ 'x' });
	read = Loadable::read(text);
	ASSERT_FALSE(read);
	EXPECT_EQ(read.error().where, "file");
}

/* Names go to terminals, which obey control characters. */
TEST(ErrorMessage, IsALineOfUtf8)
{
	const struct {
		const char *name;
		const char *shown;
	} cases[] = {
		{ "plain \\x41", "plain \\x41" },
		{ "\033[2J\n\x7f", "\\x1b[2J\\x0a\\x7f" },
		{ "k\xc3\xb6nig \xe2\x82\xac \xf0\x9f\x98\x80",
		  "k\xc3\xb6nig \xe2\x82\xac \xf0\x9f\x98\x80" },
		{ "\xff\xfe", "\\xff\\xfe" },
		/* Cut short, too long for its character, a surrogate, beyond the last one, a
		   control. */
		{ "\xe2\x82", "\\xe2\\x82" },
		{ "\xc0\xaf", "\\xc0\\xaf" },
		{ "\xe0\x80\xaf", "\\xe0\\x80\\xaf" },
		{ "\xed\xa0\x80", "\\xed\\xa0\\x80" },
		{ "\xf4\x90\x80\x80", "\\xf4\\x90\\x80\\x80" },
		{ "\xc2\x9b", "\\xc2\\x9b" },
	};

	for (const auto &one : cases) {
		const Error error{ ErrorCode::InvalidFile, "read", one.name, "is odd" };
		EXPECT_EQ(error.message(), std::string("read: ") + one.shown + ": is odd");
	}
}

} /* namespace nvdla */
