/* SPDX-License-Identifier: MIT */
/*
 * The fuzz target on a fixed set of damaged texts, with any compiler.
 */
#include <filesystem>
#include <random>
#include <string>
#include <string_view>

#include <gtest/gtest.h>
#include <nvdla/loadable_json.h>

#include "edge_network.h"
#include "loadable_json.h"

namespace nvdla
{

namespace
{

void play(const std::string &text)
{
	fuzz::readLoadableJson(reinterpret_cast<const uint8_t *>(text.data()), text.size());
}

std::string exampleText()
{
	auto loadable = examples::edgeNetwork({ 16, 16 });
	EXPECT_TRUE(loadable);
	return *loadableToJson(*loadable);
}

} /* namespace */

TEST(LoadableJsonFuzz, DamagedBytes)
{
	const std::string good = exampleText();
	std::mt19937 random(26);

	play(good);
	for (int round = 0; round < 600; round++) {
		std::string text = good;
		for (unsigned hits = 1 + random() % 3; hits; hits--)
			text[random() % text.size()] = static_cast<char>(random());
		if (round % 4 == 0)
			text.resize(random() % text.size());
		play(text);
	}
}

/* Still JSON, so that it gets past the parser: values replaced by others. */
TEST(LoadableJsonFuzz, DamagedValues)
{
	constexpr std::string_view values[] = { "0",
						"-1",
						"65535",
						"4294967296",
						"1e300",
						"null",
						"\"\"",
						"\"conv\"",
						"[]",
						"{}",
						"[[[[]]]]",
						"true",
						"18446744073709551615",
						"0.5",
						"\"0x7fc00000\"" };
	const std::string good = exampleText();
	std::mt19937 random(27);

	for (int round = 0; round < 600; round++) {
		std::string text = good;
		for (unsigned hits = 1 + random() % 2; hits; hits--) {
			const size_t colon = text.find(": ", random() % text.size());
			if (colon == std::string::npos)
				continue;
			const size_t end = text.find_first_of(",\n", colon);
			text.replace(colon + 2, end - colon - 2,
				     values[random() % std::size(values)]);
		}
		play(text);
	}
}

} /* namespace nvdla */
