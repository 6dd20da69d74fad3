/* SPDX-License-Identifier: MIT */
#include "onnx_on_core.h"

#include <gtest/gtest.h>

#include "compiler/import/import.h"

namespace nvdla::test
{

std::vector<Numbers> onCore(const OnnxBuilder &builder, const std::vector<Numbers> &inputs)
{
	auto run = CoreRun::of(compiler::importOnnx(builder.file()));
	if (!run) {
		ADD_FAILURE() << run.error().message();
		return {};
	}
	auto outputs = run->run(inputs);
	EXPECT_TRUE(outputs);
	return outputs ? *outputs : std::vector<Numbers>{};
}

} /* namespace nvdla::test */
