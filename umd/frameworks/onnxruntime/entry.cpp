/* SPDX-License-Identifier: MIT */
/*
 * The functions by which ONNX Runtime finds the execution provider in this library.
 */
#include "base/io/guarded.h"
#include "provider.h"

extern "C" __attribute__((visibility("default"))) OrtStatus *
CreateEpFactories(const char *name, const OrtApiBase *base, const OrtLogger *,
		  OrtEpFactory **factories, size_t most, size_t *count)
{
	const nvdla::ort::Api api(*base);

	*count = 0;
	if (!api.isThere() || most < 1)
		return base->GetApi(1)->CreateStatus(ORT_NOT_IMPLEMENTED,
						     "nvdla: this ONNX Runtime is older than 1.23");
	const auto made = nvdla::guarded("create provider", [&]() -> nvdla::Result<void> {
		factories[0] = new nvdla::ort::Factory(api, name);
		*count = 1;
		return {};
	});
	return api.status(made);
}

extern "C" __attribute__((visibility("default"))) OrtStatus *ReleaseEpFactory(OrtEpFactory *factory)
{
	delete static_cast<nvdla::ort::Factory *>(factory);
	return nullptr;
}
