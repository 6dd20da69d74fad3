/* SPDX-License-Identifier: MIT */
/*
 * Two computed tensors of which one is repeated to the shape of the other.
 */
#include <cmath>
#include <functional>
#include <random>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "compiler/compile.h"
#include "core_run.h"
#include "reference.h"

namespace nvdla::test
{

namespace
{

using namespace compiler;
using Function = Elementwise::Function;

/* Channels last. */
struct Repeated {
	Extents first;
	Extents second;
};

const Repeated cases[] = {
	{ { 1, 6, 5, 7 }, { 1, 6, 5, 7 } },  /* as it is */
	{ { 1, 6, 5, 40 }, { 1, 6, 5, 1 } }, /* a weight for each element */
	{ { 1, 6, 5, 1 }, { 1, 6, 5, 40 } },
	{ { 1, 6, 5, 40 }, { 1, 1, 1, 1 } }, /* one for all */
	{ { 1, 6, 5, 7 }, { 1, 1, 5, 7 } },  /* for each column */
	{ { 1, 6, 5, 7 }, { 1, 6, 1, 7 } },  /* for each line */
	{ { 1, 6, 5, 7 }, { 1, 6, 1, 1 } },
	{ { 1, 6, 1, 7 }, { 1, 1, 5, 1 } },  /* both */
	{ { 1, 6, 5, 1 }, { 1, 1, 1, 40 } }, /* the second as SDP takes it */
	{ { 1, 1, 1, 40 }, { 1, 6, 5, 1 } },
	{ { 6, 5, 33 }, { 6, 5, 1 } }, /* of fewer axes */
	{ { 4, 9 }, { 4, 1 } },
	{ { 1, 6, 5, 33 }, { 5, 1 } },
};

Value tensor(ElementType type, const std::string &name, const Extents &shape, double scale)
{
	Value value;

	value.name = name;
	value.type = type;
	value.shape = shape;
	if (!isFloat(type))
		value.quantization = Quantization{ scale, type == ElementType::Int8 ? 3 : 0 };
	return value;
}

Extents together(const Repeated &one)
{
	Extents shape = one.first.size() < one.second.size() ? one.second : one.first;
	const Extents &other = one.first.size() < one.second.size() ? one.first : one.second;

	for (size_t i = 0; i < other.size(); i++) {
		uint32_t &extent = shape[shape.size() - other.size() + i];
		extent = std::max(extent, other[i]);
	}
	return shape;
}

Model modelOf(const Repeated &one, Function function, ElementType type)
{
	Model model;
	const double steps = type == ElementType::Int16 ? 256 : 1;
	/* The reference compares integers. */
	const double alike = function == Function::Maximum ? 0.05 : 0;

	model.inputs = { model.add(tensor(type, "x", one.first, std::max(alike, 0.02) / steps)),
			 model.add(tensor(type, "z", one.second, std::max(alike, 0.01) / steps)) };
	const ValueId y = model.add(tensor(type, "y", together(one), 0.05 / steps));
	model.outputs = { y };
	model.operators.push_back({ "y", "any", Elementwise{ function, {} }, model.inputs, { y } });
	return model;
}

} /* namespace */

TEST(Repeated, IsAsTheReferenceHasIt)
{
	std::mt19937 random(1);

	for (const ElementType type :
	     { ElementType::Float32, ElementType::Int8, ElementType::Int16 }) {
		for (const Function function :
		     { Function::Add, Function::Subtract, Function::Multiply, Function::Maximum }) {
			for (const Repeated &one : cases) {
				SCOPED_TRACE(fmt::format("{} {}: {} and {}", elementTypeName(type),
							 static_cast<int>(function),
							 toString(one.first),
							 toString(one.second)));
				Model model = modelOf(one, function, type);
				ASSERT_TRUE(model.setAsideInvalid());
				auto run = CoreRun::of(model);
				ASSERT_TRUE(run) << run.error().message();
				std::vector<Numbers> inputs;
				for (const ValueId id : model.inputs) {
					Numbers numbers(elementCount(model.values[id].shape));
					for (double &number : numbers)
						number = std::uniform_int_distribution(-100,
										       100)(random);
					inputs.push_back(std::move(numbers));
				}
				const auto got = run->run(inputs);
				ASSERT_TRUE(got) << got.error().message();
				const Numbers wanted = evaluate(model, inputs)[model.outputs[0]];
				ASSERT_EQ(got->front().size(), wanted.size());
				for (size_t i = 0; i < wanted.size(); i++)
					ASSERT_NEAR(got->front()[i], wanted[i],
						    isFloat(type) ? 1e-3 * std::fabs(wanted[i])
								  : 1);
			}
		}
	}
}

/* Of integers as well, what is repeated is as it was. */
TEST(Repeated, MoreThanAreCopiedAreRefused)
{
	const Model model =
		modelOf({ { 1, 70, 5, 7 }, { 1, 1, 5, 7 } }, Function::Add, ElementType::Int8);
	const auto compiled = compileInMemory(model);
	ASSERT_FALSE(compiled);
	EXPECT_NE(compiled.error().message().find("computed inputs have to have one shape"),
		  std::string::npos)
		<< compiled.error().message();
}

} /* namespace nvdla::test */
