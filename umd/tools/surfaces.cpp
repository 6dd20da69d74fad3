/* SPDX-License-Identifier: MIT */
#include "surfaces.h"

#include <algorithm>
#include <cctype>
#include <filesystem>

#include <fmt/core.h>

#include "base/io/error_code.h"
#include "tensor_io.h"

namespace nvdla::tools
{

namespace
{

/* Makes a file name of a tensor's name: slashes and other unsuitable characters are replaced. */
std::string fileName(size_t index, const std::string &name)
{
	constexpr size_t longest = 60;
	std::string plain = name.substr(0, longest);

	for (char &c : plain) {
		if (!std::isalnum(static_cast<unsigned char>(c)) && c != '-' && c != '.')
			c = '_';
	}
	return fmt::format("{:03}_{}.npy", index, plain);
}

/* Returns the lowest and the highest finite value of a type. */
std::pair<float, float> limitsOf(DataType type)
{
	constexpr float mostOfHalf = 65504;

	if (type == DataType::Half)
		return { -mostOfHalf, mostOfHalf };
	const IntegerLimits limits = integerLimits(type);
	return { static_cast<float>(limits.lowest), static_cast<float>(limits.highest) };
}

Result<SurfaceSummary> summaryOf(const Network &network, size_t index)
{
	const TensorDesc &desc = network.outputs()[index];
	SurfaceSummary summary{ .name = desc.name, .type = dataTypeName(desc.type) };
	auto numbers = network.outputFloat(index);
	auto elements = network.outputElements(index);

	if (!numbers)
		return forward(numbers);
	if (!elements)
		return forward(elements);
	const auto [least, most] = std::minmax_element(numbers->begin(), numbers->end());
	const auto [lowest, highest] = limitsOf(desc.type);
	const std::vector<float> steps = elementsToFloat(desc.type, *elements);
	const double all = static_cast<double>(std::max<size_t>(steps.size(), 1));
	size_t low = 0, high = 0;
	for (const float step : steps) {
		low += step <= lowest;
		high += step >= highest;
	}
	if (!numbers->empty()) {
		summary.least = *least;
		summary.most = *most;
	}
	summary.atLowest = static_cast<double>(low) / all;
	summary.atHighest = static_cast<double>(high) / all;
	return summary;
}

} /* namespace */

Result<std::vector<SurfaceSummary>> dumpSurfaces(const Network &network, const std::string &folder,
						 const RunSettings &settings)
{
	std::vector<SurfaceSummary> surfaces;
	std::error_code error;

	std::filesystem::create_directories(folder, error);
	if (error)
		return fail(codeOfName(error.value()), "make folder", folder, error.message());
	for (size_t i = 0; i < network.outputs().size(); i++) {
		auto summary = summaryOf(network, i);
		if (!summary)
			return forward(summary);
		summary->file = fileName(i, summary->name);
		const std::string path = std::filesystem::path(folder) / summary->file;
		if (auto written = writeOutput(network, i, path, settings); !written)
			return forward(written);
		surfaces.push_back(std::move(*summary));
	}
	return surfaces;
}

std::string surfaceTable(const std::vector<SurfaceSummary> &surfaces)
{
	std::string table = fmt::format("{:<6} {:>12} {:>12} {:>10} {:>10}  {}\n", "type", "least",
					"most", "at lowest", "at highest", "file");

	for (const SurfaceSummary &one : surfaces)
		table += fmt::format("{:<6} {:>12.6g} {:>12.6g} {:>9.2f}% {:>9.2f}%  {}\n",
				     one.type, one.least, one.most, 100 * one.atLowest,
				     100 * one.atHighest, one.file);
	return table;
}

} /* namespace nvdla::tools */
