/* SPDX-License-Identifier: MIT */
/*
 * The trained example (umd/examples/digits): digits that it was not trained on.
 */
#include <cstdlib>
#include <iostream>

#include <gtest/gtest.h>

#include "c_api_model.h"
#include "calibrated.h"
#include "compiler/import/import.h"
#include "core_run.h"
#include "model_folder.h"
#include "places.h"

namespace nvdla::test
{

namespace
{

/* NVDLA_EXAMPLES names it where there is no checkout, as in a guest. */
std::filesystem::path folder()
{
	const char *examples = std::getenv("NVDLA_EXAMPLES");

	return std::filesystem::path(examples ? examples : sourceRoot() + "/umd/examples") /
	       "digits";
}

TEST(Digits, AreRead)
{
	constexpr size_t pixels = 64;
	const Numbers labels = readArray(folder() / "held_out_labels.npy").numbers;
	const Numbers all = readArray(folder() / "held_out.npy").numbers;
	ASSERT_GT(labels.size(), 300U) << folder();
	ASSERT_EQ(all.size(), pixels * labels.size());
	auto run = CoreRun::of(compiler::importOnnx(readBytes(folder() / "digits.onnx")));
	ASSERT_TRUE(run) << run.error().message();
	size_t right = 0;

	for (size_t i = 0; i < labels.size(); i++) {
		const auto begin = all.begin() + static_cast<ptrdiff_t>(i * pixels);
		auto outputs = run->run({ Numbers(begin, begin + pixels) });
		ASSERT_TRUE(outputs) << outputs.error().message();
		const Numbers &classes = outputs->front();
		const auto largest = std::max_element(classes.begin(), classes.end());
		right += largest - classes.begin() == static_cast<ptrdiff_t>(labels[i]);
	}
	std::cout << right << " of " << labels.size() << " digits are read\n";
	EXPECT_GE(static_cast<double>(right), 0.95 * static_cast<double>(labels.size()));
}

TEST(Digits, ATableIsAsGoodAsASample)
{
	const Numbers all = readArray(folder() / "held_out.npy").numbers;

	expectTableLikeSample(readBytes(folder() / "digits.onnx"),
			      { all.begin(), all.begin() + 64 });
}

TEST(Digits, AShortSampleIsToldTheShapeOfTheModel)
{
	CompileOptions options;
	options.calibration = Calibration{ .samples = { { std::vector<float>(63) } } };
	const auto compiled = compileFile((folder() / "digits.onnx").string(), options);

	ASSERT_FALSE(compiled);
	EXPECT_NE(compiled.error().why.find(
			  "has 63 numbers, the input 'picture' of 1 x 1 x 8 x 8 needs 64"),
		  std::string::npos)
		<< compiled.error().message();
}

TEST(Digits, AreCompiledInC)
{
	EXPECT_EQ(c_api_model((folder() / "digits.onnx").c_str()), 0) << "line of c_api_model.c";
}

} /* namespace */

} /* namespace nvdla::test */
