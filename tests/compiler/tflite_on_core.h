/* SPDX-License-Identifier: MIT */
/*
 * TFLite files on the embedded device, against numbers worked out by hand.
 */
#pragma once

#include <gtest/gtest.h>

#include "compiler/import/import.h"
#include "core_run.h"
#include "tflite_builder.h"

namespace nvdla::test
{

/** \brief What the core makes of a file */
inline std::vector<Numbers> ofFile(const std::vector<std::byte> &file,
				   const std::vector<Numbers> &inputs)
{
	auto run = CoreRun::of(compiler::importTflite(file));
	if (!run) {
		ADD_FAILURE() << run.error().message();
		return {};
	}
	auto outputs = run->run(inputs);
	EXPECT_TRUE(outputs) << outputs.error().message();
	return outputs ? *outputs : std::vector<Numbers>{};
}

/** \brief 2 lines of 3 pixels with 2 channels */
inline const Numbers pixels = { 1, 10, 2, 20, 3, 30, 4, 40, 5, 50, 6, 60 };

} /* namespace nvdla::test */
