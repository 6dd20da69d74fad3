/* SPDX-License-Identifier: MIT */
/*
 * Every field through which an operation reaches memory, made to reach beyond its buffer.
 *
 * Another process holds buffers around those of the operations. An operation that touches the last
 * byte of its own is accepted and run; one that goes a step further is refused, whichever field
 * takes it there, and the other process's buffers stay as they were.
 */
#include <cerrno>
#include <cstdio>
#include <functional>
#include <ostream>
#include <random>
#include <string>
#include <vector>

#include "canary_fixture.h"
#include "device/refusal.h"
#include "fuzz_rounds.h"
#include "task_dice.h"

namespace nvdla::test
{

namespace
{

/** \brief A cube of an operation */
struct Field {
	std::string name;
	std::function<nvdla_data_cube &(TaskBuilder &)> cube;
	uint32_t alignment;
	/** strides that matter, because the cube has more than one line or surface */
	std::vector<uint32_t nvdla_data_cube::*> strides;
	/** what is named when the cube says that it lies in other memory; empty for itself */
	std::string elsewhere = {};
};

struct Operation {
	const char *name;
	/** the index of the operation that is looked at */
	std::function<size_t(TaskBuilder &)> build;
	std::vector<Field> fields;
};

void PrintTo(const Operation &operation, std::ostream *out)
{
	*out << operation.name;
}

constexpr auto line = &nvdla_data_cube::line_stride;
constexpr auto surface = &nvdla_data_cube::surf_stride;
constexpr auto plane = &nvdla_data_cube::plane_stride;

template<typename Cubes>
Field field(const char *name, Cubes nvdla_surface_desc::*engine, nvdla_data_cube Cubes::*cube,
	    size_t operation, std::vector<uint32_t nvdla_data_cube::*> strides,
	    uint32_t alignment = atom)
{
	return { name,
		 [=](TaskBuilder &b) -> nvdla_data_cube & {
			 return b.surfaces[operation].*engine.*cube;
		 },
		 alignment, std::move(strides) };
}

/* Weights, their mask and group sizes lie in one memory: the mask is what differs then. */
Field compressedWeights()
{
	Field weights = field("weight_data", &nvdla_surface_desc::conv,
			      &nvdla_conv_surface_desc::weight_data, 0, {}, 256);
	weights.elsewhere = "wmb_data";
	return weights;
}

/* Operands of SDP for each of its three stages. */
size_t buildSdp(TaskBuilder &b)
{
	const size_t i = b.addSdp();
	b.sdpCubes(i).src_data = featureCube(0, 0, 8, 8, 64);
	b.sdpCubes(i).dst_data = featureCube(2, 0, 8, 8, 64);
	b.sdp(i).x1_op.mode = NVDLA_SDP_PER_POINT;
	b.sdpCubes(i).x1_data = featureCube(1, 0, 8, 8, 64);
	b.sdpCubes(i).x1_data.line_stride = 8 * 2 * atom;
	b.sdpCubes(i).x1_data.surf_stride = 8 * 8 * 2 * atom;
	b.sdp(i).x2_op = b.sdp(i).x1_op;
	b.sdpCubes(i).x2_data = b.sdpCubes(i).x1_data;
	b.sdpCubes(i).x2_data.address = 3;
	b.sdp(i).y_op = b.sdp(i).x1_op;
	b.sdp(i).y_op.act = NVDLA_ACT_NONE;
	b.sdpCubes(i).y_data = b.sdpCubes(i).x1_data;
	b.sdpCubes(i).y_data.offset = bufferBytes / 2;
	return i;
}

size_t buildConv(TaskBuilder &b)
{
	const size_t i = b.addConv() - 1;
	b.conv(i).input_channel_csc = b.conv(i).kernel_channel_csc = 64;
	b.conv(i).entry_per_slice = 4;
	b.conv(i).bytes_per_kernel = 3 * 3 * 64;
	b.convCubes(i).weight_data.size = 3 * 3 * 64 * 32;
	b.convCubes(i).src_data = featureCube(0, 0, 8, 8, 64);
	return i;
}

size_t buildPdp(TaskBuilder &b)
{
	const size_t i = b.addPdp();
	b.pdpCubes(i).src_data = featureCube(2, 0, 8, 8, 64);
	b.pdpCubes(i).dst_data = featureCube(3, 0, 4, 4, 64);
	return i;
}

size_t buildCdp(TaskBuilder &b)
{
	const size_t i = b.addCdp();
	b.cdpCubes(i).src_data = featureCube(2, 0, 8, 8, 64);
	b.cdpCubes(i).dst_data = featureCube(3, 0, 8, 8, 64);
	return i;
}

using Surface = nvdla_surface_desc;
using Conv = nvdla_conv_surface_desc;
using Sdp = nvdla_sdp_surface_desc;
using Pair = nvdla_pair_surface_desc;

const std::vector<Operation> operations = {
	{ "Convolution",
	  buildConv,
	  { field("src_data", &Surface::conv, &Conv::src_data, 0, { line, surface }),
	    field("weight_data", &Surface::conv, &Conv::weight_data, 0, {}, 256) } },
	{ "ConvolutionOutput",
	  [](TaskBuilder &b) { return b.addConv(); },
	  { field("x1_data", &Surface::sdp, &Sdp::x1_data, 1, {}),
	    field("dst_data", &Surface::sdp, &Sdp::dst_data, 1, { line }) } },
	{ "CompressedWeights",
	  [](TaskBuilder &b) { return b.addCompressed() - 1; },
	  { compressedWeights(), field("wmb_data", &Surface::conv, &Conv::wmb_data, 0, {}, 256),
	    field("wgs_data", &Surface::conv, &Conv::wgs_data, 0, {}, 256) } },
	{ "Winograd",
	  [](TaskBuilder &b) { return b.addWinograd() - 1; },
	  { field("src_data", &Surface::conv, &Conv::src_data, 0, { line }),
	    field("weight_data", &Surface::conv, &Conv::weight_data, 0, {}, 256) } },
	{ "Image",
	  [](TaskBuilder &b) { return b.addImage(12) - 1; },
	  { field("src_data", &Surface::conv, &Conv::src_data, 0, { line }) } },
	{ "SemiPlanarImage",
	  /* The first plane is not what ends last; more of the second below. */
	  [](TaskBuilder &b) { return b.addImage(28) - 1; },
	  { field("src_data", &Surface::conv, &Conv::src_data, 0, {}) } },
	{ "Sdp",
	  buildSdp,
	  { field("src_data", &Surface::sdp, &Sdp::src_data, 0, { line, surface }),
	    field("x1_data", &Surface::sdp, &Sdp::x1_data, 0, { line, surface }),
	    field("x2_data", &Surface::sdp, &Sdp::x2_data, 0, { line, surface }),
	    field("y_data", &Surface::sdp, &Sdp::y_data, 0, { line, surface }),
	    field("dst_data", &Surface::sdp, &Sdp::dst_data, 0, { line, surface }) } },
	{ "Pdp",
	  buildPdp,
	  { field("src_data", &Surface::pdp, &Pair::src_data, 0, { line, surface }),
	    field("dst_data", &Surface::pdp, &Pair::dst_data, 0, { line, surface }) } },
	{ "SplitPdp",
	  [](TaskBuilder &b) { return b.addSplitPdp(); },
	  { field("src_data", &Surface::pdp, &Pair::src_data, 0, { line }),
	    field("dst_data", &Surface::pdp, &Pair::dst_data, 0, { line }) } },
	{ "Cdp",
	  buildCdp,
	  { field("src_data", &Surface::cdp, &Pair::src_data, 0, { line, surface }),
	    field("dst_data", &Surface::cdp, &Pair::dst_data, 0, { line, surface }) } },
	{ "RubikContract",
	  [](TaskBuilder &b) { return b.addRubik(NVDLA_RUBIK_CONTRACT); },
	  { field("src_data", &Surface::rubik, &Pair::src_data, 0, { line, surface }),
	    field("dst_data", &Surface::rubik, &Pair::dst_data, 0, { line }) } },
	{ "RubikSplit",
	  [](TaskBuilder &b) { return b.addRubik(NVDLA_RUBIK_SPLIT); },
	  { field("src_data", &Surface::rubik, &Pair::src_data, 0, { line }),
	    field("dst_data", &Surface::rubik, &Pair::dst_data, 0, { line, plane }, 64) } },
	{ "RubikMerge",
	  [](TaskBuilder &b) { return b.addRubik(NVDLA_RUBIK_MERGE); },
	  { field("src_data", &Surface::rubik, &Pair::src_data, 0, { line, plane }, 64),
	    field("dst_data", &Surface::rubik, &Pair::dst_data, 0, { line }) } },
};

class CanaryTest : public CanaryFixture, public testing::WithParamInterface<Operation>
{
};

/* Moves a cube as far to the end of its buffer as it is accepted there. */
void moveToTheEnd(TaskBuilder &builder, const Field &field)
{
	nvdla_data_cube &cube = field.cube(builder);
	uint32_t good = 0, bad = bufferBytes / field.alignment;
	while (bad - good > 1) {
		const uint32_t middle = good + (bad - good) / 2;
		cube.offset = middle * field.alignment;
		(builder.create().result == 0 ? good : bad) = middle;
	}
	cube.offset = good * field.alignment;
	const Created created = builder.create();
	EXPECT_EQ(created.result, 0) << refusedField(created.error);
}

} /* namespace */

TEST_P(CanaryTest, NoFieldReachesBeyondItsBuffer)
{
	for (const Field &field : GetParam().fields) {
		TaskBuilder last = sized();
		const size_t index = GetParam().build(last);
		moveToTheEnd(last, field);
		SCOPED_TRACE(field.name);
		ASSERT_GT(field.cube(last).offset, 0U);
		ASSERT_EQ(run(last), 0) << refusedField(client_->error(), NVDLA_OP_SDP);

		const auto refused = [&](const std::string &what, auto &&change) {
			TaskBuilder changed = last;
			change(field.cube(changed));
			const bool elsewhere = field.cube(changed).type != field.cube(last).type;
			expectRefused(changed, index,
				      elsewhere && !field.elsewhere.empty() ? field.elsewhere
									    : field.name,
				      what);
		};
		refused("a step further", [&](auto &cube) { cube.offset += field.alignment; });
		refused("behind the end", [&](auto &cube) { cube.offset = bufferBytes; });
		refused("offset that wraps", [&](auto &cube) { cube.offset = -field.alignment; });
		for (const auto stride : field.strides) {
			refused("longer stride",
				[&](auto &cube) { cube.*stride += field.alignment; });
			refused("stride that overflows",
				[&](auto &cube) { cube.*stride = -field.alignment; });
		}
		refused("no buffer", [&](auto &cube) { cube.address = bufferCount; });
		refused("behind the table", [&](auto &cube) { cube.address = bufferCount + 1; });
		refused("before the table", [&](auto &cube) { cube.address = -1; });
		refused("last of all", [&](auto &cube) { cube.address = INT16_MIN; });
		refused("other memory", [&](auto &cube) { cube.type = NVDLA_MEM_CV; });
	}
}

/* Whatever of random tasks is accepted; NVDLA_FUZZ_ROUNDS makes it that many times as many. */
TEST_F(CanaryFixture, RandomTasksStayInTheirBuffers)
{
	constexpr unsigned int tasks = 200, seed = 20261122;
	std::printf("seed %u\n", seed);
	std::mt19937 random(seed);
	TaskDice dice(random);
	unsigned int ran = 0, refused = 0;

	for (unsigned int i = 1; i <= tasks * fuzzRounds(); i++) {
		TaskBuilder builder = sized();
		dice.cutExtents(builder);
		dice.addTask(builder);
		const int result = run(builder);
		(result == -EINVAL ? refused : ran)++;
		/* Jobs of a file that had too many of them fail are not run any more. */
		if (result && result != -EINVAL)
			client_ = std::make_unique<TaskClient>();
		if (i % tasks == 0) {
			ASSERT_TRUE(owner_.intact()) << "task " << i;
		}
	}
	std::printf("%u tasks ran, %u were refused\n", ran, refused);
	EXPECT_GT(ran, tasks / 5);
	EXPECT_GT(refused, tasks / 5);
}

INSTANTIATE_TEST_SUITE_P(Operations, CanaryTest, testing::ValuesIn(operations),
			 [](const auto &info) { return info.param.name; });

} /* namespace nvdla::test */
