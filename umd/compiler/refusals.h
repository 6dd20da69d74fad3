/* SPDX-License-Identifier: MIT */
/*
 * Collects all errors of a model's operators into one error.
 */
#pragma once

#include <algorithm>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include <fmt/core.h>
#include <nvdla/error.h>

#include "compiler/rules.h"

namespace nvdla::compiler
{

/** \brief Errors of several operators, by reason; the first one sets the error code */
class Refusals
{
public:
	void add(Error error)
	{
		/* All samples of a batch have the same error: it is added once. */
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
	/** \brief Do \a work, and add the rule that it breaks \return whether it breaks none */
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
	static constexpr size_t kMostReasons = 20;
	static constexpr size_t kMostOperators = 3; /* named for one reason */

	struct Reason {
		std::string why;
		std::vector<std::string> operators;
	};

	/* The error already names the first operator of the first reason. */
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
