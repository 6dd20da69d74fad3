/* SPDX-License-Identifier: MIT */
/*
 * Checks rules that a part of a file or model has to fulfil.
 */
#pragma once

#include <string>
#include <type_traits>
#include <utility>

#include <fmt/core.h>
#include <nvdla/error.h>

namespace nvdla::compiler
{

/**
 * \brief Thrown where a part of a file or model breaks a rule
 *
 * No function of another folder lets it through: resultOf() makes an error of it.
 */
struct BrokenRule {
	Error error;
};

[[noreturn]] inline void refuse(ErrorCode code, const char *what, const std::string &where,
				const std::string &why)
{
	throw BrokenRule{ { code, what, where, why } };
}

/** \return the result of \a work, or the error of the rule that it breaks */
template<typename Work>
Result<std::invoke_result_t<Work>> resultOf(Work &&work)
{
	try {
		if constexpr (std::is_void_v<std::invoke_result_t<Work>>)
			return work(), Result<void>();
		else
			return work();
	} catch (BrokenRule &broken) {
		return tl::unexpected<Error>(std::move(broken.error));
	}
}

/** \return the value of a result; its error is thrown as a BrokenRule */
template<typename T>
T valueOf(Result<T> result)
{
	if (!result)
		throw BrokenRule{ std::move(result.error()) };
	if constexpr (!std::is_void_v<T>)
		return std::move(*result);
}

/** \brief Checks rules of a part of a file, such as an operator */
class Rules
{
public:
	/** \brief Check a rule; \a field and \a why describe the error if it is not fulfilled */
	void need(bool fulfilled, const std::string &field, const std::string &why) const
	{
		state(fulfilled, ErrorCode::InvalidFile, field, why);
	}
	/** \brief need() for files that are correct but use something unsupported */
	void support(bool fulfilled, const std::string &field, const std::string &why) const
	{
		state(fulfilled, ErrorCode::Unsupported, field, why);
	}

protected:
	/** \param[in] what action for errors, such as "read ONNX model" */
	explicit Rules(const char *what) : what_(what) {}

	/** \brief Name the part of the file in later errors */
	void setPart(const std::string &part) { part_ = part; }

private:
	void state(bool fulfilled, ErrorCode code, const std::string &field,
		   const std::string &why) const
	{
		if (!fulfilled)
			refuse(code, what_, fmt::format("{}, {}", part_, field), why);
	}

	const char *what_;
	std::string part_;
};

} /* namespace nvdla::compiler */
