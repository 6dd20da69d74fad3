/* SPDX-License-Identifier: MIT */
/*
 * Tables, traces and pictures of runs.
 */
#include <algorithm>
#include <map>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "test_support.h"
#include "tools/prof/profile.h"
#include "tools/prof/profile_table.h"
#include "tools/prof/run_profile.h"
#include "tools/prof/time_axis.h"
#include "tools/prof/timeline_svg.h"
#include "tools/prof/trace_json.h"

namespace nvdla
{

namespace
{

using namespace prof;

OperationProfile operation(const char *engine, size_t index, uint64_t start, uint64_t end)
{
	OperationProfile profile;

	profile.index = index;
	profile.text = { engine, "what <it> does", "1x2x3 -> 4x5x6", "int8", "@1+2 -> @3+4", {} };
	profile.startNs = start;
	profile.endNs = end;
	profile.timed = true;
	return profile;
}

/* A fused pair, an operation that is started while another runs, one that never was. */
Profile example()
{
	Profile profile;

	profile.name = "net";
	profile.durationNs = 10000;
	profile.operations = { operation("SDP", 1, 1000, 5000), operation("CONV", 0, 1000, 4000),
			       operation("CONV", 2, 3000, 7000), operation("PDP", 3, 7000, 9000) };
	profile.operations.push_back(operation("CDP", 4, 0, 0));
	profile.operations.back().timed = false;
	profile.operations[1].counters.counted = true;
	profile.operations[1].counters.readStall = 123456789;
	profile.operations[0].counters.counted = true;
	profile.operations[0].counters.saturation = 77;
	return profile;
}

/* A convolution whose result SDP takes on the fly, twice for one layer; a pooling by itself. */
Profile layered()
{
	Profile profile;

	profile.name = "net";
	profile.durationNs = 10000;
	profile.operations = { operation("CONV", 0, 1000, 4000), operation("SDP", 1, 2000, 5000),
			       operation("CONV", 2, 6000, 7000), operation("SDP", 3, 6000, 8000),
			       operation("PDP", 4, 8000, 8500) };
	profile.operations[1].takesFrom = 0;
	profile.operations[3].takesFrom = 2;
	for (size_t i = 0; i < 4; i++)
		profile.operations[i].text.layer = "stem/conv, \"padded\"";
	profile.operations[0].text.shape = "3x8x8 -> 16x4x4";
	profile.operations[1].text.shape = "16x4x4 -> 16x2x2";
	profile.operations[0].counters.counted = true;
	profile.operations[0].counters.readStall = 40;
	profile.operations[1].counters.counted = true;
	profile.operations[1].counters.readStall = 2;
	return profile;
}

size_t lines(const std::string &text)
{
	return static_cast<size_t>(std::ranges::count(text, '\n'));
}

} /* namespace */

TEST(Profile, LanesDoNotOverlap)
{
	const Profile profile = example();
	const auto all = lanes(profile);
	ASSERT_EQ(all.size(), 4u);
	EXPECT_EQ(all[0].engine, "CONV");
	EXPECT_EQ(all[0].row, 0u);
	EXPECT_EQ(all[0].operations, std::vector<size_t>{ 1 });
	EXPECT_EQ(all[1].engine, "CONV");
	EXPECT_EQ(all[1].row, 1u);
	EXPECT_EQ(all[1].operations, std::vector<size_t>{ 2 });
	EXPECT_EQ(all[2].engine, "SDP");
	EXPECT_EQ(all[3].engine, "PDP");
}

TEST(Profile, OverlapsCountOnce)
{
	EXPECT_EQ(busyNs(example(), "CONV"), 6000u);
	EXPECT_EQ(busyNs(example(), "PDP"), 2000u);
	EXPECT_EQ(busyNs(example(), "CDP"), 0u);
}

TEST(Profile, AGaugeHasAMean)
{
	const Gauge gauge = { .name = "DRAM", .steps = { { 0, 1.0 }, { 100, 0.5 }, { 300, 0 } } };

	EXPECT_DOUBLE_EQ(gauge.mean(400), 0.5);
	EXPECT_DOUBLE_EQ(gauge.mean(0), 0);
	EXPECT_DOUBLE_EQ(Gauge{}.mean(100), 0);
}

TEST(Profile, TableHasTheColumnsThatSaySomething)
{
	const std::string table = profileTable(example());
	EXPECT_TRUE(test::has(table, "read stall")) << table;
	EXPECT_TRUE(test::has(table, "123456789")) << table;
	EXPECT_TRUE(test::has(table, "saturated")) << table;
	EXPECT_TRUE(test::has(table, "NaN out")) << table; /* zero, but told */
	EXPECT_FALSE(test::has(table, "NaN in")) << table;
	EXPECT_TRUE(test::has(table, "4.000 us  40.0%")) << table;
	EXPECT_TRUE(
		test::has(table, "net: 10.000 us, CONV busy 60.0%, SDP busy 40.0%, PDP busy 20.0%"))
		<< table;
}

TEST(Profile, TableOfARunThatWasNotCountedHasTimesOnly)
{
	Profile profile = example();
	for (OperationProfile &operation : profile.operations)
		operation.counters = {};
	EXPECT_FALSE(test::has(profileTable(profile), "stall")) << profileTable(profile);
}

TEST(ProfileRows, OnTheFlyIsOneRowAndCountsOnce)
{
	const auto rows = rowsOf(layered(), {});

	ASSERT_EQ(rows.size(), 3u);
	EXPECT_EQ(rows[0].name, "0.0+1");
	EXPECT_EQ(rows[0].engines, "CONV+SDP");
	EXPECT_EQ(rows[0].shape, "3x8x8 -> 16x2x2");
	EXPECT_EQ(rows[0].startNs, 1000u);
	EXPECT_EQ(rows[0].durationNs, 4000u);
	EXPECT_EQ(rows[2].name, "0.4");
	EXPECT_TRUE(test::has(profileTable(layered()), "       42"));
}

TEST(ProfileRows, LayersOfTheModel)
{
	const auto rows = rowsOf(layered(), { .byLayer = true });

	ASSERT_EQ(rows.size(), 2u);
	EXPECT_EQ(rows[0].name, "4 operations");
	EXPECT_EQ(rows[0].durationNs, 6000u);
	EXPECT_EQ(rows[0].operations, (std::vector<size_t>{ 0, 1, 2, 3 }));
	EXPECT_EQ(rows[1].name, "0.4");
	EXPECT_TRUE(test::has(profileTable(layered(), { .byLayer = true }), "stem/conv"));
}

TEST(ProfileRows, ByTimeAndNoMoreThanAsked)
{
	Profile profile = layered();
	profile.operations[4].endNs = 20000;
	const auto rows = rowsOf(profile, { .sort = View::Sort::Time, .top = 2 });

	ASSERT_EQ(rows.size(), 2u);
	EXPECT_EQ(rows[0].name, "0.4");
	EXPECT_EQ(rows[1].name, "0.0+1");
}

TEST(ProfileRows, OperationsThatTakeFromNothingBeforeThem)
{
	Profile profile = layered();
	profile.operations[1].takesFrom = 4;
	profile.operations[3].takesFrom = 99;
	EXPECT_EQ(rowsOf(profile, {}).size(), 5u);
	EXPECT_EQ(rowsOf(profile, { .byLayer = true }).size(), 2u);
	EXPECT_TRUE(rowsOf({}, { .byLayer = true }).empty());
}

TEST(ProfileRows, LongNamesAreCutInTheTableOnly)
{
	Profile profile = layered();
	const std::string name = "model/" + std::string(60, 'x') + "/the end";
	profile.operations[4].text.layer = name;

	EXPECT_FALSE(test::has(profileTable(profile), name));
	EXPECT_TRUE(test::has(profileTable(profile), "x/the end "));
	profile.operations[4].text.layer = "model/relu;" + name;
	EXPECT_TRUE(test::has(profileTable(profile), " model/relu;... "));
	profile.operations[4].text.layer = name;
	EXPECT_TRUE(test::has(profileCsv(profile), "," + name + ","));
}

TEST(ProfileRows, ANameMayBeShorterThanTheTitle)
{
	Profile profile = layered();
	for (OperationProfile &operation : profile.operations)
		operation.text.layer = "y";
	EXPECT_TRUE(test::has(profileTable(profile), " layer ")) << profileTable(profile);
}

TEST(ProfileRows, CsvHasALineForEachRow)
{
	const std::string csv = profileCsv(layered(), { .byLayer = true });

	EXPECT_EQ(lines(csv), 3u) << csv;
	EXPECT_TRUE(csv.starts_with("op,engine,layer,what,shape,types,start_ns,time_ns,share,"));
	EXPECT_TRUE(test::has(csv, "4 operations,CONV+SDP,\"stem/conv, \"\"padded\"\"\",")) << csv;
	EXPECT_TRUE(test::has(csv, ",1000,6000,0.600000,42,")) << csv;
	EXPECT_EQ(std::ranges::count(csv.substr(0, csv.find('\n')), ','),
		  std::ranges::count(csv.substr(csv.rfind("0.4,")), ','));
}

TEST(Profile, TimesHaveTheirUnit)
{
	EXPECT_EQ(timeText(999), "999 ns");
	EXPECT_EQ(timeText(1500), "1.500 us");
	EXPECT_EQ(timeText(2500000), "2.500 ms");
	EXPECT_EQ(timeText(3000000000), "3.000 s");
}

TEST(Profile, TraceEventsOfAThreadDoNotOverlap)
{
	const auto json = nlohmann::json::parse(traceJson(example()));
	std::map<int, double> until;
	size_t events = 0;

	for (const auto &event : json["traceEvents"]) {
		if (event["ph"] != "X")
			continue;
		events++;
		double &end = until[event["tid"]];
		EXPECT_GE(event["ts"].get<double>(), end);
		end = event["ts"].get<double>() + event["dur"].get<double>();
	}
	EXPECT_EQ(events, 4u);
	EXPECT_EQ(until[1], 4.0);
	EXPECT_EQ(json["displayTimeUnit"], "ns");
}

TEST(Profile, PictureHasABarForEachOperation)
{
	const std::string svg = timelineSvg(example());
	size_t bars = 0;
	for (size_t at = svg.find("class=\"bar "); at != std::string::npos;
	     at = svg.find("class=\"bar ", at + 1))
		bars++;
	EXPECT_EQ(bars, 4u);
	EXPECT_TRUE(test::has(svg, "what &lt;it&gt; does"));
	EXPECT_FALSE(test::has(svg, "nan"));
}

/* A job that waited, ran two operations and waited for its interrupt. */
Profile idleExample()
{
	Profile profile;
	profile.durationNs = 100000;
	profile.operations.resize(2);
	profile.operations[0].timed = profile.operations[1].timed = true;
	profile.operations[0].startNs = 60000;
	profile.operations[0].endNs = 64000;
	profile.operations[1].startNs = 65000;
	profile.operations[1].endNs = 70000;
	return profile;
}

TEST(Profile, TimesWithoutOperationsAreCutOut)
{
	const TimeAxis axis(idleExample(), 100, 1200);
	ASSERT_EQ(axis.parts().size(), 3u);
	EXPECT_TRUE(axis.parts()[0].isCut && axis.parts()[2].isCut);
	EXPECT_EQ(axis.parts()[0].endNs, 60000u);
	EXPECT_EQ(axis.parts()[1].endNs, 70000u);
	EXPECT_DOUBLE_EQ(axis.at(0), 100);
	EXPECT_DOUBLE_EQ(axis.at(60000), axis.parts()[1].left);
	/* The gap between the operations is to scale. */
	EXPECT_NEAR(axis.at(65000) - axis.at(64000), axis.parts()[1].width / 10, 1e-9);
	EXPECT_NEAR(axis.at(100000), 1300, 1e-9);
	EXPECT_GT(axis.parts()[1].width, 1000);
	EXPECT_EQ(axis.tickNs(110), 2000u);
	EXPECT_TRUE(test::has(timelineSvg(idleExample()), "60.000 us"));
}

TEST(Profile, ShortGapsAreToScale)
{
	Profile profile = idleExample();
	profile.operations[0].startNs = 8000;
	profile.operations[1].endNs = 95000;
	const TimeAxis axis(profile, 0, 1000);
	ASSERT_EQ(axis.parts().size(), 1u);
	EXPECT_DOUBLE_EQ(axis.at(50000), 500);
	EXPECT_EQ(axis.tickNs(100), 10000u);
}

/* A CPU task, then a job of which one operation did not complete. */
TEST(Profile, ReportsAndLoadablesMakeProfiles)
{
	NVDLA_NEED_REFERENCE(reference);
	auto loadable = Loadable::readFile(reference / "loadables/NN_L0_0_fbuf");
	ASSERT_TRUE(loadable);
	RunReport report;
	RunReport::Step cpu;
	cpu.cpu = true;
	cpu.tasks = 1;
	cpu.duration = std::chrono::nanoseconds(500);
	RunReport::Step job;
	job.tasks = 1;
	job.duration = std::chrono::nanoseconds(9000);
	job.job.submitNs = 1000000;
	OperationReport result = {};
	result.started = true;
	result.completed = true;
	result.startNs = 1000100;
	result.endNs = 1000300;
	job.results.assign(11, result);
	job.results[3].completed = false;
	report.steps = { cpu, job, cpu };

	auto profile = runProfile(*loadable, report, "net");
	ASSERT_TRUE(profile) << profile.error().message();
	EXPECT_EQ(profile->durationNs, 10000u);
	ASSERT_EQ(profile->operations.size(), 13u);
	EXPECT_EQ(profile->operations[0].text.engine, "POWER");
	EXPECT_EQ(profile->operations[0].durationNs(), 500u);
	EXPECT_EQ(profile->operations[1].startNs, 600u);
	EXPECT_EQ(profile->operations[1].endNs, 800u);
	EXPECT_FALSE(profile->operations[4].timed);
	EXPECT_EQ(profile->operations[12].text.engine, "SOFTMAX");
	EXPECT_EQ(profile->operations[12].startNs, 9500u);

	report.steps.push_back(job);
	EXPECT_FALSE(runProfile(*loadable, report, "net"));
	std::swap(report.steps[0], report.steps[1]);
	EXPECT_FALSE(runProfile(*loadable, report, "net"));
}

TEST(Profile, NothingRan)
{
	Profile profile;
	profile.name = "nothing";
	EXPECT_TRUE(test::has(timelineSvg(profile), "</svg>"));
	EXPECT_TRUE(test::has(profileTable(profile), "nothing: 0 ns"));
	EXPECT_TRUE(nlohmann::json::accept(traceJson(profile)));
}

} /* namespace nvdla */
