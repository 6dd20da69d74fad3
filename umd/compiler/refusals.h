/* SPDX-License-Identifier: MIT */
/*
 * All that is wrong with a model, in one error.
 */
#pragma once

#include <optional>
#include <set>
#include <string>

#include <fmt/core.h>
#include <nvdla/error.h>

namespace nvdla::compiler
{

/** \brief Errors of several operators; the first one says which kind it is */
class Refusals
{
public:
	void add(Error error)
	{
		constexpr size_t most = 100;

		/* All samples of a batch have the same error: it is kept once. */
		if (!known_.insert(error.where + error.why).second || ++count_ > most)
			return;
		if (!all_)
			all_ = std::move(error);
		else
			all_->why += fmt::format("; {}: {}", error.where, error.why);
		if (count_ == most)
			all_->why += "; and maybe more";
	}

	bool none() const { return !all_; }

	/** \return all that was added as one error; nothing if there was none */
	Result<void> result() const { return all_ ? tl::unexpected<Error>(*all_) : Result<void>(); }

private:
	std::optional<Error> all_;
	size_t count_ = 0;
	std::set<std::string> known_;
};

} /* namespace nvdla::compiler */
