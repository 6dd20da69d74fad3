/* SPDX-License-Identifier: MIT */
/*
 * How a thread's floating point arithmetic rounds.
 */
#pragma once

#include <cfenv>

namespace nvdla::sim
{

/**
 * \brief The default environment for the thread that has this, which gets its own back behind it
 *
 * What an operation computes rounds to nearest and knows subnormal numbers. An application's
 * threads, and those that they start, may do otherwise: what is linked with -ffast-math flushes
 * them to zero.
 */
class FloatEnvironment
{
public:
	FloatEnvironment()
	{
		std::fegetenv(&threads_);
		std::fesetenv(FE_DFL_ENV);
	}
	~FloatEnvironment() { std::fesetenv(&threads_); }

	FloatEnvironment(const FloatEnvironment &) = delete;
	FloatEnvironment &operator=(const FloatEnvironment &) = delete;

private:
	std::fenv_t threads_;
};

} /* namespace nvdla::sim */
