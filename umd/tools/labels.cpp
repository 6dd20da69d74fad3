/* SPDX-License-Identifier: MIT */
#include "labels.h"

#include <fmt/core.h>

#include "text_file.h"

namespace nvdla::tools
{

Result<size_t> findOutputOf(const Network &network, size_t count, const std::string &path)
{
	std::string counts;

	for (size_t i = 0; i < network.outputs().size(); i++) {
		const TensorDesc &output = network.outputs()[i];
		if (!output.isOpen() && output.elements() == count)
			return i;
		counts += fmt::format("{}{}", counts.empty() ? "" : ", ",
				      output.isOpen() ? "a varying number"
						      : std::to_string(output.elements()));
	}
	return fail(
		ErrorCode::InvalidArgument, "--labels", path,
		fmt::format("has {} lines, which must be the number of elements of an output: {}",
			    count, counts));
}

Result<std::vector<std::string>> readLabels(const std::string &path, const Network &network)
{
	auto labels = readClasses(path);

	if (!labels || path.empty())
		return labels;
	if (auto output = findOutputOf(network, labels->size(), path); !output)
		return forward(output);
	return labels;
}

} /* namespace nvdla::tools */
