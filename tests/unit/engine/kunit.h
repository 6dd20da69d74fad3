/* SPDX-License-Identifier: MIT */
#pragma once

#include <kunit/test.h>

namespace nvdla::test
{

/** \brief Run all KUnit tests of this program for what they leave, whether they pass or not */
void runKunitQuietly();

} /* namespace nvdla::test */
