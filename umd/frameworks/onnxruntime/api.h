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

/** \brief The tables of functions through which an execution provider calls ONNX Runtime */
class Api
{
public:
	explicit Api(const OrtApiBase &base)
		: api_(base.GetApi(ORT_API_VERSION)), provider_(api_ ? api_->GetEpApi() : nullptr)
	{
	}

	/**
	 * \return false if the application's ONNX Runtime is older than the one that this library
	 * was built for, and so lacks the tables
	 */
	bool isThere() const { return api_ && provider_; }
	const OrtApi *operator->() const { return api_; }
	const OrtEpApi &provider() const { return *provider_; }

	/** \brief Free the status that an ONNX Runtime call returned, and return it as a Result */
	Result<void> check(OrtStatus *status) const;
	/** \return a status with the message of \a error */
	OrtStatus *status(const Error &error) const noexcept;
	/** \return a status with the message of the error in \a result; nullptr if there is none */
	OrtStatus *status(const Result<void> &result) const noexcept
	{
		return result ? nullptr : status(result.error());
	}

private:
	const OrtApi *api_;
	const OrtEpApi *provider_;
};

/** \brief Call ONNX Runtime; if the call fails, the function that contains the macro returns the
 * error */
#define NVDLA_ORT_TRY(api, call)                                                                   \
	do {                                                                                       \
		if (auto checked_ = (api).check(call); !checked_)                                  \
			return ::nvdla::forward(checked_);                                         \
	} while (0)

} /* namespace nvdla::ort */
