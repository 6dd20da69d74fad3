/* SPDX-License-Identifier: MIT */
#include <gtest/gtest.h>

#include "base/io/base64.h"

using namespace nvdla;

namespace
{

std::span<const std::byte> bytes(std::string_view text)
{
	return std::as_bytes(std::span(text));
}

/* RFC 4648, section 10. */
TEST(Base64Test, VectorsOfTheStandard)
{
	const std::pair<const char *, const char *> vectors[] = {
		{ "", "" },
		{ "f", "Zg==" },
		{ "fo", "Zm8=" },
		{ "foo", "Zm9v" },
		{ "foob", "Zm9vYg==" },
		{ "fooba", "Zm9vYmE=" },
		{ "foobar", "Zm9vYmFy" },
	};
	for (const auto &[plain, encoded] : vectors) {
		EXPECT_EQ(encodeBase64(bytes(plain)), encoded);
		const auto decoded = decodeBase64(encoded);
		ASSERT_TRUE(decoded) << encoded;
		EXPECT_TRUE(std::ranges::equal(*decoded, bytes(plain))) << encoded;
	}
}

TEST(Base64Test, EveryByteThereAndBack)
{
	std::vector<std::byte> all;
	for (unsigned int value = 0; value < 256; value++)
		all.push_back(static_cast<std::byte>(value));
	const std::string text = encodeBase64(all);
	EXPECT_NE(text.find('+'), std::string::npos);
	EXPECT_NE(text.find('/'), std::string::npos);
	EXPECT_EQ(decodeBase64(text), all);
}

TEST(Base64Test, OtherTextIsRefused)
{
	for (const char *text : { "Z", "Zg=", "Zg", "Zg==\n", "Z===", "====", "Zm9v-g==", "Z=g=" })
		EXPECT_FALSE(decodeBase64(text)) << text;
}

} /* namespace */
