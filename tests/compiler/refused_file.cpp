/* SPDX-License-Identifier: MIT */
#include "refused_file.h"

#include <gtest/gtest.h>
#include <nvdla/compiler.h>

namespace nvdla::test
{

void expectRefusedFile(const std::vector<std::byte> &file, const std::vector<std::string> &parts)
{
	auto compiled = compileModel(file);

	ASSERT_FALSE(compiled);
	for (const std::string &part : parts)
		EXPECT_NE(compiled.error().message().find(part), std::string::npos)
			<< compiled.error().message();
}

} /* namespace nvdla::test */
