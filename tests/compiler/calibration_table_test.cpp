/* SPDX-License-Identifier: MIT */
/*
 * Files of scales that other tools measured.
 */
#include <span>
#include <string>
#include <string_view>

#include <gtest/gtest.h>
#include <nvdla/calibration_table.h>
#include <nvdla/compiler.h>

#include "calibrated.h"
#include "compiler/compile.h"
#include "compiler/import/import.h"
#include "compiler/passes/passes.h"
#include "core_run.h"

namespace nvdla::test
{

namespace
{

Result<CalibrationTable> decode(std::string_view text)
{
	return decodeCalibrationTable(std::as_bytes(std::span(text)), "table");
}

TEST(CalibrationTable, RowsOfJson)
{
	const auto table = decode(R"({
		"data": { "scale": 1.5, "min": 0, "max": 0, "offset": 0 },
		"(Unnamed Layer* 0) [Convolution]_output": { "scale": 2 } })");

	ASSERT_TRUE(table) << table.error().message();
	const CalibrationTable wanted = { { "data", 1.5 },
					  { "(Unnamed Layer* 0) [Convolution]_output", 2 } };
	EXPECT_EQ(*table, wanted);
}

/* The last number is what NumPy reads from these bits. */
TEST(CalibrationTable, LinesOfACache)
{
	const CalibrationTable wanted = { { "data", 0.5 },
					  { "(Unnamed Layer* 3) [Scale]_output", 2 },
					  { "relu:0", 0.007875937968492508 } };

	for (const char *end : { "\n", "\r\n" }) {
		for (const std::string &first :
		     { std::string("TRT-7103-EntropyCalibration2") + end, std::string() }) {
			const auto table = decode(first + "data: 3f000000" + end +
						  "(Unnamed Layer* 3) [Scale]_output: 40000000" +
						  end + end + "relu:0: 3c010a14");
			ASSERT_TRUE(table) << table.error().message();
			EXPECT_EQ(*table, wanted);
		}
	}
}

TEST(CalibrationTable, SaysWhatIsWrong)
{
	const struct {
		const char *text;
		const char *words;
	} cases[] = {
		{ "", "table: has no rows" },
		{ "{}", "table: has no rows" },
		{ "TRT-7103-EntropyCalibration2\n", "table: has no rows" },
		{ "{ \"x\": ", "table: is no JSON object" },
		{ "{ \"x\": 1 }", "'x': has no number \"scale\"" },
		{ R"({ "x": { "scale": "1" } })", "'x': has no number \"scale\"" },
		{ R"({ "x": { "scale": 0 } })", "'x': has a scale that is not above 0" },
		{ R"({ "x": { "scale": 1, "offset": 3 } })", "'x': has an \"offset\"" },
		{ R"({ "x": { "scale": 1, "offset": "" } })", "'x': has an \"offset\"" },
		{ "x: 3f000000\ny\n", "table, line 2: is not a name" },
		{ "x: 3f00000g\n", "table, line 1: is not a name" },
		{ "x: 13f000000\n", "table, line 1: is not a name" },
		{ ": 3f000000\n", "table, line 1: is not a name" },
		{ "x: bf000000\n", "'x': has a scale that is not above 0" },
		{ "x: 7fc00000\n", "'x': has a scale that is not above 0" },
		{ "x: 3f000000\nx: 3f000000\n", "'x': is there twice" },
	};

	for (const auto &one : cases) {
		const auto table = decode(one.text);
		ASSERT_FALSE(table) << one.text;
		EXPECT_EQ(table.error().code, ErrorCode::InvalidFile);
		EXPECT_NE(table.error().message().find(one.words), std::string::npos)
			<< table.error().message();
	}
	const auto missing = readCalibrationTable("/nonexistent/table.json");
	ASSERT_FALSE(missing);
	EXPECT_EQ(missing.error().code, ErrorCode::NotFound);
}

} /* namespace */

/* Integers of 16 bits have no zero points either way. */
void expectTableLikeSample(std::span<const std::byte> file, const std::vector<float> &sample)
{
	auto imported = compiler::importModel(file);
	ASSERT_TRUE(imported) << imported.error().message();
	Calibration samples{ .samples = { { sample } },
			     .correctBias = false,
			     .type = DataType::Int16 };
	Calibration table{ .type = DataType::Int16 };
	compiler::Model model = *imported;
	ASSERT_TRUE(runPasses(model));
	ASSERT_TRUE(calibrate(model, samples));
	for (const compiler::Value &value : model.values) {
		if (!value.isConstant && !value.quantization.none())
			table.table[value.name] = value.quantization.channel(0).scale * 32767 / 127;
	}
	EXPECT_GT(table.table.size(), 2U);
	std::vector<std::vector<Numbers>> answers;
	for (const Calibration &calibration : { samples, table }) {
		auto compiled = compileModel(file, { .calibration = calibration });
		ASSERT_TRUE(compiled) << compiled.error().message();
		auto run = CoreRun::load(*imported, compiled->loadable);
		ASSERT_TRUE(run) << run.error().message();
		auto outputs = run->run({ Numbers(sample.begin(), sample.end()) });
		ASSERT_TRUE(outputs) << outputs.error().message();
		answers.push_back(*outputs);
	}
	EXPECT_EQ(answers[0], answers[1]);
}

} /* namespace nvdla::test */
