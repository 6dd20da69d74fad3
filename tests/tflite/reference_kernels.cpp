/* SPDX-License-Identifier: MIT */
#include "reference_kernels.h"

#include <tensorflow/lite/c/c_api_experimental.h>
/* In quotes: its schema asks for the FlatBuffers that it was made with, which -iquote finds. */
#include "tensorflow/lite/kernels/register.h"
#include "tensorflow/lite/kernels/register_ref.h"

namespace nvdla::test
{

void useReferenceKernels(TfLiteInterpreterOptions *options)
{
	namespace kernels = ::tflite::ops::builtin;
	static const kernels::BuiltinRefOpResolver slow;
	static const kernels::BuiltinOpResolverWithoutDefaultDelegates usual;
	const auto builtin = [](void *, TfLiteBuiltinOperator code, int version) {
		const auto operation = static_cast<::tflite::BuiltinOperator>(code);
		const TfLiteRegistration *found = slow.FindOp(operation, version);
		return found ? found : usual.FindOp(operation, version);
	};
	const auto custom = [](void *, const char *name, int version) {
		return usual.FindOp(name, version);
	};

	TfLiteInterpreterOptionsSetOpResolver(options, builtin, custom, nullptr);
}

} /* namespace nvdla::test */
