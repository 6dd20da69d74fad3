/* SPDX-License-Identifier: MIT */
/*
 * What NVDLA's own compiler emitted, through nvdla-run with the flags of the first runtime:
 * --loadable, --image, --mean, --normalize and --rawdump, the output in output.dimg.
 */
#include <cmath>
#include <fstream>
#include <sstream>

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <nvdla/graph.h>
#include <nvdla/loadable.h>
#include <nvdla/tensor_file.h>

#include "compiled_info.h"
#include "run_program.h"
#include "test_support.h"

namespace nvdla
{

namespace
{

using Bytes = std::vector<std::byte>;

/* The numbers that --rawdump wrote; whatever else is there is a NaN. */
std::vector<float> dumped(const std::filesystem::path &path)
{
	std::ifstream file(path);
	std::vector<float> values;

	for (std::string word; file >> word;) {
		size_t length = 0;
		const float value = std::stof(word, &length);
		values.push_back(length == word.size() ? value : NAN);
	}
	return values;
}

/* A .dimg with the elements of a tensor, whatever its layout is. */
Bytes dimgOf(const TensorDesc &desc, const Bytes &tensor)
{
	TensorDesc plain = TensorDesc::packedFeature(desc.name, desc.type, desc.c, desc.h, desc.w);

	plain.n = desc.n;
	return encodeDimg(plain, unpackElements(desc, tensor).value()).value();
}

/*
 * The stored inputs are whole numbers of 128ths, which pixels with the mean 128 and normalized
 * by 128 are, too; \return nothing if there is no such picture.
 */
Bytes pictureOf(const NpyArray &array)
{
	const std::vector<float> values = elementsToFloat(array.type, array.elements);
	const auto &shape = array.shape;
	const size_t channels = shape.at(1), plane = shape.at(2) * shape.at(3);
	if (shape[0] != 1 || (channels != 1 && channels != 3))
		return {};

	Bytes bytes = test::bytesOf(std::vector<char>{ 'P', channels == 1 ? '5' : '6' });
	for (char c : fmt::format("\n{} {}\n255\n", shape[3], shape[2]))
		bytes.push_back(std::byte(c));
	for (size_t i = 0; i < plane * channels; i++) {
		const float pixel = values[i % channels * plane + i / channels] * 128.0f + 128.0f;
		EXPECT_EQ(pixel, std::floor(pixel));
		EXPECT_TRUE(pixel >= 0.0f && pixel <= 255.0f);
		bytes.push_back(std::byte(static_cast<uint8_t>(pixel)));
	}
	return bytes;
}

class CompiledRun : public testing::TestWithParam<const char *>
{
protected:
	/* Runs a loadable on an input and leaves its outputs in the folder. */
	void run(const std::filesystem::path &loadable, const std::filesystem::path &image,
		 std::vector<std::string> more = {})
	{
		std::filesystem::remove(folder_ / "output.dimg");
		more.insert(more.end(), { "--loadable", loadable, "--image", image, "--rawdump" });
		const auto result = folder_.run(std::move(more));
		ASSERT_EQ(result.status, 0) << loadable << " " << image << ": " << result.errors;
		EXPECT_EQ(result.errors, "");
	}

	/* A stored input as the bytes of the tensor. */
	void checkInput(const std::filesystem::path &path, const Bytes &input, size_t number)
	{
		const auto outputs = Loadable::readFile(path).value().outputs().value();

		run(path, folder_.write("in.raw", input));
		for (size_t o = 0; o < outputs.size(); o++) {
			const std::string name =
				o ? fmt::format("output{}.dimg", o) : std::string("output.dimg");
			const auto expected =
				test::expectedOutput(path, outputs[o], outputs.size(), number);
			EXPECT_LE(worstError(expected, outputs[o], dumped(folder_ / name)),
				  test::toleranceOf(path))
				<< path << " output " << o << " input " << number;
		}
	}

	/* The first one, which has just run, gives the same in the other forms that can hold it. */
	void checkForms(const std::filesystem::path &path, const Bytes &input)
	{
		const TensorDesc desc = Loadable::readFile(path).value().inputs().value().at(0);
		const auto array = readNpy(path.parent_path() / "in0.npy");
		const auto expected = dumped(folder_ / "output.dimg");
		ASSERT_TRUE(array) << array.error().message();

		run(path, folder_.write("in.dimg", dimgOf(desc, input)));
		EXPECT_EQ(dumped(folder_ / "output.dimg"), expected) << path;
		const Bytes picture = pictureOf(*array);
		if (picture.empty() || desc.type != DataType::Half)
			return;
		run(path, folder_.write("in.ppm", picture),
		    { "--mean", "128,128,128", "--normalize", "128" });
		EXPECT_EQ(dumped(folder_ / "output.dimg"), expected) << path;
	}

