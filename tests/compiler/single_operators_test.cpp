/* SPDX-License-Identifier: MIT */
/*
 * Models of one operator, int16 with int8 kernels, with the results that were published with them.
 */
#include <cmath>
#include <filesystem>
#include <iostream>
#include <map>

#include <gtest/gtest.h>
#include <nvdla/compiler.h>

#include "compiler/import/import.h"
#include "core_run.h"
#include "model_folder.h"
#include "reference_data.h"

namespace nvdla::test
{

namespace
{

/* What the core makes of input_0_0.npy and so on; arrays of int32 give shapes, and are none. */
Numbers runOnCore(const std::filesystem::path &folder)
{
	auto run = CoreRun::of(compiler::importTflite(readBytes(folder / "model.tflite")));
	if (!run) {
		ADD_FAILURE() << run.error().message();
		return {};
	}
	std::vector<Numbers> inputs;
	for (int i = 0;; i++) {
		const auto path = folder / ("input_0_" + std::to_string(i) + ".npy");
		if (!std::filesystem::exists(path))
			break;
		Array array = readArray(path);
		if (array.type != "<i4")
			inputs.push_back(std::move(array.numbers));
	}
	auto outputs = run->run(inputs);
	if (!outputs) {
		ADD_FAILURE() << outputs.error().message();
		return {};
	}
	return outputs->front();
}

/* Models that cannot be compiled, and what the error has to name. */
const std::map<std::string, std::string> unsupported = {
	{ "quantize0", "QUANTIZE '', type: of '' is int32" },
};

void expectRefusal(const std::filesystem::path &folder, const std::string &reason)
{
	auto compiled = compileFile(folder / "model.tflite");

	ASSERT_FALSE(compiled) << "is compiled: take it off the list";
	EXPECT_NE(compiled.error().message().find(reason), std::string::npos)
		<< compiled.error().message();
}

TEST(SingleOperators, AreWithinAThousandthOfTheRange)
{
	constexpr double most = 65536 * 1e-3;
	const auto all = referenceData() / "models/seanet_int16";
	if (!std::filesystem::is_directory(all))
		GTEST_SKIP() << all << " is not there";
	int models = 0;
	double largest = 0;

	for (const auto &entry : std::filesystem::directory_iterator(all)) {
		if (!entry.is_directory())
			continue;
		SCOPED_TRACE(entry.path().filename());
		const auto refused = unsupported.find(entry.path().filename());
		if (refused != unsupported.end()) {
			expectRefusal(entry.path(), refused->second);
			continue;
		}
		const Numbers wanted = readArray(entry.path() / "golden_0_0.npy").numbers;
		const Numbers got = runOnCore(entry.path());
		models++;
		ASSERT_EQ(got.size(), wanted.size());
		for (size_t i = 0; i < wanted.size(); i++) {
			const double distance = std::fabs(got[i] - wanted[i]);
			EXPECT_LE(distance, most) << i;
			largest = std::max(largest, distance);
		}
	}
	EXPECT_GT(models, 0);
	std::cout << models << " models, largest difference " << largest << '\n';
}

} /* namespace */

} /* namespace nvdla::test */
