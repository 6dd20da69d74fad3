/* SPDX-License-Identifier: MIT */
#include "api.h"

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

OrtStatus *Api::status(const Error &error) const
{
	const std::string message = "nvdla: " + error.message();

	return api_->CreateStatus(error.code == ErrorCode::InvalidArgument ? ORT_INVALID_ARGUMENT
									   : ORT_EP_FAIL,
				  message.c_str());
}

} /* namespace nvdla::ort */