	test::WorkFolder folder_;
};

} /* namespace */

TEST_P(CompiledRun, EveryFileOnEveryInput)
{
	NVDLA_NEED_REFERENCE(reference);
	const auto paths = test::compiledLoadables(reference / "loadables/compiled" / GetParam());

	EXPECT_FALSE(paths.empty());
	for (const auto &path : paths) {
		const auto inputs = test::storedInputs(path);
		EXPECT_GT(inputs.size(), 1u) << path;
		for (size_t i = 0; i < inputs.size(); i++) {
			ASSERT_NO_FATAL_FAILURE(checkInput(path, inputs[i], i));
			if (i == 0) {
				ASSERT_NO_FATAL_FAILURE(checkForms(path, inputs[i]));
			}
		}
	}
}

INSTANTIATE_TEST_SUITE_P(Networks, CompiledRun, testing::ValuesIn(test::compiledNetworks),
			 [](const auto &info) { return std::string(info.param); });

/* They need no input; the first runtime wrote what is in the golden files. */
class UnitRun : public testing::TestWithParam<const char *>
{
};

TEST_P(UnitRun, GivesItsGoldenNumbers)
{
	NVDLA_NEED_REFERENCE(reference);
	const auto folder = reference / "loadables";
	const auto golden = readDimg(folder / "golden" / (std::string(GetParam()) + ".dimg"));
	const auto loadable = folder / (std::string(GetParam()) + "_fbuf");
	const DataType type = Loadable::readFile(loadable).value().outputs().value().at(0).type;
	const test::WorkFolder work;
	ASSERT_TRUE(golden) << golden.error().message();

	const auto result = work.run({ "--loadable", loadable, "--rawdump" });
	ASSERT_EQ(result.status, 0) << result.errors;
	EXPECT_EQ(dumped(work / "output.dimg"), elementsToFloat(type, golden->elements));
}

INSTANTIATE_TEST_SUITE_P(Loadables, UnitRun,
			 testing::Values("BDMA_L0_0", "SDP_X1_L0_0", "CONV_D_L0_0", "PDP_L0_0",
					 "CDP_L0_0", "RBK_L0_0"),
			 [](const auto &info) { return std::string(info.param); });

/* The compiler's faulty files: an error that names the operation. */
TEST(FaultyRun, NamesTheOperation)
{
	NVDLA_NEED_REFERENCE(reference);
	const test::WorkFolder work;
	const auto paths =
		test::compiledLoadables(reference / "loadables/compiled/inception_misaligned");

	EXPECT_EQ(paths.size(), 2u);
	for (const auto &path : paths) {
		const auto result = work.run({ "--loadable", path, "--rawdump" });
		EXPECT_EQ(result.status, 3) << path;
		EXPECT_NE(result.errors.find("operation 18 (SDP) dst_data"), std::string::npos)
			<< result.errors;
		EXPECT_FALSE(std::filesystem::exists(work / "output.dimg"));
	}
}

/* A convolution with 10^10 products: whatever computes them, a millisecond is not enough. */
TEST(SlowRun, NamesTheDevice)
{
	constexpr uint32_t channels = 512, side = 64, window = 3;
	const auto numbers = [](size_t count) {
		std::vector<float> values(count);
		for (size_t i = 0; i < count; i++)
			values[i] = 0.01f + static_cast<float>(i % 97);
		return Elements::half(values);
	};
	Graph graph;
	graph.input({ .name = "in", .type = DataType::Half, .c = channels, .h = side, .w = side });
	graph.weights({ "weights", channels, channels, window, window,
			numbers(channels * channels * window * window) });
	graph.add(op::Convolution{
		.name = "conv", .input = "in", .weights = "weights", .output = "sums" });
	graph.add(op::Sdp{ .name = "out", .input = "sums", .output = "out" });
	graph.output("out");
	const auto loadable = graph.assemble();
	ASSERT_TRUE(loadable) << loadable.error().message();
	const test::WorkFolder work;
	const auto path = work.write("slow.nvdla", loadable->write().value());
	/* Data that are zero would take no time. */
	const auto input = work.write("in.raw", numbers(channels * side * side).bytes);

	const auto result =
		work.run({ "--loadable", path, "--image", input, "--rawdump", "--timeout", "1" });
	EXPECT_EQ(result.status, 4);
	for (const std::string &word : { test::devicePath(), std::string("took longer") })
		EXPECT_NE(result.errors.find(word), std::string::npos) << result.errors;
	EXPECT_FALSE(std::filesystem::exists(work / "output.dimg"));
}

/* As compilers lay tensors out for nv_small: this core would read something else. */
TEST(ForeignRun, NamesTheTensor)
{
	TensorDesc desc = TensorDesc::packedFeature("", DataType::Int8, 32, 4, 4);
	desc.format = PixelFormat::FeatureX8;
	desc.lineStride = 8 * desc.w;
	desc.surfaceStride = desc.lineStride * desc.h;
	const test::WorkFolder work;
	const auto path = work.write("small.nvdla", test::passLoadable(desc).write().value());

	const auto result = work.run({ "--loadable", path, "--rawdump" });
	EXPECT_EQ(result.status, 2);
	for (const char *word : { "tensor in 1x32x4x4", "atoms of 8 bytes", "nv_small" })
		EXPECT_NE(result.errors.find(word), std::string::npos) << result.errors;
}

} /* namespace nvdla */
