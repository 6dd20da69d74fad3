/* SPDX-License-Identifier: MIT */
/*
 * ONNX Runtime's C interface, and conversion between its OrtStatus and the Error of this library.
 */
#pragma once

#include <memory>

#include <nvdla/error.h>
#include <onnxruntime_c_api.h>

namespace nvdla::ort
{

/** \brief The table of functions that ONNX Runtime passes to the library */
class Api
{
public:
	explicit Api(const OrtApiBase &base)
		: api_(base.GetApi(ORT_API_VERSION)), provider_(api_ ? api_->GetEpApi() : nullptr)
	{
	}

	/**
	 * \return false if this ONNX Runtime is older than the one that this library was built with
	 */
	bool isThere() const { return api_ && provider_; }
	const OrtApi *operator->() const { return api_; }
	const OrtEpApi &provider() const { return *provider_; }

	/** \brief Convert the status that a function of ONNX Runtime returned, and free it */
	Result<void> check(OrtStatus *status) const;
	/** \return a status with the message of \a error */
	OrtStatus *status(const Error &error) const noexcept;
	/** \return nullptr if \a result is no error */
	OrtStatus *status(const Result<void> &result) const noexcept
	{
		return result ? nullptr : status(result.error());
	}

private:
	const OrtApi *api_;
	const OrtEpApi *provider_;
};

/** \brief Leave a function that returns a Result with the error of an ONNX Runtime call */
#define NVDLA_ORT_TRY(api, call)                                                                   \
	do {                                                                                       \
		if (auto checked_ = (api).check(call); !checked_)                                  \
			return ::nvdla::forward(checked_);                                         \
	} while (0)

} /* namespace nvdla::ort */
