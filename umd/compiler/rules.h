/* SPDX-License-Identifier: MIT */
/*
 * Rules that parts of a file or model have to fulfil, and the errors of those that break them.
 */
#pragma once

#include <algorithm>
#include <optional>
#include <set>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include <fmt/core.h>
#include <nvdla/error.h>

namespace nvdla::compiler
{

/**
 * \brief Thrown where a part of a file or model breaks a rule
 *
 * Functions for other folders never throw it: they call resultOf(), which turns it into an error.
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
	/** \brief Like need(), but for files that are correct and use something unsupported */
	void support(bool fulfilled, const std::string &field, const std::string &why) const
	{
		state(fulfilled, ErrorCode::Unsupported, field, why);
	}
	/** \brief Return the value of a result, or throw its error with the part's name added */
	template<typename T>
	T take(Result<T> result) const
	{
		if (!result)
			refuse(result.error().code, what_, place(result.error().where),
			       result.error().why);
		return std::move(*result);
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
			refuse(code, what_, place(field), why);
	}
	std::string place(const std::string &field) const
	{
		return part_.empty() ? field : fmt::format("{}, {}", part_, field);
	}

	const char *what_;
	std::string part_;
};

/** \brief Errors of several operators, by reason; the first one sets the error code */
class Refusals
{
public:
	void add(Error error)
	{
		/* The operators of all samples of a batch have the same error: add it once. */
		if (!known_.insert(error.where + error.why).second)
			return;
		auto reason = std::ranges::find(reasons_, error.why, &Reason::why);
		if (reason == reasons_.end())
			reason = reasons_.insert(reason, { error.why, {} });
		reason->operators.push_back(error.where);
		if (!first_)
			first_ = std::move(error);
	}

	bool none() const { return !first_; }
	/** \brief Do \a work, and add the error if it breaks a rule \return false in this case */
	template<typename Work>
	bool passes(Work &&work)
	{
		auto done = resultOf(std::forward<Work>(work));
		if (!done)
			add(std::move(done.error()));
		return done.has_value();
	}

	/** \return one error with all that were added; success if there was none */
	Result<void> result() const
	{
		if (!first_)
			return {};
		Error all = *first_;
		for (size_t i = 0; i < reasons_.size(); i++)
			tell(i, all);
		return tl::unexpected<Error>(std::move(all));
	}

private:
	static constexpr size_t kMostReasons = 20;  /* reasons in one error */
	static constexpr size_t kMostOperators = 3; /* operators named for one reason */

	struct Reason {
		std::string why;
		std::vector<std::string> operators;
	};

	/* Appends a reason with its operators. \a all names the first reason's first operator. */
	void tell(size_t index, Error &all) const
	{
		const Reason &reason = reasons_[index];
		const size_t count = reason.operators.size();

		if (index == kMostReasons)
			all.why += fmt::format("; and {} further reasons", reasons_.size() - index);
		if (index >= kMostReasons)
			return;
		if (index > 0)
			all.why += fmt::format("; {}: {}", reason.operators.front(), reason.why);
		for (size_t i = 1; i < std::min(count, kMostOperators); i++)
			all.why += fmt::format("; {}of {}", i == 1 ? "the same " : "",
					       reason.operators[i]);
		if (count > kMostOperators)
			all.why += fmt::format("; and of {} more", count - kMostOperators);
	}

	std::optional<Error> first_;
	std::vector<Reason> reasons_;
	std::set<std::string> known_;
};

} /* namespace nvdla::compiler */
