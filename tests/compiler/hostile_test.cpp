/* SPDX-License-Identifier: MIT */
/*
 * Damaged models: whatever the bytes are, there is a loadable or an error with a reason.
 */
#include <random>

#include <gtest/gtest.h>
#include <nvdla/compiler.h>

#include "model_folder.h"

namespace nvdla::test
{

namespace
{

void expectResult(const std::vector<std::byte> &bytes)
{
	auto compiled = compileModel(bytes);

	if (!compiled) {
		EXPECT_FALSE(compiled.error().why.empty());
	}
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
			std::vector<std::byte> bytes = good;
			for (unsigned hits = 1 + random() % 4; hits; hits--)
				bytes[random() % bytes.size()] = static_cast<std::byte>(random());
			if (round % 8 == 0)
				bytes.resize(random() % bytes.size());
			expectResult(bytes);
		}
	}
}

} /* namespace */

} /* namespace nvdla::test */
