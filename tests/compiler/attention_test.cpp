/* SPDX-License-Identifier: MIT */
/*
 * Attention with several heads, all of which runs in the network: no part is left to the host.
 */
#include <cmath>
#include <numeric>
#include <random>

#include <gtest/gtest.h>
#include <nvdla/compiler.h>

#include "agreement.h"
#include "compiler/compile.h"
#include "compiler/import/import.h"
#include "matrices.h"
#include "onnx_on_core.h"

namespace nvdla::test
{

namespace
{

constexpr uint32_t tokens = 18, heads = 2, headSize = 12, size = heads * headSize;

/* Numbers of a constant matrix, about as large as in a trained model. */
std::vector<float> matrix(size_t count, uint32_t seed)
{
	std::mt19937 random(seed);
	std::vector<float> numbers(count);

	for (float &number : numbers)
		number = std::uniform_real_distribution<float>(-0.4f, 0.4f)(random);
	return numbers;
}

/* Attention with heads as exporters write it: x, query, key and value, softmax, output. */
OnnxBuilder attention(int64_t batch)
{
	OnnxBuilder model;
	const Dims rows{ batch, tokens, size };

	model.input("x", rows);
	model.list("split", { batch, tokens, heads, headSize });
	model.list("joined", { batch, tokens, size });
	model.floats("factor", {}, { 1 / std::sqrt(static_cast<float>(headSize)) });
	uint32_t seed = 20;
	for (const std::string name : { "query", "key", "value" }) {
		model.floats(name + " w", { size, size }, matrix(size * size, seed++));
		model.node("MatMul", { "x", name + " w" }, name);
		model.node("Reshape", { name, "split" }, name + " split");
		OnnxBuilder::set(model.node("Transpose", { name + " split" }, name + " heads"),
				 "perm", name == "key" ? Dims{ 0, 2, 3, 1 } : Dims{ 0, 2, 1, 3 });
	}
	model.node("MatMul", { "query heads", "key heads" }, "products");
	model.node("Mul", { "products", "factor" }, "scores");
	model.node("Softmax", { "scores" }, "shares");
	model.node("MatMul", { "shares", "value heads" }, "mixed");
	OnnxBuilder::set(model.node("Transpose", { "mixed" }, "behind"), "perm", { 0, 2, 1, 3 });
	model.node("Reshape", { "behind", "joined" }, "y");
	model.output("y");
	return model;
}

/* The same of one sample in double precision. */
Numbers attended(const Numbers &x)
{
	std::vector<Numbers> parts;
	Numbers made(x.size());

	for (uint32_t seed = 20; seed < 23; seed++) {
		const auto w = matrix(size * size, seed);
		parts.push_back(productOf({ tokens, size }, x, { size, size },
					  Numbers(w.begin(), w.end())));
	}
	for (size_t head = 0; head < heads; head++) {
		const auto at = [&](size_t part, size_t token, size_t i) {
			return parts[part][token * size + head * headSize + i];
		};
		for (size_t token = 0; token < tokens; token++) {
			Numbers shares(tokens);
			for (size_t other = 0; other < tokens; other++) {
				double sum = 0;
				for (size_t i = 0; i < headSize; i++)
					sum += at(0, token, i) * at(1, other, i);
				shares[other] = std::exp(sum / std::sqrt(double{ headSize }));
			}
			const double all = std::accumulate(shares.begin(), shares.end(), 0.0);
			for (size_t other = 0; other < tokens; other++)
				for (size_t i = 0; i < headSize; i++)
					made[token * size + head * headSize + i] +=
						shares[other] / all * at(2, other, i);
		}
	}
	return made;
}

Numbers tokensOf(uint32_t seed)
{
	std::mt19937 random(seed);
	Numbers x(tokens * size);

	for (double &number : x)
		number = static_cast<double>(
			std::uniform_real_distribution<float>(-2.0f, 2.0f)(random));
	return x;
}

} /* namespace */

TEST(ComputedProduct, AttentionOfHeadsAndBatches)
{
	for (const int64_t batch : { 1, 2 }) {
		Numbers x, wanted;
		for (uint32_t sample = 0; sample < batch; sample++) {
			const Numbers one = tokensOf(sample), y = attended(one);
			x.insert(x.end(), one.begin(), one.end());
			wanted.insert(wanted.end(), y.begin(), y.end());
		}
		const auto got = onCore(attention(batch), { x });
		ASSERT_EQ(got.size(), 1U);
		ASSERT_EQ(got[0].size(), wanted.size());
		EXPECT_LE(difference(got[0], wanted, 0).largest, rangeOf(wanted) * 0.003) << batch;
	}
}

TEST(ComputedProduct, AttentionIsCalibratedForEveryCore)
{
	Calibration calibration;
	for (uint32_t seed = 0; seed < 4; seed++) {
		const Numbers one = tokensOf(seed);
		calibration.samples.push_back({ { one.begin(), one.end() } });
	}
	const Numbers x = tokensOf(1), wanted = attended(x);

	for (const CoreGeometry &core : coreVariants()) {
		SCOPED_TRACE(core.name);
		auto compiled = compileModel(
			attention(1).file(),
			{ .calibration = calibration, .core = core, .host = HostUse::Never });
		ASSERT_TRUE(compiled) << compiled.error().message();
		auto model = compiler::importOnnx(attention(1).file());
		ASSERT_TRUE(model);
		auto run = CoreRun::load(*model, compiled->loadable);
		ASSERT_TRUE(run) << run.error().message();
		auto got = run->run({ x });
		ASSERT_TRUE(got) << got.error().message();
		EXPECT_LE(difference(got->front(), wanted, 0).largest, rangeOf(wanted) * 0.06);
	}
}

} /* namespace nvdla::test */
