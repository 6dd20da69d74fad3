/* SPDX-License-Identifier: MIT */
/*
 * What kernels read next, brought nearer.
 */
#pragma once

#include <algorithm>
#include <cstddef>
#include <span>

#include "core/bring_ahead.h"

namespace nvdla::sim
{

/** \brief What is wanted next, brought into a near cache little by little */
class Ahead
{
public:
	Ahead() = default;
	/** \param steps that all of \a bytes are brought in; nothing is if they are few, or none */
	Ahead(std::span<const std::byte> bytes, size_t steps)
	{
		constexpr size_t kFewest = 4; /* in a step that are worth it */

		if (steps == 0 || bytes.size() <= steps * kFewest)
			return;
		at_ = bytes.data();
		step_ = std::min(bytes.size() / steps + 1, kLine);
	}

	/** \return there is something to be brought */
	bool has() const { return step_ != 0; }

	/** \brief Those of some steps: whole lines, when all of a line's were made */
	void bring(size_t steps)
	{
		for (left_ += steps * step_; left_ >= kLine; left_ -= kLine, at_ += kLine)
			prefetch();
	}

	/** \brief Those of one step, which is about a line: without counting */
	void bringStep()
	{
		prefetch();
		at_ += step_;
	}

private:
	static constexpr size_t kLine = 64;

	void prefetch() const
	{
		constexpr int kRead = 0;
		constexpr int kNotTheNearest = 2;

		__builtin_prefetch(at_, kRead, kNotTheNearest);
	}

	const std::byte *at_ = nullptr;
	size_t step_ = 0; /* bytes */
	size_t left_ = 0; /* bytes of the line at at_ whose steps were made */
};

} /* namespace nvdla::sim */
