/* SPDX-License-Identifier: MIT */
#include "api.h"

#include "base/io/guarded.h"

namespace nvdla::ort
{

Result<void> Api::check(OrtStatus *status) const
{
	if (!status)
		return {};
	Error error{ ErrorCode::Unsupported, "ask ONNX Runtime", "",
		     api_->GetErrorMessage(status) };
	api_->ReleaseStatus(status);
	return tl::unexpected<Error>(std::move(error));
}

OrtStatus *Api::status(const Error &error) const noexcept
{
	const auto message =
		guarded("", [&]() -> Result<std::string> { return "nvdla: " + error.message(); });

	return api_->CreateStatus(error.code == ErrorCode::InvalidArgument ? ORT_INVALID_ARGUMENT
									   : ORT_EP_FAIL,
				  message ? message->c_str() : "nvdla: out of memory");
}

} /* namespace nvdla::ort */
