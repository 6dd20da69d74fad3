/* SPDX-License-Identifier: MIT */
#include "compiled_info.h"

#include <fstream>

#include "test_support.h"

namespace nvdla::test
{

nlohmann::json infoOf(const std::filesystem::path &folder)
{
	std::ifstream file(folder / "info.json");
	return nlohmann::json::parse(file);
}

nlohmann::json configurationOf(const nlohmann::json &info, const std::string &tag)
{
	for (const auto &configuration : info["configs"]) {
		if (configuration["tag"] == tag)
			return configuration;
	}
	return {};
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
