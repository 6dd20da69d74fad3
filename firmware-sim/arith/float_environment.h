/* SPDX-License-Identifier: MIT */
/*
 * The floating-point environment of a thread.
 */
#pragma once

#include <cfenv>

namespace nvdla::sim
{

/**
 * \brief Gives the thread the default floating-point environment; the destructor restores the
 * former one
 *
 * By default, operations round to nearest and support subnormal numbers. An application's threads
 * may differ: programs linked with -ffast-math flush subnormal numbers to zero.
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
