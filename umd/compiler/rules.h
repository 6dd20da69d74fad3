/* SPDX-License-Identifier: MIT */
/*
 * Checks rules that a part of a file has to fulfil.
 */
#pragma once

#include <optional>
#include <string>

#include <fmt/core.h>
#include <nvdla/error.h>

namespace nvdla::compiler
{

/** \brief Records the first rule that a part of a file, such as an operator, breaks */
class Rules
{
public:
	/** \brief Check a rule; \a field and \a why describe the error if it is not fulfilled */
	bool need(bool fulfilled, const std::string &field, const std::string &why)
	{
		return state(fulfilled, ErrorCode::InvalidFile, field, why);
	}
	/** \brief need() for files that are correct but use something unsupported */
	bool support(bool fulfilled, const std::string &field, const std::string &why)
	{
		return state(fulfilled, ErrorCode::Unsupported, field, why);
	}
	bool failed() const { return error_.has_value(); }
	/** \return the first error */
	Result<void> result() const
	{
		if (error_)
			return tl::unexpected<Error>(*error_);
		return {};
	}

protected:
	/** \param[in] what action for errors, such as "read ONNX model" */
	explicit Rules(const char *what) : what_(what) {}

	/** \brief Name the part of the file in later errors */
	void setPart(const std::string &part) { part_ = part; }

private:
	bool state(bool fulfilled, ErrorCode code, const std::string &field, const std::string &why)
	{
		if (!fulfilled && !error_)
			error_ = Error{ code, what_, fmt::format("{}, {}", part_, field), why };
		return fulfilled;
	}

	const char *what_;
	std::string part_;
	std::optional<Error> error_;
};

} /* namespace nvdla::compiler */
