/* SPDX-License-Identifier: MIT */
#include "graph_check.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <iostream>

#include <fmt/format.h>
#include <gtest/gtest.h>

namespace nvdla::test
{

namespace
{

std::vector<std::byte> toElements(const Cube &cube)
{
	return elementsFromFloat(cube.type,
				 std::vector<float>(cube.values.begin(), cube.values.end()));
}

Cube fromElements(const Cube &shape, const std::vector<std::byte> &elements)
{
	const std::vector<float> values = elementsToFloat(shape.type, elements);
	Cube cube = Cube::like(shape, shape.type);

	cube.values.assign(values.begin(), values.end());
	return cube;
}

/* The first element that is off; empty if there is none. */
std::string difference(const Cube &expected, const Cube &got)
{
	for (size_t i = 0; i < expected.values.size(); i++) {
		const double tolerance = expected.tolerance.empty() ? 0 : expected.tolerance[i];
		if (std::abs(expected.values[i] - got.values[i]) <= tolerance)
			continue;
		return fmt::format("element {} of {}x{}x{}x{} {}: {} instead of {}, {} allowed", i,
				   expected.n, expected.c, expected.h, expected.w,
				   dataTypeName(expected.type), got.values[i], expected.values[i],
				   tolerance);
	}
	return "";
}

/* Puts parts together once all are there. */
void join(const RandomCase &made, std::map<std::string, Cube> &surfaces)
{
	for (const auto &[name, parts] : made.joined) {
		if (surfaces.contains(name) ||
		    !std::all_of(parts.begin(), parts.end(),
				 [&](const std::string &part) { return surfaces.contains(part); }))
			continue;
		Cube whole = Cube::like(surfaces.at(parts[0]), surfaces.at(parts[0]).type);
		whole.c = 0;
		whole.values.clear();
		whole.tolerance.clear();
		for (const std::string &part : parts) {
			const Cube &cube = surfaces.at(part);
			whole.c += cube.c;
			whole.values.insert(whole.values.end(), cube.values.begin(),
					    cube.values.end());
			whole.tolerance.insert(whole.tolerance.end(), cube.tolerance.begin(),
					       cube.tolerance.end());
			whole.tolerance.resize(whole.values.size());
		}
		surfaces[name] = std::move(whole);
	}
}

} /* namespace */

std::string checkCase(const Device &device, const RandomCase &made)
{
	auto network = loadCase(device, made);
	if (!network)
		return network.error().message();
	auto report = network->run();
	if (!report)
		return report.error().message();

	std::map<std::string, Cube> surfaces = made.inputs;
	for (const op::Any &operation : made.graph.operations()) {
		run(operation, made.constants, surfaces);
		join(made, surfaces);
		for (size_t i = 0; i < made.outputNames.size(); i++) {
			const std::string &name = made.outputNames[i];
			const auto expected = surfaces.find(name);
			if (expected == surfaces.end() || made.inputs.contains(name))
				continue;
			auto elements = network->outputElements(i);
			if (!elements)
				return elements.error().message();
			const Cube got = fromElements(expected->second, *elements);
			const std::string wrong = difference(expected->second, got);
			if (!wrong.empty())
				return fmt::format("'{}' after '{}': {}", name,
						   operationName(operation), wrong);
			expected->second = got;
		}
	}
	return "";
}

Result<Network> loadCase(const Device &device, const RandomCase &made)
{
	auto assembled = made.graph.assemble(made.options);
	if (!assembled)
		return tl::unexpected(assembled.error());
	auto file = assembled->write();
	if (!file)
		return tl::unexpected(file.error());
	auto loadable = Loadable::read(*file);
	if (!loadable)
		return tl::unexpected(loadable.error());
	auto network = Network::load(device, *loadable);
	if (!network)
		return network;
	for (size_t i = 0; i < made.inputNames.size(); i++) {
		auto set = network->setInputElements(
			i, toElements(made.inputs.at(made.inputNames[i])));
		if (!set)
			return tl::unexpected(set.error());
	}
	return network;
}

void checkRandomGraphs(const std::string &path, uint32_t count, const CoreGeometry &core)
{
	const char *only = std::getenv("NVDLA_GRAPH_SEED");
	const uint32_t first =
		only ? static_cast<uint32_t>(std::strtoul(only, nullptr, 10)) : firstSeed;
	const uint32_t last = only ? first : firstSeed + count - 1;
	auto device = Device::open(path);
	ASSERT_TRUE(device) << device.error().message();

	std::cout << "seeds " << first << " to " << last << '\n';
	for (uint32_t seed = first; seed <= last; seed++) {
		const RandomCase made = randomCase(seed, core);
		const std::string wrong = checkCase(*device, made);
		EXPECT_TRUE(wrong.empty()) << "NVDLA_GRAPH_SEED=" << seed << ": " << wrong << '\n'
					   << made.description;
	}
}

} /* namespace nvdla::test */
