/* SPDX-License-Identifier: MIT */
#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <functional>
#include <iostream>

#include <fmt/core.h>
#include <gtest/gtest.h>

#include "agreement.h"
#include "compiler/compile.h"
#include "core_run.h"
#include "random_operator.h"

namespace nvdla::test
{

namespace
{

using compiler::ElementType;

constexpr uint32_t firstSeed = 1;

using Compare = std::function<void(const Numbers &, const Numbers &)>;
using Check = std::function<void(const RandomModel &, const Compare &)>;

std::string shapesOf(const compiler::Model &model)
{
	std::string shapes;

	for (const compiler::Operator &operation : model.operators) {
		shapes += fmt::format("kind {}", operation.kind.index());
		for (const auto &ids : { operation.inputs, operation.outputs }) {
			for (const compiler::ValueId id : ids)
				shapes += fmt::format(", {} {}", model.values[id].name,
						      compiler::toString(model.values[id].shape));
		}
		shapes += "; ";
	}
	return shapes;
}

/* NVDLA_OPERATOR_SEED runs one seed alone. */
void checkSeeds(RandomModel (*make)(std::mt19937_64 &, ElementType), ElementType type,
		uint32_t count, const Check &check, const Compare &compare)
{
	const char *only = std::getenv("NVDLA_OPERATOR_SEED");
	const auto first =
		only ? static_cast<uint32_t>(std::strtoul(only, nullptr, 10)) : firstSeed;
	const uint32_t last = only ? first : firstSeed + count - 1;

	std::cout << "seeds " << first << " to " << last << '\n';
	for (uint32_t seed = first; seed <= last; seed++) {
		std::mt19937_64 random(seed);
		const RandomModel made = make(random, type);
		SCOPED_TRACE("NVDLA_OPERATOR_SEED=" + std::to_string(seed) + ", " +
			     shapesOf(made.model));
		check(made, compare);
	}
}

void checkOutput(const RandomModel &made, const Compare &compare)
{
	auto run = CoreRun::of(made.model);
	ASSERT_TRUE(run) << run.error().message();
	auto outputs = run->run(made.inputs);
	ASSERT_TRUE(outputs) << outputs.error().message();
	const auto wanted = evaluate(made.model, made.inputs)[made.model.outputs.front()];
	ASSERT_EQ(outputs->front().size(), wanted.size());
	compare(outputs->front(), wanted);
}

/* An operator that the core lacks is refused by name; \a refused counts these. */
void checkOutputOn(const CoreGeometry &core, size_t &refused, const RandomModel &made,
		   const Compare &compare)
{
	auto loadable = compile(made.model, core);
	if (!loadable) {
		refused++;
		EXPECT_EQ(loadable.error().code, ErrorCode::Unsupported);
		EXPECT_NE(loadable.error().message().find(core.name), std::string::npos)
			<< loadable.error().message();
		return;
	}
	auto run = CoreRun::load(made.model, *loadable);
	ASSERT_TRUE(run) << run.error().message();
	auto outputs = run->run(made.inputs);
	ASSERT_TRUE(outputs) << outputs.error().message();
	compare(outputs->front(), evaluate(made.model, made.inputs)[made.model.outputs.front()]);
}

/*
 * The value that an output of a network is. What a pass has added is a value that no operator of
 * the model has.
 */
compiler::ValueId valueOf(compiler::Model &model, const std::string &name)
{
	for (compiler::ValueId id = 0; id < model.values.size(); id++) {
		if (model.values[id].name == name)
			return id;
	}
	compiler::Value added;
	added.name = name;
	added.type = model.values[model.inputs.front()].type;
	return model.add(std::move(added));
}

/*
 * Each operator is held against what the reference makes of what the core gave it, and the network
 * as it is, against itself with all of its tensors as outputs.
 */
void checkOperators(const RandomModel &made, const Compare &compare)
{
	auto compiled = compiler::compileInMemory(made.model, { .everyTensor = true });
	ASSERT_TRUE(compiled) << compiled.error().message();
	auto tensors = compiled->loadable.outputs();
	ASSERT_TRUE(tensors);
	compiler::Model all = made.model;
	all.outputs.clear();
	for (const TensorDesc &tensor : *tensors)
		all.outputs.push_back(valueOf(all, tensor.name));
	auto run = CoreRun::load(all, compiled->loadable);
	ASSERT_TRUE(run) << run.error().message();
	auto outputs = run->run(made.inputs);
	ASSERT_TRUE(outputs) << outputs.error().message();

	std::vector<Numbers> values = evaluate(made.model, made.inputs);
	for (const compiler::Operator &operation : made.model.operators) {
		const compiler::ValueId id = operation.outputs.front();
		const auto shown = std::find(all.outputs.begin(), all.outputs.end(), id);
		evaluate(made.model, operation, values);
		if (shown == all.outputs.end())
			continue;
		const Numbers &got = (*outputs)[static_cast<size_t>(shown - all.outputs.begin())];
		SCOPED_TRACE(operation.name);
		ASSERT_EQ(got.size(), values[id].size());
		compare(got, values[id]);
		values[id] = got;
	}

	/* Sums that are computed on the way have a test of their own. */
	auto apart = compiler::compileInMemory(made.model, { .foldSums = FoldSums::Never });
	ASSERT_TRUE(apart) << apart.error().message();
	auto plain = CoreRun::load(made.model, apart->loadable);
	ASSERT_TRUE(plain) << plain.error().message();
	auto same = plain->run(made.inputs);
	ASSERT_TRUE(same) << same.error().message();
	ASSERT_EQ(same->size(), made.model.outputs.size());
	for (size_t i = 0; i < same->size(); i++)
		EXPECT_EQ((*same)[i], values[made.model.outputs[i]]);
}

void isWithinAStep(const Numbers &got, const Numbers &wanted)
{
	size_t beyond = 0;
	double largest = 0;

	for (size_t i = 0; i < wanted.size(); i++) {
		const double distance = std::fabs(got[i] - wanted[i]);
		beyond += distance > 1;
		largest = std::max(largest, distance);
	}
	EXPECT_LE(beyond, wanted.size() / 100);
	EXPECT_LE(largest, 2);
}

void isWithinAThousandthOf16Bits(const Numbers &got, const Numbers &wanted)
{
	double largest = 0;

	for (size_t i = 0; i < wanted.size(); i++)
		largest = std::max(largest, std::fabs(got[i] - wanted[i]));
	EXPECT_LE(largest, 65536 * 1e-3);
}

void isWithinAHundredthOfTheRange(const Numbers &got, const Numbers &wanted)
{
	EXPECT_LE(difference(got, wanted, 0).largest, std::max(rangeOf(wanted), 1e-3) * 0.01);
}

TEST(RandomOperator, Int8IsWithinAStep)
{
	checkSeeds(randomOperator, ElementType::Int8, 250, checkOutput, isWithinAStep);
}

TEST(RandomOperator, Int8IsWithinAStepOnEveryOtherCore)
{
	constexpr uint32_t count = 100;

	for (const CoreGeometry &core : coreVariants().subspan(1)) {
		SCOPED_TRACE(core.name);
		size_t refused = 0;
		checkSeeds(
			randomOperator, ElementType::Int8, count,
			[&](const RandomModel &made, const Compare &compare) {
				checkOutputOn(core, refused, made, compare);
			},
			isWithinAStep);
		EXPECT_LE(refused, count / 5)
			<< "quotients and columns of blocks, which all of them lack";
		std::cout << core.name << " refuses " << refused << '\n';
	}
}

TEST(RandomOperator, Int16IsWithinAThousandthOfTheRange)
{
	checkSeeds(randomOperator, ElementType::Int16, 150, checkOutput,
		   isWithinAThousandthOf16Bits);
}

TEST(RandomOperator, FloatIsWithinAHundredthOfTheRange)
{
	checkSeeds(randomOperator, ElementType::Float32, 150, checkOutput,
		   isWithinAHundredthOfTheRange);
}

TEST(RandomNetwork, Int8IsWithinAStep)
{
	checkSeeds(randomNetwork, ElementType::Int8, 120, checkOperators, isWithinAStep);
}

TEST(RandomNetwork, Int16IsWithinAThousandthOfTheRange)
{
	checkSeeds(randomNetwork, ElementType::Int16, 40, checkOperators,
		   isWithinAThousandthOf16Bits);
}

TEST(RandomNetwork, FloatIsWithinAHundredthOfTheRange)
{
	checkSeeds(randomNetwork, ElementType::Float32, 60, checkOperators,
		   isWithinAHundredthOfTheRange);
}

} /* namespace */

} /* namespace nvdla::test */
