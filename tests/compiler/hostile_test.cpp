/* SPDX-License-Identifier: MIT */
/*
 * Damaged models: whatever the bytes are, there is a loadable or an error with a reason.
 */
#include <algorithm>
#include <random>
#include <span>

#include <gtest/gtest.h>
#include <nvdla/compiler.h>

#include "compiler/import/import.h"
#include "model_file.h"
#include "model_folder.h"
#include "onnx_builder.h"

namespace nvdla::test
{

namespace
{

void expectResult(const std::vector<std::byte> &bytes)
{
	/* Ends the process if there is neither a loadable nor a reason. */
	fuzz::compileModelFile(reinterpret_cast<const uint8_t *>(bytes.data()), bytes.size());
}

std::vector<std::byte> damaged(const std::vector<std::byte> &good, int round, std::mt19937 &random)
{
	std::vector<std::byte> bytes = good;

	for (unsigned hits = 1 + random() % 4; hits; hits--)
		bytes[random() % bytes.size()] = static_cast<std::byte>(random());
	if (round % 8 == 0)
		bytes.resize(random() % bytes.size());
	return bytes;
}

TEST(HostileModel, NoModel)
{
	expectResult({});
	expectResult(std::vector<std::byte>(7));
	expectResult(std::vector<std::byte>(100));
	std::vector<std::byte> identifier(8);
	for (size_t i = 0; i < 4; i++)
		identifier[4 + i] = static_cast<std::byte>("TFL3"[i]);
	expectResult(identifier);
}

TEST(HostileModel, DamagedModels)
{
	constexpr size_t largest = 60000;
	constexpr uint32_t seed = 25;
	std::mt19937 random(seed);

	std::vector<std::string> names = modelFolders("tflite");
	const std::vector<std::string> onnx = modelFolders("onnx");
	names.insert(names.end(), onnx.begin(), onnx.end());
	for (const std::string &name : names) {
		const std::vector<std::byte> good = readModelFolder(name).file;
		if (good.size() > largest)
			continue;
		for (int round = 0; round < 400; round++) {
			SCOPED_TRACE(name + ", round " + std::to_string(round));
			expectResult(damaged(good, round, random));
		}
	}
}

/* Nearly all of its bytes say what it is, and few are weights. */
TEST(HostileModel, DamagedOnnxModel)
{
	OnnxBuilder builder;

	builder.input("x", { 1, 2, 6, 6 });
	builder.floats("scale", {}, { 0.5f });
	builder.integers("zero", {}, { 3 });
	builder.floats("w", { 4, 2, 1, 1 }, std::vector<float>(8, 0.25f));
	builder.floats("slopes", { 4, 1, 1 }, { 1, 2, 3, 4 });
	builder.floats("matrix", { 72, 3 }, std::vector<float>(216, 0.125f));
	builder.list("shape", { 1, -1, 4 });
	builder.input("real", { 1, 2, 6, 6 });
	builder.node("QuantizeLinear", { "real", "scale", "zero" }, "xq");
	builder.node("DequantizeLinear", { "xq", "scale", "zero" }, "xr");
	builder.node("Relu", { "xr" }, "positive");
	builder.node("QuantizeLinear", { "positive", "scale", "zero" }, "pq");
	builder.node("DequantizeLinear", { "pq", "scale", "zero" }, "v");
	OnnxBuilder::set(builder.node("Conv", { "x", "w" }, "sums"), "pads", { 0, 0, 0, 0 });
	builder.node("Mul", { "sums", "slopes" }, "scaled");
	onnx::Node *pool = builder.node("MaxPool", { "scaled" }, "pooled");
	OnnxBuilder::set(pool, "kernel_shape", { 2, 2 });
	OnnxBuilder::set(pool, "strides", { 2, 2 });
	OnnxBuilder::set(builder.node("Transpose", { "pooled" }, "last"), "perm", { 0, 2, 3, 1 });
	builder.node("Reshape", { "last", "shape" }, "rows");
	builder.node("Softmax", { "rows" }, "y");
	OnnxBuilder::set(builder.node("Concat", { "pooled", "pooled" }, "both"), "axis", { 1 });
	builder.node("Flatten", { "both" }, "flat");
	builder.node("Gemm", { "flat", "matrix" }, "z");
	builder.output("y");
	builder.output("z");
	builder.output("v");
	const std::vector<std::byte> good = builder.file();
	ASSERT_TRUE(compileModel(good)) << compileModel(good).error().message();
	std::mt19937 random(25);
	for (int round = 0; round < 2000; round++) {
		SCOPED_TRACE("round " + std::to_string(round));
		expectResult(damaged(good, round, random));
	}
}

/* Each shape in a file, length and extents, with a length of 0: tensors without axes. */
TEST(HostileModel, TensorsWithoutAxes)
{
	NVDLA_NEED_MODELS();
	const std::vector<std::byte> good = readModelFolder("split_concat_uint8").file;
	auto model = compiler::importTflite(good);
	ASSERT_TRUE(model) << model.error().message();
	size_t shapes = 0;

	for (const compiler::Value &value : model->values) {
		std::vector<uint32_t> words{ static_cast<uint32_t>(value.shape.size()) };
		words.insert(words.end(), value.shape.begin(), value.shape.end());
		const auto pattern = std::as_bytes(std::span(words));
		auto at = good.begin();
		while ((at = std::search(at, good.end(), pattern.begin(), pattern.end())) !=
		       good.end()) {
			std::vector<std::byte> bad = good;
			bad[static_cast<size_t>(at - good.begin())] = std::byte{ 0 };
			expectResult(bad);
			shapes++;
			at++;
		}
	}
	EXPECT_GT(shapes, 0U);
}

/* An error says where, even if nothing there has a name. */
TEST(HostileModel, WhatHasNoName)
{
	compiler::Model model;

	model.values.resize(2);
	model.operators.push_back({ "", "", compiler::Reshape{}, { 1 }, { 0 } });
	ASSERT_TRUE(model.setAsideInvalid());
	const auto *unknown = std::get_if<compiler::Unknown>(&model.operators[0].kind);
	ASSERT_TRUE(unknown);
	EXPECT_NE(unknown->why.where, "");
	EXPECT_NE(unknown->why.why.find("reads value 1"), std::string::npos);
	model.operators.push_back({ "", "", compiler::Reshape{}, { 0 }, { 0 } });
	const auto twice = model.setAsideInvalid();
	ASSERT_FALSE(twice);
	EXPECT_NE(twice.error().where, "");
	EXPECT_NE(twice.error().why.find("writes value 0"), std::string::npos);
}

} /* namespace */

} /* namespace nvdla::test */
