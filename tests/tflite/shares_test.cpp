/* SPDX-License-Identifier: MIT */
/*
 * Random files of one operator of 8 bits: how much the core differs from TensorFlow Lite's
 * kernels, beside how much these differ from each other.
 *
 * An element is off if it is neither what the reference kernel makes nor what the optimised one
 * does: an application may have met either. At most one of a hundred is, whatever the two kernels
 * make of theirs. Beside either kernel alone the core then has at most the other one's share and
 * one of a hundred more. (Beside SUM's reference kernel that says nothing: in TensorFlow Lite 2.14
 * it makes something else of nearly all elements.)
 *
 * NVDLA_RANDOM_MODELS is the number of files of each operator; NVDLA_RANDOM_SEED the first one's
 * seed.
 */
#include <algorithm>
#include <cmath>
#include <iostream>
#include <optional>

#include <fmt/core.h>
#include <gtest/gtest.h>

#include "compiler/import/import.h"
#include "core_run.h"
#include "environment.h"
#include "single_operator.h"

namespace nvdla::test
{

namespace
{

constexpr unsigned long usualCount = 12;

/* How many elements differ, and by how many steps at most. */
struct Distances {
	size_t off = 0;
	double farthest = 0;

	void count(double distance)
	{
		off += distance != 0;
		farthest = std::max(farthest, distance);
	}
	void operator+=(const Distances &other)
	{
		off += other.off;
		farthest = std::max(farthest, other.farthest);
	}
};

/* The core's results of some files, and those of both kernels. */
struct Comparison {
	size_t elements = 0;
	Distances core;	     /* from the nearer kernel */
	Distances reference; /* the core from the reference kernel */
	Distances kernels;   /* from each other */

	void add(const Numbers &got, const Numbers &slow, const Numbers &fast)
	{
		ASSERT_EQ(got.size(), slow.size());
		ASSERT_EQ(got.size(), fast.size());
		for (size_t i = 0; i < got.size(); i++) {
			const double distance = std::fabs(got[i] - slow[i]);
			core.count(std::min(distance, std::fabs(got[i] - fast[i])));
			reference.count(distance);
			kernels.count(std::fabs(fast[i] - slow[i]));
		}
		elements += got.size();
	}
	void operator+=(const Comparison &other)
	{
		elements += other.elements;
		core += other.core;
		reference += other.reference;
		kernels += other.kernels;
	}
	double share(const Distances &distances) const
	{
		return elements ? static_cast<double>(distances.off) / static_cast<double>(elements)
				: 0;
	}
};

/* The largest share of elements that may be off, of all files and of one (besides four), and by how
 * many steps. */
struct Bound {
	std::string_view name;
	double share;
	double shareOfFile;
	double steps;
};

constexpr Bound usual{ "", 0.01, 0.05, 1 };

/* Operators that the core computes less exactly, each with the reason. */
constexpr Bound bounds[] = {
	/*
	 * The kernels have ten bits for the distance of two places: 341 / 1024 for a third. Element
	 * i of the output is taken i / 3072 too far in front, which is up to 255 * i / 3072 steps
	 * along each axis: 6 for 36 elements each. The core, which counts thirds as thirds and has
	 * weights of 8 bits, would need a kernel of 11 bits for each of the output's elements.
	 */
	{ "RESIZE_BILINEAR_thirds", 0.5, 0.6, 6 },
	/*
	 * Larger along one axis and smaller along the other is two operators on the core, an
	 * enlargement and averages of its results, each of which rounds to a step.
	 */
	{ "RESIZE_BILINEAR_both_ways", 0.25, 0.5, 1 },
};

const Bound &boundOf(std::string_view name)
{
	const auto *found = std::ranges::find(bounds, name, &Bound::name);

	return found == std::end(bounds) ? usual : *found;
}

class TfliteShares : public testing::TestWithParam<SingleOperator::Kind>
{
};

/* Nothing if the compiler does not take the file, whose reason \a refused has then. */
std::optional<Comparison> compare(const SingleOperator &made, std::string &refused)
{
	auto run = CoreRun::of(compiler::importTflite(made.file));
	std::vector<Numbers> inputs;
	Comparison comparison;

	if (!run) {
		EXPECT_EQ(run.error().code, ErrorCode::Unsupported) << run.error().message();
		refused = run.error().why;
		return std::nullopt;
	}
	for (const Array &input : made.inputs)
		inputs.push_back(input.numbers);
	const auto got = run->run(inputs);
	EXPECT_TRUE(got) << got.error().message();
	if (!got)
		return std::nullopt;
	Interpreter reference(made.file, nullptr, TfliteKernels::Reference);
	Interpreter optimised(made.file, nullptr);
	comparison.add(got->front(), reference.run(made.inputs).front().numbers,
		       optimised.run(made.inputs).front().numbers);
	return comparison;
}

TEST_P(TfliteShares, AreThoseOfTheKernels)
{
	const unsigned long count = numberOf("NVDLA_RANDOM_MODELS", usualCount);
	const unsigned long first = numberOf("NVDLA_RANDOM_SEED", 1);
	const Bound &bound = boundOf(GetParam().name);
	Comparison all;
	double worst = 0;
	std::string refused, worstFile;
	size_t compared = 0;

	for (unsigned long seed = first; seed < first + count; seed++) {
		const SingleOperator made(GetParam(), seed);
		SCOPED_TRACE(made.description);
		const auto one = compare(made, refused);
		if (!one)
			continue;
		EXPECT_LE(one->core.off,
			  4 + bound.shareOfFile * static_cast<double>(one->elements));
		EXPECT_LE(one->core.farthest, bound.steps);
		all += *one;
		compared++;
		if (one->share(one->core) > worst) {
			worst = one->share(one->core);
			worstFile = made.description;
		}
	}
	std::cout << fmt::format(
		"{:23} {:4} files {:8} elements, off {:6.3f} %, from the reference {:6.3f} %, "
		"kernels from each other {:6.3f} %; farthest {} and {}; worst file {:.1f} %: {}\n",
		GetParam().name, compared, all.elements, 100 * all.share(all.core),
		100 * all.share(all.reference), 100 * all.share(all.kernels), all.core.farthest,
		all.kernels.farthest, 100 * worst, worstFile);
	EXPECT_GT(compared, count * 7 / 10) << refused;
	EXPECT_LE(all.share(all.core), bound.share);
}

std::string nameOf(const testing::TestParamInfo<SingleOperator::Kind> &info)
{
	return info.param.name;
}

INSTANTIATE_TEST_SUITE_P(Elements, TfliteShares,
			 testing::ValuesIn(SingleOperator::elementKinds().begin(),
					   SingleOperator::elementKinds().end()),
			 nameOf);
INSTANTIATE_TEST_SUITE_P(Windows, TfliteShares,
			 testing::ValuesIn(SingleOperator::windowKinds().begin(),
					   SingleOperator::windowKinds().end()),
			 nameOf);

} /* namespace */

} /* namespace nvdla::test */
