/* SPDX-License-Identifier: MIT */
/*
 * What an operator of a file has to keep.
 */
#pragma once

#include <optional>
#include <string>
#include <vector>

#include <nvdla/error.h>

#include "compiler/ir/model.h"

namespace nvdla::compiler
{

/**
 * \brief Keeps the first rule that an operator breaks
 *
 * After it values are meaningless, but harmless.
 */
class Rules
{
public:
	/** \param[in] what is done: read a model, of which format */
	explicit Rules(const char *what) : what_(what) {}

	/** \brief State a rule; \a field and \a why say what is wrong if it is not fulfilled */
	bool need(bool fulfilled, const std::string &field, const std::string &why)
	{
		return state(fulfilled, ErrorCode::InvalidFile, field, why);
	}
	/** \brief As need(), of what is correct but not done here */
	bool support(bool fulfilled, const std::string &field, const std::string &why)
	{
		return state(fulfilled, ErrorCode::Unsupported, field, why);
	}
	bool failed() const { return error_.has_value(); }
	Result<void> result() const;

	/** \brief \a axis counted from the front, held against \a rank; 0 after an error */
	uint32_t axis(int64_t axis, size_t rank, const std::string &field);
	/** \brief What to multiply by instead of dividing by a constant; an error if it has a 0 */
	std::vector<double> reciprocals(const Value &divisor, const std::string &field);

protected:
	/** \brief Type and name of the operator, for errors */
	void setOperator(const std::string &type, const std::string &name)
	{
		operator_ = type + " '" + name + "'";
	}

private:
	bool state(bool fulfilled, ErrorCode code, const std::string &field,
		   const std::string &why);

	const char *what_;
	std::string operator_;
	std::optional<Error> error_;
};

} /* namespace nvdla::compiler */
