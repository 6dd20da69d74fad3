/* SPDX-License-Identifier: MIT */
/*
 * The list of rules, and how a violation is told.
 */
#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <regex>
#include <set>
#include <string>

#include <gtest/gtest.h>
#include <tests/nvdla_test_rules.h>

#include "device/refusal.h"
#include "kunit.h"
#include "task_builder.h"

namespace nvdla::test
{

namespace
{

/* Words in quotation marks in a source, but for comments and includes. */
std::set<std::string> sentencesOf(const std::filesystem::path &file)
{
	static const std::regex noCode(R"(^\s*(#|/?\*).*$)");
	std::set<std::string> found;
	std::ifstream stream(file);
	std::string all;

	for (std::string line; std::getline(stream, line);) {
		if (!std::regex_match(line, noCode))
			all += line + '\n';
	}
	static const std::regex sentence("\"([^\"\n]* [^\"\n]*)\"");
	for (std::sregex_iterator i(all.begin(), all.end(), sentence), end; i != end; i++)
		found.insert((*i)[1]);
	return found;
}

} /* namespace */

/* In kmd/engine/tests: a task that breaks it and nothing else. */
TEST(Rules, EachHasATest)
{
	static constexpr const char *names[] = {
#define NVDLA_RULE(name, text, source) #name,
#include <tests/nvdla_test_rule_list.h>
	};

	runKunitQuietly();
	for (size_t i = 0; i < std::size(names); i++)
		EXPECT_GT(nvdla_rules_broken[i], 0u) << names[i];
}

TEST(Rules, AreAllInTheList)
{
	const std::set<std::string> known(std::begin(nvdla_test_rule_text),
					  std::end(nvdla_test_rule_text));
	std::set<std::string> said;
	const char *sources = std::getenv("NVDLA_ENGINE_SOURCES");

	ASSERT_TRUE(sources) << "NVDLA_ENGINE_SOURCES is to be the folder kmd/engine";
	for (const auto &file : std::filesystem::directory_iterator(sources)) {
		if (file.path().extension() == ".c" || file.path().extension() == ".h")
			said.merge(sentencesOf(file));
	}
	EXPECT_EQ(said, known);
}

TEST(Rules, AreToldInWords)
{
	nvdla_refusal refusal = {};
	refusal.rule = "the cube reaches beyond the memory of its address";
	refusal.op_type = NVDLA_OP_SDP;
	refusal.error.member_of = DRM_NVDLA_STRUCT_SURFACE;
	refusal.error.offset = offsetof(nvdla_sdp_surface_desc, x1_data);
	refusal.error.size = sizeof(nvdla_data_cube);
	refusal.value = 96;
	refusal.limit = -64;
	EXPECT_EQ(describeRefusal(refusal),
		  "x1_data: the cube reaches beyond the memory of its address (is 96, limit -64)");

	/* Of a newer driver: numbers that this code does not know. */
	refusal.error.offset = 640;
	EXPECT_EQ(refusedField(refusal), "byte 640");
	refusal.error.member_of = 4711;
	EXPECT_EQ(refusedField(refusal), "");
}

TEST(Rules, ErrorSaysWhichOperation)
{
	TaskBuilder builder;
	builder.addPdp();
	builder.addConv();
	builder.conv(1).pad_x_left = 7;
	const Created created = builder.create();
	EXPECT_EQ(created.result, -EINVAL);
	EXPECT_EQ(created.error.error.operation, 1u);
	EXPECT_EQ(created.error.op_type, static_cast<uint32_t>(NVDLA_OP_CONV));
	EXPECT_EQ(created.error.value, 7);
	EXPECT_EQ(created.error.limit, 2);
}

/* An inner product of four cubes: 1x1 cubes are packed, so they cannot be 64 bytes apart. */
TEST(Rules, BatchesOfSingleElementsArePacked)
{
	TaskBuilder builder;
	nvdla_conv_op_desc &op = builder.conv(builder.addConv() - 1);
	op.batch = builder.sdp(1).batch_num = 4;
	op.batch_stride = builder.sdp(1).batch_stride = 32;
	op.input_width_csc = op.input_height_csc = op.release = 1;
	op.input_width_cmac = op.input_height_cmac = 1;
	op.kernel_width_csc = op.kernel_height_csc = 1;
	op.pad_x_left = op.pad_x_right = op.pad_y_top = op.pad_y_bottom = 0;
	builder.convCubes(0).src_data = featureCube(0, 0, 1, 1, 32);
	builder.convCubes(0).dst_data = streamCube(1, 1, 32);
	builder.setChannels(0, 32);
	builder.setKernels(0, 32);
	builder.sdpCubes(1).dst_data.offset = 32;
	const Created created = builder.create();
	EXPECT_EQ(created.result, 0) << describeRefusal(created.error);
}

TEST(Rules, ErrorMayBeIgnored)
{
	TaskBuilder builder;
	builder.add(NVDLA_OP_PDP);
	const nvdla_task_source source = builder.source();
	nvdla_task *task = nullptr;
	EXPECT_EQ(nvdla_task_create(&builder.variant, &source, nullptr, &task), -EINVAL);
	EXPECT_EQ(task, nullptr);
}

} /* namespace nvdla::test */
