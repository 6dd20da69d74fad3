/* SPDX-License-Identifier: MIT */
/*
 * TensorFlow Lite's slow kernels, which its fast ones are checked against.
 */
#pragma once

#include <tensorflow/lite/c/c_api.h>

namespace nvdla::test
{

/** \brief Make \a options look operators up among the reference kernels; some operators have one
 * kernel only */
void useReferenceKernels(TfLiteInterpreterOptions *options);

} /* namespace nvdla::test */
