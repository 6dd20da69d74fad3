/* SPDX-License-Identifier: MIT */
#include "compiler/import/import.h"

#include <algorithm>

#include <fmt/core.h>

#include "compiler/import/input_shapes.h"
#include "file.h"

namespace nvdla::compiler
{

Result<std::vector<std::byte>> resizedTflite(std::span<const std::byte> bytes,
					     std::span<const InputShape> shapes)
{
	auto file = tflite::File::open(bytes);
	auto model = importTflite(bytes);
	std::vector<std::string> names;
	std::vector<TfliteShape> changed;
	std::string where;

	if (!model)
		return forward(model);
	/* The model may have fewer: those that nothing reads are left out. */
	const auto &inputs = *file->model().subgraphs()->Get(0)->inputs();
	for (const ValueId id : model->inputs)
		names.push_back(model->values[id].name);
	auto given = givenShapes(shapes, names);
	if (!given)
		return forward(given);
	for (size_t i = 0; i < names.size(); i++) {
		const auto shape = given->find(names[i]);
		const Extents &known = model->values[model->inputs[i]].shape;
		if (shape == given->end() || Extents(shape->second) == known)
			continue;
		const auto place = std::ranges::find(inputs, model->inputs[i]) - inputs.begin();
		changed.push_back({ static_cast<int32_t>(place),
				    { shape->second.begin(), shape->second.end() } });
		if (where.empty())
			where = fmt::format("input '{}' as {}, not {}", names[i],
					    toString(Extents(shape->second)), toString(known));
	}
	if (changed.empty())
		return std::vector(bytes.begin(), bytes.end());
	auto resized = resizeTensors(bytes, changed);
	if (!resized)
		return fail(
			resized.error().code, tflite::reading, where,
			fmt::format(
				"only TensorFlow Lite knows the sizes of everything behind it: {}",
				resized.error().message()));
	return resized;
}

} /* namespace nvdla::compiler */
