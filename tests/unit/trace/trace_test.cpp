/* SPDX-License-Identifier: MIT */
#include <gtest/gtest.h>

#include "trace/published.h"
#include "trace/trace.h"

using namespace nvdla::sim;

namespace
{

TEST(Trace, ReadsEveryCommand)
{
	const auto commands = parseTrace("# a comment\n"
					 "\n"
					 "load cv 0x50000000 in.bin\r\n"
					 "  write 0x1000c 0xffffffff # RBK\n"
					 "poll 0xc 0x3 0x1\n"
					 "read 12 255 1\n"
					 "expect mc 0x7f80000000 a.bin\n"
					 "expect mc 0x0 b.bin tol none\n"
					 "expect mc 0x0 c.bin tol abs 0.0001 rel 0.001\n"
					 "expect cv 0x0 d.bin tol dc 3 2 40 -8");
	ASSERT_TRUE(commands) << commands.error();
	ASSERT_EQ(commands->size(), 8U);
	const auto &c = *commands;
	EXPECT_EQ(c[0].kind, TraceCommand::Kind::Load);
	EXPECT_EQ(c[0].ram, RamType::Cv);
	EXPECT_EQ(c[0].address, 0x50000000U);
	EXPECT_EQ(c[0].file, "in.bin");
	EXPECT_EQ(c[0].line, 3U);
	EXPECT_EQ(c[1].kind, TraceCommand::Kind::Write);
	EXPECT_EQ(c[1].address, 0x1000cU);
	EXPECT_EQ(c[1].value, 0xffffffffU);
	EXPECT_EQ(c[2].kind, TraceCommand::Kind::Poll);
	EXPECT_EQ(c[2].mask, 3U);
	EXPECT_EQ(c[2].value, 1U);
	EXPECT_EQ(c[3].kind, TraceCommand::Kind::Read);
	EXPECT_EQ(c[3].address, 12U);
	EXPECT_EQ(c[4].kind, TraceCommand::Kind::Expect);
	EXPECT_EQ(c[4].address, 0x7f80000000U);
	EXPECT_EQ(c[4].tolerance.kind, Tolerance::Kind::Exact);
	EXPECT_EQ(c[5].tolerance.kind, Tolerance::Kind::Exact);
	EXPECT_EQ(c[6].tolerance.kind, Tolerance::Kind::Pooling);
	EXPECT_EQ(c[6].tolerance.absolute, 0.0001);
	EXPECT_EQ(c[6].tolerance.relative, 0.001);
	EXPECT_EQ(c[7].tolerance.kind, Tolerance::Kind::Convolution);
	EXPECT_EQ(c[7].tolerance.products, 240);
	EXPECT_EQ(c[7].tolerance.maxExponent, -8);
	EXPECT_EQ(c[7].line, 10U);
}

TEST(Trace, SaysWhatIsWrongAndWhere)
{
	struct Case {
		const char *text;
		const char *error;
	};
	for (const Case &bad : {
		     Case{ "jump 0x0 0x1", "line 1: 'jump' is not a command" },
		     Case{ "write 0x0 0x1\nwrite 0x0", "line 2: words are missing" },
		     Case{ "write 0x0 0x1 0x2", "line 1: '0x2' is too much" },
		     Case{ "write 0xzz 1", "line 1: '0xzz' is not a number up to 0xffffffff" },
		     Case{ "write 0 0x100000000",
			   "line 1: '0x100000000' is not a number up to 0xffffffff" },
		     Case{ "load xx 0 a", "line 1: 'xx' is neither mc nor cv" },
		     Case{ "load mc 0 ../a",
			   "line 1: '../a' is not the name of a file in the directory" },
		     Case{ "expect mc 0 a tol most", "line 1: 'most' is not a tolerance" },
		     Case{ "expect mc 0 a tol abs 1 abs 2", "line 1: 'rel' is missing" },
	     }) {
		const auto commands = parseTrace(bad.text);
		ASSERT_FALSE(commands) << bad.text;
		EXPECT_EQ(commands.error().substr(0, std::string(bad.error).size()), bad.error);
	}
}

TEST(Trace, SaysWhatIsWrongInPublishedFormats)
{
	struct Case {
		tl::expected<std::vector<TraceCommand>, std::string> (*parse)(std::string_view,
									      const Geometry &);
		const char *text;
		const char *error;
	};
	for (const Case &bad : {
		     Case{ parseTxn, "wait\njump", "line 2: 'jump' is not a command" },
		     Case{ parseTxn, "write_reg 0x1004 0x0", "line 1: 0x1004 is not a register" },
		     Case{ parseTxn, "write_reg 0xffff1004", "line 1: words are missing" },
		     Case{ parseTxn, "load_mem 0x0 0x4 ../a",
			   "line 1: '../a' is not the name of a file in the directory" },
		     Case{ parseTxn, "wait 1", "line 1: '1' is too much" },
		     Case{ parseCfg, "jump(1)", "line 1: 'jump' is not a command" },
		     Case{ parseCfg, "reg_write(NVDLA_SDP.D_NOTHING_0, 1);",
			   "line 1: 'NVDLA_SDP.D_NOTHING_0' is not a register" },
		     Case{ parseCfg, "reg_write(SDP, 1);", "line 1: 'SDP' is not a register" },
		     Case{ parseCfg, "mem_init(ram, 0, 1, ALL_ZERO);",
			   "line 1: 'ram' is neither pri_mem nor sec_mem" },
		     Case{ parseCfg, "mem_init(pri_mem, 0, 1, RANDOM);",
			   "line 1: 'ALL_ZERO' is missing" },
		     Case{ parseCfg, "mem_init(pri_mem, 0, 0x80000000, ALL_ZERO);",
			   "line 1: '0x80000000' is not a number up to 0x10000000" },
		     Case{ parseCfg, "intr_notify(GLB_0, x);",
			   "line 1: 'GLB_0' is not what interrupts come from" },
	     }) {
		const auto commands = bad.parse(bad.text, nvFull);
		ASSERT_FALSE(commands) << bad.text;
		EXPECT_EQ(commands.error().substr(0, std::string(bad.error).size()), bad.error);
	}
	EXPECT_EQ(decodeDump("0x1\n0x100").error(), "line 2: '0x100' is not a number up to 0xff");
	EXPECT_EQ(decodeRecords("{\n{offset:0x0, size:2, payload:0x1}\n}").error(),
		  "line 2: words are missing");
	EXPECT_EQ(decodeRecords("{offset:0x10000000, size:2, payload:0x1 0x2}").error(),
		  "line 1: '2' is not a number up to 0x0");
	EXPECT_EQ(decodeRecords("{offset:0x1, size:1, payload:0x7}")->size(), 2U);
}

TEST(Trace, MissingDirectoryIsAnError)
{
	EXPECT_FALSE(loadTrace("/nonexistent"));
}

} /* namespace */
