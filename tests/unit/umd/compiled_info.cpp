/* SPDX-License-Identifier: MIT */
#include "compiled_info.h"

#include <algorithm>
#include <cmath>
#include <map>

#include <nlohmann/json.hpp>
#include <nvdla/tensor_file.h>

#include "test_support.h"

namespace nvdla::test
{

const nlohmann::json &infoOf(const std::filesystem::path &folder)
{
	static std::map<std::filesystem::path, nlohmann::json> known;
	const auto found = known.find(folder);

	if (found != known.end())
		return found->second;
	return known[folder] = nlohmann::json::parse(readText(folder / "info.json"));
}

nlohmann::json configurationOf(const nlohmann::json &info, const std::string &tag)
{
	for (const auto &configuration : info["configs"]) {
		if (configuration["tag"] == tag)
			return configuration;
	}
	return {};
}

std::vector<std::filesystem::path> compiledLoadables(const std::filesystem::path &folder)
{
	std::vector<std::filesystem::path> paths;

	for (const auto &entry : std::filesystem::directory_iterator(folder)) {
		if (entry.path().extension() == ".nvdla")
			paths.push_back(entry.path());
	}
	std::ranges::sort(paths);
	return paths;
}

float toleranceOf(const std::filesystem::path &loadable)
{
	const auto folder = loadable.parent_path();

	return configurationOf(infoOf(folder), loadable.stem().string())["suggested_tol_max_abs"];
}

ExpectedOutput expectedOutput(const std::filesystem::path &loadable, const TensorDesc &desc,
			      size_t outputs, size_t input)
{
	const auto folder = loadable.parent_path();
	const std::string name = outputs > 1 ? "out_" + desc.name : "out";
	const auto array = readNpy(folder / (name + std::to_string(input) + ".npy"));
	ExpectedOutput expected;

	EXPECT_TRUE(array) << array.error().message();
	if (array)
		expected.values = elementsToFloat(array->type, array->elements);
	if (desc.type == DataType::Int8)
		expected.scale = infoOf(folder)["output_scale_int8"][desc.name];
	return expected;
}

float worstError(const ExpectedOutput &expected, const TensorDesc &desc,
		 const std::vector<float> &elements)
{
	float worst = 0.0f;

	if (elements.size() != desc.elements() ||
	    elements.size() != desc.n * expected.values.size())
		return INFINITY;
	for (size_t e = 0; e < elements.size(); e++) {
		const float error = std::fabs(elements[e] * expected.scale -
					      expected.values[e % expected.values.size()]);
		worst = std::isnan(error) ? INFINITY : std::max(worst, error);
	}
	return worst;
}

std::vector<std::vector<std::byte>> storedInputs(const std::filesystem::path &loadable)
{
	const auto folder = loadable.parent_path();
	const auto configuration = configurationOf(infoOf(folder), loadable.stem().string());
	std::vector<std::vector<std::byte>> inputs;

	for (const auto &raw : configuration["raw_inputs"])
		inputs.push_back(readBytes(folder / raw.get<std::string>()));
	return inputs;
}

} /* namespace nvdla::test */
